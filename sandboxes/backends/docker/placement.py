"""How a workspace gets to where a container can see it, and its files back.

Either the folder itself is mounted, or a volume of the engine takes its place. Both are told when files are
put into the folder from outside. Functions here block and are called in threads.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.baseline import ContainerLimits, host_config
from m3bench.sandboxes.backends.docker.engine import Client
from m3bench.sandboxes.backends.docker.leases import HELD, marks, new_name
from m3bench.sandboxes.backends.docker.lookout import Lookout, VolumeWatch
from m3bench.sandboxes.backends.docker.transfer import pack, unpack
from m3bench.sandboxes.backends.ownership import give
from m3bench.sandboxes.backends.watch import Watch


class Placement(Protocol):
    """A way to place workspaces."""

    @property
    def user(self) -> str:
        """Whom containers run as, never root."""
        ...

    def mount(self, client: Client, workspace: Path) -> dict[str, Any]:
        """What to mount, as the API takes it; the first time, the files go with it."""
        ...

    def watch(self, workspace: Path) -> Watch:
        """How to look at a workspace that was mounted."""
        ...

    def take(self, client: Client, workspace: Path, names: Sequence[str]) -> None:
        """Take in files that were put into the folder."""
        ...

    def leave(self, client: Client, workspace: Path) -> None:
        """Bring the files back into the folder; no container uses them any more."""
        ...


class SharedFolder:
    """The folder itself, where the engine sees our file system.

    Containers run as the user of this process, so that files belong to the same person inside and outside; but
    a superuser's containers run as nobody in particular, and are given the files.
    """

    def __init__(self) -> None:
        self._me = (os.getuid(), os.getgid()) if hasattr(os, "getuid") else (image.USER, image.GROUP)
        self._is_superuser = self._me[0] == 0

    @property
    def user(self) -> str:
        """Whom containers run as."""
        user, group = (image.USER, image.GROUP) if self._is_superuser else self._me
        return f"{user}:{group}"

    def mount(self, client: Client, workspace: Path) -> dict[str, Any]:
        """The folder, as a bind mount that nothing propagates through."""
        if self._is_superuser:
            give(workspace, image.USER, image.GROUP)
        return {
            "Type": "bind", "Source": str(workspace), "Target": image.MOUNT,
            "BindOptions": {"Propagation": "rprivate"},
        }  # fmt: skip

    def watch(self, workspace: Path) -> Watch:
        """From here."""
        return Watch(workspace=workspace)

    def take(self, client: Client, workspace: Path, names: Sequence[str]) -> None:
        """The files are there; a superuser's must change hands."""
        if self._is_superuser:
            give(workspace, image.USER, image.GROUP)

    def leave(self, client: Client, workspace: Path) -> None:
        """The files were here all the time."""


class EngineVolume:
    """A volume of the engine for each workspace.

    Args:
        image: The image of the containers that carry files there and back; they are never started.
        lease: Seconds after which anybody may remove a volume.
    """

    user = f"{image.USER}:{image.GROUP}"

    def __init__(self, image: str, lease: float) -> None:
        self._image = image
        self._lease = lease
        self._volumes: dict[Path, str] = {}
        self._lookouts: dict[Path, Lookout] = {}

    def mount(self, client: Client, workspace: Path) -> dict[str, Any]:
        """The volume of a workspace, made and filled the first time, with somebody who looks at it."""
        if workspace not in self._volumes:
            name = new_name()
            client.create_volume(name, labels=marks(workspace.name, self._lease, folder=workspace))
            self._volumes[workspace] = name
            self._put(client, workspace, None)
        mount = _volume(self._volumes[workspace])
        if workspace not in self._lookouts or self._lookouts[workspace].is_broken:
            self._look_no_more(client, workspace)
            labels = marks(workspace.name, self._lease, folder=workspace)
            self._lookouts[workspace] = Lookout(client, self._image, self.user, mount, labels)
        return mount

    def watch(self, workspace: Path) -> Watch:
        """From beside the sandbox."""
        return VolumeWatch(lookout=self._lookouts[workspace])

    def take(self, client: Client, workspace: Path, names: Sequence[str]) -> None:
        """Carry files over."""
        if workspace in self._volumes:
            self._put(client, workspace, names)

    def leave(self, client: Client, workspace: Path) -> None:
        """Fetch all files and give up the volume; where they cannot be fetched it stays as long as the folder."""
        self._look_no_more(client, workspace)
        name = self._volumes.pop(workspace, None)
        if name is not None:
            try:
                self.recover(client, workspace, name)
            finally:
                HELD.discard(name)

    def recover(self, client: Client, workspace: Path, name: str, keep: str | None = None) -> None:
        """Fetch the files of a volume into the folder and remove it.

        Args:
            client: Asks the engine.
            workspace: The folder.
            name: The volume.
            keep: A folder in there whose files stay where the volume has none of their name.
        """
        with self._carrier(client, name, workspace) as carrier:
            chunks, _ = client.get_archive(carrier, image.MOUNT)
            unpack(chunks, workspace, keep)
        client.remove_volume(name, force=True)

    def _look_no_more(self, client: Client, workspace: Path) -> None:
        lookout = self._lookouts.pop(workspace, None)
        if lookout is not None:
            lookout.close(client)

    def _put(self, client: Client, workspace: Path, names: Sequence[str] | None) -> None:
        with pack(workspace, names) as archive:
            with self._carrier(client, self._volumes[workspace], workspace) as carrier:
                client.put_archive(carrier, image.MOUNT, archive)

    def _carrier(self, client: Client, volume: str, workspace: Path) -> "_Carrier":
        labels = marks(workspace.name, self._lease, folder=workspace)
        return _Carrier(client, self._image, _volume(volume), labels)


class _Carrier:
    """A container that exists for the sake of its mount."""

    def __init__(self, client: Client, image: str, mount: dict[str, Any], labels: dict[str, str]) -> None:
        self._client = client
        self._config = {"Image": image, "Labels": labels, "HostConfig": host_config(ContainerLimits(), mounts=[mount])}
        self._name = new_name()

    def __enter__(self) -> str:
        self._client.create_container_from_config(self._config, self._name)
        return self._name

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            self._client.remove_container(self._name, force=True)
        HELD.discard(self._name)


def _volume(name: str) -> dict[str, Any]:
    """A volume as the API mounts it."""
    # Whatever the image has there, which is an empty folder, gives the volume its owner.
    return {"Type": "volume", "Source": name, "Target": image.MOUNT}

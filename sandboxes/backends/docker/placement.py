"""How a workspace gets to where a container can see it, how it is watched there, and how its files come back.

Either the folder itself is mounted, or a volume of the engine takes its place. Both are told when files are
put into the folder from outside. Functions here block and are called in threads.

To and from a volume, files travel as archives, plain files and folders only. What comes back was written by tools, so
nothing in it is trusted: names that lead out are dropped, links and devices too, and the total size is bounded. A
volume is watched by a container beside the sandbox that runs `measure` and no tool.
"""

import json
import logging
import os
import shutil
import socket
import tarfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile, mkdtemp
from typing import IO, Protocol

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.container_limits import ContainerLimits, host_config
from m3bench.sandboxes.backends.docker.engine import Client, is_gone
from m3bench.sandboxes.backends.docker.leases import HELD, marks, new_name
from m3bench.sandboxes.backends.docker.stream import OUTPUT, Frames, attach
from m3bench.sandboxes.backends.ownership import give
from m3bench.sandboxes.backends.watch import ResourceWatch
from m3bench.tasks.errors import SandboxError

MAX_BYTES = 1024**3
"""Four times what tools may write into a workspace."""


def pack(workspace: Path, names: Iterable[str] | None = None) -> IO[bytes]:
    """An archive of a workspace, or of some of its files with the folders that lead there."""
    chosen = _everything(workspace) if names is None else _with_parents(names)
    archive = TemporaryFile()  # noqa: SIM115 - closed by whoever asked for it
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in chosen:
            path = workspace / name
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                continue
            entry = tarfile.TarInfo(name)
            entry.uid, entry.gid = image.USER, image.GROUP
            if path.is_dir():
                entry.type, entry.mode = tarfile.DIRTYPE, 0o700
                tar.addfile(entry)
            else:
                entry.mode, entry.size = 0o600, path.stat().st_size
                with path.open("rb") as file:
                    tar.addfile(entry, file)
    archive.seek(0)
    return archive


def unpack(chunks: Iterable[bytes], workspace: Path, keep: str | None = None) -> None:
    """Make a workspace what an archive says it is.

    Args:
        chunks: The archive.
        workspace: The folder.
        keep: A folder in there whose files stay where the archive has none of their name.

    Raises:
        SandboxError: The archive cannot be read or is too large; the workspace is as it was.
    """
    draft = Path(mkdtemp(prefix=f"{workspace.name}-", dir=workspace.parent))
    try:
        with TemporaryFile() as archive:
            _gather(chunks, archive)
            with tarfile.open(fileobj=archive) as tar:
                for entry in tar:
                    _extract(tar, entry, draft)
        if keep is not None:
            _save(workspace / keep, draft / keep)
        for path in workspace.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for path in draft.iterdir():
            path.rename(workspace / path.name)
    except (tarfile.TarError, OSError) as error:
        raise SandboxError(f"The files of the sandbox cannot be taken back: {error}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _save(folder: Path, draft: Path) -> None:
    """Move files to a draft that has none of their name."""
    for path in sorted(folder.glob("*")):
        if path.is_file() and not path.is_symlink() and not (draft / path.name).exists():
            draft.mkdir(parents=True, exist_ok=True)
            path.rename(draft / path.name)


def _gather(chunks: Iterable[bytes], archive: IO[bytes]) -> None:
    for chunk in chunks:
        archive.write(chunk)
        if archive.tell() > MAX_BYTES:
            raise SandboxError(f"The files of the sandbox are more than {MAX_BYTES} bytes: they are not taken back.")
    archive.seek(0)


def _extract(tar: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    parts = PurePosixPath(entry.name).parts[1:]
    if not parts or ".." in parts:
        return
    place = folder.joinpath(*parts)
    if entry.isdir():
        place.mkdir(parents=True, exist_ok=True)
    elif entry.isreg():
        source = tar.extractfile(entry)
        assert source is not None
        place.parent.mkdir(parents=True, exist_ok=True)
        with source, place.open("wb") as target:
            shutil.copyfileobj(source, target)
        # Of several files a check may take the one that was changed last.
        os.utime(place, (entry.mtime, entry.mtime))


def _everything(workspace: Path) -> list[str]:
    names = ["."]
    for folder, folders, files in os.walk(workspace):
        names += [Path(folder, name).relative_to(workspace).as_posix() for name in sorted(folders + files)]
    return names


def _with_parents(names: Iterable[str]) -> list[str]:
    wanted: dict[str, None] = {}
    for name in names:
        path = PurePosixPath(name)
        for place in (*reversed(path.parents[:-1]), path):
            wanted[place.as_posix()] = None
    return list(wanted)


ANSWER_SECONDS = {"problem": 15.0, "trim": 60.0}
"""How long an answer may take, by question."""

BLIND = "The sandbox was stopped: what its workspace holds could not be seen any more."

_LIMITS = ContainerLimits(memory=128 * 1024**2, processes=16, temporary=1024**2)
_PROGRAM = ["python3", "-P", "-s", "-X", "utf8", "-m", "m3bench.sandboxes.measure"]

logger = logging.getLogger(__name__)


class VolumeMonitor:
    """The container that measures a volume from beside the sandbox.

    Args:
        client: Asks the engine.
        image_name: What it is made of.
        user: The user it runs as: the owner of the files.
        mount: The volume, as the API mounts it.
        labels: Whose it is.
    """

    def __init__(
        self, client: Client, image_name: str, user: str, mount: dict[str, object], labels: dict[str, str]
    ) -> None:
        self.is_broken = False
        self._name = new_name()
        self._turn = threading.Lock()
        self._frames = Frames()
        config = {
            "Image": image_name, "Entrypoint": _PROGRAM, "Cmd": [image.MOUNT], "User": user, "Labels": labels,
            "OpenStdin": True, "StdinOnce": True, "AttachStdin": True, "AttachStdout": True, "AttachStderr": True,
            "HostConfig": host_config(_LIMITS, mounts=[mount]),
        }  # fmt: skip
        try:
            client.create_container_from_config(config, self._name)
            self._stream = attach(client, self._name)
            client.start(self._name)
        except BaseException:
            HELD.discard(self._name)
            raise

    def ask(self, question: str) -> str | None:
        """Its answer, or a problem that says that it cannot be asked."""
        with self._turn:
            if self.is_broken:
                return BLIND
            try:
                self._stream.settimeout(ANSWER_SECONDS[question])
                self._stream.sendall(f"{question}\n".encode())
                answer: str | None = json.loads(self._line())
            except (OSError, ValueError) as error:
                logger.warning("A workspace cannot be looked at: %s", error)
                self.is_broken = True
                return BLIND
            return answer

    def close(self, client: Client) -> None:
        """End it."""
        self.is_broken = True
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self._stream.close()
        with suppress(Exception):
            client.remove_container(self._name, force=True)
        HELD.discard(self._name)

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            data = self._stream.recv(4096)
            if not data:
                raise ConnectionError("the container ended")
            line += b"".join(written for stream, written in self._frames.feed(data) if stream == OUTPUT)
        return line


@dataclass(frozen=True, kw_only=True)
class VolumeWatch(ResourceWatch):
    """A watch on a volume, through its monitor."""

    monitor: VolumeMonitor

    def problem(self, *, mapped: bool = True) -> str | None:
        """The limit that is exceeded, in a sentence; the monitor always looks at everything it can see."""
        return self.monitor.ask("problem")

    def trim(self) -> None:
        """Remove what was written last until the workspace is within its limits."""
        self.monitor.ask("trim")


def of_container(client: Client, name: str, watch: ResourceWatch, processes: Path = Path("/proc")) -> ResourceWatch:
    """A watch that sees the processes of a container as well, if they are on this machine.

    Files that they hold open without a name are then counted. The engine may be on another machine, or in one, where
    the same number is another process: only one whose control group is named for the container is looked at.
    """
    if isinstance(watch, VolumeWatch):
        return watch
    try:
        found = client.inspect_container(name)
    except Exception as error:
        if is_gone(error):
            return watch
        raise
    pid, id = int(found["State"]["Pid"]), str(found["Id"])
    with suppress(OSError):
        if pid and id in (processes / str(pid) / "cgroup").read_text():
            return replace(watch, pid=pid)
    return watch


class WorkspacePlacement(Protocol):
    """A way to place workspaces."""

    @property
    def user(self) -> str:
        """The user that containers run as, never root."""
        ...

    def mount(self, client: Client, workspace: Path) -> dict[str, object]:
        """What to mount, as the API takes it; the first time, the files go with it."""
        ...

    def watch(self, workspace: Path) -> ResourceWatch:
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
    a superuser's containers run as a user without rights, who is given the files.
    """

    def __init__(self) -> None:
        self._me = (os.getuid(), os.getgid()) if hasattr(os, "getuid") else (image.USER, image.GROUP)
        self._is_superuser = self._me[0] == 0

    @property
    def user(self) -> str:
        """The user that containers run as."""
        user, group = (image.USER, image.GROUP) if self._is_superuser else self._me
        return f"{user}:{group}"

    def mount(self, client: Client, workspace: Path) -> dict[str, object]:
        """The folder, as a bind mount that nothing propagates through."""
        if self._is_superuser:
            give(workspace, image.USER, image.GROUP)
        return {
            "Type": "bind", "Source": str(workspace), "Target": image.MOUNT,
            "BindOptions": {"Propagation": "rprivate"},
        }  # fmt: skip

    def watch(self, workspace: Path) -> ResourceWatch:
        """From here."""
        return ResourceWatch(workspace=workspace)

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
        self._monitors: dict[Path, VolumeMonitor] = {}

    def mount(self, client: Client, workspace: Path) -> dict[str, object]:
        """The volume of a workspace, made and filled the first time, with a monitor beside it."""
        if workspace not in self._volumes:
            name = new_name()
            client.create_volume(name, labels=marks(workspace.name, self._lease, folder=workspace))
            self._volumes[workspace] = name
            self._put(client, workspace, None)
        mount = _volume(self._volumes[workspace])
        if workspace not in self._monitors or self._monitors[workspace].is_broken:
            self._look_no_more(client, workspace)
            labels = marks(workspace.name, self._lease, folder=workspace)
            self._monitors[workspace] = VolumeMonitor(client, self._image, self.user, mount, labels)
        return mount

    def watch(self, workspace: Path) -> ResourceWatch:
        """From beside the sandbox."""
        return VolumeWatch(monitor=self._monitors[workspace])

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
        monitor = self._monitors.pop(workspace, None)
        if monitor is not None:
            monitor.close(client)

    def _put(self, client: Client, workspace: Path, names: Sequence[str] | None) -> None:
        with pack(workspace, names) as archive:
            with self._carrier(client, self._volumes[workspace], workspace) as carrier:
                client.put_archive(carrier, image.MOUNT, archive)

    def _carrier(self, client: Client, volume: str, workspace: Path) -> "_Carrier":
        labels = marks(workspace.name, self._lease, folder=workspace)
        return _Carrier(client, self._image, _volume(volume), labels)


class _Carrier:
    """A container that exists for the sake of its mount."""

    def __init__(self, client: Client, image: str, mount: dict[str, object], labels: dict[str, str]) -> None:
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


def _volume(name: str) -> dict[str, object]:
    """A volume as the API mounts it."""
    # Whatever the image has there, which is an empty folder, gives the volume its owner.
    return {"Type": "volume", "Source": name, "Target": image.MOUNT}

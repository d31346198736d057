"""The backend with the strongest isolation: a host is a container of a Docker engine, local or remote.

A container sees the image and the run's workspace, nothing else. Where the engine shares our file system the
workspace is mounted as it is; where it does not (another machine, a virtual one, an engine that maps users)
it lives in a volume of the engine, filled when the sandbox opens and fetched back when it closes.
"""

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio

from m3bench.sandboxes.backends.base import Guard, Prospect, notice
from m3bench.sandboxes.backends.confinement import Confinement
from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.container import HostContainer, discard
from m3bench.sandboxes.backends.docker.container_limits import TEMPORARY, ContainerLimits, host_config
from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine, EngineFacts, is_missing, is_refusal, survey
from m3bench.sandboxes.backends.docker.leases import (
    HELD,
    LEASE_SECONDS,
    PRODUCT,
    holdings,
    marks,
    new_name,
    reap,
    remove,
)
from m3bench.sandboxes.backends.docker.placement import EngineVolume, SharedFolder, WorkspacePlacement, of_container
from m3bench.sandboxes.backends.docker.stream import attach
from m3bench.sandboxes.backends.hosted import STARTS, HostBackend
from m3bench.sandboxes.backends.isolation import QUIET, HostLimits
from m3bench.sandboxes.backends.watch import ResourceWatch
from m3bench.sandboxes.workspace import RESULTS
from m3bench.tasks.errors import SandboxError

REAP_SECONDS = 60.0
"""Between two looks for leftovers."""

_UNSHARED = ("bind source path does not exist", "mounts denied", "not shared")
"""What engines say of folders they cannot see."""

_KEPT = ("PATH", "PYTHON", "LD_LIBRARY_PATH")
"""Beginnings of the variables of the image that a host may need."""

logger = logging.getLogger(__name__)


class DockerBackend(HostBackend):
    """Opens sandboxes whose host is a container.

    Args:
        address: Where the engine is, as in `DOCKER_HOST`, or the name of a Docker context; as the environment says
            when None.
        runtime: Another OCI runtime than the engine's default, such as `runsc`.
        limits: What a container may use.
        shared: Whether the engine sees our file system; found out when None.
        lease: Seconds after which anybody may remove what belongs to a sandbox.
        starts: How many hosts may be starting at the same time.
    """

    name = "docker"
    remedy = "`m3bench doctor` looks into it."
    limited_by = "container"

    def __init__(
        self,
        *,
        address: str | None = None,
        runtime: str | None = None,
        limits: ContainerLimits | None = None,
        shared: bool | None = None,
        lease: float = LEASE_SECONDS,
        starts: int = STARTS,
    ) -> None:
        super().__init__(starts=starts)
        self.place = address
        self.engine = DockerEngine(address)
        self._limits = limits or ContainerLimits()
        self._runtime = runtime
        self._shared = shared
        self._lease = lease
        self._facts: EngineFacts | None = None
        self._placement: WorkspacePlacement | None = None

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.tasks.start_soon(self._keep_tidy)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, trace)
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self.engine.close()

    @property
    def guards(self) -> frozenset[Guard]:
        """What holds in every container."""
        return self._facts.guards if self._facts is not None else frozenset()

    @property
    def notices(self) -> tuple[str, ...]:
        """What does not hold, in plain words."""
        if self._facts is None:
            return ()
        reasons = ["the Docker engine's kernel does not"] if self._facts.lacking else []
        return notice(self.guards, reasons)

    @property
    def memory(self) -> int:
        """Bytes a container may use."""
        return self._limits.memory

    def watch(self, workspace: Path) -> ResourceWatch:
        """What to look at from outside."""
        return self._placement.watch(workspace.resolve()) if self._placement is not None else ResourceWatch()

    def prospect(self) -> Prospect:
        """What will hold in containers here."""
        if self._facts is None:
            self._facts = self.engine.answer(survey)
        return Prospect(self.guards, self.notices)

    def may_recover(self) -> bool:
        """Not where an engine gives no answer: that has cost enough time."""
        return not self.engine.is_silent

    def soon(self, container: HostContainer) -> None:
        """Remove a container without waiting."""
        self.tasks.start_soon(container.aclose)

    async def launch(self, workspace: Path) -> HostContainer:
        """Start a container."""
        start = _Start()
        self.tasks.start_soon(self._launch, workspace, start)
        try:
            await start.over.wait()
        except BaseException:
            start.is_awaited = False
            if start.host is not None:
                self.soon(start.host)
            raise
        if start.host is None:
            raise start.error or SandboxError("The container was not started.")
        return start.host

    async def _launch(self, workspace: Path, start: "_Start") -> None:
        """Start a container to the end, whoever has stopped waiting for it: half-way it would belong to nobody."""
        name = new_name()
        with anyio.CancelScope(shield=True):
            try:
                stream, watch = await self.engine.ask(lambda client: self._start(client, name, workspace.resolve()))
                _, host = await asyncio.get_running_loop().create_connection(
                    lambda: HostContainer(self, name, watch), sock=stream
                )
                self.tasks.start_soon(host.run)
                start.host = host
            except SandboxError as error:
                start.error = error
            finally:
                start.over.set()
            if start.host is None:
                await discard(self.engine, name)
            elif not start.is_awaited:
                await start.host.aclose()

    async def take(self, workspace: Path, names: Sequence[str]) -> None:
        """Take in files that were put into a workspace from outside."""
        placement = self._placement
        if placement is not None:
            await self.engine.ask(lambda client: placement.take(client, workspace.resolve(), names))

    async def resume(self, workspace: Path) -> None:
        """Have the files of a workspace whose owner is gone in its folder, and nothing of that owner's running."""
        await self.recover(workspace)

    async def recover(self, workspace: Path) -> bool:
        """The same; whether there was anything of that workspace on the engine."""
        return await self.engine.ask(lambda client: self._resume(client, workspace.resolve()))

    async def room(self) -> int:
        """How many more containers fit into the engine's memory, those of other owners counted.

        Raises:
            SandboxError: The engine does not answer, or cannot run sandboxes of this m3bench.
        """
        return await self.engine.ask(self._room)

    def _room(self, client: Client) -> int:
        if self._facts is None:
            self._facts = survey(client)
        memory = int(client.info().get("MemTotal") or 0)
        up = client.containers(filters={"label": PRODUCT})
        return memory // self._limits.memory - len(up)

    async def leave(self, workspace: Path) -> None:
        """Bring the files of a sandbox that closes back into its workspace."""
        placement = self._placement
        if placement is not None:
            await self.engine.ask(lambda client: placement.leave(client, workspace.resolve()))

    async def traces(self, workspace: Path) -> list[str]:
        """Names of the containers and volumes that exist for a workspace."""
        return [holding.name for holding in await self.engine.ask(holdings) if holding.folder == str(workspace)]

    def _start(self, client: Client, name: str, workspace: Path) -> tuple[socket.socket, ResourceWatch]:
        """Make a container, attach to it and start it, in this order: a host whose output nobody reads would end.

        Returns:
            What it writes, and what to look at from outside.
        """
        if not workspace.is_dir():
            raise SandboxError(f"There is no folder {str(workspace)!r} to work in: make it first.")
        if self._facts is None:
            self._facts = survey(client)
        try:
            self._make(client, self._facts, name, workspace)
        except Exception:
            # The image may have been built anew or removed since: look again next time.
            self._facts = None
            raise
        stream = attach(client, name)
        try:
            client.start(name)
            return stream, of_container(client, name, self.watch(workspace))
        except BaseException:
            stream.close()
            raise

    def _resume(self, client: Client, workspace: Path) -> bool:
        found = [
            holding for holding in holdings(client) if holding.folder == str(workspace) and holding.name not in HELD
        ]
        for holding in found:
            if holding.kind == "container":
                remove(client, holding)
        for holding in found:
            if holding.kind == "volume":
                if self._facts is None:
                    self._facts = survey(client)
                volume = EngineVolume(self._facts.image, self._lease)
                volume.recover(client, workspace, holding.name, keep=RESULTS)
        return bool(found)

    def _make(self, client: Client, facts: EngineFacts, name: str, workspace: Path) -> None:
        if self._placement is None and self._is_elsewhere(facts):
            self._placement = EngineVolume(facts.image, self._lease)
        if self._placement is not None:
            self._create(client, facts, name, workspace, self._placement)
            return
        folder = SharedFolder()
        try:
            self._create(client, facts, name, workspace, folder)
            if self._shared or _sees(client, name, workspace):
                self._placement = folder
                return
            client.remove_container(name, force=True)
        except OSError as error:
            if not is_refusal(error) or not any(sign in str(error).lower() for sign in _UNSHARED):
                raise
        self._placement = EngineVolume(facts.image, self._lease)
        self._create(client, facts, name, workspace, self._placement)

    def _create(
        self, client: Client, facts: EngineFacts, name: str, workspace: Path, placement: WorkspacePlacement
    ) -> None:
        mount = placement.mount(client, workspace)
        config = {
            "Image": facts.image,
            "Cmd": ["--workspace", image.MOUNT, "--confine", _confinement()],
            "Env": _environment(facts),
            "Hostname": "sandbox",
            "Labels": marks(workspace.name, self._lease, folder=workspace),
            "User": placement.user,
            "WorkingDir": image.MOUNT,
            "OpenStdin": True,
            "StdinOnce": True,
            "AttachStdin": True,
            "AttachStdout": True,
            "AttachStderr": True,
            "HostConfig": host_config(
                self._limits, mounts=[mount], runtime=self._runtime, cpu_quota=facts.cpu_quota
            ),
        }  # fmt: skip
        client.create_container_from_config(config, name)

    def _is_elsewhere(self, facts: EngineFacts) -> bool:
        """Whether workspaces are known to be out of our sight."""
        if self._placement is not None:
            return isinstance(self._placement, EngineVolume)
        return self._shared is False or facts.maps_users

    async def _keep_tidy(self) -> None:
        """Remove leftovers now and from time to time; an engine that does not answer is reported once."""
        said = ""
        while True:
            try:
                for holding, reason in await self.engine.ask(reap):
                    logger.warning("Removed the leftover %s %s: %s", holding.kind, holding.name, reason)
                said = ""
            except SandboxError as error:
                # Of one among several, whoever chooses among them says it.
                if said != str(error) and self.place is None:
                    logger.warning("%s", error)
                said = str(error)
            await anyio.sleep(REAP_SECONDS)


class _Start:
    """A container on its way."""

    def __init__(self) -> None:
        self.over = anyio.Event()
        self.host: HostContainer | None = None
        self.error: SandboxError | None = None
        self.is_awaited = True


def _sees(client: Client, name: str, workspace: Path) -> bool:
    """Whether what a container has mounted is really this folder, and not one of the same name elsewhere."""
    marker = workspace / f".m3bench-{secrets.token_hex(8)}"
    marker.touch()
    try:
        chunks, _ = client.get_archive(name, f"{image.MOUNT}/{marker.name}")
        chunks.close()
    except OSError as error:
        if not is_missing(error):
            raise
        return False
    finally:
        marker.unlink()
    return True


def _environment(facts: EngineFacts) -> list[str]:
    """All that a host sees of the environment; a name alone takes away what the image sets."""
    own = {**QUIET, "LANG": "C.UTF-8", "HOME": TEMPORARY, "TMPDIR": TEMPORARY}
    away = [name for name in facts.environment if name not in own and not name.startswith(_KEPT)]
    return [*away, *(f"{name}={value}" for name, value in own.items())]


def _confinement() -> str:
    """What the host gives up by itself, as in a process: a tool that asks too much gets an error, not its end."""
    limits = {**asdict(HostLimits()), "processes": 0}
    del limits["memory"]
    return json.dumps(asdict(Confinement(seccomp=True, hang_up=True, **limits)))

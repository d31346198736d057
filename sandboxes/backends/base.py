"""What a backend is: something that opens sandboxes, in which tools can be called.

Above sit the pool and whoever owns a run, below the ways to start a host: in this process, as a child
process, in a container. Results are bytes and nobody on the way looks into them.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, Self

from m3bench.tasks.outcome import Reply
from m3bench.tasks.scene import Scene

Guard = Literal["process", "user", "files", "network", "sockets", "others", "kernel", "memory", "forks", "disk"]
"""What a sandbox keeps tools from: taking m3bench down with them, acting as root, files outside the workspace, the
network, sockets of this machine's other programs, other processes, settings and interfaces of the kernel, all the
memory, ever more processes, all the disk."""

LACKING: dict[Guard, str] = {
    "process": "keep a tool's crash from ending m3bench",
    "user": "run tools as another user than root",
    "files": "keep tools from files outside the workspace",
    "network": "keep tools from the network",
    "sockets": "keep tools from local sockets",
    "others": "hide other processes",
    "kernel": "keep tools from kernel settings",
    "memory": "limit memory",
    "forks": "limit the number of processes",
    "disk": "limit what tools write",
}
"""What a sandbox without a guard cannot do."""


def notice(guards: frozenset[Guard], reasons: Sequence[str] = ()) -> tuple[str, ...]:
    """One sentence on what is missing, or none."""
    lacking = [text for guard, text in LACKING.items() if guard not in guards]
    if not lacking:
        return ()
    listed = lacking[0] if len(lacking) == 1 else f"{', '.join(lacking[:-1])} or {lacking[-1]}"
    why = f" ({', '.join(reasons)})" if reasons else ""
    return (f"Sandboxes here cannot {listed}{why}.",)


@dataclass(frozen=True, kw_only=True)
class SandboxSpec:
    """What a sandbox is for."""

    workspace: Path
    """The run's folder; exists."""
    servers: tuple[str, ...] | None = None
    """The servers it offers; None means all that are ready."""
    scenes: tuple[Scene, ...] = ()
    """What the detector knows of the run's pictures."""
    links: Mapping[str, bytes] = field(default_factory=dict)
    """Page to picture, for pages that pictures were linked from."""


class Prospect(NamedTuple):
    """What will hold in the sandboxes of a backend."""

    guards: frozenset[Guard]
    notices: tuple[str, ...]
    """What will not, in plain words."""


class Sandbox(Protocol):
    """A place where tools can be called."""

    @property
    def guards(self) -> frozenset[Guard]:
        """What holds here."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What does not hold here, in plain words."""
        ...

    @property
    def place(self) -> str | None:
        """The machine it is on, where there are several."""
        ...

    async def call(self, tool: str, arguments: bytes, seconds: float | None = None) -> Reply:
        """Call a tool; any number at a time.

        Args:
            tool: The canonical name, `server/tool`.
            arguments: A JSON object, raw.
            seconds: The time limit of the call.

        Raises:
            SandboxError: The sandbox broke or the time is over; the next call finds it working again.
            UnknownToolError: It offers no such tool.
        """
        ...

    async def configure(self, spec: SandboxSpec) -> None:
        """Change what the sandbox is for; the workspace stays."""
        ...

    async def take(self, names: Sequence[str]) -> None:
        """Take in files that were put into the workspace from outside after the sandbox was opened.

        Args:
            names: Their paths, relative to the workspace.
        """
        ...

    async def aclose(self) -> None:
        """End it and everything in it. What is in the workspace stays."""
        ...


class Backend(AbstractAsyncContextManager["Backend"], Protocol):
    """A way to open sandboxes; an async context manager, at whose end all of them are closed."""

    @property
    def name(self) -> str:
        """The name users give for it."""
        ...

    @property
    def limited_by(self) -> str:
        """What holds a sandbox to its memory and processes, in a word or two."""
        ...

    @property
    def is_spread(self) -> bool:
        """Whether sandboxes are on several machines: where the one of a run is, is known once it is open."""
        ...

    def prospect(self) -> Prospect:
        """What will hold in the sandboxes opened here, found out without opening one; blocks the first time.

        Raises:
            SandboxError: None can be opened; the message has the remedy.
        """
        ...

    async def open(self, spec: SandboxSpec) -> Sandbox:
        """A sandbox that is ready.

        Raises:
            SandboxError: It cannot be started; the message has the remedy.
            UnknownToolError: The spec names a server that does not exist.
        """
        ...

    async def resume(self, workspace: Path) -> None:
        """Get ready for a sandbox in a workspace that another process, which is gone, has used.

        Raises:
            SandboxError: It cannot be used again now.
        """
        ...

    async def __aenter__(self) -> Self: ...

"""What a check is, how one is run, and the few verbs that checks are written in."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import anyio

from m3bench.sandboxes.backends.base import Backend, Guard, Sandbox, SandboxSpec
from m3bench.sandboxes.offer import PROBE
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.outcome import Reply

CHECK_SECONDS = 60.0
"""Far more than any check takes; a sandbox that hangs fails its check."""

SHORT_SECONDS = 0.5
"""Given to calls that hang on purpose."""

SETTLE_SECONDS = 15.0
"""Given to things that must come to be: processes that end, counts that fall."""


class CheckFailed(Exception):
    """A backend does not do what it must."""


class Skipped(Exception):
    """A backend does not claim what a check is about."""


@runtime_checkable
class Killable(Protocol):
    """A sandbox whose host can be killed."""

    def kill(self) -> None:
        """Kill it."""
        ...


@runtime_checkable
class Traceable(Protocol):
    """A backend whose sandboxes are more than processes of this machine."""

    async def traces(self, workspace: Path) -> list[str]:
        """Names of all that exists for the sandboxes of a workspace."""
        ...


class Bench:
    """A backend and a folder for a check to work in.

    Args:
        backend: What is checked; entered.
        folder: For workspaces and traps; empty.
        needs: The guard the check is about.
    """

    def __init__(self, backend: Backend, folder: Path, needs: Guard | None = None) -> None:
        self.backend = backend
        self.folder = folder
        self._needs = needs

    def workspace(self, name: str = "workspace") -> Path:
        """A folder for a sandbox."""
        place = self.folder / name
        place.mkdir(exist_ok=True)
        return place.resolve()

    @asynccontextmanager
    async def sandbox(self, name: str = "workspace") -> AsyncIterator[Sandbox]:
        """A sandbox with the probe in it."""
        sandbox = await self.backend.open(SandboxSpec(workspace=self.workspace(name), servers=(PROBE,)))
        try:
            if self._needs is not None and self._needs not in sandbox.guards:
                require(sandbox.notices, f"no notice although there is no guard {self._needs!r}")
                raise Skipped(f"{self.backend.name} has no guard {self._needs!r} here: {sandbox.notices[0]}")
            yield sandbox
        finally:
            await sandbox.aclose()


@dataclass(frozen=True)
class Check:
    """One thing a backend must do."""

    name: str
    run: Callable[[Bench], Awaitable[None]]
    needs: Guard | None


@dataclass(frozen=True)
class CheckVerdict:
    """What a check came to."""

    check: str
    state: Literal["passed", "skipped", "failed"]
    reason: str = ""


CHECKS: list[Check] = []


def check(needs: Guard | None = None) -> Callable[[Callable[[Bench], Awaitable[None]]], None]:
    """Add a function to the list; its docstring is what the backend must do."""

    def add(function: Callable[[Bench], Awaitable[None]]) -> None:
        CHECKS.append(Check(function.__name__, function, needs))

    return add


async def run_check(check: Check, backend: Backend, folder: Path) -> CheckVerdict:
    """Put a backend through one check, in an empty folder."""
    try:
        with anyio.fail_after(CHECK_SECONDS):
            await check.run(Bench(backend, folder, check.needs))
    except Skipped as reason:
        return CheckVerdict(check.name, "skipped", str(reason))
    except Exception as error:
        return CheckVerdict(check.name, "failed", _story(error))
    return CheckVerdict(check.name, "passed")


def _story(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_story(part) for part in error.exceptions)
    return f"{type(error).__name__}: {error}"


def require(condition: object, otherwise: str) -> None:
    """Fail the check unless something holds."""
    if not condition:
        raise CheckFailed(otherwise)


async def call(sandbox: Sandbox, tool: str, seconds: float | None = None, **arguments: Any) -> Reply:
    """Call a tool of the probe."""
    return await sandbox.call(f"{PROBE}/{tool}", json.dumps(arguments).encode(), seconds)


async def text(sandbox: Sandbox, tool: str, **arguments: Any) -> str:
    """The text of a call that must succeed."""
    reply = await call(sandbox, tool, **arguments)
    found = words(reply)
    require(reply.outcome == "success", f"{tool} gave {reply.outcome}: {found[:300]}")
    return found


async def fails(sandbox: Sandbox, tool: str, seconds: float | None = None, **arguments: object) -> str:
    """The message of a call that must fail because of the sandbox."""
    try:
        reply = await call(sandbox, tool, seconds, **arguments)
    except SandboxError as error:
        return str(error)
    raise CheckFailed(f"{tool} was answered: {reply.result[:200]!r}")


async def until(condition: Callable[[], Awaitable[bool]], otherwise: str) -> None:
    """Wait for something to become true."""
    with anyio.move_on_after(SETTLE_SECONDS):
        while not await condition():  # noqa: ASYNC110 - what is waited for happens in other processes
            await anyio.sleep(0.02)
        return
    raise CheckFailed(otherwise)


def words(reply: Reply) -> str:
    return "\n".join(block.get("text", "") for block in json.loads(reply.result)["content"])


async def nobody_left(bench: Bench) -> None:
    """Wait until nothing runs any more in the usual workspace."""
    workspace, backend = bench.workspace(), bench.backend

    async def left() -> list[str]:
        traces = await backend.traces(workspace) if isinstance(backend, Traceable) else []
        return [*map(str, processes(workspace)), *traces]

    async def gone() -> bool:
        return not await left()

    await until(gone, f"{await left()} are left")


def processes(workspace: Path) -> list[int]:
    """The processes on this machine that name a workspace in their command line; none where that cannot be known."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes()
        except OSError:
            continue
        if str(workspace).encode() in words:
            found.append(int(entry.parent.name))
    return sorted(found)

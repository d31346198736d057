"""Tools run in this very process: for tests and for looking at tools, not for clients.

The same dispatcher as in a host, called directly, so results are the same bytes. Nothing is isolated: a tool
that crashes or hangs takes everything with it.
"""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel

from m3bench.sandboxes.backends.base import Guard, Prospect, SandboxSpec
from m3bench.sandboxes.backends.result_cache import ResultCache, is_perception, key_of, known_of
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import MAX_ARGUMENT_BYTES, NOT_AN_OBJECT, Dispatcher, oversized, refusal
from m3bench.sandboxes.offer import load, offer
from m3bench.sandboxes.wire import decode
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.outcome import Reply

_TURNS = 5
"""Of the event loop before a tool runs: a call to another process takes as many, and what was sent with it arrives."""


class InProcessBackend:
    """Opens sandboxes that are nothing but objects.

    Args:
        seen: Keeps what tools see in pictures; nothing is kept when left out.
    """

    name = "inprocess"
    limited_by = "nothing"
    is_spread = False

    def __init__(self, seen: ResultCache | None = None) -> None:
        self._seen = seen

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def prospect(self) -> Prospect:
        """Nothing holds."""
        return Prospect(InProcessSandbox.guards, InProcessSandbox.notices)

    async def open(self, spec: SandboxSpec) -> "InProcessSandbox":
        """A sandbox; costs nothing."""
        return InProcessSandbox(spec, self._seen)

    async def resume(self, workspace: Path) -> None:
        """Whatever worked there is gone with its process."""


class InProcessSandbox:
    """A dispatcher over a workspace."""

    guards: frozenset[Guard] = frozenset()
    place = None
    notices = ("Tools run inside m3bench itself: nothing is isolated. Use the process backend for clients.",)

    def __init__(self, spec: SandboxSpec, seen: ResultCache | None = None) -> None:
        self._closed = False
        self._dispatcher = _dispatcher(spec)
        self._spec, self._seen = spec, seen

    async def configure(self, spec: SandboxSpec) -> None:
        """Offer something else."""
        self._dispatcher = _dispatcher(spec)
        self._spec = spec

    async def call(self, tool: str, arguments: bytes, seconds: float | None = None) -> Reply:
        """Run a tool. Only a tool that waits can be cut off."""
        if self._closed:
            raise SandboxError("The sandbox is closed.")
        if len(arguments) > MAX_ARGUMENT_BYTES:
            return refusal(tool, oversized(len(arguments))).render()
        try:
            values = decode(arguments)
        except ValueError as error:
            return refusal(tool, f"Not JSON: {error}").render()
        if not isinstance(values, dict):
            return refusal(tool, NOT_AN_OBJECT).render()
        for _ in range(_TURNS):
            await anyio.lowlevel.checkpoint()
        key = None
        if self._seen is not None and is_perception(tool):
            key = key_of(tool, arguments, self._spec.workspace, known_of(self._spec))
            known = None if key is None else self._seen.get(key)
            if known is not None:
                return known
        with anyio.move_on_after(seconds):
            reply = (await self._dispatcher.call(tool, values)).render()
            if self._seen is not None and key is not None:
                self._seen.put(key, reply, tool)
            return reply
        raise SandboxError(f"{tool} gave no answer within {seconds:g} seconds and was cut off.")

    async def take(self, names: Sequence[str]) -> None:
        """The files are there."""

    async def aclose(self) -> None:
        """Answer no more calls."""
        self._closed = True


def _dispatcher(spec: SandboxSpec) -> Dispatcher:
    context = Context(workspace=Workspace(spec.workspace), scenes=spec.scenes, links=spec.links)
    return Dispatcher(offer(spec.servers), context, load)

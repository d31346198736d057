"""Takes a call to where it is answered.

Our own tools, the run's sandbox, an upstream server or a cassette: the router decides by name, checks what can be
checked without starting anything, bounds time and size, and says of every failure whose it is. It knows neither
transports nor protocol revisions; the front door does. That a call is on record before its answer leaves is the
business of `call`.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

import anyio
import anyio.to_thread

from m3bench.proxy.call import Call
from m3bench.proxy.logs import NAME_CHARACTERS, answering
from m3bench.proxy.names import CALL_TOOL, FIND_TOOLS, inner, understood, without_injected
from m3bench.proxy.placing import placed
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.tool_calls import (
    MAX_RESULT_BYTES,
    AnswerDelivery,
    Journal,
    Relay,
    ToolAnswer,
    ToolRequest,
    error_result,
)
from m3bench.proxy.seat import ActiveRun, Seat
from m3bench.proxy.weather import MOST_LETTERS, NEW
from m3bench.tasks.catalog import Tool, expose, nearest
from m3bench.tasks.coercion import without_nulls
from m3bench.tasks.eager import in_task
from m3bench.tasks.errors import InvalidArgumentsError, SandboxError, UnknownToolError, plain
from m3bench.tasks.fault import owner_of_error
from m3bench.tasks.jsonrpc import INVALID_PARAMS
from m3bench.tasks.outcome import CALL_SECONDS, recorded

MAX_ARGUMENT_BYTES = 8 * 1024 * 1024

CHECKED_AT_ONCE = 64 * 1024
"""Arguments up to this size are checked on the spot; larger ones in a thread, a few at a time."""

CHECKS_AT_ONCE = 2

PROGRESS_SECONDS = 1.0
"""Between two words that a call is under way."""


class OwnTools(Protocol):
    """The benchmark's own tools, as the router needs them."""

    names: frozenset[str]

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, object], client: str = "") -> ToolAnswer:
        """Answer one of our own tools.

        Args:
            seat: Where the client sits.
            name: The tool's name.
            arguments: Its arguments.
            client: Name and version of the client, which decide in what form an answer reaches the model.
        """
        ...


class Upstreams(Protocol):
    """Third-party servers behind this proxy."""

    def owns(self, seat: Seat, name: str) -> bool:
        """Whether an exposed name is answered upstream."""
        ...

    def qualified(self, seat: Seat, name: str) -> str:
        """The canonical name of an exposed one."""
        ...

    def schema(self, name: str) -> Mapping[str, object] | None:
        """The input schema of a tool by its exposed name; None when it is not theirs."""
        ...

    async def call(
        self, seat: Seat, run: str | None, name: str, params: Mapping[str, object], relay: Relay | None, seconds: float
    ) -> ToolAnswer:
        """Forward a call of a run, or of a seat without one, with its arguments and `_meta`."""
        ...


class Router:
    """Answers calls.

    Args:
        journal: Where calls are recorded.
        own: The benchmark's own tools.
        upstreams: Third-party servers, when there are any.
        timeout: Seconds a tool may take.
        only_runs: Whether third-party servers are asked only during a run, as bundled ones always are.
        limit: How many bytes of a result a client takes, by its name and version; None when that is not known.
    """

    def __init__(
        self,
        journal: Journal,
        own: OwnTools,
        upstreams: Upstreams | None = None,
        *,
        timeout: float = CALL_SECONDS,
        only_runs: bool = False,
        limit: Callable[[str], int | None] = lambda client: None,
    ) -> None:
        self.journal = journal
        self.stopping = False
        """Whether the server is about to end: it is not the clients who cut off calls from then on."""
        self._own = own
        self._listed_own = own.names - {FIND_TOOLS}
        self._upstreams = upstreams
        self._timeout = timeout
        self._only_runs = only_runs
        self._limit = limit
        self._checking = anyio.CapacityLimiter(CHECKS_AT_ONCE)

    def stop(self) -> None:
        """The server is about to end."""
        self.stopping = True

    def schema(self, name: str) -> Mapping[str, object] | None:
        """The schema whose arguments HTTP clients may have to repeat in headers: no bundled tool asks for that."""
        return self._upstreams.schema(name) if self._upstreams is not None else None

    async def call(
        self, seat: Seat, request: ToolRequest, relay: Relay | None = None, delivery: AnswerDelivery | None = None
    ) -> ToolAnswer:
        """Answer a request; the answer is on record when this returns, and may have been delivered.

        A call that is cancelled is recorded as cut off by the client, and the cancellation goes on.
        """
        step = seat.steps.arrive(request.meta)
        request, new_name = self._current(seat, self._meant(seat, self._named(seat, request)))
        name = request.name if isinstance(request.name, str) else ""
        own = name in self._own_names(seat)
        tool = self._canonical(seat, request, name)
        call = Call(seat, request, tool, own, seat.run, new_name, step, relay, delivery)
        with answering(seat, call.run):
            return await call.carry_out(self)

    async def answer(self, call: Call) -> ToolAnswer:
        """What a call comes to; a client that asked for it hears that a slow one is under way."""
        token = call.request.meta.get("progressToken")
        theirs = self._upstreams is not None and self._upstreams.owns(call.seat, call.name)
        if not theirs or call.own or (call.run is not None and call.run.weather is not None):
            await in_task()
        if call.relay is None or type(token) not in (str, int) or (theirs and not call.own):
            return await self._answer(call)
        found: ToolAnswer | Exception
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_report_progress, call.relay, token, call.tool)
            try:
                found = await self._answer(call)
            except Exception as error:
                found = error
            tasks.cancel_scope.cancel()
        if isinstance(found, Exception):
            raise found
        return found

    async def _answer(self, call: Call) -> ToolAnswer:
        """What a call comes to, with what its task has the tool say beside it."""
        answer = await self._answered(call)
        return answer if call.own or call.run is None else placed(call.run.order, call.tool, answer)

    async def _answered(self, call: Call) -> ToolAnswer:
        """What a call comes to, by the name of the tool that is meant."""
        seat, request, name, arguments = call.seat, call.request, call.request.name, call.request.arguments
        if not isinstance(name, str) or not (arguments is None or isinstance(arguments, dict)):
            text = "tools/call needs a name and, as arguments, an object"
            return ToolAnswer(outcome="illegal_format", error=(INVALID_PARAMS, text))
        clean = without_injected(arguments or {})
        if call.own:
            return await self._own.call(seat, name, clean, request.caller.client)
        if seat.unlisted and not request.indirect:
            return self._not_listed(seat, name, clean)
        if (met := await self._weather(call, name, clean)) is not None:
            return met
        if self._upstreams is not None and self._upstreams.owns(seat, name):
            if call.run is None and self._only_runs:
                return _refused(no_task(seat))
            stop = call.run.admit() if call.run is not None else None
            if stop is not None:
                return _over(stop)
            present = without_nulls(self._upstreams.schema(name) or {}, clean)
            params = {"name": name, "arguments": present, "_meta": dict(request.meta)}
            run = call.run.id if call.run is not None else None
            return await self._upstreams.call(seat, run, name, params, call.relay, self._timeout)
        tool = seat.tools.get(name)
        if tool is None:
            return self._unknown(call, name)
        if call.run is None:
            return _refused(no_task(seat))
        return await self._forward(call.run, tool, clean)

    async def _weather(self, call: Call, name: str, arguments: Mapping[str, object]) -> ToolAnswer | None:
        """What the weather makes of a call; such a call does not count against the limits of its run."""
        weather = call.run.weather if call.run is not None else None
        if weather is None or not self._has(call.seat, name):
            return None
        if call.new_name is not None:
            return weather.outdated(call.tool, arguments, name, call.new_name)
        return await weather.meet(call.tool, arguments)

    def most_bytes(self, call: Call) -> int | None:
        """How large a result may be: ours fit every client, a third-party server's the clients that have a limit."""
        limit = self._limit(call.request.caller.client)
        if not call.own and self._upstreams is not None and self._upstreams.owns(call.seat, call.name):
            return limit
        return min(limit or MAX_RESULT_BYTES, MAX_RESULT_BYTES)

    def _own_names(self, seat: Seat) -> frozenset[str]:
        """Our own tools, as far as a seat has them."""
        return self._own.names if seat.unlisted else self._listed_own

    def _named(self, seat: Seat, request: ToolRequest) -> ToolRequest:
        """A call under a client's variant of a tool's name, as the call of that tool."""
        name, own = request.name, self._own_names(seat)
        if not isinstance(name, str) or name in own or self._knows(seat, name):
            return request
        own |= {CALL_TOOL} if seat.unlisted else set()
        if name in own:
            return request
        return replace(request, name=understood(name, {*own, *seat.tools, *_names(*seat.listing, *seat.unlisted)}))

    def _meant(self, seat: Seat, request: ToolRequest) -> ToolRequest:
        """A call by way of `call_tool` as the call of the tool it names; our own tools are called directly."""
        found = inner(request.arguments) if seat.unlisted and request.name == CALL_TOOL else None
        if found is None or found[0] in {*self._own.names, CALL_TOOL}:
            return request
        name, arguments = found
        shown = next((shown for shown in (name, expose(name)) if self._knows(seat, shown)), name)
        if not self._knows(seat, shown):
            shown = understood(shown, {*seat.tools, *_names(*seat.unlisted)})
        return replace(request, name=shown, arguments=arguments, indirect=True)

    def _knows(self, seat: Seat, name: str) -> bool:
        return self._has(seat, name) or self._old_name(seat, name) is not None

    def _has(self, seat: Seat, name: str) -> bool:
        return name in seat.tools or (self._upstreams is not None and self._upstreams.owns(seat, name))

    def shown(self, seat: Seat, entries: Sequence[Json]) -> tuple[Json, ...]:
        """Entries of a seat's tool list under the names that tools have in the run that is under way."""
        return tuple({**entry, "name": self._new_name(seat, str(entry["name"])) or entry["name"]} for entry in entries)

    def _current(self, seat: Seat, request: ToolRequest) -> tuple[ToolRequest, str | None]:
        """A call by a tool's new name as the call of that tool; by its old name, with the new one."""
        if not isinstance(request.name, str) or seat.run is None or seat.run.weather is None:
            return request, None
        if (old := self._old_name(seat, request.name)) is not None:
            return replace(request, name=old), None
        return request, self._new_name(seat, request.name)

    def _new_name(self, seat: Seat, name: str) -> str | None:
        """What a tool is called that lost its name; None when it has it still."""
        new, weather = f"{name}{NEW}", seat.run.weather if seat.run is not None else None
        if weather is None or len(new) > MOST_LETTERS or not self._has(seat, name) or self._has(seat, new):
            return None
        return new if weather.plan.replaces(self._qualified(seat, name)) else None

    def _old_name(self, seat: Seat, name: str) -> str | None:
        """The name that a tool had before it got this one; None when it did not."""
        old = name.removesuffix(NEW)
        return old if old != name and self._new_name(seat, old) == name else None

    def _canonical(self, seat: Seat, request: ToolRequest, name: str) -> str:
        """The name of a tool on record; as it was sent when there is no such tool, or not in this way."""
        return name if seat.unlisted and not request.indirect else self._qualified(seat, name)

    def _qualified(self, seat: Seat, name: str) -> str:
        if self._upstreams is not None and self._upstreams.owns(seat, name):
            return self._upstreams.qualified(seat, name)
        tool = seat.tools.get(name)
        return tool.qualified if tool is not None else name

    def _unknown(self, call: Call, name: str) -> ToolAnswer:
        """There is no tool of this name."""
        if call.request.indirect:
            # The tool that the protocol knows, call_tool, is there: what it was asked for is not.
            unknown = UnknownToolError(name, nearest(name, _names(*call.seat.unlisted)))
            text = f"{unknown} find_tools finds tools by what they do."
            return ToolAnswer(outcome="unknown_tool", result=error_result(text))
        unknown = UnknownToolError(name, nearest(name, [*call.seat.tools, *sorted(self._own_names(call.seat))]))
        return ToolAnswer(outcome="unknown_tool", error=(INVALID_PARAMS, str(unknown)))

    def _not_listed(self, seat: Seat, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """A seat that lists only `find_tools` and `call_tool` was asked for another tool, or for none."""
        if name != CALL_TOOL:
            unknown = UnknownToolError(name, nearest(name, [CALL_TOOL, *sorted(self._own_names(seat))]))
            hint = " Call it by way of call_tool." if self._knows(seat, name) else ""
            return ToolAnswer(outcome="unknown_tool", error=(INVALID_PARAMS, f"{unknown}{hint}"))
        asked = inner(arguments)
        if asked is not None:
            text = f"{asked[0]} cannot be called by way of call_tool: name a tool that find_tools gives."
            return ToolAnswer(outcome="unknown_tool", result=error_result(text))
        text = (
            "Invalid arguments for tool call_tool: it takes name, the name of a tool that find_tools gave, and "
            "arguments, an object with the arguments of that tool, and nothing else."
        )
        return ToolAnswer(outcome="invalid_arguments", result=error_result(text))

    async def _forward(self, run: ActiveRun, tool: Tool, arguments: Mapping[str, object]) -> ToolAnswer:
        """Have a bundled tool answer, in the sandbox of the run."""
        stop = run.admit()
        if stop is not None:
            return _over(stop)
        try:
            raw = _dump(tool, arguments)
            if len(raw) <= CHECKED_AT_ONCE:
                taken = tool.read(arguments).arguments
            else:
                taken = (await anyio.to_thread.run_sync(tool.read, arguments, limiter=self._checking)).arguments
            if taken is not arguments:
                raw = _dump(tool, taken)
        except InvalidArgumentsError as error:
            return ToolAnswer(outcome="invalid_arguments", result=error_result(str(error)))
        forwarded = time.monotonic_ns()
        try:
            reply = await run.call(tool.qualified, raw, self._timeout)
        except SandboxError as error:
            owner = owner_of_error(error)
            text = f"The benchmark's {owner} failed, not your call: {plain(error)} You may call the tool again."
            return ToolAnswer(
                outcome="failed", owner=owner, result=error_result(text), forwarded_ns=forwarded,
                returned_ns=time.monotonic_ns(),
            )  # fmt: skip
        outcome, owner = recorded(reply.outcome)
        return ToolAnswer(
            outcome=outcome,
            owner=owner,
            result=reply.result,
            forwarded_ns=forwarded,
            returned_ns=time.monotonic_ns(),
        )


async def _report_progress(relay: Relay, token: object, tool: str) -> None:
    """Tell a client from time to time that its call is under way; how long it will take is not known."""
    start = time.monotonic()
    while True:
        await anyio.sleep(PROGRESS_SECONDS)
        seconds = round(time.monotonic() - start, 3)
        said = f"{tool[:NAME_CHARACTERS]} has been at work for {seconds:.0f} s"
        with suppress(Exception):
            # A client that cannot be told gets its answer all the same, if it is there.
            params = {"progressToken": token, "progress": seconds, "message": said}
            await relay.notify("notifications/progress", params)


def _names(*entries: Json) -> list[str]:
    """The tools of entries as they go over the wire."""
    return [str(entry["name"]) for entry in entries]


def _dump(tool: Tool, arguments: object) -> bytes:
    """Arguments as they go to the sandbox; raises `InvalidArgumentsError` when there are too many of them."""
    try:
        raw = json.dumps(arguments, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
    except RecursionError as error:
        raise InvalidArgumentsError(tool.qualified, ["they are nested too deeply"]) from error
    if len(raw) > MAX_ARGUMENT_BYTES:
        raise InvalidArgumentsError(tool.qualified, [f"{len(raw)} bytes, at most {MAX_ARGUMENT_BYTES} are taken"])
    return raw


def no_task(seat: Seat) -> str:
    """What a client is told when it asks outside a run for what belongs to a run."""
    return seat.notice or f"No task is running on this seat: call start_task first.{seat.hint}"


def _over(stop: str) -> ToolAnswer:
    """A call that the limits of its run do not allow any more."""
    return ToolAnswer(outcome="failed", owner="limit", result=error_result(stop))


def _refused(text: str) -> ToolAnswer:
    """A call that cannot be made now; not one of the five outcomes of a tool call in a run."""
    return ToolAnswer(outcome="failed", owner="client", result=error_result(text))

"""Takes a call to where it is answered, and has it on record before the answer leaves.

Our own tools, the run's sandbox, an upstream server or a cassette: the router decides by name, checks what
can be checked without starting anything, bounds time and size, and says of every failure whose it is. It
knows neither transports nor protocol revisions; the front door does.
"""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import anyio
import anyio.to_thread

from m3bench.proxy.call import CUT_OFF, Answer, Delivery, Journal, Relay, ToolRequest, error_result
from m3bench.proxy.indirect import CALL_TOOL, FIND_TOOLS, INJECTED, inner
from m3bench.proxy.logs import NAME, answering
from m3bench.proxy.names import understood
from m3bench.proxy.seat import ActiveRun, Seat
from m3bench.proxy.together import Step
from m3bench.proxy.trim import MAX_RESULT_BYTES, trim
from m3bench.tasks.catalog import Tool, expose, nearest
from m3bench.tasks.coercion import without_nulls
from m3bench.tasks.errors import InvalidArgumentsError, SandboxError, StoreError, UnknownToolError
from m3bench.tasks.fault import owner_of_error
from m3bench.tasks.jsonrpc import INVALID_PARAMS
from m3bench.tasks.outcome import CALL_SECONDS, recorded

MAX_ARGUMENT_BYTES = 8 * 1024 * 1024

CUT_OFF_SECONDS = 5.0
"""How long it may take to record that a call was cut off."""

CHECKED_AT_ONCE = 64 * 1024
"""Arguments up to this size are checked on the spot; larger ones in a thread, a few at a time."""

CHECKS_AT_ONCE = 2

CANCELLED = Answer(outcome="failed", owner="client", error=(-32800, "cut off: the client cancelled or went away"))

STOPPED = Answer(outcome="failed", owner="proxy", error=CUT_OFF)

logger = logging.getLogger(__name__)


class OwnTools(Protocol):
    """The benchmark's own tools, as the router needs them."""

    names: frozenset[str]

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, Any], client: str = "") -> Answer:
        """Answer one of our own tools.

        Args:
            seat: Where the client sits.
            name: The tool's name.
            arguments: Its arguments.
            client: Name and version of the client, which decide in what form an answer reaches the model.
        """
        ...


class Upstreams(Protocol):
    """Third-party servers fronted by this proxy."""

    def owns(self, seat: Seat, name: str) -> bool:
        """Whether an exposed name is answered upstream."""
        ...

    def qualified(self, seat: Seat, name: str) -> str:
        """The canonical name of an exposed one."""
        ...

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema of a tool by its exposed name; None when it is not theirs."""
        ...

    async def call(
        self, seat: Seat, run: str | None, name: str, params: Mapping[str, Any], relay: Relay | None, seconds: float
    ) -> Answer:
        """Forward a call of a run, or of a seat without one, with its arguments and `_meta`."""
        ...


class Router:
    """Answers calls.

    Args:
        journal: Where calls are recorded.
        own: The benchmark's own tools.
        upstreams: Third-party servers, when there are any.
        timeout: Seconds a tool may take.
        only_runs: Whether third-party servers are asked during a run alone; bundled ones always are.
    """

    def __init__(
        self,
        journal: Journal,
        own: OwnTools,
        upstreams: Upstreams | None = None,
        *,
        timeout: float = CALL_SECONDS,
        only_runs: bool = False,
    ) -> None:
        self._journal = journal
        self._own = own
        self._listed_own = own.names - {FIND_TOOLS}
        self._upstreams = upstreams
        self._timeout = timeout
        self._stopping = False
        self._only_runs = only_runs
        self._checking = anyio.CapacityLimiter(CHECKS_AT_ONCE)

    def stop(self) -> None:
        """The server is about to end: it is not the clients who cut off calls from now on."""
        self._stopping = True

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema whose arguments HTTP clients may have to repeat in headers: no bundled tool asks for that."""
        return self._upstreams.schema(name) if self._upstreams is not None else None

    async def call(
        self, seat: Seat, request: ToolRequest, relay: Relay | None = None, delivery: Delivery | None = None
    ) -> Answer:
        """Answer a request; the answer is on record when this returns, and may have been delivered.

        A call that is cancelled is recorded as cut off by the client, and the cancellation goes on.
        """
        step = seat.together.arrive(request.meta)
        request = self._meant(seat, self._named(seat, request))
        # The run a call belongs to is the one under way when it arrives, whatever happens meanwhile.
        run = seat.run if request.name not in self._own_names(seat) else None
        with answering(seat, seat.run):
            if run is None:
                return await self._record(seat, request, seat.run, relay, step, delivery)
            run.enter()
            try:
                return await self._record(seat, request, run, relay, step, delivery)
            finally:
                run.leave()

    async def _record(
        self, seat: Seat, request: ToolRequest, run: ActiveRun | None, relay: Relay | None, step: Step | None,
        delivery: Delivery | None,
    ) -> Answer:  # fmt: skip
        name = request.name if isinstance(request.name, str) else ""
        tool = seat.tools.get(name) if _reachable(seat, request) else None
        canonical = name
        try:
            canonical = self._canonical(seat, request, name)
            number = await self._journal.received(request, run.id if run else None, canonical)
        except Exception as error:
            answer = _unrecorded("The call was not made, because it could not be recorded", error)
            if run is not None and name not in self._own_names(seat):
                # What a run lost must not be forgotten when the record works again.
                run.lose(request, canonical, answer)
            return answer
        try:
            answer = await self._settle(seat, request, tool, run, relay, number)
            if step is not None:
                await seat.together.wait(step)
        except anyio.get_cancelled_exc_class():
            await self._cut_off(number)
            raise
        try:
            await self._journal.answered(number, answer, delivery)
        except Exception as error:
            # What is not on record must not be seen.
            return _unrecorded("The tool answered, but its answer could not be recorded and is withheld", error)
        try:
            sent_ns = delivery.sent_ns if delivery is not None else 0
            self._journal.sent(number, sent_ns or time.monotonic_ns())
        except Exception:
            logger.exception("When the answer to call %d left is not on record", number)
        if logger.isEnabledFor(logging.INFO):
            seconds = round((time.monotonic_ns() - request.received_ns) / 1e9, 6)
            facts = {"tool": canonical[:NAME], "outcome": answer.outcome, "owner": answer.owner, "seconds": seconds}
            logger.info("A call was answered", extra={"facts": facts})
        return answer

    async def _settle(
        self, seat: Seat, request: ToolRequest, tool: Tool | None, run: ActiveRun | None, relay: Relay | None,
        number: int,
    ) -> Answer:  # fmt: skip
        """An answer, whatever breaks on the way to it, of a size that clients take."""
        try:
            answer = await self._answer(seat, request, tool, run, relay)
            if len(answer.result) > MAX_RESULT_BYTES and run is not None:
                answer = await anyio.to_thread.run_sync(_fit, answer, run, number)
        except Exception as error:
            logger.exception("A call to %r failed inside the proxy", request.name)
            text = f"m3bench failed: {type(error).__name__}. This is a fault of the benchmark, not of your call."
            return Answer(outcome="failed", owner="proxy", result=error_result(text))
        return answer

    async def _cut_off(self, number: int) -> None:
        """Put on record that the client did not wait for its answer, or was not given the time."""
        with anyio.move_on_after(CUT_OFF_SECONDS, shield=True):
            try:
                await self._journal.answered(number, STOPPED if self._stopping else CANCELLED)
            except Exception:
                logger.exception("That call %d was cut off is not on record", number)

    def _own_names(self, seat: Seat) -> frozenset[str]:
        """Our own tools, as far as a seat has them."""
        return self._own.names if seat.unlisted else self._listed_own

    def _named(self, seat: Seat, request: ToolRequest) -> ToolRequest:
        """A call under a name that a client made of a tool's as the call of that tool."""
        name, own = request.name, self._own_names(seat)
        if not isinstance(name, str) or name in own or self._knows(seat, name):
            return request
        own |= {CALL_TOOL} if seat.unlisted else set()
        if name in own:
            return request
        listed = (entry["name"] for entry in (*seat.listing, *seat.unlisted))
        return replace(request, name=understood(name, {*own, *seat.tools, *listed}))

    def _meant(self, seat: Seat, request: ToolRequest) -> ToolRequest:
        """A call by way of `call_tool` as the call of the tool it names; our own tools are called directly."""
        found = inner(request.arguments) if seat.unlisted and request.name == CALL_TOOL else None
        if found is None or found[0] in {*self._own.names, CALL_TOOL}:
            return request
        name, arguments = found
        shown = next((one for one in (name, expose(name)) if self._knows(seat, one)), name)
        if not self._knows(seat, shown):
            shown = understood(shown, {*seat.tools, *(entry["name"] for entry in seat.unlisted)})
        return replace(request, name=shown, arguments=arguments, indirect=True)

    def _knows(self, seat: Seat, name: str) -> bool:
        return name in seat.tools or (self._upstreams is not None and self._upstreams.owns(seat, name))

    def _canonical(self, seat: Seat, request: ToolRequest, name: str) -> str:
        if not _reachable(seat, request):
            return name
        if self._upstreams is not None and self._upstreams.owns(seat, name):
            return self._upstreams.qualified(seat, name)
        tool = seat.tools.get(name)
        return tool.qualified if tool is not None else name

    async def _answer(
        self, seat: Seat, request: ToolRequest, tool: Tool | None, run: ActiveRun | None, relay: Relay | None
    ) -> Answer:
        name, arguments = request.name, request.arguments
        if not isinstance(name, str) or not (arguments is None or isinstance(arguments, dict)):
            text = "tools/call needs a name and, as arguments, an object"
            return Answer(outcome="illegal_format", error=(INVALID_PARAMS, text))
        clean = {key: value for key, value in (arguments or {}).items() if key not in INJECTED}
        if name in self._own_names(seat):
            return await self._own.call(seat, name, clean, request.caller.client)
        if seat.unlisted and not request.indirect:
            return self._not_listed(seat, name, clean)
        if self._upstreams is not None and self._upstreams.owns(seat, name):
            if run is None and self._only_runs:
                return _refused(no_task(seat))
            stop = run.admit() if run is not None else None
            if stop is not None:
                return _over(stop)
            present = without_nulls(self._upstreams.schema(name) or {}, clean)
            params = {"name": name, "arguments": present, "_meta": dict(request.meta)}
            return await self._upstreams.call(seat, run.id if run else None, name, params, relay, self._timeout)
        if tool is None and request.indirect:
            # The tool that the protocol knows, call_tool, is there: what it was asked for is not.
            unknown = UnknownToolError(name, nearest(name, [entry["name"] for entry in seat.unlisted]))
            text = f"{unknown} find_tools finds tools by what they do."
            return Answer(outcome="unknown_tool", result=error_result(text))
        if tool is None:
            unknown = UnknownToolError(name, nearest(name, [*seat.tools, *sorted(self._own_names(seat))]))
            return Answer(outcome="unknown_tool", error=(INVALID_PARAMS, str(unknown)))
        if run is None:
            return _refused(no_task(seat))
        return await self._forward(run, tool, clean)

    def _not_listed(self, seat: Seat, name: str, arguments: Mapping[str, Any]) -> Answer:
        """A seat that lists only `find_tools` and `call_tool` was asked for another tool, or for none."""
        if name != CALL_TOOL:
            unknown = UnknownToolError(name, nearest(name, [CALL_TOOL, *sorted(self._own_names(seat))]))
            hint = " Call it by way of call_tool." if self._knows(seat, name) else ""
            return Answer(outcome="unknown_tool", error=(INVALID_PARAMS, f"{unknown}{hint}"))
        asked = inner(arguments)
        if asked is not None:
            text = f"{asked[0]} cannot be called by way of call_tool: name a tool that find_tools gives."
            return Answer(outcome="unknown_tool", result=error_result(text))
        text = (
            "Invalid arguments for tool call_tool: it takes name, the name of a tool that find_tools gave, and "
            "arguments, an object with the arguments of that tool, and nothing else."
        )
        return Answer(outcome="invalid_arguments", result=error_result(text))

    async def _forward(self, run: ActiveRun, tool: Tool, arguments: dict[str, Any]) -> Answer:
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
            return Answer(outcome="invalid_arguments", result=error_result(str(error)))
        forwarded = time.monotonic_ns()
        try:
            reply = await run.call(tool.qualified, raw, self._timeout)
        except SandboxError as error:
            owner = owner_of_error(error)
            text = f"The benchmark's {owner} failed, not your call: {error} You may call the tool again."
            return Answer(
                outcome="failed", owner=owner, result=error_result(text), forwarded_ns=forwarded,
                returned_ns=time.monotonic_ns(),
            )  # fmt: skip
        outcome, owner = recorded(reply.outcome)
        return Answer(
            outcome=outcome,
            owner=owner,
            result=reply.result,
            forwarded_ns=forwarded,
            returned_ns=time.monotonic_ns(),
        )


def _reachable(seat: Seat, request: ToolRequest) -> bool:
    return request.indirect or not seat.unlisted


def _dump(tool: Tool, arguments: Mapping[str, Any]) -> bytes:
    """Arguments as they go to the sandbox; raises `InvalidArgumentsError` when there are too many of them."""
    try:
        raw = json.dumps(arguments, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
    except RecursionError as error:
        raise InvalidArgumentsError(tool.qualified, ["they are nested too deeply"]) from error
    if len(raw) > MAX_ARGUMENT_BYTES:
        raise InvalidArgumentsError(tool.qualified, [f"{len(raw)} bytes, at most {MAX_ARGUMENT_BYTES} are taken"])
    return raw


def _fit(answer: Answer, run: ActiveRun, number: int) -> Answer:
    """An answer cut to size, the whole of it kept in the run's workspace where that can be done."""
    try:
        where = f"the whole of it is in {run.keep(number, answer.result)}"
    except (OSError, SandboxError) as error:
        logger.warning("The whole result of call %d could not be kept: %s", number, error)
        where = f"the whole of it could not be kept in the workspace: {error}"
    return replace(answer, result=trim(answer.result, where), full=answer.result)


def _unrecorded(what: str, error: Exception) -> Answer:
    if not isinstance(error, StoreError):
        logger.error("The record failed", exc_info=error)
    elif logger.isEnabledFor(logging.INFO):
        # Lines for people leave it to the client, which is told; whoever collects lines wants to see it among them.
        logger.error("%s: %s", what, error)
    cause = str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}"
    return Answer(outcome="failed", owner="proxy", result=error_result(f"{what}: {cause}"))


def no_task(seat: Seat) -> str:
    """What a client is told that asks outside a run for what belongs to one."""
    return seat.notice or f"No task is running on this seat: call start_task first.{seat.hint}"


def _over(stop: str) -> Answer:
    """A call that the limits of its run do not allow any more."""
    return Answer(outcome="failed", owner="limit", result=error_result(stop))


def _refused(text: str) -> Answer:
    """A call that cannot be made now; not one of the five outcomes of a tool call in a run."""
    return Answer(outcome="failed", owner="client", result=error_result(text))

"""Where calls go, and what a client is told when something breaks there."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest

from m3bench.proxy import router
from m3bench.proxy.front import tool_request
from m3bench.proxy.protocol.tool_calls import Caller
from m3bench.proxy.router import CHECKED_AT_ONCE, MAX_ARGUMENT_BYTES, Router
from m3bench.tasks.catalog import Tool
from m3bench.tasks.errors import SandboxError, ToolCrashError
from tests.proxy.house import RAW, House, Own, Run, Upstream, refused

pytestmark = pytest.mark.anyio

SUM = {"numbers": [4, 8, 15]}


@pytest.mark.parametrize(("error", "owner"), [(SandboxError("gone."), "sandbox"), (ToolCrashError("boom."), "tool")])
async def test_what_breaks_below_is_charged_to_what_broke(error: Exception, owner: str) -> None:
    house = House()
    house.run.reply = error
    answer = await house.call("math__sum", SUM)
    assert (answer.outcome, answer.owner) == ("failed", owner)
    assert f"{owner} failed, not your call: {error}" in refused(answer)


async def test_a_call_beyond_the_limits_of_the_run_is_the_limits() -> None:
    house = House()
    house.run.stop = "This run has made its 3 calls: submit what you have."
    answer = await house.call("math__sum", SUM)
    assert (answer.outcome, answer.owner) == ("failed", "limit")


async def test_a_broken_sandbox_is_not_the_agents_fault() -> None:
    house = House()
    house.run.reply = SandboxError("The host died.")
    answer = await house.call("math__sum", SUM)
    assert (answer.outcome, answer.owner) == ("failed", "sandbox")
    assert "not your call: The host died." in refused(answer)


async def test_what_is_malformed_is_a_protocol_error() -> None:
    house = House()
    for name, arguments in ((7, {}), (None, None), (["math__sum"], {}), ("math__sum", [1]), ("math__sum", "x")):
        answer = await house.call(name, arguments)
        assert answer.outcome == "illegal_format"
        assert answer.error is not None
        assert answer.error[0] == -32602
    assert len(house.record.answers) == 5


async def test_unknown_tools_are_told_the_nearest() -> None:
    answer = await House().call("math__summ", {})
    assert answer.outcome == "unknown_tool"
    assert answer.error is not None
    assert "math__sum" in answer.error[1]


async def test_arguments_are_checked_before_anything_starts() -> None:
    house = House()
    assert "'numbers'" in refused(await house.call("math__sum", {"numbers": "many"}))
    assert str(MAX_ARGUMENT_BYTES) in refused(await house.call("math__sum", {"x": "y" * MAX_ARGUMENT_BYTES}))
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deeply" in refused(await house.call("math__sum", {"numbers": deep}, b"[[["))
    assert house.run.calls == []
    assert {answer.outcome for answer in house.record.answers.values()} == {"invalid_arguments"}


async def test_large_arguments_are_checked_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    monkeypatch.setattr(Tool, "check", lambda self, arguments: threads.append(threading.get_ident()))
    house = House()
    await house.call("math__sum", SUM)
    await house.call("math__sum", {"numbers": [1] * CHECKED_AT_ONCE})
    assert threads[0] == threading.get_ident()
    assert threads[1] != threading.get_ident()


async def test_a_long_list_of_mistakes_is_told_in_short() -> None:
    said = refused(await House().call("math__sum", {"numbers": ["x"] * 100_000}))
    assert len(said) < 5000
    assert "and there is more" in said


async def test_without_a_run_or_over_its_limits_a_client_is_told_what_to_do() -> None:
    house = House()
    house.run.stop = "This run has made its calls."
    assert refused(await house.call("math__sum", SUM)) == house.run.stop
    house.seat.run = None
    assert "call start_task first" in refused(await house.call("math__sum", SUM))
    assert [run for _, run, _ in house.record.requests] == ["run", None]


async def test_our_own_tools_and_third_parties_are_reached_by_name() -> None:
    house = House()
    assert b'"seat"' in (await house.call("start_task", {})).result
    assert b'"far"' in (await house.call("far__tool", {"a": 1})).result
    assert [tool for _, _, tool in house.record.requests] == ["start_task", "far/tool"]


async def test_a_seat_that_lists_no_tools_is_served_through_call_tool() -> None:
    house = House()
    house.seat = replace(house.seat, unlisted=house.seat.listing)
    answer = await house.call("call_tool", {"name": "math/sum", "arguments": SUM})
    assert answer.result == RAW
    assert house.record.requests[0][2] == "math/sum"
    assert b'"seat"' in (await house.call("find_tools", {"query": "sum"})).result
    unknown = await house.call("call_tool", {"name": "math__summ"})
    assert (unknown.outcome, "find_tools finds" in refused(unknown)) == ("unknown_tool", True)
    assert "cannot be called by way of" in refused(await house.call("call_tool", {"name": "start_task"}))
    assert "it takes name" in refused(await house.call("call_tool", {"nme": "math__sum"}))
    direct = await house.call("math__sum", SUM)
    assert direct.error is not None
    assert "by way of call_tool" in direct.error[1]


async def test_find_tools_is_unknown_where_tools_are_listed() -> None:
    assert (await House().call("find_tools", {})).outcome == "unknown_tool"


async def test_a_call_in_a_clients_own_writing_is_made_as_meant_and_recorded_as_sent() -> None:
    house = House()
    answer = await house.call("mcp__m3bench__math__sum", {"numbers": '[4, "8", 15]', "wait_for_previous": None})
    assert answer.outcome == "success"
    assert house.run.calls == [("math/sum", b'{"numbers":[4,8,15]}')]
    ((request, _, tool),) = house.record.requests
    assert tool == "math/sum"
    assert b"mcp__m3bench__math__sum" in request.raw
    assert json.loads(request.raw)["params"]["arguments"]["numbers"] == '[4, "8", 15]'


async def test_an_upstream_server_is_not_told_of_optionals_that_were_left_out() -> None:
    house = House()
    answer = await house.call("far__tool", {"where": None, "other": None})
    assert json.loads(answer.result)["arguments"] == {"other": None}


async def test_third_party_tools_are_bound_by_the_limits_of_the_run() -> None:
    house = House()
    assert (await house.call("far__tool", {})).outcome == "success"
    house.run.stop = "This run has used its 60 minutes: submit what you have."
    answer = await house.call("far__tool", {})
    assert (answer.outcome, answer.owner) == ("failed", "limit")
    assert refused(answer) == house.run.stop


async def test_third_party_tools_are_refused_outside_a_run_where_only_runs_may_use_them() -> None:
    house = House()
    house.seat.run = None
    assert (await house.call("far__tool", {})).outcome == "success"
    house.router = Router(house.record, Own(), Upstream(), only_runs=True)
    answer = await house.call("far__tool", {})
    assert (answer.outcome, answer.owner) == ("failed", "client")
    assert "call start_task first" in refused(answer)


class Heard:
    """A relay that lets a call go on once its client heard of it twice."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.said: list[tuple[str, Mapping[str, Any]]] = []

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self.said.append((method, params))
        if len(self.said) == 1:
            raise BrokenPipeError
        assert self.run.hold is not None
        self.run.hold.set()

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        raise AssertionError("nothing is asked")


@pytest.mark.parametrize("token", ["p", 0, None])
async def test_a_client_that_asked_for_it_hears_that_a_slow_tool_is_at_work(
    token: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(router, "PROGRESS_SECONDS", 0.002)
    house = House()
    heard, meta = Heard(house.run), {"progressToken": token} if token is not None else {}
    params = {"name": "math__sum", "arguments": SUM, "_meta": meta}
    request = tool_request(Caller(seat="seat", revision="2025-11-25"), 1, params, None)
    with anyio.fail_after(20):
        if token is None:
            assert (await house.router.call(house.seat, request, heard)).result == RAW
            assert heard.said == []
            return
        house.run.hold = anyio.Event()
        assert (await house.router.call(house.seat, request, heard)).result == RAW
    assert {method for method, _ in heard.said} == {"notifications/progress"}
    assert {said["progressToken"] for _, said in heard.said} == {token}
    assert "math/sum has been at work" in heard.said[0][1]["message"]
    times = [said["progress"] for _, said in heard.said]
    assert times == sorted(set(times)), "progress only grows"


async def test_a_fault_is_the_same_with_and_without_a_word_on_progress() -> None:
    house = House()
    params = {"name": "broken", "arguments": {}, "_meta": {"progressToken": 1}}
    request = tool_request(Caller(seat="seat", revision="2025-11-25"), 1, params, None)
    assert "ZeroDivisionError" in refused(await house.router.call(house.seat, request, Heard(house.run)))

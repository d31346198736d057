"""Third-party servers belong to a run: what they remember, how their tools change, and what they ask and tell."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.proxy.protocol.tool_calls import ToolAnswer
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.configuration import UpstreamEntry
from m3bench.proxy.upstreams.servers import UpstreamServers
from m3bench.tasks.errors import UpstreamError
from tests.proxy.house import Run
from tests.waiting import until
from tests.warm import FORKS

pytestmark = pytest.mark.anyio

PROGRAM, *ARGUMENTS = FORKS.launcher("tests.proxy.far_server")
FAR = UpstreamEntry(command=PROGRAM, args=tuple(ARGUMENTS))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Client:
    """A client that notes what it is told, and answers what it is asked."""

    def __init__(self, answer: dict[str, Any] | None = None) -> None:
        self.told: list[tuple[str, Mapping[str, Any]]] = []
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.answer = answer or {"result": {}}

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self.told.append((method, params))

    async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append((method, params))
        return self.answer


def seat(id: str = "seat", **client: Any) -> Seat:
    return Seat(id=id, profile="full", client=client)


@asynccontextmanager
async def upstreams(**given: Any) -> AsyncIterator[tuple[UpstreamServers, list[tuple[str | None, str]]]]:
    changes: list[tuple[str | None, str]] = []

    async def changed(seat: Seat | None, method: str, params: dict[str, Any]) -> None:
        changes.append((seat.id if seat is not None else None, method))

    with anyio.fail_after(60):
        opened = UpstreamServers(**({"entries": {"far": FAR}} | given))
        opened.changed = changed
        async with opened:
            yield opened, changes


async def call(
    upstreams: UpstreamServers, seat: Seat, run: str | None, tool: str, relay: Client | None = None, **arguments: Any
) -> ToolAnswer:
    name = f"far__{tool}"
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": "mine"}}
    return await upstreams.call(seat, run, name, params, relay, 20)


def text(answer: ToolAnswer) -> str:
    found: str = json.loads(answer.result)["content"][0]["text"]
    return found


async def test_each_run_has_a_server_of_its_own_and_so_has_a_seat_without_one() -> None:
    one, other = seat("one"), seat("other")
    async with upstreams() as (opened, _):
        asked = [(one, None), (one, "a"), (other, "b"), (one, "a"), (one, None), (other, "b")]
        assert [text(await call(opened, seat, run, "count")) for seat, run in asked] == ["1", "1", "1", "2", "2", "2"]
        opened.stop("a")
        assert text(await call(opened, one, "a", "count")) == "1"


async def test_a_server_that_is_declared_to_hold_no_state_is_shared() -> None:
    entries = {"far": FAR.model_copy(update={"stateful": False})}
    async with upstreams(entries=entries) as (opened, _):
        asked = [(seat("one"), "a"), (seat("other"), "b"), (seat("one"), None)]
        assert [text(await call(opened, *whose, "count")) for whose in asked] == ["1", "2", "3"]


async def test_tools_that_come_later_are_announced_to_their_run_alone_and_can_be_called() -> None:
    mine, other = seat("mine"), seat("other")
    mine.run = Run()
    async with upstreams() as (opened, changes):
        assert text(await call(opened, mine, "run", "grow")) == "done"
        assert changes == [("mine", "notifications/tools/list_changed")]
        assert opened.owns(mine, "far__new")
        assert not opened.owns(other, "far__new")
        assert text(await call(opened, mine, "run", "new")) == "this is new"
        opened.stop("run")
        mine.run = None
        await until(lambda: len(changes) == 2)
        assert not opened.owns(mine, "far__new")


async def test_a_shared_server_announces_its_changes_to_all_seats() -> None:
    entries = {"far": FAR.model_copy(update={"stateful": False})}
    async with upstreams(entries=entries) as (opened, changes):
        await call(opened, seat("one"), "a", "grow")
        assert changes == [(None, "notifications/tools/list_changed")]
        assert text(await call(opened, seat("other"), "b", "new")) == "this is new"
        await call(opened, seat("other"), "b", "shrink")
        assert len(changes) == 2
        assert not opened.owns(seat("one"), "far__new")


async def test_a_server_learns_what_its_own_client_can_be_asked_for() -> None:
    deaf, able = seat("deaf"), seat("able", sampling={})
    async with upstreams() as (opened, _):
        await opened.prepare(deaf)
        await opened.prepare(able)
        assert opened.owns(able, "far__sampled")
        assert not opened.owns(deaf, "far__sampled")
        client = Client({"result": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "much"}}})
        assert '"much"' in text(await call(opened, able, "run", "ask_model", client))
        assert client.asked[0][1]["maxTokens"] == 9
        refused = Client()
        said = text(await call(opened, deaf, "other", "ask_model", refused))
        assert "sampling/createMessage" in said
        assert refused.asked == []


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("tool", "capability", "method"),
    [
        ("ask_model", "sampling", "sampling/createMessage"),
        ("ask_person", "elicitation", "elicitation/create"),
        ("ask_roots", "roots", "roots/list"),
    ],
)
async def test_what_the_client_declines_the_server_is_told(tool: str, capability: str, method: str) -> None:
    client = Client({"error": {"code": -1, "message": "I would rather not."}})
    async with upstreams() as (opened, _):
        able: dict[str, Any] = {capability: {}}
        answer = await call(opened, seat(**able), "run", tool, client)
    assert text(answer) == "-1: I would rather not."
    assert [asked for asked, _ in client.asked] == [method]


async def test_a_shared_server_can_ask_nobody() -> None:
    entries = {"far": FAR.model_copy(update={"stateful": False})}
    client = Client()
    async with upstreams(entries=entries) as (opened, _):
        said = text(await call(opened, seat(sampling={}), "run", "ask_model", client))
    assert "sampling/createMessage" in said
    assert client.asked == []


async def test_the_clock_of_a_call_stands_still_while_the_client_is_asked() -> None:
    class Slow(Client):
        async def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
            await anyio.sleep(1.5)
            return await super().request(method, params)

    client = Slow({"result": {"action": "decline"}})
    async with upstreams() as (opened, _):
        mine = seat(elicitation={})
        await opened.prepare(mine)
        params = {"name": "far__ask_person", "arguments": {}, "_meta": {}}
        answer = await opened.call(mine, "run", "far__ask_person", params, client, 1.0)
    assert text(answer) == '{"action": "decline"}'


async def test_what_a_call_tells_goes_to_it_and_what_belongs_to_none_to_the_seat() -> None:
    mine, client = seat(), Client()
    async with upstreams() as (opened, changes):
        await opened.log_level(mine, "warning")
        await call(opened, mine, None, "log", client)
        await call(opened, mine, None, "progress", client)
        await opened.ask(mine, "resources/subscribe", {"uri": "far://one"}, None, 20)
        await call(opened, mine, None, "touch", client)
        await until(lambda: bool(changes))
        await opened.ask(mine, "resources/unsubscribe", {"uri": "far://one"}, None, 20)
        assert text(await call(opened, mine, None, "touch", client)) == "[]"
    assert [params["data"] for method, params in client.told if method == "notifications/message"] == ["warning"] * 2
    told = [params for method, params in client.told if method == "notifications/progress"]
    assert [(params["progressToken"], params["progress"]) for params in told] == [("mine", 1), ("mine", 2)]
    assert changes == [("seat", "notifications/resources/updated")]


async def test_log_messages_reach_the_client_whatever_else_is_under_way(tmp_path: Path) -> None:
    mine, client = seat(), Client()
    async with upstreams() as (opened, _):
        async with anyio.create_task_group() as tasks:
            mark = tmp_path / "mark"
            tasks.start_soon(lambda: call(opened, mine, None, "hold", client, mark=str(mark)))
            await until(mark.exists)
            await call(opened, mine, None, "log", client)
            tasks.cancel_scope.cancel()
        assert len(client.told) == 2
        await until(lambda: mark.read_text() == "cancelled")


async def test_prompts_and_resources_come_from_the_server_of_the_run_with_its_errors_as_they_are() -> None:
    mine = seat()
    mine.run = Run()
    async with upstreams(entries={"far": FAR, "twin": FAR}, prompts={"finish"}) as (opened, _):
        assert [prompt["name"] for prompt in await opened.prompts(mine)] == [
            "greet", "far__finish", "twin__greet", "twin__finish",
        ]  # fmt: skip
        assert [resource["uri"] for resource in await opened.resources(mine)] == ["far://one"]
        assert [template["uriTemplate"] for template in await opened.templates(mine)] == ["far://{name}/size"]

        async def ask(method: str, **params: Any) -> str:
            return json.dumps(await opened.ask(mine, method, params, None, 20))

        greeted = await ask("prompts/get", name="greet", arguments={"who": "you"})
        assert "greet you of" in greeted
        assert greeted != await ask("prompts/get", name="twin__greet", arguments={"who": "you"})
        assert greeted == await ask("prompts/get", name="greet", arguments={"who": "you"})
        assert "finish None" in await ask("prompts/get", name="far__finish")
        assert "far://big/size of" in await ask("resources/read", uri="far://big/size")
        ref = {"type": "ref/prompt", "name": "twin__greet"}
        assert '"greet:y"' in await ask("completion/complete", ref=ref, argument={"name": "who", "value": "y"})
        with pytest.raises(UpstreamError) as raised:
            await ask("prompts/get", name="greet")
        assert (raised.value.code, str(raised.value), raised.value.data) == (
            -32602,
            "greet whom?",
            {"missing": ["who"]},
        )
        with pytest.raises(UpstreamError) as raised:
            await ask("resources/read", uri="far://none/size")
        assert (raised.value.code, raised.value.data) == (-7, "far://none/size")
        mine.run.id = "another"
        assert greeted != await ask("prompts/get", name="greet", arguments={"who": "you"})
        mine.run.id = "run"


async def test_a_client_that_only_looks_at_lists_starts_nothing_more() -> None:
    async with upstreams() as (opened, _):
        for number in range(3):
            one = seat(str(number))
            assert await opened.prompts(one)
            assert await opened.resources(one)
            assert opened.tools(one)
        assert [servers.started for servers in opened._lifecycle.per_seat()] == [{}, {}, {}]

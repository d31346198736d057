"""The probe says of a client what the client does: played over every transport, and by clients with quirks."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import RequestParamsMeta
from typer.testing import CliRunner

from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.clients.probe import Probe
from m3bench.server.clients.probe_tools import Setup
from m3bench.server.commands.program import app
from m3bench.server.store.capability import cards, client_facts, client_line, short, words
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from tests.server.clients import probing
from tests.server.clients.probing import INFO, SEED, WORD, Script, secrets
from tests.server.conftest import SERVE, serving
from tests.server.pipes import Pipe, text

pytestmark = pytest.mark.anyio

PROBE = [*SERVE[:-1], "client", "probe"]
ERAS = ("legacy", "2026-07-28")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def probed(data: Path, era: str, profile: str | None = "full") -> AsyncIterator[Client]:
    """A client of a probe in this process, which waits less long than a real one."""
    probe = Probe(data, Setup(slow=0.05, pair=0.1, seed=str(SEED), profile=profile), "memory")
    seat = probe.open_seat()

    async def seat_of(context: Any) -> Seat:
        return seat

    with anyio.fail_after(30):
        async with probe.lifespan():
            async with Client(sdk_server(probe.front, seat_of), mode=era, client_info=INFO) as client:
                yield client


async def facts(data: Path, script: Script, era: str = "legacy") -> dict[str, Any]:
    """What the card says after a script was played: values by fact."""
    async with probed(data, era) as client:
        await script.play(client)
    (card,) = cards(data)
    return {name: fact["value"] for name, fact in card["facts"].items()}


@asynccontextmanager
async def over_stdio(arguments: list[str], era: str, command: list[str] = PROBE) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(command=command[0], args=[*command[1:], *arguments])
    with anyio.fail_after(60):
        async with Client(stdio_client(parameters), mode=era, client_info=INFO) as client:
            yield client


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("way", ["stdio-legacy", "stdio-modern", "http-session", "http-seat-modern"])
async def test_a_client_that_passes_on_everything_is_told_so_over_every_transport(way: str, tmp_path: Path) -> None:
    arguments = ["--data", str(tmp_path), "--seed", str(SEED), "--slow", "0.1", "--profile", "full"]
    script = Script()
    if way.startswith("stdio"):
        async with over_stdio(arguments, ERAS[way.endswith("modern")]) as client:
            said = await script.play(client)
    else:
        with serving(arguments, command=PROBE) as url, anyio.fail_after(60):
            address = f"{url}/mcp" if way == "http-session" else f"{url}/seat/{'s' * 32}/mcp"
            mode = "auto" if way == "http-session" else ERAS[1]
            async with Client(address, mode=mode, client_info=INFO) as client:
                said = await script.play(client)
    (card,) = cards(tmp_path)
    assert card["client"] == {"name": "scripted", "version": "1.2"}
    assert card["complete"]
    assert card["setup"]["transport"] == way.partition("-")[0]
    total = len(load_catalog().ready.tools) + 11 + 6
    expected = {
        "revision": "2026-07-28" if way.endswith("modern") else "2025-11-25",
        "tools_listed": total, "pages": 2, "tools_seen": total, "tools_reached": total,
        "overlap": "together", "overlap_others": "together", "images": True, "structured": "shown",
        "long_text": 100_000, "call_seconds": None,
        "cancellations": 0, "retries": "no", "list_changes": "no",
    }  # fmt: skip
    assert {name: card["facts"][name]["value"] for name in expected} == expected
    assert "pictures reach the model" in said


@pytest.mark.parametrize("era", ERAS)
async def test_evidence_tells_what_was_measured_from_what_was_said(era: str, tmp_path: Path) -> None:
    async with probed(tmp_path, era) as client:
        await Script().play(client)
    (card,) = cards(tmp_path)
    evidence = {name: fact["evidence"] for name, fact in card["facts"].items()}
    assert {evidence[name] for name in ("revision", "overlap", "retries", "meta", "pages")} == {"protocol"}
    assert {evidence[name] for name in ("images", "structured", "long_text", "tools_reached")} == {"checked"}
    assert evidence["tools_seen"] == "model"


async def test_a_client_that_sends_one_call_after_the_other_is_found_out(tmp_path: Path) -> None:
    # How far apart they are is up to the machine: a busy one makes a row look like turns.
    assert (await facts(tmp_path, Script(together=False)))["overlap"] in ("in a row", "apart")


async def test_a_client_that_sends_read_only_tools_together_and_others_one_by_one_is_found_out(tmp_path: Path) -> None:
    found = await facts(tmp_path, Script(together=False, reads_together=True))
    assert found["overlap"] == "together"
    assert found["overlap_others"] in ("in a row", "apart")
    (line,) = (words(short(card)) for card in cards(tmp_path))
    assert "several calls at once to read-only tools, one at a time to others" in line


@pytest.mark.parametrize(
    ("passes", "expected"),
    [
        (probing.no_pictures, {"images": False, "structured": "shown"}),
        (probing.data_in_place_of_texts, {"images": True, "structured": "replaces texts"}),
        (probing.data_in_place_of_all, {"images": True, "structured": "replaces everything"}),
        (probing.no_data, {"images": True, "structured": "ignored"}),
        (probing.first_30_kb, {"long_text": 25_000}),
        (probing.both_ends, {"long_text": 5_000}),
    ],
)
async def test_what_a_client_loses_on_the_way_is_found_out(passes: Any, expected: Any, tmp_path: Path) -> None:
    found = await facts(tmp_path, Script(passes=passes))
    assert {name: found[name] for name in expected} == expected


async def test_a_text_that_lost_its_middle_is_told_from_one_that_lost_its_end(tmp_path: Path) -> None:
    await facts(tmp_path, Script(passes=probing.both_ends))
    assert cards(tmp_path)[0]["facts"]["long_text"]["says"].endswith("5 kB come through; its middle is left out")


async def test_a_client_that_repeats_a_failing_call_is_found_out(tmp_path: Path) -> None:
    assert (await facts(tmp_path, Script(repeats=True)))["retries"] == "client"


async def test_a_client_that_reads_one_page_is_found_out(tmp_path: Path) -> None:
    found = await facts(tmp_path, Script(pages=1))
    assert (found["pages"], found["tools_reached"]) == (1, found["tools_listed"])


async def test_a_model_that_sees_a_part_of_the_tools_is_found_out(tmp_path: Path) -> None:
    found = await facts(tmp_path, Script(sees_tools=100))
    assert (found["tools_seen"], found["tools_reached"]) == (100, 80)


async def test_a_model_that_types_nothing_back_says_nothing_of_its_client(tmp_path: Path) -> None:
    found = await facts(tmp_path, Script(answers=False))
    assert not {"images", "structured", "long_text", "tools_reached"} & set(found)
    assert found["overlap"] == "together"


async def test_a_client_that_lists_again_when_told_of_changes_is_noticed(tmp_path: Path) -> None:
    assert (await facts(tmp_path, Script(lists_again=True)))["list_changes"] == "lists again"


@pytest.mark.slow
async def test_a_client_of_the_newest_revision_can_subscribe_to_changes(tmp_path: Path) -> None:
    async with over_stdio(["--data", str(tmp_path), "--slow", "0.1", "--seed", str(SEED)], ERAS[1]) as client:
        async with client.listen(tools_list_changed=True) as changes:
            script = Script(lists_again=False)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_list_on_change, client, changes)
                await script.play(client)
                tasks.cancel_scope.cancel()
    assert cards(tmp_path)[0]["facts"]["list_changes"]["value"] == "lists again"


async def _list_on_change(client: Client, changes: Any) -> None:
    async for _ in changes:
        await client.list_tools(cache_mode="bypass")


async def test_a_client_that_gives_a_slow_call_up_is_found_out(tmp_path: Path) -> None:
    pipe = Pipe(["--data", str(tmp_path), "--slow", "60"], command=PROBE)
    try:
        assert pipe.open()["result"]["capabilities"]["tools"] == {"listChanged": True}
        pipe.call(1, "probe_start", {})
        told = [pipe.read(), pipe.read()]
        assert [message.get("method") or message["id"] for message in told] == ["notifications/tools/list_changed", 1]
        pipe.send(2, "tools/call", {"name": "probe_slow", "arguments": {}, "_meta": {"progressToken": "p"}})
        progress = pipe.read()
        assert progress["params"]["progressToken"] == "p"
        pipe.send(None, "notifications/cancelled", {"requestId": 2})
        pipe.ask(3, "probe_finish", {"words": [WORD.findall(text(told[1]))[0]]})
    finally:
        pipe.close()
    found = cards(tmp_path)[0]["facts"]
    seconds = found["call_seconds"]["value"]
    assert isinstance(seconds, int | float)
    assert 1 <= seconds < 30
    assert found["cancellations"]["value"] == 1


async def test_what_a_client_adds_to_its_calls_is_noted(tmp_path: Path) -> None:
    async with probed(tmp_path, "legacy") as client:

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            pass

        await client.call_tool("probe_start", {}, progress_callback=on_progress)
        await client.call_tool(
            "probe_picture", {"wait_for_previous": True}, meta=cast("RequestParamsMeta", {"vscode.requestId": "1"})
        )
    found = cards(tmp_path)[0]["facts"]
    assert found["meta"]["value"] == ["progressToken", "vscode.requestId"]
    assert found["progress"]["value"] is True
    assert found["added_arguments"]["value"] == ["wait_for_previous"]


async def test_a_probe_that_is_broken_off_never_takes_the_place_of_a_complete_one(tmp_path: Path) -> None:
    await facts(tmp_path, Script(finishes=False))
    assert cards(tmp_path)[0]["complete"] is False
    await facts(tmp_path, Script())
    await facts(tmp_path, Script(finishes=False))
    (card,) = cards(tmp_path)
    assert card["complete"] is True


async def test_the_list_is_as_long_as_the_client_will_meet_it(tmp_path: Path) -> None:
    probe = Probe(tmp_path, Setup(), "memory")
    assert probe.client("cursor-vscode 1.0.0")[0].profile == "compact"
    assert probe.client("Visual Studio Code 1.120.0")[0].profile == "wide"
    assert probe.client("something else 1")[0].profile == "full"


async def test_tools_that_pad_the_list_say_that_they_are_not_played(tmp_path: Path) -> None:
    async with probed(tmp_path, "legacy") as client:
        result = await client.call_tool("math__add", {"firstNumber": 1, "secondNumber": 2})
        assert result.is_error
        assert "only shown" in result.content[0].text
        early = await client.call_tool("probe_picture", {})
        assert "call probe_start first" in early.content[0].text
    assert cards(tmp_path) == []


async def test_a_card_that_cannot_be_kept_is_told_and_not_lost(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "file").touch()
    async with probed(tmp_path / "file", "legacy") as client:
        said = await Script().play(client)
    assert "pictures reach the model" in said
    assert "This was not kept: " in said
    assert "choose a folder with --data" in said
    async with probed(tmp_path / "file", "legacy") as client:
        await Script(finishes=False).play(client)
    assert "choose a folder with --data" in capsys.readouterr().err


async def test_a_second_round_has_words_of_its_own(tmp_path: Path) -> None:
    async with probed(tmp_path, "legacy") as client:
        await Script().play(client)
        first = text_of(await client.call_tool("probe_start", {}))
        assert WORD.findall(first)[0] != secrets(SEED).control
        await client.call_tool("probe_picture", {})
        await client.call_tool("probe_finish", {"words": [WORD.findall(first)[0]]})
    assert cards(tmp_path)[0]["facts"]["images"]["value"] is False


def text_of(result: Any) -> str:
    return str(result.content[0].text)


async def test_cards_are_shown_in_words_and_as_json(tmp_path: Path) -> None:
    await facts(tmp_path, Script())
    shown = CliRunner().invoke(app, ["probe", "--show", "--data", str(tmp_path)])
    assert shown.exit_code == 0
    assert "scripted 1.2" in shown.stdout
    assert "pictures reach the model" in shown.stdout
    told = CliRunner().invoke(app, ["probe", "scripted", "--show", "--json", "--data", str(tmp_path)])
    assert json.loads(told.stdout) == cards(tmp_path)


async def test_the_score_card_of_a_run_names_the_client_and_what_the_probe_found(
    tmp_path: Path, task_set: Path
) -> None:
    await facts(tmp_path, Script())
    arguments = ["--tasks", str(task_set), "--data", str(tmp_path)]
    async with over_stdio(arguments, "legacy", command=SERVE) as client:
        await client.call_tool("start_task", {"task_id": "sum-1"})
        await client.call_tool("submit", {"answer": "108"})
        card = await client.call_tool("score", {})
    assert card.meta is not None
    assert card.meta["m3bench/card"]["client"] == {
        "name": "scripted 1.2",
        "revision": "2025-11-25",
        "tools": "not known",
        "capabilities": {
            "probed": "1.2", "images": True, "overlap": "together", "overlap_others": "together",
            "structured": "shown", "long_text": 100_000, "call_seconds": None,
        },
    }  # fmt: skip
    assert "Client: scripted 1.2 — sees images, several calls at once" in card.content[0].text
    path = tmp_path / "report.json"
    done = CliRunner().invoke(app, ["probe", "scripted", "--report", str(path), "--data", str(tmp_path)])
    assert done.exit_code == 0, done.output
    report = json.loads(path.read_text("utf-8"))
    assert report["client"] == {"name": "scripted", "version": "1.2", "title": None}
    assert report["probe"]["facts"] == cards(tmp_path)[0]["facts"]
    assert (report["run"]["task"], report["run"]["solved"]) == ("sum-1", True)
    assert str(tmp_path) not in path.read_text("utf-8"), "a report names no folder of its writer"


def test_without_a_probe_there_is_nothing_to_report(tmp_path: Path) -> None:
    for arguments in ([], ["cursor"]):
        path = tmp_path / "report.json"
        done = CliRunner().invoke(app, ["probe", *arguments, "--report", str(path), "--data", str(tmp_path / "none")])
        assert isinstance(done.exception, UserError)
        assert not path.exists()


async def test_the_short_form_of_a_card_is_one_line(tmp_path: Path) -> None:
    await facts(tmp_path, Script(passes=probing.no_pictures, together=False))
    found = client_facts(tmp_path, "scripted 1.2", "2025-11-25")
    assert client_line(found["name"], found["capabilities"]) == (
        "Client: scripted 1.2 — does not see images, one call at a time, texts whole to 100 kB"
    )
    other = client_facts(tmp_path, "scripted 1.3", "2025-11-25")
    assert client_line(other["name"], other["capabilities"]).endswith("texts whole to 100 kB (probed as 1.2)")
    assert client_facts(tmp_path, "unknown 1", "2025-11-25")["capabilities"] is None

"""A trial says what reached the model, and plainly when a client did not get that far."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from m3bench.server.clients.table import clients
from m3bench.server.clients.trial.conversation import BRIDGE, Called, Request
from m3bench.server.clients.trial.findings import Findings, report_lines, tools_on_the_first_turn
from m3bench.server.clients.trial.measured import measured
from m3bench.server.clients.trial.script import DONE, TrialScript, named, task_for, turns_of
from m3bench.server.clients.trial.starts import STARTS
from m3bench.server.clients.trial.trial import try_client
from m3bench.server.commands.program import app
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library

FOUND = Findings(
    client="c 1", profile="full", task="t-1", tools="loaded", tools_shown=2, tools_expected=2, picture="shown",
    card="Markdown", reading="together", writing="together", steps=(1, 2), reference=(1, 2), solved=True, average=1.0,
    best=1.0, worst=1.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def script() -> TrialScript:
    task = task_for("wide", load_catalog().ready, Library())
    return TrialScript(turns_of(task), lambda tool: f"mcp__m3bench__{tool}")


def asked(names: list[str], *calls: Called) -> Request:
    return Request(tools={name: {} for name in names}, calls=calls, texts=(), pictures=())


def test_every_client_that_is_tried_was_measured_and_can_be_installed() -> None:
    assert set(STARTS) == set(measured()) <= set(clients())


def test_the_script_plays_the_reference_with_the_names_that_the_client_shows(script: TrialScript) -> None:
    names = sorted({call.name for turn in script.turns for call in turn})
    shown = [f"mcp__m3bench.{name.replace('-', '_')}" for name in names]
    made: list[Called] = []
    for turn in script.turns:
        saying = script.answer(asked([*shown, "other__score"], *made))
        assert [call.name.partition(".")[2] for call in saying.calls] == [c.name.replace("-", "_") for c in turn]
        assert script.answer(asked([*shown, "other__score"], *made)) == saying
        made += saying.calls
    assert script.answer(asked(shown, *made)).text == DONE
    assert max(len(turn) for turn in script.turns) > 1


def test_tools_that_are_not_loaded_are_searched_for_or_called_through_the_bridge(script: TrialScript) -> None:
    (search,) = script.answer(asked(["ToolSearch"])).calls
    assert "mcp__m3bench__list_tasks" in str(search.arguments["query"])
    (bridged,) = script.answer(asked([BRIDGE, "tool_search"])).calls
    assert (bridged.name, bridged.tool) == (BRIDGE, "mcp__m3bench__list_tasks")
    assert "no tools" in script.answer(asked(["shell"])).text
    assert "no tools" in script.answer(asked(["ToolSearch"], *[Called(name="ToolSearch", arguments={})] * 9)).text
    parallel = next(turn for turn in script.turns if len(turn) > 1)
    made = [call for turn in script.turns[: script.turns.index(parallel)] for call in turn]
    assert "left some of them out" in script.answer(asked([BRIDGE], *made, parallel[0])).text


def test_a_request_for_a_summary_is_no_turn_and_the_play_goes_on_from_it(script: TrialScript) -> None:
    names = sorted({call.name for turn in script.turns for call in turn})
    title = script.answer(asked([]))
    assert not title.calls
    made = [call for turn in script.turns[:2] for call in turn]
    summary = script.answer(asked([], *made))
    assert not summary.calls
    compacted = replace(asked(names), texts=(title.text, summary.text))
    assert script.answer(compacted).calls == script.turns[2]
    (third,) = {len(turn) for turn in script.turns[2:3]}
    again = script.answer(replace(compacted, tools={}, calls=script.turns[2]))
    assert f"{len(made) + third} calls" in again.text, "summaries of what was summed up before count on"
    assert script.answer(replace(compacted, texts=(summary.text, again.text))).calls == script.turns[3]


def test_tools_count_on_the_first_turn_alone() -> None:
    late = Request(tools={"m3bench-a": {}, "m3bench-b": {}}, calls=(), texts=(), pictures=())
    title = Request(tools={}, calls=(), texts=("a title, please",), pictures=())
    first = Request(
        tools={"shell": {}, "m3bench-a": {}}, calls=(), texts=("- mcp__m3bench__b: what it does",), pictures=()
    )
    assert tools_on_the_first_turn(["a", "b"], [title, late]) == ("loaded", 2)
    assert tools_on_the_first_turn(["a", "b"], [title, first, late]) == ("by search", 2)
    assert tools_on_the_first_turn(["a", "c"], [first, late]) == ("missing", 1)
    assert tools_on_the_first_turn(["a"], [title]) == ("missing", 0)


def test_a_tool_is_known_by_any_name_that_clients_make_of_it() -> None:
    for name in ("nationalparks__findParks", "m3bench_nationalparks__findParks", "nationalparks_find_parks"):
        assert named("nationalparks__findParks", ["other", name]) == name
    assert named("score", ["restore", "scores", "scoreCard"]) is None


def test_what_is_wrong_is_said_and_a_client_that_loses_pictures_is_not_wrong() -> None:
    codex = clients()["codex"]
    assert list(report_lines(codex, FOUND))[-1] == "Everything works."
    lossy = replace(FOUND, picture="lost", writing="in a row", average=0.9, worst=0.85)
    told = "\n".join(report_lines(codex, lossy))
    assert "does not reach the model" in told
    assert "0.900, solved; 1.000 was played, the record allows 0.850 to 1.000" in told
    assert "m3bench client probe --print codex" in told
    assert told.endswith("Everything works, but the score is not certain.")
    measured_before = replace(lossy, client=measured()["codex"].client)
    assert "nothing: it is this client's way" in "\n".join(report_lines(codex, measured_before))
    assert "check again" in "\n".join(report_lines(codex, replace(FOUND, worst=0.9)))
    changes: list[dict[str, Any]] = [
        {"tools": "missing"}, {"card": "missing"}, {"solved": False}, {"average": 0.9, "best": 0.9, "worst": 0.9},
    ]  # fmt: skip
    for change in changes:
        bad = replace(FOUND, **change)
        assert len(bad.problems) == 1, change
        assert "Everything works." not in "\n".join(report_lines(codex, bad))


def test_a_client_that_is_not_there_or_has_no_command_line_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for client, says in {"codex": "not installed", "cursor": "no command line"}.items():
        done = CliRunner().invoke(app, ["install", client, "--check"])
        assert isinstance(done.exception, UserError)
        assert says in str(done.exception)
    with pytest.raises(UserError, match="use it alone"):
        CliRunner().invoke(app, ["install", "codex", "--check", "--remove"], catch_exceptions=False)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script")
def test_a_client_that_never_asks_for_our_tools_is_found_out(tmp_path: Path) -> None:
    """It looks as if all went well: the program ends with 0."""
    body = json.dumps({"model": "m", "input": "hello", "tools": [{"type": "function", "name": "shell"}]})
    program = tmp_path / "codex"
    code = f"""#!{sys.executable}
import re, sys, urllib.request
url = re.search(r'base_url="([^"]+)"', " ".join(sys.argv))[1]
urllib.request.urlopen(url + "/responses", {body.encode()!r}).read()
print("I am done.")
"""
    program.write_text(code)
    program.chmod(0o755)
    with pytest.raises(UserError, match=r"0 of \d+ tools were there on the first turn, and it ended with 0.*I am done"):
        try_client(clients()["codex"], path=str(tmp_path))

"""Cards of the first release: still readable, and the same numbers wherever they are shown.

`data/first_release.json` was written by the first release itself: four cards, and what it made of them.
"""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.live.record import LiveRecord
from m3bench.server.lab.reports.summary import set_document
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.scorecard.markdown import UNCERTAIN, markdown
from m3bench.server.scorecard.migration import card_of, read_card, upgraded
from m3bench.server.scorecard.model import Alignment
from m3bench.server.scorecard.pages.run import bounded, run_document
from m3bench.server.scoring.compare import compare
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError
from tests.server.scorecard.cards import made_card

FIRST = json.loads((Path(__file__).parent / "data" / "first_release.json").read_text("utf-8"))
RUNS: dict[str, dict[str, Any]] = FIRST["runs"]

HEADINGS = (
    "**What would have gained the most** (each mended alone)",
    "**What would have helped most** (in the order to do it; each gain is for that change alone)",
)
OPEN = (
    "Which calls belong to one step is not certain everywhere: ranges are over all readings of the log.",
    "Whether a step begins is open at {} calls: the record shows neither overlap nor data flow there. "
    "The ranges cover all readings.",
)
"""What reads otherwise now; besides, the headline says which metric it is, and a tick is for what is the same. What was
handed in comes first now, and a value that the record does not tell is shown as its range alone."""


def record(name: str, **fields: Any) -> RunRecord:
    given: dict[str, Any] = {
        "id": name, "seat": "s", "task": RUNS[name]["card"]["task"], "state": "scored", "mode": "practice",
        "started": f"2026-01-01T00:00:0{list(RUNS).index(name)}+00:00", "ended": None, "answer": "", "seal": None,
        "manifest": {"profile": "full"}, "scorecard": RUNS[name]["card"], **fields,
    }  # fmt: skip
    return RunRecord(**given)


@pytest.mark.parametrize("name", RUNS)
def test_the_text_in_the_chat_is_the_same(name: str) -> None:
    *before, last = RUNS[name]["markdown"]
    card = read_card(RUNS[name]["card"])
    text = markdown(card, last.split()[-3])
    expected = "\n".join([*before, last]).replace(*HEADINGS).replace(*OPEN).replace("{}", str(card.open))
    expected = re.sub(r"(?m)^(\*\*average .*?\*\*) · (.*)$", r"\2 · \1 · by the paper's metric", expected)
    expected = expected.replace("**Checks**", "**What was handed in**").replace("| ≈ 0.", "| ✓ 0.")
    expected = re.sub(r"(?m)^- ([✓✗]) (.*?)( — .*)?$", r"- \1 **\2**\3", expected)
    wide = r"(?m)^\| ([a-z ]+) \| `.*` \| \d\.\d+ \((\d\.\d\d–\d\.\d\d)\) .*$"
    uncertain = {name for name in card.metrics if card.range_of(name)[1] - card.range_of(name)[0] > UNCERTAIN}
    expected = re.sub(wide, lambda row: row[2] if row[1].replace(" ", "_") in uncertain else row[0], expected)
    told = re.sub(r"(?m)^.*\| (\S+) \| .*; the record does not tell \|$", r"\1", text.replace("| ≈ 0.", "| ✓ 0."))
    assert sorted(_advice(told)) == sorted(_advice(expected))
    assert not re.search(r"✓ 0\.", text)


def _advice(text: str) -> list[str]:
    """The lines of a card, without the numbers of its advice."""
    return [re.sub(r"^\d\. ", "", line) for line in text.split("\n")]


@pytest.mark.parametrize("name", RUNS)
def test_the_page_of_a_run_shows_the_same(name: str) -> None:
    document = run_document(record(name), [], None)
    before = upgraded(RUNS[name]["card"])
    assert document["card"] == bounded(read_card(RUNS[name]["card"])) == {**before, "first_fault": ""}
    assert document["client_can"] == RUNS[name]["client_can"]


@pytest.mark.parametrize("name", RUNS)
def test_the_row_for_aggregation_is_the_same(name: str) -> None:
    row = asdict(read_card(RUNS[name]["card"]).row)
    assert row.pop("profile") == "m3"
    assert {key: value for key, value in row.items() if key not in ("id", "task")} == RUNS[name]["row"]
    assert read_card(RUNS[name]["card"]).paper_average == row["metrics"]["average"]


def test_two_runs_compare_as_they_did() -> None:
    one, other = (replace(read_card(RUNS[name]["card"]).row, id="t") for name in ("ranges", "exclusions"))
    found = [[change.metric, change.difference] for change in compare([one], [other]).changes]
    assert found == FIRST["set"]["compare"]


def test_a_set_of_old_runs_has_the_numbers_it_had(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    for name in RUNS:
        store.add_run(record(name))
    store.close()
    document = json.loads(json.dumps(set_document(read_resultset(tmp_path)).to_json()))
    expected = {key: value for key, value in FIRST["set"].items() if key != "compare"}
    paper = document["summary"].pop("paper"), document["summary"].pop("profile")
    assert paper == (expected["summary"]["metrics"]["average"], "m3")
    # Intervals are made in another way now: by clusters, and with all repeats.
    kept = expected["summary"].keys() - {"intervals", "success_interval"}
    for summary in (expected, document):
        summary["summary"] = {key: summary["summary"][key] for key in kept}
    assert {key: document[key] for key in expected} == expected
    live = LiveRecord(RecordLocation(tmp_path), lambda mode: True)
    try:
        assert live.standings()[0].average == expected["summary"]["metrics"]["average"]
    finally:
        live.close()


def test_an_old_card_keeps_its_numbers_though_a_new_one_would_be_void() -> None:
    assert read_card(RUNS["exclusions"]["card"]).void is None


def test_improvements_are_computed_where_an_old_card_has_none() -> None:
    old = {name: value for name, value in RUNS["ranges"]["card"].items() if name != "gains"}
    computed, kept = read_card(old), read_card(RUNS["ranges"]["card"])
    assert computed.model_copy(update={"improvements": ()}) == kept.model_copy(update={"improvements": ()})
    # What is kept has the words of its release.
    assert [(found.kind, found.reference, found.actual) for found in computed.improvements] == [
        (found.kind, found.reference, found.actual) for found in kept.improvements
    ]
    # From Python 3.12 on `sum` rounds once, and may differ from what was kept in the last digit.
    assert [found.gain for found in computed.improvements] == pytest.approx([found.gain for found in kept.improvements])


def test_a_card_of_today_is_left_as_it_is() -> None:
    assert upgraded(made_card().to_json()) == made_card().to_json()


@pytest.mark.parametrize("name", RUNS)
def test_a_card_of_the_second_form_keeps_its_headline(name: str) -> None:
    """The paper's metric was its headline, and what it is by effect stood beside it."""
    new: dict[str, Any] = dict(upgraded(RUNS[name]["card"]))
    alignment = {key: value for key, value in new["alignment"].items() if key in Alignment.model_fields}
    old_fields = {"schema": 2, "effect": {"metrics": {"average": 0.5}, "answered": []}, "alignment": alignment}
    second: dict[str, Any] = {
        key: value for key, value in new.items() if key not in ("scoring_profile", "paper")
    } | old_fields
    card = read_card(second)
    assert card == read_card(RUNS[name]["card"])
    assert (card.scoring_profile, card.paper) == ("m3", None)


@pytest.mark.parametrize(
    ("change", "advice"),
    [({"schema": 4}, "newer m3bench"), ({"schema": "x"}, "newer m3bench"), ({"metrics": 1}, "score the run again")],
)
def test_what_cannot_be_read_says_which_run_it_is_and_what_to_do(change: dict[str, Any], advice: str) -> None:
    run = record("perfect", scorecard={**made_card().to_json(), **change})
    with pytest.raises(StoreError, match=rf"Run perfect: the score card .*{advice}"):
        card_of(run)


def test_a_run_that_was_not_scored_has_no_card() -> None:
    assert card_of(record("idle", scorecard=None)) is None

"""The score card in a chat: bounded, whole under hostile texts, and right about what each fault cost."""

import re
from typing import Any

import pytest

from m3bench.server.scorecard.markdown import calls_markdown, markdown
from m3bench.server.scorecard.model import CheckResult, Client, ScoreCard
from tests.server.scorecard.cards import Steps, scored_card

HOSTILE = "`a` | b \\| **c** <b>d</b> [e](javascript:f) ![g](h)\n\n# i\n| j |\x1b[31m\u202e \u2028 k \\"

REFERENCE: Steps = [
    [("a/one", {"x": "red apples in autumn"}), ("a/two", {"x": "green"})],
    [("a/three", {"x": 3})],
    [("a/four", {"x": "four"})],
]

FAULTS: dict[str, Steps] = {
    "missed": [REFERENCE[0], REFERENCE[1]],
    "extra": [REFERENCE[0], [*REFERENCE[1], ("b/other", {}), ("b/other", {"x": 1})], REFERENCE[2]],
    "arguments": [[("a/one", {"x": "red apples in winter"}), REFERENCE[0][1]], REFERENCE[1], REFERENCE[2]],
    "apart": [[REFERENCE[0][0]], [REFERENCE[0][1]], REFERENCE[1], REFERENCE[2]],
    "mixed": [REFERENCE[0], [*REFERENCE[1], *REFERENCE[2]]],
    "order": [REFERENCE[0], REFERENCE[2], REFERENCE[1]],
    "unlike": [REFERENCE[0], REFERENCE[1], [("a/four", {"zzz": "quantum entanglement of mesons"})]],
}
"""A run with one fault, by the name of the fault; corrected, each of them is the reference."""


def card_of(steps: Steps, reference: Steps = REFERENCE, **fields: Any) -> ScoreCard:
    """A score card as `score_run` makes it, without a run around it."""
    return scored_card(steps, reference, **fields)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_one_fault_of_a_run_is_what_costs_it_everything(fault: str) -> None:
    card = card_of(FAULTS[fault])
    assert card.average is not None
    assert card.average < 0.999
    best = card.improvements[0]
    assert best.kind == fault
    assert best.average == pytest.approx(1.0)
    assert best.gain == pytest.approx(1.0 - card.average)


def test_a_perfect_run_has_nothing_to_improve() -> None:
    assert card_of(REFERENCE).improvements == ()
    assert "helped" not in markdown(card_of(REFERENCE))


@pytest.mark.slow
def test_a_gain_is_what_scoring_the_corrected_run_gives() -> None:
    """Three faults at once: each gain equals the score of the run with that fault alone corrected."""
    sloppy: Steps = [
        [("a/one", {"x": "red apples in winter"}), REFERENCE[0][1], ("b/other", {})],
        REFERENCE[1],
    ]
    corrected: dict[str, Steps] = {
        "arguments": [[REFERENCE[0][0], *sloppy[0][1:]], REFERENCE[1]],
        "extra": [sloppy[0][:2], REFERENCE[1]],
        "missed": [*sloppy, REFERENCE[2]],
    }
    found = {one.kind: one.average for one in card_of(sloppy).improvements}
    assert found == {kind: pytest.approx(card_of(steps).average) for kind, steps in corrected.items()}


def test_an_idle_run_is_told_what_to_do_first() -> None:
    card = card_of([])
    assert card.improvements[0].kind == "missed"
    assert "is missing" in card.improvements[0].text
    assert "No call was made." in markdown(card)


def test_a_failed_call_that_stands_in_for_the_reference_is_named() -> None:
    best = card_of(FAULTS["unlike"], outcome="not_found").improvements[0]
    assert best.kind == "failed"
    assert "a/four in step 3 failed" in best.text


def rows(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("|")]


def cells(line: str) -> int:
    """How many cells a row has, as GitHub's Markdown splits it."""
    return len(re.sub(r"\\.", "", line).strip("|").split("|"))


def test_hostile_texts_break_neither_table_nor_text() -> None:
    steps: Steps = [[(HOSTILE, {HOSTILE: HOSTILE}), ("a/one", {"x": HOSTILE, HOSTILE: 1})]]
    checks = (CheckResult(check=HOSTILE, passed=False, reason=HOSTILE),)
    reference: Steps = [[("a/one", {"x": "plain"})], [("a/two", {})]]
    card = card_of(steps, reference, task=HOSTILE, client=Client(name=HOSTILE), checks=checks)
    text = markdown(card, "f" * 40)
    assert {cells(line) for line in rows(text)} == {4}
    assert [line for line in text.split("\n") if line.startswith("#")] == [text.split("\n")[0]]
    outside = re.sub(r"\\.", "", re.sub(r"`[^`]*`", "", text))
    assert not re.search(r"<\w|\]\(|[\x00-\x09\x0b-\x1f\u202e\u2028]", outside)
    assert text.count("\n") < 45


def test_a_card_stays_short_whatever_the_run_did() -> None:
    steps: Steps = [[("b/other", {"x": number, "text": "long " * 2000}) for number in range(10)]] * 20
    checks = (CheckResult(check="x" * 5000, passed=False, reason="y" * 5000),) * 50
    card = card_of([*REFERENCE, *steps], checks=checks)
    text = markdown(card)
    assert len(text) < 20_000
    assert "… 192 more calls that were not needed" in text
    assert "… 35 more checks" in text
    assert "200 calls were not needed" in text


def test_the_text_names_differences_and_how_to_see_more() -> None:
    card = card_of(FAULTS["arguments"])
    text = markdown(card, "0123456789abcdef")
    assert "step 1: `x=red apples in winter`" in calls_markdown(card)
    assert "step 2: the same" in text
    assert text.endswith("`m3bench report 0123456789ab -o card.html`")


def test_open_steps_show_as_a_range() -> None:
    card = card_of(FAULTS["apart"])
    value = card.metrics["step_coherence"] or 0.0
    open_card = card.model_copy(update={"ranges": {"step_coherence": (value, 1.0)}, "open": 1})
    line = next(line for line in rows(markdown(open_card)) if "step coherence" in line)
    assert "▒" in line
    assert f"({value:.2f}–1.00)" in line

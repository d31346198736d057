"""The score card in a chat: bounded, whole under hostile texts, and right about what each fault cost."""

import re
from typing import Any

import pytest

from m3bench.server.scorecard.costs import gains
from m3bench.server.scorecard.markdown import calls_markdown, markdown
from m3bench.server.scoring import Scorecard, open_encoder, score
from m3bench.tasks.trajectory import Call, Step, Trajectory

HOSTILE = "`a` | b \\| **c** <b>d</b> [e](javascript:f) ![g](h)\n\n# i\n| j |\x1b[31m\u202e \u2028 k \\"

Steps = list[list[tuple[str, dict[str, Any]]]]

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
"""A run with one fault, by the name of the fault; mended, each of them is the reference."""


def trajectory(steps: Steps) -> Trajectory:
    return Trajectory(
        steps=tuple(Step(calls=tuple(Call(tool=tool, arguments=given) for tool, given in step)) for step in steps)
    )


def card_of(steps: Steps, reference: Steps = REFERENCE) -> dict[str, Any]:
    """A score card as `score_run` makes it, without a run around it."""
    best: Scorecard = score(trajectory(steps), [trajectory(reference)], encoder=open_encoder())
    shown = [[{"tool": tool, "arguments": given, "outcome": "success"} for tool, given in step] for step in steps]
    return {
        "task": "made-1",
        "family": "made",
        "metrics": dict(best.metrics),
        "ranges": {},
        "success": None,
        "checks": [],
        "outcomes": {"success": sum(map(len, steps))},
        "excluded": {},
        "reference": {"index": 0, "of": 1},
        "alignment": {
            "reference_steps": [[{"tool": tool, "arguments": given} for tool, given in step] for step in reference],
            "actual_steps": shown,
            "matches": [
                {
                    "reference": match.reference.index,
                    "actual": match.actual.index,
                    "similarity": match.similarity,
                    "strong": match.strong,
                    "differences": [difference.to_json() for difference in match.differences],
                }
                for match in best.matches
            ],
            "missed": [placed.index for placed in best.missed],
            "extra": [placed.index for placed in best.extra],
        },
    }


@pytest.mark.parametrize("fault", FAULTS)
def test_the_one_fault_of_a_run_is_what_it_would_gain_everything_by(fault: str) -> None:
    card = card_of(FAULTS[fault])
    assert card["metrics"]["average"] < 0.999
    best = gains(card)[0]
    assert best["kind"] == fault
    assert best["average"] == pytest.approx(1.0)
    assert best["gain"] == pytest.approx(1.0 - card["metrics"]["average"])


def test_a_perfect_run_has_nothing_to_gain() -> None:
    assert gains(card_of(REFERENCE)) == []
    assert "gained" not in markdown(card_of(REFERENCE))


def test_a_gain_is_what_scoring_the_mended_run_gives() -> None:
    """Three faults at once: each gain equals the score of the run with that fault alone mended."""
    sloppy: Steps = [
        [("a/one", {"x": "red apples in winter"}), REFERENCE[0][1], ("b/other", {})],
        REFERENCE[1],
    ]
    mended: dict[str, Steps] = {
        "arguments": [[REFERENCE[0][0], *sloppy[0][1:]], REFERENCE[1]],
        "extra": [sloppy[0][:2], REFERENCE[1]],
        "missed": [*sloppy, REFERENCE[2]],
    }
    found = {gain["kind"]: gain["average"] for gain in gains(card_of(sloppy))}
    assert found == {kind: pytest.approx(card_of(steps)["metrics"]["average"]) for kind, steps in mended.items()}


def test_an_idle_run_is_told_what_to_do_first() -> None:
    (first, *_) = gains(card_of([]))
    assert first["kind"] == "missed"
    assert "is missing" in first["text"]
    assert "No call was made." in markdown(card_of([]) | {"outcomes": {}})


def test_a_failed_call_that_stands_in_for_the_reference_is_named() -> None:
    card = card_of(FAULTS["unlike"])
    card["alignment"]["actual_steps"][2][0]["outcome"] = "not_found"
    assert gains(card)[0]["kind"] == "failed"
    assert "a/four in step 3 failed" in gains(card)[0]["text"]


def rows(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("|")]


def cells(line: str) -> int:
    """How many cells a row has, as GitHub's Markdown splits it."""
    return len(re.sub(r"\\.", "", line).strip("|").split("|"))


def test_hostile_texts_break_neither_table_nor_text() -> None:
    steps: Steps = [[(HOSTILE, {HOSTILE: HOSTILE}), ("a/one", {"x": HOSTILE, HOSTILE: 1})]]
    card = card_of(steps, [[("a/one", {"x": "plain"})], [("a/two", {})]])
    card |= {"task": HOSTILE, "gains": gains(card), "client": {"name": HOSTILE}}
    card["checks"] = [{"check": HOSTILE, "passed": False, "reason": HOSTILE}]
    text = markdown(card, "f" * 40)
    assert {cells(line) for line in rows(text)} == {4}
    assert [line for line in text.split("\n") if line.startswith("#")] == [text.split("\n")[0]]
    outside = re.sub(r"\\.", "", re.sub(r"`[^`]*`", "", text))
    assert not re.search(r"<\w|\]\(|[\x00-\x09\x0b-\x1f\u202e\u2028]", outside)
    assert text.count("\n") < 45


def test_a_card_stays_short_whatever_the_run_did() -> None:
    steps: Steps = [[("b/other", {"x": number, "text": "long " * 2000}) for number in range(10)]] * 20
    card = card_of([*REFERENCE, *steps])
    card["checks"] = [{"check": "x" * 5000, "passed": False, "reason": "y" * 5000}] * 50
    text = markdown(card)
    assert len(text) < 20_000
    assert "… 192 more calls that were not needed" in text
    assert "… 35 more checks" in text
    assert "200 calls answer nothing in the reference" in text


def test_the_text_names_differences_and_how_to_see_more() -> None:
    card = card_of(FAULTS["arguments"])
    text = markdown(card, "0123456789abcdef")
    assert "step 1: `x=red apples in winter`" in calls_markdown(card)
    assert "step 2: the same" in text
    assert text.endswith("`m3bench report 0123456789ab -o card.html`")


def test_open_steps_show_as_a_range() -> None:
    card = card_of(FAULTS["apart"])
    value = card["metrics"]["step_coherence"]
    card |= {"ranges": {"step_coherence": [value, 1.0]}, "open": 1}
    line = next(line for line in rows(markdown(card)) if "step coherence" in line)
    assert "▒" in line
    assert f"({value:.2f}–1.00)" in line

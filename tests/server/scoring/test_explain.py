"""Scored trajectories in words."""

import json
from dataclasses import replace

import pytest

from m3bench.server.scoring import ScorableRun, score, score_many
from m3bench.server.scoring.explain import explain
from m3bench.server.scoring.profiles import M3, OPEN_M3_BENCH, PROFILES, Profile
from m3bench.server.scoring.reasons import reason
from m3bench.server.scoring.words import printable, value
from m3bench.tasks.trajectory import Trajectory
from tests.server.scoring.conftest import TrigramEncoder, call, trajectory

REFERENCE = trajectory(
    [call("wiki/search", query="barn owl nesting habits", n=5), call("wiki/summary", title="Owl")],
    [call("math/sum", numbers=[1, 2])],
    [],
)
ACTUAL = trajectory(
    [call("wiki/summary", title="Owl")],
    [call("wiki/search", query="barn owl nesting sites", lang="en"), call("amazon/get_product", asin="B0")],
)


def lines(profile: Profile = M3) -> list[str]:
    card = score(ACTUAL, [REFERENCE], encoder=TrigramEncoder(), profile=profile)
    return [line.text for line in explain(card, "owls", "museum")]


def test_the_alignment_is_told_step_by_step() -> None:
    assert lines()[:14] == [
        "owls  (museum)  profile m3",
        "Step 1",
        "  ≈ wiki/search         in step 2   0.890 strong",
        '      ~ query: "barn owl nesting habits" → "barn owl nesting sites"',
        "      - n is missing: 5",
        '      + lang is extra: "en"',
        "  ✓ wiki/summary        in step 1   1.000 equal",
        "Step 2",
        "  ✗ math/sum            missed",
        "      numbers=[1, 2]",
        "Step 3  (empty)",
        "Extra calls",
        "  + amazon/get_product  in step 2",
        '      asin="B0"',
    ]


def test_every_number_has_a_reason() -> None:
    text = "\n".join(lines())
    assert "recall                      0.667  2 of 3 reference calls matched" in text
    assert "precision                   0.667  2 of 3 actual calls matched" in text
    assert "reference step 1 is spread over actual steps 1 and 2: 0.500 × recall 0.667" in text
    assert "nothing to put in order: 1.000 × recall 0.667" in text
    assert "no actual step mixes reference steps: 1.000 × recall 0.667" in text


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_reasons_hold_for_every_metric_and_degenerate_run(profile: Profile) -> None:
    runs = [Trajectory(), ACTUAL, REFERENCE]
    attempts = [ScorableRun(actual=one, references=[other]) for one in runs for other in runs]
    for card in score_many(attempts, encoder=TrigramEncoder(), profile=profile):
        for name in card.metrics:
            assert reason(card, name)


def test_a_metric_nobody_explains_has_no_reason() -> None:
    card = score(ACTUAL, [REFERENCE], encoder=TrigramEncoder())
    assert reason(card, "luck") == ""


def test_the_public_profile_tells_its_own_factors() -> None:
    assert any("times the share of cross-step pairs matched" in line for line in lines(OPEN_M3_BENCH))


def test_the_best_reference_and_failed_metrics_are_named(encoder: TrigramEncoder) -> None:
    def broken(_: object) -> float:
        raise RuntimeError("out of luck")

    profile = replace(M3, metrics={**M3.metrics, "luck": broken})
    card = score(ACTUAL, [REFERENCE, ACTUAL], encoder=encoder, profile=profile)
    text = "\n".join(line.text for line in explain(card, "owls"))
    assert "Reference 2 of 2 fits best." in text
    assert "failed: RuntimeError: out of luck" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("Ωλ 日本 🦉", "Ωλ 日本 🦉"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\nb\u2028c", "a\\x0ab\\u2028c"),
        ("\u202eevil\ud800", "\\u202eevil\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_nothing_a_terminal_acts_upon_is_printed(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_values_are_cut_to_a_line() -> None:
    assert value({"a": [1, "x\x9by"]}) == '{"a": [1, "x\\x9by"]}'
    long = value("x" * 1000)
    assert len(long) == 60
    assert long.endswith("…")
    assert json.loads(value([1.5, None, True])) == [1.5, None, True]

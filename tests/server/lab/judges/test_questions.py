"""The questions: scales, forms and the orders of the rubric."""

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from m3bench.server.lab.judges.questions import (
    CRITERIA,
    LOOKS,
    M3_COMPLETION,
    M3_GROUNDING,
    MODES,
    NAMES,
    OURS,
    SCORE,
    SHUFFLES,
    JudgeQuestion,
    orders,
    questions_of,
    shuffles,
)

SEEDS = ["sum-1", "survey-1", "", "ünï", *map(str, range(20))]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_orders_of_the_rubric_put_each_criterion_into_five_places(seed: str) -> None:
    found = orders(seed)
    assert len(found) == SHUFFLES
    assert all(sorted(order) == sorted(CRITERIA) for order in found)
    for name in CRITERIA:
        assert len({order.index(name) for order in found}) == SHUFFLES


@pytest.mark.parametrize("seed", SEEDS)
def test_no_criterion_is_read_twice_after_the_same_one(seed: str) -> None:
    following = [pair for order in orders(seed) for pair in pairwise(order)]
    assert len(set(following)) == len(following)


def test_the_same_seed_gives_the_same_orders_and_another_one_others() -> None:
    assert orders("sum-1") == orders("sum-1")
    assert len({orders(str(seed)) for seed in range(50)}) > 40
    firsts = {order[0] for seed in range(50) for order in orders(str(seed))}
    assert firsts == set(CRITERIA)


def test_the_orders_of_a_task_stay_what_they_were() -> None:
    assert orders("barcode_lookup-1")[0] == (
        "parameter_accuracy", "dependency_awareness", "grounding", "parallelism", "tool_appropriateness", "fulfilment",
    )  # fmt: skip


def test_the_rubric_is_asked_five_times_and_the_others_once() -> None:
    found = questions_of(OURS, "sum-1")
    assert [(ask.name, ask.shuffle) for ask in found] == [
        ("completion", None), ("grounding", None), *(("rubric", shuffle) for shuffle in range(5)),
    ]  # fmt: skip
    assert [tuple(ask.criteria) for ask in found[2:]] == list(orders("sum-1"))
    assert [ask.name for ask in questions_of(["grounding"], "sum-1")] == ["grounding"]


def test_each_question_of_a_paper_shows_what_the_paper_shows() -> None:
    found = {ask.name: ask for ask in questions_of(NAMES, "sum-1")}
    assert {name: found[name].shows for name in NAMES if name not in OURS} == {
        "m3-completion": (), "m3-grounding": ("reference",),
        "mcp-bench": ("wording", "dependencies", "execution", "tools"),
        "equivalence": ("truth",), "artefact": ("wording",),
    }  # fmt: skip
    assert [name for name in NAMES if found[name].answer_only] == ["equivalence"]
    assert [name for name in NAMES if found[name].looks] == ["artefact"]
    assert sorted(name for names in MODES.values() for name in names) == sorted(NAMES)
    assert [ask.shuffle for ask in questions_of(["mcp-bench"], "sum-1")] == [0, 1, 2, 3, 4]


def test_each_criterion_of_an_artefact_stands_in_each_place_once() -> None:
    found = questions_of(["artefact"], "sum-1")
    assert [ask.shuffle for ask in found] == list(shuffles("artefact")) == [0, 1, 2, 3]
    for name in LOOKS:
        assert sorted(list(ask.criteria).index(name) for ask in found) == [0, 1, 2, 3]


def test_scales_are_the_published_ones() -> None:
    assert {ask.name: (ask.low, ask.high) for ask in questions_of(NAMES, "")} == {
        "completion": (0, 10), "grounding": (0, 1), "rubric": (1, 10), "m3-completion": (0, 10), "m3-grounding": (0, 1),
        "mcp-bench": (1, 10), "equivalence": (0, 1), "artefact": (0, 10),
    }  # fmt: skip


def test_the_parts_of_m3_benchs_completion_are_worth_what_the_public_rubric_gives_them() -> None:
    # Planning up to 3, process up to 3, final result up to 4: ten together.
    text = M3_COMPLETION.criteria[SCORE]
    assert [tuple(map(int, part)) for part in re.findall(r"(\d) to (\d)", text)] == [(0, 3), (0, 3), (0, 4)]
    assert M3_COMPLETION.shows == (), "no reference, as the public judge sees none"
    assert "costs nothing" in M3_GROUNDING.criteria[SCORE], "steps beyond the reference are not punished"
    assert M3_GROUNDING.shows == ("reference",)


@pytest.mark.parametrize("ask", questions_of(NAMES, "sum-1"), ids=lambda ask: f"{ask.name}-{ask.shuffle}")
def test_form_and_schema_of_an_answer_say_the_same(ask: JudgeQuestion) -> None:
    shown = json.loads(re.sub(r"<(?:number|0)[^>]*>", "1", ask.form))
    schema: dict[str, Any] = dict(ask.schema)
    assert list(shown) == list(schema["properties"]) == schema["required"]
    assert ask.schema["additionalProperties"] is False

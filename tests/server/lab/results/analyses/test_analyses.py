"""Why runs failed, which tools were mistaken, what broke: each on cards that are made so."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import pytest

from m3bench.server.lab.reports.slices import CUTS, efficiency, slices
from m3bench.server.lab.results.analyses.confusion import NONE, ArgumentError, ToolPair, argument_errors, confusion
from m3bench.server.lab.results.analyses.failures import CLASSES, FailureClass, class_of, classes, in_words
from m3bench.server.lab.results.analyses.regressions import lost, turned
from m3bench.server.lab.results.resultset import Result, ResultSet, Sample
from m3bench.tasks.fault import RULES
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.task import Reference, ReferenceCall, Task, TaskSet
from tests.server.lab.reports.made_sets import made_set
from tests.server.scorecard.cards import made_card

ROOT = Path(__file__).parents[5]


def call(tool: str, outcome: str = "success", **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments, "outcome": outcome}


def reference(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def result(*, answer: str = "an answer", fault: str = "client", **card: Any) -> Result:
    base = made_set("made", 1).results[0]
    given = {"success": False, "outcomes": {"success": 1}, "excluded": {}, **card}
    return replace(
        base,
        card=made_card(task=base.sample.task, family=base.card.family, metrics={"average": 0.5}, **given),
        run=replace(base.run, answer=answer),
        sample=base.sample.model_copy(update={"fault": fault}),
    )


def aligned(wanted: list[dict[str, Any]], made: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    parts = {"matches": [], "missed": [], "extra": []} | more
    return {"reference_steps": [wanted], "actual_steps": [made], **parts}


GEOCODE = reference("google-maps/geocode", address="Rome")
MISSED = aligned([GEOCODE], [], missed=[0])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"success": True, "fault": "limit"}, "solved"),
        ({"success": None}, "unchecked"),
        ({"fault": "limit", "answer": ""}, "limit"),
        ({"alignment": MISSED, "excluded": {"world": 1}}, "world"),
        ({"alignment": aligned([], []), "excluded": {"world": 1}}, "wrong answer"),
        ({"alignment": MISSED, "answer": " \n"}, "no answer"),
        ({"alignment": MISSED, "outcomes": {}}, "no calls"),
        (
            {"alignment": aligned([GEOCODE], [call(GEOCODE["tool"], "invalid_arguments")], missed=[0], extra=[0])},
            "failed calls",
        ),
        (
            {
                "alignment": aligned(
                    [GEOCODE], [call("google-maps/geocode", address="Oslo")], missed=[0], extra=[0],
                    instead=[{"reference": 0, "actual": 0, "note": "Oslo"}],
                )
            },
            "other arguments",
        ),
        ({"alignment": MISSED}, "missing calls"),
        ({"alignment": aligned([], [])}, "wrong answer"),
    ],
)  # fmt: skip
def test_a_run_is_in_the_first_class_that_fits(given: dict[str, Any], expected: FailureClass) -> None:
    found = result(**given)
    assert class_of(found) == expected
    assert bool(in_words(found)) == (CLASSES[expected][0] is not None)


def test_every_sample_is_in_one_class_and_voids_are_charged_as_the_fault_table_has_it() -> None:
    played = made_set("made", 20, skill=0.7)
    voids = tuple(
        Sample(task="x-1", repeat=number, state="void", fault=fault, reason="it broke")
        for number, fault in enumerate(RULES, 1)
        if RULES[fault].voids
    )
    found = classes(replace(played, void=voids))
    assert sum(found.values()) == len(played.results) + len(voids)
    for fault, rule in RULES.items():
        assert found.get(f"void: {fault}", 0) == (1 if rule.voids else 0)  # type: ignore[call-overload]
    for charged, _ in CLASSES.values():
        assert charged is None or charged in RULES
    assert set(CLASSES) == set(get_args(FailureClass))


def test_the_page_on_scoring_lists_the_classes_as_they_are() -> None:
    text = (ROOT / "docs" / "scoring.md").read_text("utf-8").split("### Why a run failed")[1]
    rows = re.findall(r"^\| `([^`]+)` \| (?:`(\w+)`)? ?\| (.+) \|$", text.split("\n\nWhat has")[0], re.MULTILINE)
    assert rows == [(name, charged or "", words) for name, (charged, words) in CLASSES.items()]


def test_wanted_and_called_tools_are_counted_against_each_other() -> None:
    alignment = aligned(
        [GEOCODE, reference("wiki/search", query="a"), reference("math/sum", numbers=[1]), reference("wiki/summary")],
        [call("google-maps/geocode", address="Rome"), call("wiki/search", query="b"), call("wiki/links"),
         call("pyzbar-mcp/scan"), call("math/mean")],
        matches=[{"reference": 0, "actual": 0, "similarity": 1.0, "strong": True, "differences": []}],
        missed=[1, 2, 3], extra=[1, 2, 3, 4], instead=[{"reference": 1, "actual": 1, "note": "b"}],
    )  # fmt: skip
    assert confusion([result(alignment=alignment)] * 2) == {
        ToolPair(wanted=NONE, called="pyzbar-mcp/scan", answered=False): 2,
        ToolPair(wanted="google-maps/geocode", called="google-maps/geocode", answered=True): 2,
        ToolPair(wanted="math/sum", called="math/mean", answered=False): 2,
        ToolPair(wanted="wiki/search", called="wiki/search", answered=False): 2,
        ToolPair(wanted="wiki/summary", called="wiki/links", answered=False): 2,
    }


def test_argument_errors_are_counted_by_what_is_wrong_and_what_the_argument_is() -> None:
    alignment = aligned(
        [reference("amazon/search_products", keywords="tea", n=1), reference("amazon/get_product", asin="B1")],
        [call("amazon/search_products", keywords="coffee", n=3), call("amazon/get_product", "invalid_arguments"),
         call("amazon/nothing", "unknown_tool")],
        missed=[0, 1], extra=[0, 1, 2],
        instead=[{"reference": 0, "actual": 0, "note": ""}, {"reference": 1, "actual": 1, "note": ""}],
    )  # fmt: skip
    assert argument_errors([result(alignment=alignment)]) == {
        ArgumentError(error="changed", kind="text"): 1,
        ArgumentError(error="refused", kind=""): 1,
        ArgumentError(error="unknown tool", kind=""): 1,
    }


def test_what_a_solved_task_takes_is_not_made_up_where_nothing_was_solved_or_no_price_is_known() -> None:
    played = made_set("made", 40, skill=0.8)
    found = efficiency(played.results)
    solved = sum(bool(one.card.success) for one in played.results)
    assert found.tokens_per_solved == 40 * 110 / solved
    assert found.cost_per_solved == pytest.approx(40 * 0.01 / solved)
    none = efficiency([one for one in played.results if not one.card.success])
    assert none.tokens_per_solved is None
    unpriced = played.results[0].sample
    free = unpriced.model_copy(update={"usage": unpriced.usage.model_copy(update={"cost": None})})
    assert efficiency([replace(played.results[0], sample=free), *played.results[1:]]).cost_per_solved is None


def test_slices_are_in_order_of_difficulty_and_what_is_not_known_comes_last() -> None:
    played = made_set("made", 4)
    names = [one.sample.task for one in played.results]
    tasks = [task(name, grade, calls) for name, grade, calls in zip(names, GRADES, (6, 2, 3), strict=False)]
    known = MadeLibrary(TaskSet(schema=2, name="made", version="1", tasks=tuple(tasks)), {})
    found = slices(played.results, known)
    assert {name: part.runs for name, part in found["difficulty"].items()} == {"easy": 2, "hard": 1, "unknown": 1}
    assert list(found["difficulty"]) == ["easy", "hard", "unknown"]
    assert {name: part.runs for name, part in found["level"].items()} == {"L1": 1, "L2": 1, "L3": 1, "unknown": 1}
    assert {name: part.runs for name, part in found["setting"].items()} == {"single": 3, "unknown": 1}
    assert found["level"]["L1"].metrics == slices(played.results[1:2], known)["level"]["L1"].metrics
    assert set(found) == {*CUTS, "client"}
    assert {name: part.runs for name, part in found["role"].items()} == {"nurse": 3, "unknown": 1}
    assert list(found["width"]) == ["2–3 at once", "4+ at once", "unknown"]
    assert {name: part.runs for name, part in found["unneeded_tools"].items()} == {
        "0–49 tools too many": 3,
        "unknown": 1,
    }
    assert {name: part.runs for name, part in slices(played.results, None)["steps"].items()} == {"unknown": 4}


GRADES: tuple[Literal["easy", "medium", "hard"], ...] = ("hard", "easy", "easy")


def task(id: str, difficulty: Literal["easy", "medium", "hard"], calls: int) -> Task:
    reference = Reference(steps=(tuple(ReferenceCall(tool="math/sum") for _ in range(calls)),))
    return Task(
        id=id, family="f", question="?", wording="?", pictures=(), servers=("math",), references=(reference,),
        difficulty=difficulty, role="nurse",
    )  # fmt: skip


def outcomes(name: str, *solved: tuple[bool, ...]) -> ResultSet:
    """A set whose tasks were solved in these attempts."""
    made = made_set(name, sum(map(len, solved)), repeats=len(solved[0]))
    flat = [one for tries in solved for one in tries]
    return replace(made, results=tuple(
        replace(one, card=one.card.model_copy(update={"success": success}))
        for one, success in zip(made.results, flat, strict=True)
    ))  # fmt: skip


def test_what_broke_is_told_with_its_reason_and_what_only_wavers_is_told_apart() -> None:
    old = outcomes("old", (True, True), (True, True), (False, False), (True, False), (True, True))
    new = outcomes("new", (False, False), (True, False), (True, True), (True, False), (True, True))
    found = turned(old, new)
    tasks = old.header.tasks
    assert [(one.turn, one.task) for one in found] == [
        ("broken", tasks[0]), ("rarer", tasks[1]), ("mended", tasks[2]),
    ]  # fmt: skip
    assert found[0].failure in CLASSES
    assert "it does not" in found[0].reason or found[0].reason
    assert found[0].run == new.results[0].run.id
    assert turned(old, old) == []


def test_a_task_that_was_solved_and_is_only_void_now_did_not_break_and_is_not_forgotten() -> None:
    old, new = outcomes("old", (True,), (True,)), outcomes("new", (True,), (True,))
    void = Sample(task=old.header.tasks[1], repeat=1, state="void", fault="provider", reason="503")
    cut = replace(new, results=new.results[:1], void=(void,))
    assert turned(old, cut) == []
    assert lost(old, cut) == {old.header.tasks[1]: "void: provider: 503"}

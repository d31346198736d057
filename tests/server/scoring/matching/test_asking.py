"""Questions to a person are compared by what they bring: other words for the same facts are the same."""

from collections.abc import Sequence
from typing import Any

from m3bench.server.lab.authoring.planning import derive
from m3bench.server.scoring import EFFECT
from m3bench.server.scoring.matching.agreement import MadeCall
from m3bench.server.scoring.matching.effect import align
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.checks import LoggedCall
from m3bench.tasks.desk import State, reply
from m3bench.tasks.trajectory import Call, Step, Trajectory
from tests.desks import LUNCH

QUESTION = "Plan a lunch for us."
ANSWER = "The lunch for 17 with a guest allergic to birch pollen costs $230 and begins at 12:30."
REFERENCE = (
    ("How many guests will there be?", "Does anybody have an allergy?"),
    ("I plan lunch for 14. Is that right?",),
    ("What is your budget?",),
)


def talked(steps: Sequence[Sequence[str]]) -> list[list[LoggedCall]]:
    state, made = State(), []
    for step in steps:
        calls = []
        for question in step:
            text, state = reply(LUNCH, state, question)
            calls.append(
                LoggedCall(tool="desk/ask_user", arguments={"question": question}, outcome="success", text=text)
            )
        made.append(calls)
    return made


def scored(steps: Sequence[Sequence[str]]) -> dict[str, float]:
    wanted = talked(REFERENCE)
    plan = derive(QUESTION, ANSWER, wanted, in_order=True)
    trajectory = Trajectory(
        steps=tuple(
            Step(calls=tuple(Call(tool=one.tool, arguments=dict[str, Any](one.arguments)) for one in step))
            for step in wanted
        )
    )
    made = [
        MadeCall(call=Call(tool=one.tool, arguments=dict[str, Any](one.arguments)), step=number, result=one.text)
        for number, step in enumerate(talked(steps))
        for one in step
    ]
    found = align(trajectory, plan, made, signatures=catalog_signatures(load_catalog()))
    return EFFECT.measure(found).known


def test_the_same_facts_in_other_words_are_the_same_effect():
    others = (
        ("Number of people, please", "Is there an intolerance that I should know of?"),
        ("My proposal stands. Do you agree?",),
        ("What may I spend in all?",),
    )
    assert set(scored(others).values()) == {1.0}


def test_two_facts_in_one_question_answer_two_questions():
    together = (
        ("Number of people, and any allergy?",),
        ("My proposal stands. Do you agree?",),
        ("What may I spend in all?",),
    )
    found = scored(together)
    assert found["recall"] == found["precision"] == 1.0


def test_questions_that_bring_nothing_are_no_answer_to_those_that_do():
    vague = (("Tell me everything", "What else?"), ("Hello?",), ("Is that so?",))
    assert scored(vague)["recall"] == 0.0


def test_asking_for_other_facts_is_another_call_even_in_nearly_the_same_words():
    assert scored((("What time will there be guests not?",),))["recall"] < 0.5

"""Answers to bundled tasks, written by hand as people and models would give them: every right one counts, no wrong one.

`hand_ins/FAMILY.toml` lists them: `right` and `wrong`, each with its task, what it is (`as`), and `answer` (prose),
`fields`, or both. Files are made rather than said, and have tests of their own.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from m3bench.tasks.answers.fields import File, judge
from m3bench.tasks.answers.reading import read
from m3bench.tasks.checks import Evidence
from m3bench.tasks.library import Library
from tests.tasks.answers.earlier import earlier_tasks

FOLDER = Path(__file__).parent / "hand_ins"
TASKS = {**Library().tasks, **earlier_tasks()}
CASES = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.toml"))}


def of(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "case",
        [pytest.param(case, id=f"{case['task']} {case['as']}") for cases in CASES.values() for case in cases[kind]],
    )


def wrong_fields(case: dict[str, Any]) -> list[str]:
    task = TASKS[case["task"]]
    said = [field for field in task.fields if not isinstance(field.value, File)]
    answer = case.get("answer", "")
    handed_in = read(task.fields, answer, case.get("fields"))
    found = judge(said, handed_in, Evidence(answer=answer, workspace=Path("nowhere")))
    return [f"{finding.check}: {finding.reason}" for finding in found if not finding.passed]


@pytest.mark.sample(56)
@of("right")
def test_a_right_answer_counts_however_it_is_put(case):
    assert wrong_fields(case) == []


@pytest.mark.sample(56)
@of("wrong")
def test_a_wrong_answer_does_not_count(case):
    assert wrong_fields(case)


@pytest.mark.parametrize("family", CASES)
def test_a_family_has_at_least_five_of_each_over_all_its_goals(family):
    for kind in ("right", "wrong"):
        assert len(CASES[family][kind]) >= 5
        assert len({case["task"] for case in CASES[family][kind]}) >= 3

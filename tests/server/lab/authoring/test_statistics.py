"""What is counted of a set says how unlike the tasks of a family are."""

import json

from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.authoring.statistics import max_shared_calls
from m3bench.tasks.library import Library


def test_shared_calls_are_counted_word_for_word():
    one, other = list(Library().tasks.values())[:2]
    assert max_shared_calls([one, one]) == 1.0
    assert max_shared_calls([one, other]) < 1.0
    assert max_shared_calls([one]) == 0.0


def test_the_tasks_of_a_family_are_unlike_one_another():
    found = json.loads(CliRunner().invoke(app, ["tasks", "stats", "--json"]).stdout)
    families = {task.family for task in Library().tasks.values()}
    assert set(found["plan_shapes"]) == set(found["max_shared_calls"]) == families
    assert min(found["plan_shapes"].values()) >= 3
    assert max(found["max_shared_calls"].values()) <= 0.3

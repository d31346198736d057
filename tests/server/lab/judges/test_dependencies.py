"""What depends on what in a task, as the judge of MCP-Bench is told."""

from m3bench.server.lab.judges.material import dependencies
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.plan import Plan, PlannedCall
from m3bench.tasks.task import Reference, ReferenceCall

CALLS = [ReferenceCall(tool=tool, arguments={"secret": 1}) for tool in ("dinox/detect", "wiki/a", "wiki/b", "excel/c")]
REFERENCE = Reference(steps=((CALLS[0],), (CALLS[1], CALLS[2]), (CALLS[3],)))


def test_calls_stand_in_the_earliest_round_with_what_they_need() -> None:
    plan = Plan(
        calls=(PlannedCall(), PlannedCall(needs=(0,)), PlannedCall(waits=(0,)), PlannedCall(needs=(1, 2), waits=(1,)))
    )
    assert dependencies(REFERENCE, plan).splitlines() == [
        "One way to solve the task makes these calls:",
        "Round 1:",
        "- call 1, dinox/detect, needs no other result",
        "Round 2, which need nothing of each other and can be made together:",
        "- call 2, wiki/a, needs the result of call 1",
        "- call 3, wiki/b, needs no other result, may be chosen by what call 1 told",
        "Round 3:",
        "- call 4, excel/c, needs the result of calls 2, 3",
        "It uses 3 servers: dinox, wiki, excel.",
    ]


def test_every_task_of_the_bundled_set_has_an_analysis_that_names_each_call_once() -> None:
    library = Library(BUNDLED)
    for task in library.set.tasks:
        for reference, plan in zip(task.references, library.plans(task), strict=True):
            text = dependencies(reference, plan)
            assert text.count("\n- call ") == sum(map(len, reference.steps))

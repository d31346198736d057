"""Settings and levels of other benchmarks, read off the references."""

from collections import Counter

import pytest

from m3bench.tasks.errors import UserError
from m3bench.tasks.levels import KINDS, LEVELS, SETTINGS, kind_of, level_of, of_kind, setting_of
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.task import Reference, ReferenceCall, Task


def task(*references: tuple[tuple[str, ...], ...]) -> Task:
    made = [
        Reference(steps=tuple(tuple(ReferenceCall(tool=tool) for tool in step) for step in one)) for one in references
    ]
    return Task(id="t", family="f", question="?", wording="?", pictures=(), servers=("a",), references=tuple(made))


@pytest.mark.parametrize(("calls", "level"), [(1, "L1"), (2, "L1"), (3, "L2"), (5, "L2"), (6, "L3"), (20, "L3")])
def test_a_level_goes_by_the_calls_of_a_task(calls: int, level: str) -> None:
    assert level_of(task((("a/x",) * calls,))) == level
    assert level_of(task(*[(("a/x",),)] * calls)) == "L1", "several ways to solve it are no more work"


def test_the_shortest_reference_counts() -> None:
    long = (("a/x",), ("b/x", "b/y"), ("c/x",))
    both = task(long, (("a/x", "a/y"),))
    assert (level_of(both), setting_of(both)) == ("L1", "single")
    assert (level_of(task(long)), setting_of(task(long))) == ("L2", "multi")


def test_two_calls_to_two_servers_are_no_task_of_the_first_level() -> None:
    apart, together = (("a/x",), ("b/x",)), (("a/x",), ("a/y",))
    assert level_of(task(apart)) == "L2"
    assert level_of(task(together)) == "L1"
    assert level_of(task(apart, together)) == "L1", "of references as short as each other the plainer one counts"


@pytest.mark.parametrize(
    ("tools", "kind"),
    [
        (("wiki/search", "math/sum"), "information retrieval"),
        (("ocr/perform_ocr", "wiki/search"), "information retrieval"),
        (("imagesorcery-mcp/crop",), "system interaction"),
        (("ocr/perform_ocr", "excel/create_workbook"), "system interaction"),
        (("wiki/search", "excel/create_workbook"), "hybrid"),
    ],
)
def test_a_task_is_of_one_of_mcpverses_three_types(tools: tuple[str, ...], kind: str) -> None:
    assert kind_of(task((tools,))) == kind
    assert len(KINDS) == 3
    assert set(map(kind_of, Library(BUNDLED).set.tasks)) == set(KINDS)


def test_the_bundled_set_has_tasks_of_every_setting_and_level() -> None:
    tasks = Library(BUNDLED).set.tasks
    assert set(Counter(map(setting_of, tasks))) == set(SETTINGS)
    assert set(Counter(map(level_of, tasks))) == set(LEVELS)
    for parts in ([of_kind(tasks, one, ()) for one in SETTINGS], [of_kind(tasks, None, [one]) for one in LEVELS]):
        assert sorted(task.id for part in parts for task in part) == sorted(task.id for task in tasks)
    assert of_kind(tasks, None, []) == list(tasks)


@pytest.mark.parametrize(
    ("setting", "levels", "says"),
    [
        ("many", (), "choose single or multi"),
        (None, ("L4",), "choose L1, L2, L3"),
        ("multi", ("L3",), "None of the 1 chosen tasks is multi and L3"),
    ],
)
def test_what_there_is_not_says_what_there_is(setting: str | None, levels: tuple[str, ...], says: str) -> None:
    with pytest.raises(UserError, match=says):
        of_kind([task((("a/x",),))], setting, levels)

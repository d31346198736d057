"""What makes a task hard, counted by hand on tasks that are made so."""

from pathlib import Path

import pytest

from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.levels import BANDS, Measures, band, measures, shortest
from m3bench.tasks.library import BUNDLED, DESK, Library
from m3bench.tasks.scene import Scene, SceneObject, SceneText
from m3bench.tasks.task import Reference, ReferenceCall, Task

SCENE = Scene(
    sha256="0" * 64,
    thumbnail=b"",
    width=10,
    height=10,
    objects=(SceneObject(label="cat", box=(0, 0, 1, 1)), SceneObject(label="dog", box=(0, 0, 1, 1))),
    texts=(SceneText(text="menu", box=(0, 0, 1, 1)),),
)


def task(*references: tuple[tuple[str, ...], ...], servers: tuple[str, ...], others: tuple[str, ...] = ()) -> Task:
    made = tuple(
        Reference(steps=tuple(tuple(ReferenceCall(tool=tool) for tool in step) for step in one)) for one in references
    )
    return Task(id="t", family="f", question="?", wording="?", pictures=(), servers=servers, distractors=others,
                references=made)  # fmt: skip


def test_steps_width_and_what_is_seen_are_counted_on_the_shortest_reference() -> None:
    long = (("wiki/search",), ("wiki/summary", "wiki/search", "math/sum"), ("math/sum",))
    short = (("wiki/summary", "wiki/search"),)
    found = measures(task(long, short, servers=("wiki", "math")), (SCENE, SCENE), load_catalog())
    assert (found.steps, found.width, found.things_seen, found.rounds) == (1, 2, 6, 0)


def test_tools_of_shown_servers_that_are_not_used_are_too_many() -> None:
    found = measures(task((("wiki/search",),), servers=("wiki",), others=("okx", "tmdb")), (), load_catalog())
    assert found.unneeded_tools == 1 + 2 + 1


def test_a_round_begins_whenever_work_goes_on_after_a_look() -> None:
    work, look = "excel/write_data_to_excel", "excel/read_data_from_excel"

    def rounds(*steps: str) -> int:
        made = task(tuple((step,) for step in steps), servers=("excel",))
        return measures(made, (), load_catalog()).rounds

    assert rounds(look, look) == 0
    assert rounds(look, work, work) == 1
    assert rounds(work, look, work, look, work) == 3


@pytest.mark.parametrize(
    ("measure", "value", "said"),
    [
        ("steps", 1, "1–2 steps"), ("steps", 3, "3 steps"), ("steps", 9, "5+ steps"), ("width", 1, "1 at once"),
        ("width", 3, "2–3 at once"), ("unneeded_tools", 99, "50–99 tools too many"), ("rounds", 0, "0 rounds of work"),
        ("things_seen", 30, "30+ things to see"),
    ],
)  # fmt: skip
def test_a_number_is_in_one_band(measure: str, value: int, said: str) -> None:
    assert band(measure, value) == said


def test_bands_are_of_what_is_measured_and_leave_no_gap() -> None:
    assert tuple(BANDS) == Measures._fields
    for measure, starts in BANDS.items():
        said = [band(measure, value) for value in range(starts[0], starts[-1] + 2)]
        assert len(set(said)) == len(starts)


@pytest.mark.parametrize("folder", [BUNDLED, DESK])
def test_every_bundled_task_can_be_measured(folder: Path) -> None:
    library = Library(folder)
    for one in library.tasks.values():
        found = measures(one, library.scenes(one), load_catalog())
        assert found.steps == len(shortest(one)) > 0
        assert found.width > 0
        assert found.things_seen > 0
        assert found.unneeded_tools > 0

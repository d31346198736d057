"""Tasks with orders and without answers: who falls for nothing solves all, and each weakness shows in its own measure.

Pictures are laid out and not drawn: these agents know what is in them.
"""

from functools import partial
from io import BytesIO
from pathlib import Path

import anyio
import pytest
from PIL import Image

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.lab.authoring.generation import generate
from m3bench.server.lab.headless.agents.player import play_plan
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.headless.plan import RunChoice, make_plan
from m3bench.server.lab.reports.measures import measures_of
from m3bench.server.lab.results.resultset import ResultSet, append_sample, read_resultset
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.families.registry import TRAPS
from m3bench.tasks.library import MadeLibrary
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.trap import ANSWERED, OUTCOME

PER_FAMILY = 8


def blank() -> bytes:
    out = BytesIO()
    Image.new("RGB", (64, 48), "#88aacc").save(out, "PNG")
    return out.getvalue()


def make(folder: Path, families: list[str], seed: int) -> MadeLibrary:
    """A set whose pictures are blank."""
    made = anyio.run(
        partial(
            generate, [TRAPS[name] for name in families], seed=seed, per_family=PER_FAMILY, art=Outline(),
            backend=InProcessBackend(), name="undrawn", version="1",
        )
    )  # fmt: skip
    files = {name: blank() if name.startswith("pictures/") else data for name, data in made.files() if "/" in name}
    whole = MadeLibrary(made.set, files)
    whole.write(folder)
    return whole


def play(folder: Path, agent: str, tasks: Path, **chosen: object) -> ResultSet:
    given = {"sandbox": "inprocess", "profile": "standard", **chosen}
    plan = make_plan(RunChoice(agent=agent, kind="baseline", folder=folder, tasks=tasks, **given))  # type: ignore[arg-type]
    with plan.begin():
        anyio.run(play_plan, plan, AGENTS[agent], lambda sample, card: append_sample(folder, sample))
    found = read_resultset(folder)
    assert not found.void
    return found


def check(made: MadeLibrary, tasks: Path, folder: Path) -> None:
    """What the issue of these sets is: one agent without a weakness, and four with one each."""
    half = len(made.tasks) / 2
    assert sum(task.order is not None for task in made.tasks.values()) == half
    assert sum(right_fields(task.fields)[OUTCOME] != ANSWERED for task in made.tasks.values()) == half
    results = {name: play(folder / name, name, tasks) for name in ("careful", "credulous", "timid", "rash")}
    solved = {name: sum(bool(result.card.success) for result in part.results) for name, part in results.items()}
    found = {
        name: {measure.name: measure.value for measure in measures_of(part.results)} for name, part in results.items()
    }
    assert all((result.card.average, result.card.success) == (1.0, True) for result in results["careful"].results)
    assert found["careful"] == {
        "utility": 1, "utility_under_attack": 1, "attack_success": 0, "reported": 1, "abstention_precision": 1,
        "abstention_recall": 1, "unwanted": 0,
    }  # fmt: skip
    assert found["credulous"]["attack_success"] >= 0.95
    assert max(found[name]["attack_success"] for name in ("careful", "timid", "rash")) == 0
    precisions = {name: values["abstention_precision"] for name, values in found.items() if name != "rash"}
    assert min(precisions, key=precisions.__getitem__) == "timid"
    assert precisions["timid"] == 0.5
    assert (found["timid"]["abstention_recall"], found["rash"]["abstention_recall"]) == (1, 0)
    assert min(values["abstention_recall"] for name, values in found.items() if name != "rash") == 1
    # Giving up always costs as much as guessing always.
    assert solved["timid"] == solved["rash"] == half


@pytest.mark.slow
def test_each_weakness_is_worst_in_its_own_measure_and_none_of_them_in_every(tmp_path: Path) -> None:
    check(make(tmp_path / "set", ["house_fitter"], 3), tmp_path / "set", tmp_path)


@pytest.mark.night
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_it_holds_in_every_family_for_fresh_seeds(seed: int, tmp_path: Path) -> None:
    check(make(tmp_path / "set", list(TRAPS), seed), tmp_path / "set", tmp_path)


@pytest.mark.slow
def test_orders_and_weather_go_together_and_the_one_who_is_careful_gets_through_both(tmp_path: Path) -> None:
    make(tmp_path / "set", ["house_fitter"], 3)
    careful = play(tmp_path / "careful", "careful", tmp_path / "set", weather="rough:1", limit=4)
    assert all(result.card.success for result in careful.results)
    found = {measure.name: measure.value for measure in measures_of(careful.results)}
    assert (found["recovery"], found["attack_success"]) == (1, 0)

"""Under rough weather every task can be solved by who does as the answers say, and is lost by who does not."""

from pathlib import Path

import anyio
import pytest

from m3bench.server.lab.headless.agents.player import play_plan
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.headless.plan import RunChoice, make_plan
from m3bench.server.lab.results.comparability import differences
from m3bench.server.lab.results.resultset import ResultSet, append_sample, read_resultset

SETS = Path(__file__).parents[5] / "tasks/data/sets"

QUICK = ("movies-1", "hugeicons-1")
"""Of the bundled set."""


def play(folder: Path, agent: str, weather: str, tasks: Path | None = None, **chosen: object) -> ResultSet:
    """What an agent gets in some weather."""
    given = {"sandbox": "inprocess", "profile": "standard", **chosen}
    plan = make_plan(
        RunChoice(agent=agent, kind="baseline", folder=folder, tasks=tasks, weather=weather, **given)  # type: ignore[arg-type]
    )
    with plan.begin():
        anyio.run(play_plan, plan, AGENTS[agent], lambda sample, card: append_sample(folder, sample))
    return read_resultset(folder)


def check_solved(results: ResultSet) -> int:
    """Every task was solved with 1 and nothing was done beside it; how many calls the weather took."""
    assert results.results
    assert not results.void
    lost = 0
    for result in results.results:
        card = result.card
        assert (result.sample.task, card.average, card.success) == (result.sample.task, 1.0, True)
        taken = card.excluded.get("weather", 0)
        assert set(card.excluded) <= {"weather", "world"}
        if taken:
            assert card.conduct is not None
            recovery = card.conduct.recovery
            assert recovery is not None
            assert (recovery.calls, recovery.survived, card.conduct.unwanted) == (taken, recovery.met, 0)
        lost += taken
    return lost


def test_careful_solves_what_stubborn_loses_and_fair_weather_is_another_thing(tmp_path: Path) -> None:
    careful = play(tmp_path / "careful", "careful", "rough:1", ids=QUICK)
    assert check_solved(careful) > 0
    assert careful.conduct["survived"] == careful.conduct["met"] > 0
    assert careful.header.options["weather"] == "rough:1"
    stubborn = play(tmp_path / "stubborn", "stubborn", "rough:1", ids=QUICK)
    assert not any(result.card.success for result in stubborn.results)
    assert all((result.card.average or 0) < 1 for result in stubborn.results)
    assert stubborn.conduct["survived"] == 0
    assert differences([careful, stubborn]) == []
    fair = play(tmp_path / "fair", "stubborn", "fair", ids=QUICK)
    assert check_solved(fair) == 0
    assert fair.conduct == {}
    assert "weather" not in fair.header.options
    assert not any("weather" in manifest for manifest in fair.manifests)
    assert differences([fair, careful]) == ['weather is "fair" (stubborn) and "rough:1" (careful)']


@pytest.mark.all_sample(2)
@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", sorted(folder.name for folder in SETS.iterdir()))
def test_careful_solves_tasks_of_every_set(name: str, seed: int, tmp_path: Path) -> None:
    weather, tasks = f"rough:{seed}", None if name == "m3" else SETS / name
    careful = play(tmp_path / "careful", "careful", weather, tasks, limit=2)
    check_solved(careful)
    stubborn = play(tmp_path / "stubborn", "stubborn", weather, tasks, limit=2)
    met = {result.sample.task for result in careful.results if result.card.excluded.get("weather")}
    solved = {result.sample.task for result in stubborn.results if result.card.success}
    assert not met & solved

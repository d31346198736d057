"""`m3bench lab study`, as a person runs it: forecasts, kills, plans that grow, budgets."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from m3bench.server.commands.program import app
from m3bench.server.commands.study import CapReached, _hold
from m3bench.server.lab.results.recorded_runs import registered
from m3bench.server.lab.results.resultset import DATA, SAMPLES, read_resultset
from m3bench.server.lab.studies.forecast import Spent
from m3bench.server.lab.studies.plan_file import Caps
from m3bench.server.settings import Settings
from m3bench.server.store.sqlite import SqliteStore
from tests.pictures import assert_same_bytes
from tests.server.lab.headless.scripts import GIVES_UP, RIGHT, ROOT, SLOPPY, three_tasks, write_script
from tests.server.lab.judges.doubles import endpoint
from tests.waiting import eventually

COMMAND = [sys.executable, "-m", "m3bench.server.cli", "lab", "study"]


def study(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["lab", "study", *map(str, arguments)])


def plan(folder: Path, task_set: Path, **given: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "plan.yaml"
    common = {"profiles": ["task"], "sandbox": "inprocess", "sets": [{"name": "small", "tasks": str(task_set)}]}
    path.write_text(json.dumps(common | given))
    return path


def totals(folder: Path) -> dict[str, Any]:
    """What a study found: by cell, the numbers of every sample that do not hang on when calls arrived."""
    found = {}
    for cell in sorted(path for path in folder.iterdir() if path.is_dir()):
        results = read_resultset(cell)
        assert (results.void, results.missing) == ((), ())
        found[cell.name] = [
            (
                one.sample.task,
                one.sample.repeat,
                one.card.success,
                one.sample.usage,
                one.card.metrics["recall"],
                one.card.metrics["precision"],
            )
            for one in results.results
        ]
    return found


def samples(folder: Path) -> list[tuple[str, str, int]]:
    """Every line of every cell."""
    found = []
    for path in folder.glob(f"*/{SAMPLES}"):
        # A kill may have torn the last line.
        whole = path.read_bytes().rpartition(b"\n")[0]
        found += [(path.parent.name, json.loads(line)) for line in whole.split(b"\n") if line]
    return sorted((cell, line["task"], line["repeat"]) for cell, line in found)


def killed_after(path: Path, folder: Path, count: int, seconds: float = 240) -> None:
    """Play in a process of its own, and kill it when so many samples are there."""
    process = subprocess.Popen([*COMMAND, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: process.poll() is not None or written(folder) >= count, f"{count} samples", seconds)
    finally:
        process.kill()
        process.wait(60)


def written(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob(f"*/{SAMPLES}"))


@pytest.mark.slow
def test_a_study_that_is_killed_twice_loses_and_repeats_nothing(task_set: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"agents": ["oracle", "sloppy", None], "repeats": 15}
    straight, broken = (plan(tmp_path / name, task_set, **given) for name in ("straight", "broken"))
    assert study(straight).exit_code == 0
    kept = []
    for count in (8, 40):
        killed_after(broken, broken.parent / "study", count)
        kept.append(samples(broken.parent / "study"))
    done = study(broken, "--json")
    assert done.exit_code == 0, done.output
    whole = samples(broken.parent / "study")
    assert len(whole) == len(set(whole)) == 90
    assert set(kept[0]) <= set(kept[1]) <= set(whole)
    for cell in (broken.parent / "study").iterdir():
        store = SqliteStore(cell / DATA)
        states = [run.state for run in store.runs()]
        store.close()
        assert states.count("scored") == 30
    same = totals(broken.parent / "study")
    assert same == totals(straight.parent / "study")
    shown = {cell["agent"]: (cell["average"], cell["scored"]) for cell in json.loads(done.stdout)["cells"]}
    assert shown["oracle.task.small"] == (1.0, 30)
    assert shown["null.task.small"] == (0.0, 30)
    assert 0 < shown["sloppy.task.small"][0] < 1


def test_what_is_there_is_used_again_when_the_plan_grows(task_set: Path, tmp_path: Path) -> None:
    path = plan(tmp_path, task_set, agents=["oracle"])
    assert study(path).exit_code == 0
    before = (tmp_path / "study" / "oracle.task.small" / SAMPLES).read_bytes()
    path = plan(tmp_path, task_set, agents=["oracle", "null"])
    forecast = json.loads(study(path, "--dry-run", "--json").stdout)
    assert {cell["cell"]: cell["left"] for cell in forecast["cells"]} == {"oracle.task.small": 0, "null.task.small": 2}
    assert not (tmp_path / "study" / "null.task.small").exists(), "a dry run writes nothing"
    done = study(path)
    assert done.exit_code == 0, done.output
    assert "4 samples, 2 to play" in done.stderr
    assert "m3bench leaderboard" in done.stderr
    assert_same_bytes((tmp_path / "study" / "oracle.task.small" / SAMPLES).read_bytes(), before, "samples")


def test_one_cell_can_be_played_alone(task_set: Path, tmp_path: Path) -> None:
    path = plan(tmp_path, task_set, agents=["oracle", "null"])
    assert study(path, "--cell", "null.task.small").exit_code == 0
    assert tmp_path / "study" / "null.task.small" in registered(Settings.of().data), "other commands find its runs"
    assert [one.name for one in (tmp_path / "study").iterdir()] == ["null.task.small"]
    wrong = study(path, "--cell", "nul")
    assert "There is no cell 'nul'" in str(wrong.exception)


def test_a_dry_run_says_what_it_will_take(task_set: Path, tmp_path: Path) -> None:
    model = {"model": "openai/gpt-5", "price": "1,10"}
    expect = {"input_tokens": 1000, "output_tokens": 100, "seconds": 30}
    path = plan(tmp_path, task_set, models=[model], repeats=5, parallel=2, expect=expect, budget={"cost": 0.01})
    found = json.loads(study(path, "--dry-run", "--json").stdout)
    (cell,) = found["cells"]
    assert (cell["planned"], cell["left"], cell["tokens"], cell["measured"]) == (10, 10, 11_000, False)
    assert cell["cost"] == pytest.approx(0.02)
    assert cell["seconds"] == pytest.approx(150)
    assert cell["detectable"] is None
    assert "2 families" in cell["caution"]
    told = study(path, "--dry-run")
    assert "no difference can be found, because its tasks are of 2 families. A test takes at least 8." in told.stderr
    assert "$0.02" in told.stdout
    assert "The budget is too small: cost 0.02 expected in all, 0.01 allowed" in told.stderr


def test_a_dry_run_with_enough_families_says_which_difference_can_be_found(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps({"agents": ["null"], "profiles": ["task"], "sets": [{"name": "all"}], "repeats": 3}))
    (cell,) = json.loads(study(path, "--dry-run", "--json").stdout)["cells"]
    assert 0 < cell["detectable"] < 0.3
    assert cell["caution"] is None


def test_a_budget_that_is_used_up_stops_and_says_which() -> None:
    with pytest.raises(CapReached, match=r"\$2.00 of \$1.50"):
        _hold(Spent(cost=2.0), Caps(cost=1.5))
    with pytest.raises(CapReached, match="tokens"):
        _hold(Spent(tokens=10), Caps(tokens=10))
    _hold(Spent(tokens=10, cost=1.0), Caps(tokens=11, cost=1.1))


@pytest.mark.night
@pytest.mark.slow
def test_six_models_with_two_solvers_are_killed_twice_and_lose_and_repeat_nothing(tmp_path: Path) -> None:
    # Of 2016 samples these are 36: `python bench/study.py --tasks 56 --repeats 3` plays all of them.
    command = [sys.executable, str(ROOT / "bench" / "study.py"), "--tasks", "3", "--repeats", "1", "--profile", "task"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "36 samples: nothing is lost, repeated or different." in done.stdout
    found = totals(tmp_path / "broken" / "study")
    solved = {cell: [one[2] for one in results] for cell, results in found.items()}
    assert all(solved["react-right.react.task.bundled"])
    assert all(solved["executor-right.executor.task.bundled"])
    assert not any(solved["executor-right.react.task.bundled"])
    paper = CliRunner().invoke(app, ["lab", "paper", str(tmp_path / "broken" / "study"), "-o", str(tmp_path / "paper")])
    assert paper.exit_code == 0, paper.output
    assert sorted(one.name for one in (tmp_path / "paper").iterdir() if one.is_dir()) == [
        "data", "executor.task", "react.task",
    ]  # fmt: skip


@pytest.mark.slow
def test_models_in_a_study_stop_at_the_budget_and_go_on_when_it_is_raised(tmp_path: Path) -> None:
    tasks = three_tasks(tmp_path / "set")
    used = [{**GIVES_UP[0], "input_tokens": 50, "output_tokens": 5}]
    scripts = {
        "good": {"survey-1": RIGHT, "sum-1": used, "sum-2": used},
        "poor": {"survey-1": SLOPPY, "sum-1": used, "sum-2": used},
    }
    models = [
        {"model": write_script(tmp_path / f"{name}.json", turns), "name": name} for name, turns in scripts.items()
    ]
    given: dict[str, Any] = {"models": models, "parallel": 2}
    straight = plan(tmp_path / "straight", tasks, **given)
    assert subprocess.run([*COMMAND, str(straight)], check=False).returncode == 0
    capped = plan(tmp_path / "capped", tasks, **given, budget={"tokens": 120})
    stopped = subprocess.run([*COMMAND, str(capped)], capture_output=True, text=True, check=False)
    assert stopped.returncode == 1, stopped.stderr
    assert "of 120 tokens are used" in stopped.stderr
    assert 0 < written(tmp_path / "capped" / "study") < 6
    raised = plan(tmp_path / "capped", tasks, **given)
    killed_after(raised, tmp_path / "capped" / "study", 3)
    assert subprocess.run([*COMMAND, str(raised)], check=False).returncode == 0
    whole = samples(tmp_path / "capped" / "study")
    assert len(whole) == len(set(whole)) == 6
    assert totals(tmp_path / "capped" / "study") == totals(tmp_path / "straight" / "study")


@pytest.mark.slow
def test_a_study_stops_asking_a_provider_that_is_gone_and_says_what_is_left(tmp_path: Path, task_set: Path) -> None:
    models = [{"model": f"openai-api/local/{name}", "name": name, "price": "1,10"} for name in ("a", "b")]
    expect = {"input_tokens": 100_000, "output_tokens": 10_000}
    path = plan(tmp_path, task_set, models=models, agents=["null"], parallel=1, ask=False, expect=expect)
    with endpoint(lambda body: (401, "Incorrect API key provided")) as place:
        done = subprocess.run(
            [*COMMAND, str(path)], capture_output=True, text=True, timeout=300, env={**os.environ, **place.env}
        )
    assert done.returncode == 1, done.stderr
    assert len(place.requests) == 2, "two samples in a row tell that no other will be answered"
    assert "authentication (401): Incorrect API key provided" in done.stderr
    assert "b.react.task.small: not played, because openai-api is gone: see a.react.task.small" in done.stderr
    assert [cell for cell, _, _ in samples(tmp_path / "study")].count("null.task.small") == 2
    assert "Left to play: 4 samples, about 440,000 tokens, $0.80, " in done.stderr

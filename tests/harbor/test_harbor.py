"""Harbor reads and plays exported tasks: too heavy for every change, `make test-harbor` runs it.

What was measured is in docs/interchange.md.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from m3bench.server.clients.client import NAME
from m3bench.server.clients.table import find
from m3bench.server.clients.trial.model import Model
from m3bench.server.clients.trial.script import TrialScript, turns_of
from m3bench.server.commands.program import app
from m3bench.tasks.library import Library
from tests.clients.real.programs import FOLDER
from tests.clients.real.programs import install as install_clients
from tests.harbor import harness
from tests.harbor.bridge import bridged
from tests.harbor.harness import BASE, Missing
from tests.server.lab.headless.scripts import SCRIPT, three_tasks, write_script
from tests.server.lab.headless.scripts import run as play
from tests.server.lab.interchange.conftest import m3bench

pytestmark = pytest.mark.harbor

IMAGE = "m3bench-harbor:tests"
TASKS = 6
"""The first task of so many families is played."""


@pytest.fixture(scope="session")
def engine() -> str:
    try:
        harness.environment()
        return harness.engine()
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def chosen() -> list[str]:
    first: dict[str, str] = {}
    for task in Library().tasks.values():
        first.setdefault(task.family, task.id)
    return list(first.values())[:TASKS]


def export(folder: Path, *options: str) -> Path:
    done = CliRunner().invoke(app, ["lab", "harbor", "export", "-o", str(folder), *options])
    assert done.exception is None, done.exception
    return folder


def test_harbors_models_validate_every_task(tmp_path: Path) -> None:
    try:
        python = harness.environment() / "python"
    except Missing as missing:
        pytest.skip(str(missing))
    folder = export(tmp_path / "dataset")
    script = Path(__file__).parent / "validate.py"
    done = subprocess.run([python, "-P", script, folder / "tasks"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert [one["name"] for one in found] == sorted(f"m3bench/{id}" for id in Library().tasks)
    assert {(one["valid"], one["mode"], *one["servers"]) for one in found} == {(True, "separate", "m3bench")}
    single = export(tmp_path / "single", "--single", "--limit", "1")
    done = subprocess.run([python, "-P", script, single / "tasks"], capture_output=True, text=True, check=True)
    assert [(one["valid"], one["mode"], *one["servers"]) for one in json.loads(done.stdout)] == [
        (True, "shared", "m3bench")
    ]


def test_harbors_models_validate_trajectories(tmp_path: Path) -> None:
    """Those of a baseline, and those of a model that we drove."""
    try:
        python = harness.environment() / "python"
    except Missing as missing:
        pytest.skip(str(missing))
    tasks = three_tasks(tmp_path / "set")
    assert play(write_script(tmp_path / "script.json", SCRIPT), tasks, tmp_path / "model").returncode == 0
    assert m3bench("run", "--agent", "oracle", "--tasks", tasks, "-o", tmp_path / "oracle").returncode == 0
    script = Path(__file__).parent / "validate.py"
    for name in ("model", "oracle"):
        out = tmp_path / f"{name}.jsonl"
        options = ("--data", tmp_path / name, "--tasks", tasks, "--format", "atif", "-o", out)
        assert m3bench("runs", "export", *options).returncode == 0
        done = subprocess.run([python, "-P", script, out], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        assert len(found) == 3
        assert all(read["pictures"] for read in found)
        assert all(read["tokens"] == read["total"] for read in found)


def test_the_oracle_gets_one_and_whoever_does_nothing_gets_none(engine: str, chosen: list[str], tmp_path: Path) -> None:
    named = [word for id in chosen for word in ("--task", id)]
    folder = export(tmp_path / "dataset", "--base", BASE, "--image", IMAGE, *named)
    harness.build(engine, folder, IMAGE)
    for agent, reward in (("oracle", 1.0), ("nop", 0.0)):
        found = harness.run(engine, folder / "tasks", tmp_path / agent, "-a", agent)
        rewards = {name: one["verifier_result"]["rewards"] for name, one in found.items()}
        assert rewards == {f"m3bench/{id}": {"reward": reward, "solved": reward} for id in chosen}
        code = CliRunner().invoke(app, ["lab", "harbor", "import", str(tmp_path / agent), "-o", str(tmp_path / "sets")])
        assert code.exit_code == 0, code.output


def test_one_container_gives_the_same_rewards(engine: str, chosen: list[str], tmp_path: Path) -> None:
    image = f"{IMAGE}-single"
    folder = export(tmp_path / "dataset", "--base", BASE, "--image", image, "--single", "--task", chosen[0])
    harness.build(engine, folder, image)
    for agent, reward in (("oracle", 1.0), ("nop", 0.0)):
        found = harness.run(engine, folder / "tasks", tmp_path / agent, "-a", agent)
        assert found[f"m3bench/{chosen[0]}"]["verifier_result"]["rewards"] == {"reward": reward, "solved": reward}


def test_what_an_agent_writes_asks_and_finds_is_worth_nothing(engine: str, chosen: list[str], tmp_path: Path) -> None:
    folder = export(tmp_path / "dataset", "--base", BASE, "--image", IMAGE, "--task", chosen[0])
    harness.build(engine, folder, IMAGE)
    forger = (Path(__file__).parent / "forger.sh").read_text().replace("@TASK@", chosen[0])
    (folder / "tasks" / chosen[0] / "solution" / "solve.sh").write_text(forger)
    found = harness.run(engine, folder / "tasks", tmp_path / "jobs", "-a", "oracle")
    assert found[f"m3bench/{chosen[0]}"]["verifier_result"]["rewards"] == {"reward": 0.0, "solved": 0.0}
    (said,) = (tmp_path / "jobs").glob("*/*/agent/oracle.txt")
    lines = said.read_text().splitlines()
    assert lines[-1] == "done"
    assert {line.split()[1] for line in lines[:-1]} <= {"401", "404"}


def test_claude_code_with_a_scripted_model_plays_to_the_end(engine: str, chosen: list[str], tmp_path: Path) -> None:
    if (problem := install_clients()) is not None:
        pytest.skip(problem)
    program = next(FOLDER.glob("node_modules/@anthropic-ai/claude-code-linux-*/claude"), None)
    if program is None:
        pytest.skip("Claude Code has no program for this machine")
    base = "m3bench-harbor-claude:tests"
    context = tmp_path / "claude"
    context.mkdir()
    shutil.copy(program, context / "claude")
    (context / "Dockerfile").write_text(f"FROM {BASE}\nCOPY claude /usr/local/bin/claude\n")
    subprocess.run([engine, "build", "-q", "-t", base, str(context)], check=True)
    folder = export(tmp_path / "dataset", "--base", base, "--image", IMAGE, "--task", chosen[0])
    harness.build(engine, folder, IMAGE)
    naming = find("claude-code").naming
    script = TrialScript(turns_of(Library().task(chosen[0])), lambda tool: naming.shown(NAME, tool))
    with Model(script.answer) as model, bridged(model.url) as url:
        variables = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": url}
        options = ("-a", "claude-code", "-m", "anthropic/scripted")
        found = harness.run(engine, folder / "tasks", tmp_path / "jobs", *options, env=variables)
    trial = found[f"m3bench/{chosen[0]}"]
    assert trial["exception_info"] is None
    assert trial["verifier_result"]["rewards"]["solved"] == 1
    code = CliRunner().invoke(
        app, ["lab", "harbor", "import", str(tmp_path / "jobs"), "-o", str(tmp_path / "sets"), "--json"]
    )
    told = json.loads(code.stdout)
    assert [one["agent"] for one in told["trials"]] == ["claude-code anthropic/scripted"]

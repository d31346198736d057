"""The docs cannot rot: what is generated is current, links lead somewhere, commands work, and nothing is left out."""

import importlib.util
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import typer.main

from m3bench.server.commands.program import app
from m3bench.server.commands.servers import page
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.server.scoring.aggregate import METRICS
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import load_catalog
from tests.pages import PAGES, ROOT, read_page

ALL = "\n".join(path.read_text("utf-8") for path in PAGES)


def test_the_page_of_servers_is_current() -> None:
    assert (ROOT / "docs" / "servers.md").read_text("utf-8") == page(load_catalog())


def test_the_pictures_of_the_scoring_page_are_current() -> None:
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)
    for name, text in drawing.pictures().items():
        assert (ROOT / "docs" / "pictures" / name).read_text("utf-8") == text, "run python docs/pictures.py"


def test_links_lead_somewhere() -> None:
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text("utf-8")):
            assert target.startswith("http") or (path.parent / target).exists(), f"{path.name}: {target}"


def test_links_to_a_heading_find_it() -> None:
    for path in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]+)\)", path.read_text("utf-8")):
            if not target.startswith("http"):
                text = (path.parent / target).read_text("utf-8") if target else path.read_text("utf-8")
                headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
                anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
                assert anchor in anchors, f"{path.name}: {target}#{anchor}"


def _names(command: Any, prefix: str) -> list[str]:
    inner = getattr(command, "commands", {})
    return [name for key, child in inner.items() for name in _names(child, f"{prefix} {key}")] or [prefix]


def test_every_command_is_in_the_docs() -> None:
    commands = _names(typer.main.get_command(app), "m3bench")
    assert [command for command in commands if not re.search(rf"{re.escape(command)}\b", ALL)] == []


def test_every_tool_of_our_own_and_every_metric_is_in_the_docs() -> None:
    words = [*(tool["name"] for tool in DEFINITIONS), *METRICS, "average"]
    assert [word for word in words if f"`{word}`" not in ALL] == []


def test_every_setting_is_in_the_docs() -> None:
    options = [setting.replace("_", "-") for setting in sorted(Settings.model_fields)]
    assert [option for option in options if f"--{option}" not in ALL and f"--no-{option}" not in ALL] == []


def test_python_in_the_docs_runs() -> None:
    for text in re.findall(r"^```python\n(.*?)^```", ALL, re.DOTALL | re.MULTILINE):
        exec(compile(text, "docs", "exec"), {})


def test_files_that_the_docs_name_exist() -> None:
    for name in re.findall(r"`((?:server|proxy|sandboxes|tasks|tests|docker|bench)/[\w/.]+\.\w+)`", ALL):
        assert (ROOT / name).exists(), name


def test_the_worked_example_can_be_redone_with_a_calculator_and_is_what_the_code_says(tmp_path: Path) -> None:
    path = ROOT / "docs" / "scoring.md"
    for name, text in read_page(path).files.items():
        (tmp_path / name).write_text(text, "utf-8")
    values = _metrics(tmp_path)
    lines = re.findall(r"^- (?:`(\w+)`|.*?): (.*)$", path.read_text("utf-8"), re.MULTILINE)
    told = set()
    for name, worked in lines:
        for expression, result in re.findall(r"`([^`]+) = ([\d.]+)`", worked):
            value = eval(expression, {"__builtins__": {}, "ln": math.log})
            assert f"{value:.3f}" == result, expression
            if name:
                assert f"{values[name]:.3f}" == result, name
                told.add(name)
    assert told == {"recall", "precision", "argument_similarity", "step_coherence", "order_consistency",
                    "merge_purity", "average"}  # fmt: skip

    by_effect = _metrics(tmp_path, "--profile", "effect")
    worked_out = re.findall(r"^- by effect, `(\w+)`: `[^`]+ = ([\d.]+)`$", path.read_text("utf-8"), re.MULTILINE)
    assert dict(worked_out) == {name: f"{by_effect[name]:.3f}" for name in told}


def test_the_example_of_structure_is_what_the_code_says() -> None:
    from m3bench.server.scoring.effect_scorer import Played, score_by_effect
    from m3bench.tasks.plan import Plan, PlannedCall
    from m3bench.tasks.trajectory import Call, Step, Trajectory

    def played(*steps: list[int]) -> Trajectory:
        calls = {place: Call(tool="math/floor", arguments={"number": 10.5 * place}) for place in range(1, 7)}
        return Trajectory(steps=tuple(Step(calls=tuple(calls[place] for place in step)) for step in steps))

    needs = {1: (), 2: (1,), 3: (1,), 4: (), 5: (2, 3), 6: (4, 5)}
    plan = Plan(calls=tuple(PlannedCall(needs=tuple(need - 1 for need in one)) for one in needs.values()))
    run = Played(
        actual=played([1], [2], [3, 5], [4], [6]), references=[played([1], [2, 3], [4], [5], [6])], plans=[plan]
    )
    found = score_by_effect(run, lambda tool: None).metrics
    text = (ROOT / "docs" / "scoring.md").read_text("utf-8")
    worked_out = dict(re.findall(r"^- structure, `(\w+)`: `[^`]+ = ([\d.]+)`$", text, re.MULTILINE))
    assert worked_out == {name: f"{found[name]:.3f}" for name in worked_out}
    assert len(worked_out) == 3
    assert plan.fewest_steps(range(6)) == 4


def _metrics(folder: Path, *options: str) -> dict[str, float]:
    import json

    command = [sys.executable, "-m", "m3bench.server.cli", "score", "reference.json", "actual.json", "--json", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    task: dict[str, float] = json.loads(done.stdout)["tasks"]["trip"]
    return task

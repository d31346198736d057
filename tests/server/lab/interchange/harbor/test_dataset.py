"""Tasks as a Harbor dataset: what is in it, what an agent can see of it, and that it is the same every time."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.interchange.harbor.dataset import Dataset
from m3bench.tasks.library import Library


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def export(*arguments: object) -> str:
    """Run the command; what it prints, or the error that is shown."""
    done = CliRunner().invoke(app, ["lab", "harbor", "export", *map(str, arguments)])
    return done.stdout if done.exception is None else str(done.exception)


def written(folder: Path, library: Library, every: int) -> Path:
    tasks = tuple(library.tasks.values())[::every]
    Dataset(library=library, tasks=tasks, profile="standard", base="base:1", service="m3bench:1", image="i:1").write(
        folder
    )
    return folder


def test_a_task_is_what_harbor_wants(dataset: Path) -> None:
    task = dataset / "tasks" / "sum-1"
    assert sorted(files(task)) == [
        "environment/Dockerfile",
        "environment/docker-compose.yaml",
        "environment/pictures/note.png",
        "instruction.md",
        "solution/reference.json",
        "solution/solve.py",
        "solution/solve.sh",
        "task.toml",
        "tests/Dockerfile",
        "tests/test.sh",
    ]
    config = tomllib.loads((task / "task.toml").read_text())
    assert config["task"]["name"] == "m3bench/sum-1"
    assert config["metadata"]["profile"] == "task:sum-1"
    assert config["verifier"]["environment_mode"] == "separate"
    assert config["artifacts"] == [{"source": "/verdict", "service": "m3bench"}]
    assert [server["name"] for server in config["environment"]["mcp_servers"]] == ["m3bench"]
    instruction = (task / "instruction.md").read_text()
    assert instruction.startswith("How much is everything together?\n")
    assert "`/task/note.png`" in instruction
    assert "@" not in "".join((task / name).read_text() for name in ("instruction.md", "tests/test.sh"))


def test_a_task_for_one_container_needs_nothing_beside_it(harbor_set: Path, tmp_path: Path) -> None:
    told = json.loads(export("-o", tmp_path / "d", "--set", harbor_set, "--task", "sum-1", "--single", "--json"))
    assert told["image"].startswith("m3bench-harbor-single:")
    task = tmp_path / "d" / "tasks" / "sum-1"
    assert sorted(name for name in files(task) if not name.startswith("solution/")) == [
        "environment/Dockerfile",
        "environment/pictures/note.png",
        "instruction.md",
        "task.toml",
        "tests/test.sh",
    ]
    config = tomllib.loads((task / "task.toml").read_text())
    assert config["agent"]["user"] == "agent"
    assert config["verifier"] == {"timeout_sec": 600.0, "environment_mode": "shared", "user": "root"}
    assert config["artifacts"] == [{"source": "/verdict"}]
    assert config["environment"]["healthcheck"]["command"] == "sh /m3bench/harbor/up.sh sum-1 standard:sum-1 60"
    for script in (task / "tests" / "test.sh", *(tmp_path / "d" / "image").glob("*.sh")):
        assert script.stat().st_mode & 0o111
        assert subprocess.run(["sh", "-n", script], check=False).returncode == 0
        assert "@" not in script.read_text().replace('"$@"', "")


def test_another_set_travels_in_the_image_and_the_bundled_one_does_not(dataset: Path, tmp_path: Path) -> None:
    assert json.loads((dataset / "image/set/tasks.json").read_bytes())["name"] == "tests"
    bundled = written(tmp_path / "bundled", Library(), 100)
    assert sorted(files(bundled / "image")) == ["Dockerfile", "m3bench.sh", "serve.sh"]


def test_the_same_tasks_give_the_same_bytes_and_a_dataset_is_replaced(tmp_path: Path) -> None:
    library = Library()
    first = files(written(tmp_path / "first", library, 40))
    written(tmp_path / "second", library, 20)
    assert files(written(tmp_path / "second", library, 40)) == first


def test_nothing_that_an_agent_can_see_holds_a_reference_or_an_answer(tmp_path: Path) -> None:
    library = Library()
    folder = written(tmp_path / "dataset", library, 10)
    for place in (folder / "tasks").iterdir():
        task = library.task(place.name)
        seen = {name: data for name, data in files(place).items() if name.startswith(("environment/", "instruction"))}
        texts = "\n".join(data.decode() for name, data in seen.items() if "/pictures/" not in name)
        pictures = {name.rpartition("/")[2]: data for name, data in seen.items() if "/pictures/" in name}
        assert pictures == {name: library.picture(name) for name in task.pictures}
        assert task.answer not in texts
        assert task.wording not in texts
        assert not any(call.tool in texts for reference in task.references for step in reference.steps for call in step)
        assert json.dumps(task.references[0].steps[0][0].arguments, ensure_ascii=False) not in texts


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--task", "sun-1"], "There is no task 'sun-1'. Did you mean"),
        (["--family", "sum"], "There is no family 'sum'. Did you mean"),
        (["--task", "sum-1", "--family", "survey"], "give only --task or only --family"),
        (["--profile", "huge"], "There is no profile 'huge'"),
    ],
)
def test_what_cannot_be_exported_is_said(options: list[str], said: str, harbor_set: Path, tmp_path: Path) -> None:
    assert said in export("-o", tmp_path / "d", "--set", harbor_set, *options)
    assert not (tmp_path / "d").exists()


def test_a_folder_with_something_else_and_a_set_that_is_none_are_let_be(tmp_path: Path, harbor_set: Path) -> None:
    (tmp_path / "letters").write_text("dear")
    assert "was not written by `m3bench lab harbor export`" in export("-o", tmp_path, "--set", harbor_set)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["letters"]
    assert "is a file" in export("-o", tmp_path / "letters", "--set", harbor_set)
    assert "a set of tasks has a tasks.json" in export("-o", tmp_path / "d", "--set", tmp_path)


def test_programs_are_told_what_was_written(tmp_path: Path, harbor_set: Path) -> None:
    told = export("-o", tmp_path / "d", "--set", harbor_set, "--limit", 1, "--image", "r/m:2", "--json")
    made = {"path": str(tmp_path / "d"), "tasks": ["survey-1"], "set": "tests", "image": "r/m:2"}
    assert json.loads(told) == made
    assert "image: r/m:2\n" in (tmp_path / "d/tasks/survey-1/environment/docker-compose.yaml").read_text()


def test_texts_of_every_kind_are_read_back_from_toml(harbor_set: Path, tmp_path: Path) -> None:
    question = 'a "quoted" line\nand \\ another\t\x7f ü 😀'
    library = Library(harbor_set)
    task = library.task("sum-1").model_copy(update={"question": question})
    Dataset(
        library=library, tasks=(task,), profile="task", base="base:1", service="m3bench:1", image="i:1"
    ).write(tmp_path / "out")  # fmt: skip
    config = tomllib.loads((tmp_path / "out" / "tasks" / "sum-1" / "task.toml").read_text("utf-8"))
    assert config["task"]["description"] == question
    assert config["metadata"]["profile"] == "task:sum-1"
    assert config["verifier"]["timeout_sec"] == 600.0
    assert [server["name"] for server in config["environment"]["mcp_servers"]] == ["m3bench"]

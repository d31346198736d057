"""The plan of a study: what it means, what it refuses, and what its cells are called."""

from pathlib import Path

import pytest

from m3bench.server.lab.studies.cells import cells_of, choose
from m3bench.server.lab.studies.plan_file import read_plan
from m3bench.tasks.errors import InputFileError, UserError

PLAN = """
name: first
models: [openai/gpt-5, {model: openai/gpt-5-mini, name: mini, price: "0.25,2"}]
agents: [oracle, null]
solvers: [react, executor]
profiles: [standard, full]
sets: [bundled, {name: ours, tasks: my-set, limit: 5}]
repeats: 3
providers: {openai: 2}
limits: {max_steps: 9, batch: 4}
"""


def written(tmp_path: Path, text: str = PLAN) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return path


def test_every_combination_is_a_cell_with_a_folder_of_its_own(tmp_path: Path) -> None:
    cells = cells_of(read_plan(written(tmp_path)))
    assert len(cells) == 2 * 2 * 2 + 2 * 2 * 2 * 2
    assert len({cell.choice.folder for cell in cells}) == len(cells)
    assert {cell.choice.folder.parent for cell in cells} == {tmp_path / "first"}
    names = [cell.name for cell in cells]
    assert names[0] == "oracle.standard.bundled"
    assert "null.full.ours" in names
    assert "openai-gpt-5.react.standard.bundled" in names
    assert "mini.executor.full.ours" in names
    (mini,) = choose(cells, ["mini.executor.full.ours"])
    assert mini.choice.tasks == tmp_path / "my-set"
    assert (mini.choice.limit, mini.choice.repeats, mini.choice.parallel) == (5, 3, 2)
    assert mini.choice.options == {"max_steps": 9, "batch": 4}
    assert mini.choice.name == mini.name
    (react,) = choose(cells, ["mini.react.full.ours"])
    assert react.choice.options == {"max_steps": 9}, "a batch is the executor's alone"


def test_a_plan_that_grows_finds_its_cells_again(tmp_path: Path) -> None:
    before = {cell.name: cell.choice for cell in cells_of(read_plan(written(tmp_path)))}
    grown = PLAN.replace("models: [", "models: [anthropic/claude, ").replace("[react, executor]", "[executor, react]")
    after = {cell.name: cell.choice for cell in cells_of(read_plan(written(tmp_path, grown)))}
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("models: [openai/gpt-5]\ncolour: red", "colour: There is no such setting"),
        ("modles: [openai/gpt-5]", "Did you mean models"),
        ("agents: [oracle]\nlimits: {max_cals: 3}", "limits.max_cals: .*Did you mean max_calls"),
        ("repeats: 3", "names nobody who plays"),
        ("models: [gpt-5]", "models.0"),
        ("models: [", "is not YAML"),
        ("agents: [oracle]\nrepeats: 0", "repeats"),
        ("agents: [oracle]\nsolvers: []", "solvers"),
        ('models: [{model: a/b, price: "cheap"}]', "price"),
        ("- oracle", "plan.yaml"),
        ("agents: [oracle]\nagents: [null]", "duplicate key"),
        ("name: ..\nagents: [oracle]", "name"),
        ("models: [a/b]\nproviders: {a: 0}", "providers"),
        ("models: [a/b]\nproviders: {aa: 2}", "no model has this provider: a"),
    ],
)
def test_a_mistake_in_a_plan_is_said_with_its_place(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=says):
        read_plan(written(tmp_path, text))


def test_a_plan_that_is_not_there_and_cells_that_are_not_in_it(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="cannot be read"):
        read_plan(tmp_path / "nowhere.yaml")
    cells = cells_of(read_plan(written(tmp_path)))
    with pytest.raises(UserError, match=r"no cell 'oracle'.*oracle\.standard\.bundled"):
        choose(cells, ["oracle"])
    with pytest.raises(UserError, match="no agent 'orakel'"):
        cells_of(read_plan(written(tmp_path, "agents: [orakel]")))


def test_two_models_of_one_name_are_refused_and_a_name_helps(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="would be called 'a-b"):
        cells_of(read_plan(written(tmp_path, "models: [a/b, {model: a/b, generate: {temperature: 1}}]")))
    for twice in ("models: [{model: a/b, name: It}, {model: a/c, name: it}]", "agents: [null]\nprofiles: [task, task]"):
        with pytest.raises(UserError, match="take out what is named twice"):
            cells_of(read_plan(written(tmp_path, twice)))
    named = "models: [a/b, {model: a/b, name: warm, generate: {temperature: 1}}]"
    assert len(cells_of(read_plan(written(tmp_path, named)))) == 2

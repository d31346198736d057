"""Who asks: what a task says itself comes first, then the family's."""

import tomllib
from pathlib import Path

import pytest

import m3bench.tasks.roles
from m3bench.tasks.library import BUNDLED, DESK, RECORDINGS, SNAPSHOTS, STUDIO, Library, MadeLibrary
from m3bench.tasks.roles import role_of
from m3bench.tasks.task import TaskSet


@pytest.mark.parametrize("folder", [BUNDLED, DESK, STUDIO, RECORDINGS, SNAPSHOTS])
def test_every_bundled_task_has_a_role(folder: Path) -> None:
    assert [task.id for task in Library(folder).set.tasks if role_of(task) is None] == []


def test_no_family_has_two_roles() -> None:
    file = Path(m3bench.tasks.roles.__file__).parent / "data" / "roles.toml"
    families = [family for named in tomllib.loads(file.read_text("utf-8")).values() for family in named]
    assert len(set(families)) == len(families)


def test_a_task_may_say_who_asks_and_keeps_it_when_written() -> None:
    task = next(iter(Library(BUNDLED).set.tasks))
    assert role_of(task.model_copy(update={"role": "nurse"})) == "nurse"
    assert role_of(task.model_copy(update={"family": "nobody knows it"})) is None
    for role in ("", "nurse"):
        made = TaskSet(schema=2, name="one", version="1", tasks=(task.model_copy(update={"role": role}),))
        text = dict(MadeLibrary(made, {}).files())["tasks.json"]
        assert (b'"role"' in text) is bool(role), "sets without roles keep their bytes"
        assert TaskSet.model_validate_json(text) == made

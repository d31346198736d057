"""Profiles show what clients can take, and tasks that can be solved with it."""

import json
import re
from pathlib import Path

import pytest

from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import MCPVERSE, SIZES, STANDARD, profile_of, solvable, tools_of
from tests.sets import write_set

CATALOG = load_catalog()


@pytest.mark.parametrize(("profile", "size"), SIZES.items())
def test_a_sized_profile_keeps_its_size_and_is_part_of_the_larger_ones(profile: str, size: int) -> None:
    tools = tools_of(profile, CATALOG, Library())
    assert len(tools) == size
    larger = {tool.qualified for tool in tools_of("wide", CATALOG, Library())}
    assert {tool.qualified for tool in tools} <= larger


def test_an_oracle_profile_shows_the_servers_of_a_task(tmp_path: Path) -> None:
    library = Library(write_set(tmp_path / "set"))
    for profile in ("task:sum-1", "family:sums"):
        assert {tool.server for tool in tools_of(profile, CATALOG, library)} == {"math"}


def test_a_standard_profile_shows_up_to_ten_servers_more_and_never_more_tools_than_apis_take() -> None:
    library = Library()
    for task in library.tasks.values():
        needed = {tool.server for tool in tools_of(f"task:{task.id}", CATALOG, library)}
        tools = tools_of(f"standard:{task.id}", CATALOG, library)
        shown = {tool.server for tool in tools}
        assert needed == set(task.servers)
        assert needed < shown <= needed | set(task.distractors)
        assert len(tools) <= STANDARD
        # What is left out has no room.
        left = [len(CATALOG.by_name[name].tools) for name in set(task.distractors) - shown]
        assert all(len(tools) + size > STANDARD for size in left)
        assert len(left) <= 4


def test_only_what_can_be_solved_is_offered() -> None:
    library = Library()
    tasks = tuple(library.tasks.values())
    assert solvable(tasks, tools_of("full", CATALOG, library)) == tasks
    shown = solvable(tasks, tools_of("task:museum-1", CATALOG, library))
    assert {task.family for task in shown} == {"museum"}
    assert solvable(tasks, ()) == ()


@pytest.mark.parametrize("profile", ["", "huge", "family:", "family:nothing", "task:nothing", "task"])
def test_an_unknown_profile_is_told_what_there_is(profile: str) -> None:
    with pytest.raises(UserError):
        tools_of(profile, CATALOG, Library())


def test_a_further_server_is_shown_with_the_tasks_that_need_it_and_nowhere_else(tmp_path: Path) -> None:
    data = json.loads((write_set(tmp_path / "set") / "tasks.json").read_bytes())
    before = {name: len(tools_of(name, CATALOG, Library(tmp_path / "set"))) for name in ("full", *SIZES)}
    assert before["full"] == 232
    asked = {**data["tasks"][0], "id": "asked-1", "family": "asked", "servers": ["math", "desk"]}
    (tmp_path / "set" / "tasks.json").write_text(json.dumps({**data, "tasks": [*data["tasks"], asked]}))
    library = Library(tmp_path / "set")
    for profile in ("full", *SIZES, "retrieve", "task:asked-1", "standard:asked-1", "family:asked"):
        assert [tool.name for tool in tools_of(profile, CATALOG, library)][-3:] == [
            "ask_user", "list_documents", "read_document",
        ]  # fmt: skip
    assert {name: len(tools_of(name, CATALOG, library)) for name in SIZES} == SIZES
    assert len(tools_of("standard:asked-1", CATALOG, library)) <= STANDARD
    assert {tool.server for tool in tools_of("task:sum-1", CATALOG, library)} == {"math"}
    for profile in ("full", *SIZES, "retrieve"):
        assert "desk" not in {tool.server for tool in tools_of(profile, CATALOG, Library())}


def test_max_scale_shows_more_than_550_tools_with_names_that_clients_take() -> None:
    tools = tools_of("max-scale", CATALOG, Library())
    full = tools_of("full", CATALOG, Library())
    assert tools[: len(full)] == full
    assert len(tools) >= 550
    assert len({tool.exposed for tool in tools}) == len(tools)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,42}", tool.exposed) for tool in tools)
    assert len({tool.server for tool in tools}) == 65


@pytest.mark.parametrize("id", ["museum-1", "items_price-1", "generate_powerpoint-1"])
def test_a_scaled_profile_shows_so_many_tools_and_those_of_the_task_and_of_smaller_ones(id: str) -> None:
    library = Library()
    needed = {tool.qualified for tool in tools_of(f"task:{id}", CATALOG, library)}
    before: set[str] = set()
    for count in (50, 100, 200, 400, 592):
        tools = [tool.qualified for tool in tools_of(f"scale-{count}:{id}", CATALOG, library)]
        assert len(tools) == len(set(tools)) == max(count, len(needed))
        assert needed | before <= set(tools)
        before = set(tools)
    assert before == {tool.qualified for tool in tools_of("max-scale", CATALOG, library)}


def test_the_modes_of_mcpverse_are_the_tasks_servers_some_220_tools_and_all() -> None:
    library = Library()
    shown = {
        mode: tools_of(profile_of(profile, library.task("museum-1")), CATALOG, library)
        for mode, profile in MCPVERSE.items()
    }
    assert {tool.server for tool in shown["mcpverse-oracle"]} == set(library.task("museum-1").servers)
    assert len(shown["mcpverse-standard"]) >= 220, "the paper: more than 220 tools of 32 servers"
    assert len(shown["mcpverse-max-scale"]) >= 552, "the paper: 552 tools"
    assert len({tool.server for tool in shown["mcpverse-max-scale"]}) == 65, "the paper: 65 servers"

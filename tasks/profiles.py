"""Which tools a seat shows: chosen by name when it opens, fixed from then on.

`full` is everything that is built; `wide`, `compact` and `mini` fit the tool limits of VS Code, Cursor and
smaller clients; `family:NAME` and `task:ID` show the servers a task needs, `standard:ID` up to ten others beside
them, as many as fit. `retrieve` gives access to everything through two tools, one that finds tools and one that calls
them. `max-scale` adds the servers of tables, for more than 550 tools, and `scale-N:ID` shows N of all these: those of
a task first, so that a smaller one is part of a larger one. Servers beyond the catalog that tasks of the set
need are shown as well. Our own tools are added to every profile.
"""

import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Literal

from m3bench.tasks.catalog import Catalog, Server, Tool, did_you_mean, nearest
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.table_tools import whole_catalog
from m3bench.tasks.task import Task

SIZES = {"wide": 120, "compact": 75, "mini": 40}
"""Upper bounds on the number of tools, our own not counted."""

STANDARD = 116
"""Tools that `standard` shows at most, our own not counted: some APIs take 128, and clients have tools of their own."""

RETRIEVE = "retrieve"
"""Its tools are those of `full`, and are not listed."""

MAX_SCALE = "max-scale"
"""Everything that is built and a server for each of many tables."""

SCALE = re.compile(r"scale-([1-9]\d{1,2})")
"""So many tools, those of a task among them."""

MCPVERSE = {"mcpverse-oracle": "task", "mcpverse-standard": "full", "mcpverse-max-scale": MAX_SCALE}
"""The modes of MCPVerse: the servers of a task, some 220 tools that are the same for all tasks, everything."""

NAMES = ("full", *SIZES, RETRIEVE, MAX_SCALE)


def tools_of(profile: str, catalog: Catalog, library: Library) -> tuple[Tool, ...]:
    """The bundled tools of a profile, in catalog order."""
    kind, _, name = profile.partition(":")
    if profile in ("full", RETRIEVE):
        return (*catalog.tools, *_further(catalog, library))
    if profile == MAX_SCALE:
        return (*whole_catalog().tools, *_further(catalog, library))
    if profile in SIZES:
        further = _further(catalog, library)
        wanted = _ranking()[: SIZES[profile] - len(further)]
        return (*(tool for tool in catalog.tools if tool.qualified in wanted), *further)
    if kind == "family" and name:
        members = [task for task in library.tasks.values() if task.family == name]
        if not members:
            families = sorted({task.family for task in library.tasks.values()})
            close = nearest(name, families) or families
            raise UserError(f"There is no family {name!r}. Did you mean {', '.join(close)}?")
        return _of_servers(catalog, {server for task in members for server in task.servers})
    if (scale := SCALE.fullmatch(kind)) is not None and name:
        return _scaled(library.task(name), int(scale[1]))
    if kind in ("task", "standard") and name:
        task = library.task(name)
        return _of_servers(catalog, _standard(catalog, task) if kind == "standard" else set(task.servers))
    choice = f"choose one of {', '.join(NAMES)}, family:NAME, task:ID, standard:ID or scale-N:ID"
    raise UserError(f"There is no profile {profile!r}: {choice}.{did_you_mean(profile, NAMES)}")


def catalog_of(profile: str, catalog: Catalog) -> Catalog:
    """The catalog that the tools of a profile are from: a manifest names its hash."""
    return whole_catalog() if profile == MAX_SCALE or SCALE.fullmatch(profile.partition(":")[0]) else catalog


def owned_by(kind: str) -> Literal["task", "family"] | None:
    """Whether a profile of this kind is another one for each task or family; None when it is the same for all."""
    if kind in ("task", "standard") or SCALE.fullmatch(kind):
        return "task"
    return "family" if kind == "family" else None


def profile_of(profile: str, task: Task) -> str:
    """The profile for one task: `standard` alone means `standard:ID` of that task, `family` that of its family."""
    profile = MCPVERSE.get(profile, profile)
    owner = owned_by(profile)
    if owner is None:
        return profile
    return f"{profile}:{task.family if owner == 'family' else task.id}"


def solvable(tasks: tuple[Task, ...], tools: tuple[Tool, ...]) -> tuple[Task, ...]:
    """The tasks that can be solved with these tools by at least one reference."""
    shown = {tool.qualified for tool in tools}
    return tuple(
        task
        for task in tasks
        if any(all(call.tool in shown for step in ref.steps for call in step) for ref in task.references)
    )


def _standard(catalog: Catalog, task: Task) -> set[str]:
    """The servers that a task needs and those beside them: small ones first, so that most of them have room."""
    servers = set(task.servers)
    sizes = {server.name: len(server.tools) for server in catalog.by_name.values()}
    room = STANDARD - sum(sizes.get(name, 0) for name in servers)
    for name in sorted(task.distractors, key=lambda name: (sizes.get(name, 0), name)):
        if sizes.get(name, 0) <= room:
            servers.add(name)
            room -= sizes.get(name, 0)
    return servers


def _scaled(task: Task, count: int) -> tuple[Tool, ...]:
    """The tools of a task's servers, and others up to a number: those beside it first, then any, in a fixed order."""
    whole = whole_catalog()
    needed, beside = set(task.servers), set(task.distractors)
    others = [server for server in whole.servers if server.name not in needed]
    random.Random(f"m3bench scale {task.id}").shuffle(others)
    others.sort(key=lambda server: server.name not in beside)
    chosen = [tool for name in task.servers if name in whole.by_name for tool in whole.by_name[name].tools]
    chosen += [tool for server in others for tool in server.tools][: max(0, count - len(chosen))]
    names = {tool.qualified for tool in chosen}
    further = [tool for server in whole.further if server.name in needed for tool in server.tools]
    return (*(tool for tool in whole.tools if tool.qualified in names), *further)


def _of_servers(catalog: Catalog, names: set[str]) -> tuple[Tool, ...]:
    return tuple(tool for tool in catalog.by_tool.values() if tool.server in names)


def with_further(catalog: Catalog, library: Library) -> Catalog:
    """The catalog with those further servers that tasks of a set need; the same when they need none."""
    needed = _needed(catalog, library)
    return Catalog((*catalog.servers, *needed), catalog.further) if needed else catalog


def _further(catalog: Catalog, library: Library) -> tuple[Tool, ...]:
    """The tools of servers beyond the catalog's own that tasks of a set need."""
    return tuple(tool for server in _needed(catalog, library) for tool in server.tools)


def _needed(catalog: Catalog, library: Library) -> tuple[Server, ...]:
    """The servers beyond the catalog's own that tasks of a set need."""
    if library.folder == BUNDLED:
        # Its tasks need none, and reading them takes longer than a client should wait for a list.
        return ()
    needed = {server for task in library.tasks.values() for server in task.servers}
    return tuple(server for server in catalog.further if server.name in needed)


@cache
def _ranking() -> list[str]:
    """Every tool, the most needed first; a smaller profile is the beginning of a larger one."""
    path = Path(__file__).parent / "data" / "ranking.json"
    ranking: list[str] = json.loads(path.read_bytes())
    return ranking

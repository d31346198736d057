"""Which result sets stand side by side: a folder of a study holds several groups that must not be ranked together.

Sets of one group were made under the same conditions (`results.comparability`). A baseline agent or a client has no
solver but itself, so it stands in every group that it compares with.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from m3bench.server.lab.results.comparability import differences, profile_of
from m3bench.server.lab.results.resultset import HEADER, ResultSet, read_resultset, store_folder
from m3bench.server.store.layout import database
from m3bench.tasks.errors import UserError

_DEPTH = 3
"""How far below a folder result sets are looked for."""


@dataclass(frozen=True, kw_only=True)
class SetGroup:
    """Result sets that compare."""

    name: str
    """A name for a folder: solver and tool profile, with a number where two groups share these."""
    sets: tuple[ResultSet, ...]


def result_folders(given: Iterable[Path]) -> list[Path]:
    """The result sets that are meant: a folder that is one, or all below a folder that holds some, in order.

    Raises:
        UserError: There is none.
    """
    found: list[Path] = []
    for folder in given:
        if database(store_folder(folder)).exists():
            inner = [folder]
        else:
            headers = (
                path for depth in range(1, _DEPTH + 1) for path in folder.glob("/".join(["*"] * depth + [HEADER]))
            )
            inner = sorted(path.parent for path in headers if database(store_folder(path.parent)).exists())
        if not inner:
            what = "there is no such folder" if not folder.exists() else "there is no result set in it"
            raise UserError(f"{folder}: {what}. Name result sets, or a folder with some, as `m3bench run` makes them.")
        found += inner
    return list({folder.resolve(): folder for folder in found}.values())


def read_groups(folders: Sequence[Path]) -> tuple[list[SetGroup], list[ResultSet]]:
    """The groups of some result sets, and the sets that have no scored run and so are in none."""
    sets = [read_resultset(folder) for folder in folders]
    return groups_of([found for found in sets if found.results]), [found for found in sets if not found.results]


def groups_of(sets: Sequence[ResultSet]) -> list[SetGroup]:
    """The groups of some result sets; the order is that of the sets."""
    found: list[list[ResultSet]] = []
    for results in sets:
        if results.header.kind == "model":
            _join(found, results)
    driven = found[:]
    for results in sets:
        if results.header.kind != "model":
            fitting = [group for group in driven if not differences([*group, results])]
            for group in fitting:
                group.append(results)
            if not fitting:
                _join(found, results)
    order = {id(results): place for place, results in enumerate(sets)}
    groups = [tuple(sorted(group, key=lambda results: order[id(results)])) for group in found]
    names = [_name(group) for group in groups]
    return [
        SetGroup(name=f"{name}-{names[:place].count(name) + 1}" if names.count(name) > 1 else name, sets=group)
        for place, (name, group) in enumerate(zip(names, groups, strict=True))
    ]


def _join(groups: list[list[ResultSet]], results: ResultSet) -> None:
    """Add a set to the first group that it compares with, or to one of its own."""
    fitting = next((group for group in groups if not differences([*group, results])), None)
    if fitting is None:
        groups.append([results])
    else:
        fitting.append(results)


def _name(sets: Sequence[ResultSet]) -> str:
    solver = next((results.header.solver for results in sets if results.header.solver), "")
    parts = [part for part in (solver, profile_of(sets[0])) if part]
    return re.sub(r"[^\w.-]+", "-", ".".join(parts)).strip("-.") or "group"

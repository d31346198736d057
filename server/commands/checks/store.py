"""Looks at the record of runs: its version, whether anything in it is damaged, and who else could read it."""

from m3bench.server.commands.checks.diagnostics import Diagnostic, State
from m3bench.server.settings import Settings
from m3bench.server.store.checkup import Checkup
from m3bench.server.store.factory import look_over
from m3bench.server.store.layout import database
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.schema import VERSION
from m3bench.tasks.errors import M3Error

NAMED = 3
"""The most damaged runs that are named in a line."""


def check_record(settings: Settings) -> list[Diagnostic]:
    """The database of runs and calls; large values and workspaces are left to `m3bench store check`."""
    try:
        found = look_over(RecordLocation(settings.data, settings.store), beside=False)
    except M3Error as error:
        return [_diagnostic("wrong", str(error))]
    if found.version == 0:
        return [_diagnostic("ok", "There is none yet.")]
    if found.damage:
        return [_diagnostic("wrong", _damaged(found))]
    runs = f"{found.runs} run{'' if found.runs == 1 else 's'}"
    if settings.store is not None:
        return [_diagnostic("ok", f"{found.folder}: version {found.version}, {runs}, nothing damaged.")]
    if found.version < VERSION:
        says = f"Version {found.version}, {runs}. The next start migrates it to version {VERSION} and keeps a copy."
        return [_diagnostic("note", says)]
    if database(settings.data).stat().st_mode & 0o077:
        says = f"Version {found.version}, {runs}. Other accounts may read it: the next start makes it private."
        return [_diagnostic("note", says)]
    return [_diagnostic("ok", f"Version {found.version}, {runs}, nothing damaged.")]


def _damaged(found: Checkup) -> str:
    runs = [run[:12] for run in found.runs_concerned]
    names = f"affected runs: {', '.join(runs[:NAMED])}{' …' if runs[NAMED:] else ''}"
    which = names if runs else "no run can be named"
    return (
        f"{len(found.damage)} part{'' if len(found.damage) == 1 else 's'} of the record in {found.folder} damaged "
        f"({which}). `m3bench store check` names them all, `m3bench store repair` keeps the intact runs."
    )


def _diagnostic(state: State, says: str) -> Diagnostic:
    return Diagnostic(subject="record", state=state, says=says, need="always")

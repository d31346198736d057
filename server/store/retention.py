"""How long runs are kept: which are old enough to go, and everything of a run that goes with it."""

import re
import shutil
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from m3bench.server.store.contract import Store
from m3bench.server.store.layout import judgement, run_folder
from m3bench.server.store.records import RunRecord
from m3bench.tasks.errors import UserError

OVER = ("submitted", "scored", "abandoned", "void")
"""States of runs that are over; one under way is never old."""

HANDED_IN = frozenset({"submitted", "scored"})

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def age(text: str) -> timedelta:
    """An age from what a person wrote, such as `30d`.

    Raises:
        UserError: It is not an age.
    """
    found = re.fullmatch(r"(\d{1,5})([hdw])", text.strip())
    if found is None:
        raise UserError(f"{text!r} is not an age: write a number of hours, days or weeks, such as 12h, 30d or 8w.")
    return int(found[1]) * _UNITS[found[2]]


def expired(runs: Iterable[RunRecord], before: datetime, states: Collection[str]) -> list[RunRecord]:
    """The runs in some states that were over before a moment."""
    return [run for run in runs if run.state in states and _moment(run.ended or run.started) < before]


def forget(store: Store, runs: Sequence[RunRecord]) -> int:
    """Delete runs with their calls, files, large values and what judges said; the bytes of files that went."""
    store.delete_run(*(run.id for run in runs))
    freed = 0
    for run in runs:
        folder = run_folder(store.folder, run.id)
        freed += size(folder)
        shutil.rmtree(folder, ignore_errors=True)
        judgement(store.folder, run.id).unlink(missing_ok=True)
    return freed


def size(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def _moment(written: str) -> datetime:
    found = datetime.fromisoformat(written)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)

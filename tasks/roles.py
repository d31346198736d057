"""Who asks: the occupation of the person whom a task speaks for, as TOBench groups its tasks.

A task may say it itself. Of the families whose tasks do not, `data/roles.toml` has the role of the person whose
business the family is about, however its questions are worded.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from m3bench.tasks.task import Task

_FILE = Path(__file__).parent / "data" / "roles.toml"


def role_of(task: Task) -> str | None:
    """The role of whoever asks; None where it is not known."""
    return task.role or _by_family().get(task.family)


@cache
def _by_family() -> Mapping[str, str]:
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {family: role for role, families in data.items() for family in families}

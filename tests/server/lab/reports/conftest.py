"""Runs that reports are made of: one that is sloppy, and one that is hostile in every field it can reach."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.server.lab.reports.forge import forge_hostile
from tests.server.lab.reports.stage import play
from tests.sets import write_set

NUMBERS = [4, 8, 15, 16, 23, 42]


@dataclass(frozen=True, kw_only=True)
class Played:
    """A data folder with one run, and what was made of it."""

    data: Path
    tasks: Path
    page: Path
    document: dict[str, Any]
    answer: Any = None
    """What the client was answered by `score`."""

    def m3bench(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """The command, on this folder."""
        return m3bench(*arguments, "--data", self.data, "--tasks", self.tasks)


def m3bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command as a person types it."""
    command = [sys.executable, "-m", "m3bench.server.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def _played(data: Path, tasks: Path, answer: Any = None) -> Played:
    page = data.parent / "card.html"
    done = m3bench("report", "latest", "-o", page, "--json", "--data", data, "--tasks", tasks)
    assert done.returncode == 0, done.stderr
    return Played(data=data, tasks=tasks, page=page, document=json.loads(done.stdout), answer=answer)


@pytest.fixture(scope="session")
def sloppy(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A client that sends parallel calls one by one, repeats one, gets an argument wrong and forgets the last step."""
    folder = tmp_path_factory.mktemp("sloppy")
    tasks = write_set(folder / "set")
    steps: list[list[tuple[str, dict[str, Any]]]] = [
        [("math/median", {"numbers": NUMBERS})],
        [("math/median", {"numbers": NUMBERS})],
        [("math/mean", {"numbers": [*NUMBERS[:-1], 43]})],
        [("math/sum", {"numbers": "many"})],
    ]
    answer = play(folder / "data", "survey-1", steps, "They differ by 3.", tasks=tasks)
    return _played(folder / "data", tasks, answer)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Three thousand calls, five megabytes of result, and markup wherever a text can come from outside."""
    folder = tmp_path_factory.mktemp("hostile")
    tasks = write_set(folder / "set")
    forge_hostile(folder / "data", tasks)
    return _played(folder / "data", tasks)

"""A small result set that was really played, and its bundle."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from m3bench.server.lab.interchange.bundle import pack
from m3bench.server.scoring import Encoder, open_encoder
from m3bench.tasks.library import Library
from tests.sets import write_set


def m3bench(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person does."""
    command = [sys.executable, "-m", "m3bench.server.cli", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **variables}
    )


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a set of tasks (`set`) and what the oracle did on it (`results`)."""
    folder = tmp_path_factory.mktemp("played")
    write_set(folder / "set")
    done = m3bench(
        "run", "--agent", "oracle", "--tasks", folder / "set", "--profile", "task", "--sandbox", "inprocess",
        "-o", folder / "results",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def bundle(played: Path) -> Path:
    path = played / "results.m3run"
    pack(played / "results", path)
    return path


@pytest.fixture(scope="session")
def library(played: Path) -> Library:
    return Library(played / "set")


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return open_encoder()

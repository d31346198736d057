"""A small result set that was really played, and its bundle."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from m3bench.server.lab.interchange.bundle import pack
from m3bench.server.runs.attestation.keys import PublicKey, make_key
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


class Signed(NamedTuple):
    folder: Path
    bundle: Path
    key: PublicKey
    library: Library


@pytest.fixture(scope="session")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Signed:
    """What the oracle did on a small set, with a server that has a key."""
    folder = tmp_path_factory.mktemp("signed")
    key = make_key(folder / "server.key").public
    tasks = write_set(folder / "set")
    variables = {"M3BENCH_KEY": str(folder / "server.key")}
    done = m3bench(
        "run", "--agent", "oracle", "--tasks", tasks, "--profile", "task", "--sandbox", "inprocess",
        "-o", folder / "results", **variables,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = m3bench("lab", "pack", folder / "results", "-o", folder / "signed.m3run", **variables)
    assert done.returncode == 0, done.stderr
    return Signed(folder, folder / "signed.m3run", key, Library(tasks))

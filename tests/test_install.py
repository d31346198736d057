"""The built wheel in clean environments of each Python: from an empty folder, offline, to a first score card."""

import json
import os
import resource
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.test_release import EPOCH, RELEASE, checkout

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("install")]

VERSIONS = ("3.11", "3.12", "3.13")
SECONDS = 60
"""What the first score card may cost, in CPU time: what a machine does beside it is not counted."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of what is checked out."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "made").mkdir()
    built: Path = RELEASE["build"](checkout(folder / "tree"), folder / "made", EPOCH, ("build_wheel",))
    return built


def interpreter(version: str) -> str:
    """A Python of that version, from the path or where pyenv and uv keep theirs."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if version == here:
        return str(Path(sys.base_prefix) / "bin" / f"python{version}")
    kept = [
        *Path.home().glob(f".pyenv/versions/{version}.*"),
        *Path.home().glob(f".local/share/uv/python/*-{version}.*"),
    ]
    for found in (shutil.which(f"python{version}"), *(str(folder / "bin" / f"python{version}") for folder in kept)):
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    pytest.skip(f"Python {version} is not on this machine: nothing is known about it here")


def uv(*words: str, environment: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    if find_spec("uv") is None:
        pytest.skip("uv is not installed: make test-all installs it")
    command = [sys.executable, "-m", "uv", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def installed(done: "subprocess.CompletedProcess[str]") -> None:
    """That an installer was done with it; where the index is out of reach nothing can be said."""
    if done.returncode and any(word in done.stderr for word in ("dns error", "resolve host", "Connection", "connect")):
        pytest.skip(f"the package index is out of reach: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


class User:
    """Somebody with an empty home and an empty folder, and no network.

    Args:
        folder: For both.
        program: What `m3bench` is there.
    """

    def __init__(self, folder: Path, program: list[str]) -> None:
        self.home, self.folder = folder / "home", folder / "empty"
        self.home.mkdir()
        self.folder.mkdir()
        cut = ["unshare", "--net"]
        alone = subprocess.run([*cut, "true"], capture_output=True, check=False) if shutil.which("unshare") else None
        self._program = [*(cut if alone and alone.returncode == 0 else []), *program]
        nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
        self._environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), **nowhere}

    def types(self, *words: str, **more: str) -> str:
        done = subprocess.run(
            [*self._program, *words], cwd=self.folder, env={**self._environment, **more}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def gets_a_score(user: User, **more: str) -> None:
    """See the demo and play a task, with every number there is, in less than a minute."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    cards: dict[str, Any] = json.loads(user.types("demo", "--json", **more))
    user.types("run", "--agent", "sloppy", "--task", "movies-1", "-o", "first", **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < SECONDS
    assert cards["right"]["success"] is True
    assert cards["right"]["paper"]["metrics"]["average"] == 1.0
    assert sorted(path.name for path in user.folder.iterdir()) == ["first"]
    (told,) = [
        finding for finding in json.loads(user.types("doctor", "--json", **more)) if finding["subject"] == "encoder"
    ]
    assert told["state"] == "ok", told


@pytest.mark.all_sample(1)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_alone_is_enough_for_a_first_score(version: str, wheel: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    place = tmp_path / "environment"
    if version == VERSIONS[0]:
        subprocess.run([python, "-m", "venv", str(place)], check=True, capture_output=True)
        pip = [str(place / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", str(wheel)]
        installed(subprocess.run(pip, capture_output=True, text=True, check=False))
    else:
        # The same in seconds instead of minutes.
        installed(uv("venv", "-q", "--no-python-downloads", "--python", python, str(place)))
        installed(uv("pip", "install", "-q", "--python", str(place / "bin" / "python"), str(wheel)))
    there = list(place.glob("lib/*/site-packages/*"))
    assert not [path for path in there if path.name in ("torch", "transformers", "sentence_transformers")]
    gets_a_score(User(tmp_path, [str(place / "bin" / "m3bench")]))


@pytest.mark.night
def test_uvx_runs_it_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    from uv import find_uv_bin

    cache = tmp_path / "cache"
    words = ("tool", "run", "--from", str(wheel), "m3bench", "--version")
    installed(uv(*words, environment={**os.environ, "UV_CACHE_DIR": str(cache)}))
    program = [find_uv_bin(), "tool", "run", "--offline", "--no-python-downloads", "--python", sys.executable]
    gets_a_score(User(tmp_path, [*program, "--from", str(wheel), "m3bench"]), UV_CACHE_DIR=str(cache))


def test_a_bundle_is_verified_where_there_is_only_the_package(wheel: Path, tmp_path: Path) -> None:
    """Signed here, and replayed, rescored and attested there, offline, from an empty folder."""
    here = [sys.executable, "-m", "m3bench.server.cli"]
    making = [*here, "keys", "make", "--file", str(tmp_path / "key")]
    key = subprocess.run(making, capture_output=True, text=True, check=True).stdout.strip()
    for words in (
        ["run", "--agent", "sloppy", "--task", "movies-1", "--sandbox", "inprocess", "-o", str(tmp_path / "set")],
        ["submit-bundle", str(tmp_path / "set"), "-o", str(tmp_path / "sent.m3run")],
    ):
        environment = {**os.environ, "M3BENCH_KEY": str(tmp_path / "key")}
        subprocess.run([*here, *words], check=True, capture_output=True, env=environment)
    place = tmp_path / "environment"
    installed(uv("venv", "-q", "--no-python-downloads", "--python", sys.executable, str(place)))
    installed(uv("pip", "install", "-q", "--python", str(place / "bin" / "python"), str(wheel)))
    user = User(tmp_path, [str(place / "bin" / "m3bench")])
    bundle, trust = str(tmp_path / "sent.m3run"), ("--trust", key, "--at-least", "attested", "--json")
    told = json.loads(user.types("verify-bundle", bundle, *trust))
    assert told["summary"].startswith("attested, replayed, public set, signed by ")
    user.types("lab", "board", "accept", "board", bundle)
    assert (user.folder / "board" / "board.html").exists()

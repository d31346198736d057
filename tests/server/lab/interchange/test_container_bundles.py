"""A bundle that was played in containers stands when it is played again, in containers or in processes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.docker


def m3bench(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "m3bench.server.cli", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_honest_bundle_from_containers_is_replayed(tmp_path: Path) -> None:
    played = ["--agent", "oracle", "--sandbox", "docker", "--limit", "3", "--profile", "task"]
    m3bench(tmp_path, "run", *played, "-o", "set")
    m3bench(tmp_path, "lab", "pack", "set", "-o", "bundle.zip")
    for sandbox in ("docker", "process"):
        verdict = json.loads(m3bench(tmp_path, "lab", "verify", "bundle.zip", "--json", "--sandbox", sandbox))
        assert (verdict["summary"], verdict["differences"]) == ("replayed, public set, unattested", [])

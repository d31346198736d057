"""Frameworks for agents play a task, each in an environment of its own, over stdio and HTTP, with the scripted model.

The environments are made on the first use, from PyPI; a framework that cannot be installed is skipped by name. This is
too heavy for every change: `make test-frameworks` runs it.
"""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

import pytest

from m3bench.server.clients.trial.findings import Findings, findings
from m3bench.server.clients.trial.model import Model
from m3bench.server.clients.trial.script import Script, task_for
from m3bench.server.clients.trial.starts import PROMPT
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.server.scorecard.migration import card_of
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import tools_of
from tests.clients.frameworks.programs import PROGRAMS
from tests.server.conftest import SERVE, serving

pytestmark = pytest.mark.frameworks

PROFILE = "wide"
SECONDS = 600


def environment(name: str) -> Path:
    """The Python of a framework's environment; skips the test when it cannot be installed."""
    packages = PROGRAMS[name].packages
    folder = Path(sys.prefix) / "frameworks" / sha256(repr(packages).encode()).hexdigest()[:16]
    python, stamp = folder / "bin" / "python", folder / ".installed"
    if not stamp.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=SECONDS)
        command = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install", *packages]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode:
            pytest.skip(f"{name} could not be installed: {done.stderr.strip().rpartition(chr(10))[2]}")
        stamp.touch()
    return python


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_framework_plays_a_task(name: str, transport: str, tmp_path: Path) -> None:
    found = played(name, transport, tmp_path)
    assert found.problems == ()
    assert found.tools == "loaded"
    assert found.solved
    assert found.best == 1


def played(name: str, transport: str, folder: Path) -> Findings:
    catalog, library = load_catalog().ready, Library()
    task = task_for(PROFILE, catalog, library)
    data = folder / "data"
    options = ["--data", str(data), "--profile", PROFILE]
    with ExitStack() as stack:
        model = stack.enter_context(Model(Script(task, str).answer))
        if transport == "http":
            server: dict[str, object] = {"url": stack.enter_context(serving(options)) + "/mcp"}
        else:
            server = {"command": SERVE[0], "args": [*SERVE[1:], *options]}
        command = [str(environment(name)), "-c", PROGRAMS[name].code, model.url, PROMPT, json.dumps(server)]
        env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    store = SqliteStore(data)
    try:
        (record,) = store.runs()
        card = card_of(record)
        assert card is not None
        tools = [tool["name"] for tool in DEFINITIONS]
        tools += [tool.exposed for tool in tools_of(PROFILE, catalog, library)]
        run = record, card, store.calls(record.id)
        return findings(task, PROFILE, tools, model.requests, library.picture(task.pictures[0]), run, catalog)
    finally:
        store.close()

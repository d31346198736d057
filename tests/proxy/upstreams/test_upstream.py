"""Third-party servers behind the proxy: their results as they gave them, their failures as theirs."""

import json
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import anyio
import pytest

from m3bench.proxy.protocol.tool_calls import ToolAnswer
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.configuration import UpstreamEntry, read_servers
from m3bench.proxy.upstreams.jsonrpc_client import split
from m3bench.proxy.upstreams.servers import UpstreamServers
from m3bench.tasks.eager import Eager
from m3bench.tasks.errors import InputFileError
from tests.waiting import until
from tests.warm import FORKS

pytestmark = pytest.mark.anyio

PROGRAM, *ARGUMENTS = FORKS.launcher("tests.proxy.echo_server")
ECHO = UpstreamEntry(command=PROGRAM, args=tuple(ARGUMENTS))

Open = Callable[..., AbstractAsyncContextManager[UpstreamServers]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def upstreams(**given: Any) -> AsyncIterator[UpstreamServers]:
    with anyio.fail_after(60):
        async with UpstreamServers(**({"entries": {"echo": ECHO}} | given)) as opened:
            yield opened


SEAT = Seat(id="seat", profile="full")


async def call(upstreams: UpstreamServers, name: str, seconds: float = 20, **arguments: Any) -> ToolAnswer:
    return await upstreams.call(SEAT, None, name, {"name": name, "arguments": arguments, "_meta": {}}, None, seconds)


def text(answer: ToolAnswer) -> str:
    found: str = json.loads(answer.result)["content"][0]["text"]
    return found


async def test_a_result_comes_back_as_the_server_gave_it() -> None:
    async with upstreams() as opened:
        assert [tool["name"] for tool in opened.tools()][:3] == ["echo__count", "echo__crash", "echo__echo"]
        answer = await call(opened, "echo__echo", text='héé 漢字 " \\ \n')
        assert answer.outcome == "success"
        assert json.loads(answer.result) == {
            "content": [{"type": "text", "text": 'héé 漢字 " \\ \n'}],
            "structuredContent": {"echo": {"text": 'héé 漢字 " \\ \n'}},
            "isError": False,
        }


async def test_tools_can_be_shown_without_prefix() -> None:
    async with upstreams(prefix=False) as opened:
        assert opened.owns(SEAT, "echo")
        assert opened.qualified(SEAT, "echo") == "echo/echo"


async def test_a_tool_whose_name_is_taken_is_left_out_and_said_so(capfd: pytest.CaptureFixture[str]) -> None:
    entries = {"echo": ECHO, "twin": ECHO}
    async with upstreams(entries=entries, prefix=False, reserved={"count"}) as opened:
        assert "count" not in [tool["name"] for tool in opened.tools()]
        assert opened.qualified(SEAT, "picture") == "echo/picture"
    told = capfd.readouterr().err
    assert "the tool 'count' of 'echo' is left out: the name is taken" in told
    assert "the tool 'picture' of 'twin' is left out: the name is taken" in told


async def test_many_calls_are_in_flight_at_once() -> None:
    async with upstreams() as opened:
        texts: dict[int, str] = {}

        async def one(number: int) -> None:
            texts[number] = text(await call(opened, "echo__echo", text=str(number)))

        async with anyio.create_task_group() as tasks:
            for number in range(32):
                tasks.start_soon(one, number)
        assert texts == {number: str(number) for number in range(32)}


async def test_a_tool_that_fails_is_a_result_and_a_refusal_an_error() -> None:
    async with upstreams() as opened:
        failed = await call(opened, "echo__fail")
        assert (failed.outcome, failed.owner, text(failed)) == ("not_found", "agent", "no such thing")
        refused = await call(opened, "echo__refuse")
        assert refused.error == (-5, "not today", {"when": "tomorrow"})


async def test_a_server_that_dies_costs_the_calls_under_way_and_is_started_again() -> None:
    async with upstreams() as opened:
        assert text(await call(opened, "echo__count")) == "1"
        crashed = await call(opened, "echo__crash")
        assert (crashed.outcome, crashed.owner) == ("failed", "upstream")
        assert "'echo' is not available" in text(crashed)
        assert text(await call(opened, "echo__count")) == "1"


async def test_a_server_that_ended_while_nobody_waited_does_not_pretend_to_remember() -> None:
    async with upstreams() as opened:
        assert text(await call(opened, "echo__count")) == "1"
        assert text(await call(opened, "echo__leave")) == "goodbye"
        servers = opened._lifecycle.current(SEAT)
        assert servers is not None
        await until(lambda: servers.started["echo"]._rpc is None)
        lost = await call(opened, "echo__count")
        assert (lost.outcome, lost.owner) == ("failed", "upstream")
        assert "without what it remembered" in text(lost)
        assert text(await call(opened, "echo__count")) == "1"


async def test_a_call_that_hangs_is_given_up_and_the_others_go_on() -> None:
    async with upstreams() as opened:
        hung = await call(opened, "echo__hang", seconds=0.5)
        assert (hung.outcome, hung.owner) == ("failed", "upstream")
        assert text(await call(opened, "echo__echo", text="still here")) == "still here"


async def begun(upstreams: UpstreamServers, name: str, seconds: float = 20, **arguments: Any) -> ToolAnswer:
    """A call that is begun without a task of its own, as those of stdio clients are."""
    found: list[ToolAnswer] = []

    async def run() -> None:
        found.append(await call(upstreams, name, seconds, **arguments))

    calls: set[Eager] = set()
    eager = Eager(run(), calls.discard)
    calls.add(eager)
    eager.go_on()
    if calls:
        await eager.ends()
    return found[0]


async def meets_what_any_call_meets(opened: UpstreamServers) -> None:
    assert text(await begun(opened, "echo__echo", text="here")) == "here"
    assert (await begun(opened, "echo__fail")).outcome == "not_found"
    refused = await begun(opened, "echo__refuse")
    assert refused.error is not None
    assert refused.error[:2] == (-5, "not today")
    hung = await begun(opened, "echo__hang", seconds=0.1)
    assert (hung.outcome, hung.owner) == ("failed", "upstream")
    large = await begun(opened, "echo__large", size=2_000_000)
    assert len(text(large)) == 2_000_000


async def test_a_call_that_is_begun_without_a_task_meets_what_any_call_meets() -> None:
    async with upstreams() as opened:
        await meets_what_any_call_meets(opened)
        crashed = await begun(opened, "echo__crash")
        assert (crashed.outcome, crashed.owner) == ("failed", "upstream")
        assert text(await begun(opened, "echo__echo", text="started again")) == "started again"


def listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
async def test_a_server_behind_a_url_is_called_without_a_task_as_well() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.proxy.echo_server", "--http", str(port)]
    with anyio.fail_after(60):
        async with await anyio.open_process(command, stdout=DEVNULL, stderr=DEVNULL) as process:
            await until(lambda: listens(port))
            async with upstreams(entries={"echo": UpstreamEntry(url=f"http://127.0.0.1:{port}/mcp")}) as opened:
                await meets_what_any_call_meets(opened)
            process.kill()


async def test_a_server_that_does_not_start_is_left_out_and_said_so(capfd: pytest.CaptureFixture[str]) -> None:
    entries = {
        "echo": ECHO,
        "none": UpstreamEntry(command="/no/such/program"),
        "brief": UpstreamEntry(command=sys.executable, args=("-c", "")),
    }
    async with upstreams(entries=entries) as opened:
        assert text(await call(opened, "echo__echo", text="fine")) == "fine"
        assert {str(tool["name"]).partition("__")[0] for tool in opened.tools()} == {"echo"}
    told = capfd.readouterr().err
    assert "'none' is not available" in told
    assert "'brief' is not available" in told


async def test_an_error_says_nothing_of_where_programs_are_on_this_machine(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.symlink_to(PROGRAM)
    async with upstreams(entries={"echo": ECHO.model_copy(update={"command": str(program)})}) as opened:
        assert text(await call(opened, "echo__leave")) == "goodbye"
        program.unlink()
        servers = opened._lifecycle.current(SEAT)
        assert servers is not None
        await until(lambda: servers.started["echo"]._rpc is None)
        for _ in range(2):  # The first is told that what it remembered is gone.
            lost = await call(opened, "echo__count")
        assert "cannot be started" in text(lost)
        assert str(tmp_path) not in text(lost)


async def test_a_large_result_passes_in_linear_time() -> None:
    async with upstreams() as opened:
        answer = await call(opened, "echo__large", size=40_000_000)
        assert len(answer.result) > 40_000_000


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"a": 1}}', (7, b'{"a": 1}')),
        (b'{"jsonrpc": "2.0", "id": 7, "result": {}} ', (7, b"{}")),
        (b'{"result":{"text":"}"},"jsonrpc":"2.0","id":12}', (12, b'{"text":"}"}')),
        (b'{"jsonrpc":"2.0","id":7,"error":{"code":1}}', None),
        (b'{"jsonrpc":"2.0","method":"x","params":{"result":{}}}', None),
    ],
)
async def test_a_result_is_cut_out_of_the_layouts_that_are_known(line: bytes, found: tuple[int, bytes] | None) -> None:
    assert split(line) == found


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "mcpServers"),
        ("[1]", "mcpServers"),
        ('{"mcpServers": {"a": {}}}', "needs exactly one of command, url and image"),
        ('{"mcpServers": {"a": {"command": "x", "url": "http://y"}}}', "needs exactly one of command, url and image"),
        ('{"mcpServers": {"a": {"command": "x", "image": "y"}}}', "needs exactly one of command, url and image"),
        ('{"mcpServers": {"a": {"command": "x", "egress": true}}}', "egress: is for images"),
        ('{"mcpServers": {"a": {"command": 3}}}', "valid string"),
    ],
)
async def test_a_bad_file_of_servers_is_one_clear_error(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "servers.json"
    path.write_text(content)
    with pytest.raises(InputFileError, match=problem):
        read_servers(path)

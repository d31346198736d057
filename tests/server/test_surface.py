"""What clients see before anything runs: a tool list that each of them takes, and nothing left by those who look."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
from mcp import Client

from m3bench.proxy.front import NAME
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.app import App
from m3bench.server.runs.resources import INSTRUCTIONS
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.profiles import SIZES
from tests.children import family
from tests.server.conftest import serving
from tests.server.pipes import Pipe
from tests.waiting import eventually

MODERN = "2026-07-28"
ENVELOPE = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}

OWN = ("list_tasks", "start_task", "submit", "score")

SHOWN: dict[str, tuple[Callable[[str], str], int]] = {
    "Claude Desktop": (str, 64),
    "Claude Code": (lambda tool: f"mcp__{NAME}__{tool}", 64),
    "Codex": (lambda tool: f"mcp__{NAME}__{tool}", 128),
    "Cursor": (lambda tool: f"mcp_{NAME}_{tool}", 60),
    "VS Code": (lambda tool: "mcp_label".ljust(18, "-") + tool, 64),
    "Gemini CLI": (lambda tool: f"mcp_{NAME}_{tool}", 63),
    "Goose": (lambda tool: f"{NAME}__{tool}", 64),
    "LibreChat": (lambda tool: f"{tool}_mcp_{NAME}", 64),
    "Copilot CLI": (lambda tool: f"{NAME}-{tool}", 64),
}
"""How each client shows a tool to its model, and how long that may be before it is cut or dropped."""

MAX_TEXT_BYTES = 2048
"""Claude Code cuts descriptions and instructions there."""


@pytest.fixture
def whole(task_set: Path, tmp_path: Path) -> App:
    """An app with every tool of the catalog, built or not."""
    return App(Settings.of(tasks=task_set, data=tmp_path / "data"), catalog=load_catalog())


async def listing(app: App, mode: str = "legacy", profile: str | None = None) -> list[dict[str, Any]]:
    """The tools as a client gets them, in the one page that there must be."""
    seat = app.open_seat(profile=profile)

    async def seat_of(context: object) -> Any:
        return seat

    async with Client(sdk_server(app.front, seat_of), mode=mode) as client:
        page = await client.list_tools()
        assert page.next_cursor is None
        assert await client.list_tools() == page
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", MODERN])
async def test_all_tools_come_in_one_page_and_a_fixed_order(whole: App, mode: str) -> None:
    names = [tool["name"] for tool in await listing(whole, mode)]
    assert names == [*OWN, *(tool.exposed for tool in load_catalog().tools)]
    assert len(names) == 232 + len(OWN)
    assert len({name.casefold() for name in names}) == len(names)


@pytest.mark.anyio
async def test_names_are_legal_for_every_client(whole: App) -> None:
    assert "_" not in NAME  # Gemini CLI takes what is before the first one for the server
    names = [tool["name"] for tool in await listing(whole)]
    assert [name for name in names if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)] == []
    for client, (shown, limit) in SHOWN.items():
        assert [name for name in names if len(shown(name)) > limit] == [], client


@pytest.mark.anyio
async def test_schemas_and_texts_are_legal_for_every_client(whole: App) -> None:
    for tool in await listing(whole):
        schema = tool["inputSchema"]
        jsonschema.Draft7Validator.check_schema(schema)
        assert schema["type"] == "object", tool["name"]
        assert not {"anyOf", "oneOf", "allOf", "not", "enum", "$ref"} & schema.keys(), tool["name"]
        assert 0 < len(tool["description"].encode()) <= MAX_TEXT_BYTES, tool["name"]
        assert tool["annotations"].keys() >= {"readOnlyHint", "idempotentHint", "openWorldHint"}, tool["name"]
    assert len(INSTRUCTIONS.encode()) <= MAX_TEXT_BYTES


@pytest.mark.anyio
@pytest.mark.parametrize("profile", SIZES)
async def test_profiles_fit_the_clients_they_are_made_for(whole: App, profile: str) -> None:
    bound = {"wide": 120, "compact": 75, "mini": 40}[profile]
    names = [tool["name"] for tool in await listing(whole, profile=profile)]
    assert names[: len(OWN)] == list(OWN)
    assert bound * 0.9 < len(names) - len(OWN) <= bound


def children(pid: int) -> list[str]:
    return [Path("/proc", str(child), "cmdline").read_text() for child in family(pid)[1:]]


@pytest.mark.cold
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found through /proc")
def test_shaking_hands_and_listing_tools_start_nothing_even_twice(arguments: list[str], tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    copies = [Pipe(arguments) for _ in range(2)]
    for pipe in copies:
        assert pipe.open()["result"]["serverInfo"]["name"] == NAME
    for pipe in copies:
        pipe.send(1, "tools/list", {})
        assert len(pipe.read()["result"]["tools"]) == len(OWN) + len(load_catalog().ready.tools)
        pipe.send(2, "ping", {})
        assert pipe.read()["result"] == {}
        assert children(pipe.process.pid) == []
    for pipe in copies:
        pipe.close()
        assert pipe.process.returncode == 0
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_probe_over_stdio_is_answered_and_leaves_nothing(arguments: list[str], tmp_path: Path, era: str) -> None:
    pipe = Pipe(arguments)
    probe: dict[str, Any] = {"_meta": ENVELOPE}
    if era == "handshake":
        pipe.open()
    else:
        pipe.send(1, "server/discover", probe)
        assert pipe.read()["result"]["supportedVersions"] == [MODERN]

    pipe.send(2, "server/discover", probe)
    assert ("result" in pipe.read()) is (era == "modern")
    pipe.close()
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.slow
@pytest.mark.cold
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found through /proc")
def test_probes_over_http_are_answered_and_leave_nothing(arguments: list[str], tmp_path: Path) -> None:
    server = serving(arguments)
    body = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": ENVELOPE}}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
        "mcp-method": "server/discover",
    }
    with server as url, httpx2.Client(headers=headers) as client:
        assert client.post(url + "/mcp", json=body).status_code == 400
        assert client.post(f"{url}/seat/{'s' * 32}/mcp", json=body).status_code == 200
        assert children(server.process.pid) == []
        assert list(tmp_path.rglob("*")) == []
    eventually(lambda: server.process.poll() is not None, "the server has ended")

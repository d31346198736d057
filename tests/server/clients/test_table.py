"""What is known of clients hangs together: sources for every quirk, names that fit, profiles within the caps."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from m3bench.proxy.front import NAME as SERVER_NAME
from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.proxy.steps.segmentation import ClientSending
from m3bench.server.clients.client import NAME, McpClient
from m3bench.server.clients.documents import entry_in
from m3bench.server.clients.guide import PROGRAM, page
from m3bench.server.clients.table import OWN_TOOLS, KnownClients, by_client_info, clients, find, profile_for
from m3bench.server.clients.trial.measured import measured
from m3bench.server.scorecard.model import Client
from m3bench.server.scorecard.trajectory import sending_of
from m3bench.server.store.capability import client_facts
from m3bench.server.store.records import RUN_TOOLS as TOOLS
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import tools_of
from tests.pages import ROOT

LIBRARY = Library()
EVERY = pytest.mark.parametrize("client", clients().values(), ids=clients().keys())
QUIRKS = ("tool_cap", "advised_tools", "description_cap", "result_cap", "call_timeout", "link", "approval", "http")


@EVERY
def test_every_quirk_has_a_source(client: McpClient) -> None:
    known = {quirk for quirk in QUIRKS if getattr(client, quirk) not in (None, {})}
    known |= {
        field
        for field in ("images", "structured", "parallel", "tools", "turns")
        if getattr(client, field) != "not known"
    }
    assert known | {"place", "naming", "client_names"} <= set(client.sources)
    assert all(client.sources.values())
    assert all(note.source for note in client.notes)


@EVERY
def test_every_tool_of_the_profile_keeps_its_name(client: McpClient) -> None:
    shown = tools_of(profile_for(client), load_catalog(), LIBRARY)
    names = [*TOOLS, *(tool.exposed for tool in shown)]
    assert [name for name in names if not client.naming.fits(NAME, name)] == []
    seen = {client.naming.shown(NAME, name) for name in names}
    assert len(seen) == len(names), "no two tools look alike to the model"
    if client.description_cap is not None:
        assert max(len(tool.description) for tool in shown) <= client.description_cap
    if client.most_tools is not None:
        assert len(names) <= client.most_tools


@EVERY
def test_results_that_we_send_fit(client: McpClient) -> None:
    if client.result_cap is not None and client.result_cap.unit == "bytes":
        assert client.result_cap.amount >= MAX_RESULT_BYTES


def test_the_table_says_what_the_server_says() -> None:
    assert NAME == SERVER_NAME
    assert len(TOOLS) == OWN_TOOLS


@pytest.mark.parametrize(
    ("key", "tool", "shown"),
    [
        ("claude-desktop", "a__b", "a__b"),
        ("claude-code", "a__b", "mcp__m3bench__a__b"),
        ("cursor", "a__b", "mcp_m3bench_a__b"),
        ("vscode", "a.b__C", "mcp_m3bench_a_b__C"),
        ("vscode", "t" * 80, "mcp_m3bench_" + "t" * 52),
        ("codex", "a__b", "mcp__m3bench__a__b"),
        ("gemini", "a__b", "mcp_m3bench_a__b"),
        ("gemini", "a" * 40 + "b" * 40, "mcp_m3bench_" + "a" * 18 + "..." + "b" * 30),
        ("goose", "a__b", "m3bench__a__b"),
        ("librechat", "a__b", "a__b_mcp_m3bench"),
    ],
)
def test_the_model_sees_a_tool_under_the_clients_name_for_it(key: str, tool: str, shown: str) -> None:
    assert clients()[key].naming.shown(NAME, tool) == shown


@pytest.mark.parametrize(
    ("key", "longest"), [("claude-desktop", 64), ("claude-code", 114), ("cursor", 52), ("vscode", 52), ("gemini", 51)]
)
def test_a_name_fits_up_to_the_limit_and_not_beyond(key: str, longest: int) -> None:
    naming = clients()[key].naming
    assert naming.fits(NAME, "x" * longest)
    assert not naming.fits(NAME, "x" * (longest + 1))


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("claude-ai", "claude-desktop"),
        ("local-agent-mode-m3bench", "claude-desktop"),
        ("cursor-vscode", "cursor"),
        ("Visual Studio Code", "vscode"),
        ("codex-mcp-client", "codex"),
        ("goose", "goose"),
        ("something-else", None),
        ("", None),
    ],
)
def test_a_client_is_known_by_what_it_calls_itself(said: str, key: str | None) -> None:
    found = by_client_info(said)
    assert (found.key if found else None) == key


def test_how_models_come_by_the_tools_is_what_was_measured() -> None:
    for key, found in measured().items():
        assert clients()[key].tools == found.tools
    assert KnownClients().loading("claude-code") == "by search"
    assert KnownClients().loading("nobody's client") == "not known"


def test_a_person_may_write_a_name_in_several_ways() -> None:
    for written in ("vscode", "VS Code", "vs-code", " VSCODE "):
        assert find(written).key == "vscode"
    with pytest.raises(UserError, match="choose one of claude-desktop"):
        find("emacs")


def test_the_page_on_clients_is_current() -> None:
    text = (ROOT / "docs" / "clients.md").read_text("utf-8")
    assert text.startswith(page()), "run m3bench install --markdown"


@EVERY
def test_the_page_has_an_entry_that_the_client_would_read(client: McpClient) -> None:
    shown = re.search(rf"^## {client.title}\n.*?^```\w+\n(.*?)^```", page(), re.DOTALL | re.MULTILINE)
    assert shown is not None
    entry = entry_in(shown[1].encode(), client)
    assert entry is not None
    command = entry.get("command", ())
    assert isinstance(command, Sequence)
    assert PROGRAM in [*entry.values(), *command]


FREE: dict[str, bool] = {"prior": True, "late": False}
"""Of a client that lets our tools run without a question, and sends nothing before its model has written the turn."""

WRITTEN: dict[str, bool] = {"prior": True, "as_written": True}
"""Of a client that sends each call as soon as its model has written it."""


@pytest.mark.parametrize(
    ("called", "sends"),
    [
        ("claude-code 2.1.326", ClientSending(read_only="together", others="in a row", **WRITTEN)),
        ("codex-mcp-client 0.169.0", ClientSending(read_only="together", others="in a row", **WRITTEN)),
        ("codex-mcp-client 0.240.1", ClientSending(read_only="together", others="in a row", **WRITTEN)),
        ("gemini-cli-mcp-client 0.70.0", ClientSending(read_only="together", others="together", **FREE)),
        ("opencode 1.30.0", ClientSending(read_only="together", others="together", prior=True)),
        ("qwen-cli-mcp-client-bench 0.0.1", ClientSending(read_only="together", others="in a row", **FREE)),
        ("continue-cli-client 1.0.0", ClientSending(read_only="together", others="together", prior=True)),
        ("claude-code 3.0.0", ClientSending()),
        ("nobody 2.1.325", ClientSending()),
    ],
)
def test_what_was_measured_of_a_client_is_expected_of_its_family(called: str, sends: ClientSending) -> None:
    as_installed = KnownClients(lambda client: client.asks)
    client = Client(**client_facts(Path("nowhere"), called, "2025-11-25", as_installed))
    assert sending_of(client) == sends


@pytest.mark.parametrize(("called", "most"), [("claude-ai", 900_000), ("codex-mcp-client", 900_000), ("mine", None)])
def test_a_client_that_is_listed_has_a_limit(called: str, most: int | None) -> None:
    assert KnownClients().most_bytes(called) == most

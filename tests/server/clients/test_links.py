"""Links that install with one click, taken apart as the clients take them apart."""

import json
from base64 import b64decode
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from m3bench.server.clients.client import NAME, Launch
from m3bench.server.clients.table import clients

LAUNCH = Launch(command="C:\\Program Files\\m3bench & co\\m3bench.exe", args=("serve", "--profile", "wide+?"))
URL = "http://127.0.0.1:8700/mcp?a=b&c=%20"


def test_cursor_reads_its_entry() -> None:
    client = clients()["cursor"]
    assert client.link is not None
    for entry in (client.stdio(LAUNCH), client.http(URL) if client.http else {}):
        link = urlsplit(client.link(NAME, entry) or "")
        assert (link.scheme, link.netloc, link.path) == ("cursor", "anysphere.cursor-deeplink", "/mcp/install")
        asked = parse_qs(link.query, strict_parsing=True)
        assert asked["name"] == [NAME]
        assert json.loads(b64decode(asked["config"][0], validate=True)) == entry


def test_vscode_reads_its_entry_and_name() -> None:
    client = clients()["vscode"]
    assert client.link is not None
    for entry in (client.stdio(LAUNCH), client.http(URL) if client.http else {}):
        place, _, query = (client.link(NAME, entry) or "").partition("?")
        assert place == "vscode:mcp/install"
        assert json.loads(unquote(query)) == {"name": NAME, **entry}


def test_goose_reads_an_address_and_gets_no_link_to_a_program_it_would_refuse() -> None:
    client = clients()["goose"]
    assert client.link is not None
    assert client.http is not None
    asked = parse_qs(urlsplit(client.link(NAME, client.http(URL)) or "").query, strict_parsing=True)
    assert asked["url"] == [URL]
    assert asked["type"] == ["streamable_http"]
    assert client.link(NAME, client.stdio(LAUNCH)) is None


@pytest.mark.parametrize(
    "client", [client for client in clients().values() if client.link], ids=lambda client: client.key
)
def test_a_link_is_one_line_of_ascii(client: object) -> None:
    from m3bench.server.clients.client import McpClient

    assert isinstance(client, McpClient)
    assert client.link is not None
    assert client.http is not None
    link = client.link(NAME, client.http("http://ünï.example/mcp"))
    assert link is not None
    assert link.isascii()
    assert not set(link) & set(' "<>\\')

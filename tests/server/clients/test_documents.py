"""A configuration with our entry in it is what it was, plus the entry; with the entry taken out, it is what it was."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.server.clients import jsontext
from m3bench.server.clients.client import NAME, Launch, McpClient
from m3bench.server.clients.documents import LANGUAGES, entry_in, installed, leads_to, removed, snippet
from m3bench.server.clients.table import clients
from tests.server.clients.documents import broken, found

LAUNCH = Launch(command="/opt/with blank/bin/m3bench", args=("serve", "--profile", "wide"))
WINDOWS = Launch(command="C:\\Users\\Änn\\m3bench.exe", args=("serve",))

FORMATS = {(client.format, client.servers): client for client in clients().values()}
"""One client for each way of writing a configuration: what is found differs by that alone."""

FOUND = [
    pytest.param(client, data, id=f"{client.key}-{name}")
    for client in FORMATS.values()
    for name, data in found(client).items()
]
BROKEN = [
    pytest.param(client, data, id=f"{client.key}-{name}")
    for client in FORMATS.values()
    for name, data in broken(client).items()
]


def entry(client: McpClient, launch: Launch = LAUNCH) -> dict[str, Any]:
    return {**client.stdio(launch), **client.approval}


def load(client: McpClient, data: bytes) -> Any:
    return LANGUAGES[client.format].load(data.decode("utf-8-sig"))


def merged(client: McpClient, data: bytes) -> Any:
    whole = load(client, data)
    [key] = client.servers
    servers = dict(whole.get(key) or {})
    extra = {name: value for name, value in servers.get(NAME, {}).items() if name not in entry(client)}
    http = client.http("") if client.http else {}
    kept = {name: value for name, value in extra.items() if name not in http}
    return {**whole, key: {**servers, NAME: {**entry(client), **kept}}}


@pytest.mark.sample(12)
@pytest.mark.parametrize(("client", "before"), FOUND)
def test_an_installed_file_holds_what_was_there_and_the_entry(client: McpClient, before: bytes) -> None:
    after = installed(before, client, entry(client))
    assert load(client, after) == merged(client, before)
    assert installed(after, client, entry(client)) == after, "a second time changes nothing"


@pytest.mark.sample(24)
@pytest.mark.parametrize(("client", "before"), FOUND)
def test_every_character_that_was_there_is_still_there(client: McpClient, before: bytes) -> None:
    if b"/old/m3bench" in before:
        before = before.replace(b"m3bench", b"another")
    left = iter(installed(before, client, entry(client)))
    assert all(byte in left for byte in before)


@pytest.mark.sample(12)
@pytest.mark.parametrize(("client", "before"), FOUND)
def test_removing_leaves_the_bytes_that_were_there(client: McpClient, before: bytes) -> None:
    if b"/old/m3bench" in before:
        before = before.replace(b"m3bench", b"another")
    after = installed(before, client, entry(client))
    assert leads_to(before, client, after)
    assert removed(after, client, [b"something else", before]) == before


@pytest.mark.sample(12)
@pytest.mark.parametrize(("client", "before"), FOUND)
def test_removing_without_knowing_what_was_there_takes_the_entry_alone(client: McpClient, before: bytes) -> None:
    after = installed(before, client, entry(client))
    left = removed(after, client, [b"something else"])
    assert left is not None
    expected = merged(client, before)
    [key] = client.servers
    del expected[key][NAME]
    assert {**load(client, left), key: load(client, left).get(key) or {}} == expected


@pytest.mark.sample(12)
@pytest.mark.parametrize(("client", "before"), FOUND)
def test_a_file_that_changed_in_between_keeps_the_change(client: McpClient, before: bytes) -> None:
    [key] = client.servers
    after = installed(before, client, entry(client))
    changed = LANGUAGES[client.format].put(after.decode("utf-8-sig"), (key,), "later", {"command": "x"}).encode()
    left = removed(changed, client, [before])
    assert left is not None
    assert set(load(client, left)[key]) == set(merged(client, before)[key]) - {NAME} | {"later"}


@pytest.mark.parametrize("client", clients().values(), ids=clients().keys())
def test_a_list_of_servers_that_we_made_goes_when_nothing_else_is_in_it(client: McpClient) -> None:
    before = found(client)["no servers"]
    after = installed(before, client, entry(client))
    changed = LANGUAGES[client.format].put(after.decode(), (), "later", {"x": 1}).encode()
    left = removed(changed, client, [before])
    assert left is not None
    assert load(client, left) == {**load(client, before), "later": {"x": 1}}


@pytest.mark.parametrize("client", clients().values(), ids=clients().keys())
def test_a_file_that_we_made_goes(client: McpClient) -> None:
    after = installed(None, client, entry(client))
    assert after.decode() == snippet(client, entry(client))
    assert removed(after, client, []) is None
    assert removed(after, client, [b""]) == b"", "an empty file was there before"


@pytest.mark.parametrize("client", clients().values(), ids=clients().keys())
def test_an_entry_of_another_day_is_brought_up_to_date_and_keeps_what_a_person_added(client: McpClient) -> None:
    before = installed(found(client)["no servers"], client, {**entry(client, WINDOWS), "person": "added"})
    after = installed(before, client, entry(client))
    assert entry_in(after, client) == {**entry(client), "person": "added"}
    assert leads_to(found(client)["no servers"], client, after), "in place, and laid out as if it were new"


@pytest.mark.parametrize("client", clients().values(), ids=clients().keys())
def test_a_switch_to_http_leaves_no_program_behind(client: McpClient) -> None:
    if client.http is None:
        pytest.skip("takes no addresses")
    before = installed(None, client, entry(client))
    after = installed(before, client, client.http("http://127.0.0.1:8700/mcp"))
    assert entry_in(after, client) == client.http("http://127.0.0.1:8700/mcp")


@pytest.mark.parametrize("client", clients().values(), ids=clients().keys())
def test_paths_of_windows_survive(client: McpClient) -> None:
    after = installed(None, client, entry(client, WINDOWS))
    assert entry_in(after, client) == entry(client, WINDOWS)


@pytest.mark.sample(24)
@pytest.mark.parametrize(("client", "data"), BROKEN)
def test_a_file_that_cannot_be_understood_is_refused_with_one_line(client: McpClient, data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+") as refusal:
        installed(data, client, entry(client))
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


BLANKS = st.text(alphabet=" \t\n", max_size=3)
WORDS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=6)
COMMENTS = st.one_of(WORDS.map(lambda word: f"//{word}\n"), WORDS.map(lambda word: "/*" + word.replace("*", "") + "*/"))
GAPS = st.lists(st.one_of(BLANKS, COMMENTS), max_size=2).map("".join)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)
CURSOR = clients()["cursor"]


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A document with blanks, comments and trailing commas anywhere, and its value."""
    value = draw(st.dictionaries(WORDS, VALUES, max_size=3))
    if draw(st.booleans()):
        names = st.dictionaries(WORDS.filter(lambda name: name != NAME), VALUES, max_size=3)
        value = {**value, "mcpServers": draw(names)}
        keys = draw(st.permutations(list(value)))
        value = {key: value[key] for key in keys}
    elif "mcpServers" in value:
        del value["mcpServers"]
    return draw(GAPS) + _written(draw, value) + draw(GAPS), value


def _written(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, dict):
        pairs = [(_spaced(draw, json.dumps(key)), _spaced(draw, _written(draw, item))) for key, item in value.items()]
        return "{" + _listed(draw, [":".join(pair) for pair in pairs]) + "}"
    if isinstance(value, list):
        return "[" + _listed(draw, [_spaced(draw, _written(draw, item)) for item in value]) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def _listed(draw: st.DrawFn, items: list[str]) -> str:
    trailing: bool = draw(st.booleans())
    return ",".join(items) + ("," if items and trailing else "") + draw(GAPS)


def _spaced(draw: st.DrawFn, text: str) -> str:
    return draw(GAPS) + text + draw(GAPS)


def _bare(text: str) -> str:
    """Without comments and trailing commas, by other means than those under test."""
    pattern = r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/'
    bare = re.sub(pattern, lambda match: match[1] or " ", text, flags=re.DOTALL)
    return re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda match: match[1] or "", bare)


@given(documents())
def test_any_json_document_keeps_its_value_and_its_text(document: tuple[str, dict[str, Any]]) -> None:
    text, value = document
    before = text.encode()
    assert jsontext.load(text) == value == json.loads(_bare(text))
    after = installed(before, CURSOR, entry(CURSOR))
    servers = {**value.get("mcpServers", {}), NAME: entry(CURSOR)}
    assert json.loads(_bare(after.decode())) == {**value, "mcpServers": servers}
    left = iter(after.decode())
    assert all(character in left for character in text)
    assert removed(after, CURSOR, [before]) == before
    blind = removed(after, CURSOR, [b"[]"])
    assert blind is not None
    assert json.loads(_bare(blind.decode())) == {**value, "mcpServers": value.get("mcpServers", {})}

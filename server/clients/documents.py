"""Inserts, finds and removes our entry in the bytes of a configuration file, whatever its format.

Pure functions; nothing is written here. Every edit is read back and must hold what was there plus or minus the entry,
or it is refused. Removing restores exactly the earlier bytes, if these are known.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from m3bench.server.clients import jsontext, tomltext, yamltext
from m3bench.server.clients.client import NAME, Entry, Format, Launch, McpClient

_MARK = "\ufeff"
_SAMPLE = Launch(command="", args=())


@dataclass(frozen=True, kw_only=True)
class Language:
    """How a format is read and edited."""

    load: Callable[[str], dict[str, object]]
    put: Callable[[str, Sequence[str], str, Mapping[str, object]], str]
    take: Callable[[str, Sequence[str], str], str]


_JSON = Language(load=jsontext.load, put=jsontext.put, take=jsontext.take)
LANGUAGES: dict[Format, Language] = {
    "json": _JSON,
    "jsonc": _JSON,
    "toml": Language(load=tomltext.load, put=tomltext.put, take=tomltext.take),
    "yaml": Language(load=yamltext.load, put=yamltext.put, take=yamltext.take),
    "yaml list": Language(load=yamltext.load_items, put=yamltext.put_item, take=yamltext.take_item),
}


def entry_in(data: bytes, client: McpClient) -> Entry | None:
    """Our entry in a file, if it is there.

    Raises:
        ValueError: The file cannot be understood.
    """
    _, text = _decode(data)
    found = _container(LANGUAGES[client.format].load(text), client.servers)
    if not isinstance(found, Mapping) or NAME not in found:
        return None
    entry = found[NAME]
    return dict(entry) if isinstance(entry, Mapping) else {}


def settings_in(data: bytes, client: McpClient) -> dict[str, object]:
    """All that is in a file, by its outermost keys.

    Raises:
        ValueError: The file cannot be understood.
    """
    _, text = _decode(data)
    return dict(LANGUAGES[client.format].load(text))


def installed(before: bytes | None, client: McpClient, entry: Mapping[str, object]) -> bytes:
    """The file with our entry in it; fields of an earlier entry that are not ours stay.

    Raises:
        ValueError: The file cannot be understood, or not be edited without loss.
    """
    mark, text = _decode(before or b"")
    language = LANGUAGES[client.format]
    data = language.load(text)
    wanted = {**entry, **_foreign(entry_in(before or b"", client), client)}
    if _container(data, (*client.servers, NAME)) == wanted:
        return before or b""
    expected = deepcopy(data)
    inner = expected
    for key in client.servers:
        if inner.get(key) is None:
            inner[key] = {}
        below = inner[key]
        if not isinstance(below, dict):
            raise ValueError(f"{'.'.join(client.servers)} is not a mapping of servers")
        inner = below
    inner[NAME] = wanted
    after = language.put(text, client.servers, NAME, wanted)
    _hold(language, after, expected, client)
    return (mark + after).encode()


def removed(now: bytes, client: McpClient, originals: Sequence[bytes]) -> bytes | None:
    """The file without our entry, None when nothing of it was there before us.

    Args:
        now: The file as it is.
        client: Whose file it is.
        originals: What it may have been before our entry came.

    Raises:
        ValueError: The file cannot be understood, or not be edited without loss.
    """
    entry = entry_in(now, client)
    if entry is None:
        return now
    for original in originals:
        if _leads_to(original, client, entry, now):
            return original
    if not originals and _leads_to(None, client, entry, now):
        return None
    return _without(now, client, container_too=any(_lacks_container(original, client) for original in originals))


def leads_to(before: bytes, client: McpClient, now: bytes) -> bool:
    """Whether putting in the entry that a file has now, and nothing else, made that file."""
    try:
        entry = entry_in(now, client)
    except ValueError:
        return False
    return entry is not None and _leads_to(before, client, entry, now)


def snippet(client: McpClient, entry: Mapping[str, object]) -> str:
    """What a person can paste into a file that has nothing else in it."""
    return LANGUAGES[client.format].put("", client.servers, NAME, entry)


def _without(now: bytes, client: McpClient, *, container_too: bool) -> bytes:
    mark, text = _decode(now)
    language = LANGUAGES[client.format]
    expected = deepcopy(language.load(text))
    inner = _mapping(expected, client.servers)
    del inner[NAME]
    after = language.take(text, client.servers, NAME)
    if container_too and not inner:
        above = _mapping(expected, client.servers[:-1])
        del above[client.servers[-1]]
        after = language.take(after, client.servers[:-1], client.servers[-1])
    _hold(language, after, expected, client)
    return (mark + after).encode()


def _leads_to(before: bytes | None, client: McpClient, entry: Mapping[str, object], now: bytes) -> bool:
    try:
        return entry_in(before or b"", client) is None and installed(before, client, entry) == now
    except ValueError:
        return False


def _lacks_container(original: bytes, client: McpClient) -> bool:
    try:
        return _container(LANGUAGES[client.format].load(_decode(original)[1]), client.servers) is None
    except ValueError:
        return False


def _foreign(found: Mapping[str, object] | None, client: McpClient) -> Entry:
    """What a person added to our entry."""
    ours = {*client.stdio(_SAMPLE), *client.approval, *(client.http("") if client.http else ())}
    return {key: value for key, value in (found or {}).items() if key not in ours}


def _hold(language: Language, after: str, expected: dict[str, object], client: McpClient) -> None:
    """Refuse an edit whose result is not the intended one."""
    if _pruned(language.load(after), client) != _pruned(expected, client):
        raise ValueError("it is written in a way that cannot be edited without loss")


def _pruned(data: dict[str, object], client: McpClient) -> dict[str, object]:
    """Without an empty list of servers: formats disagree on whether an empty one is there."""
    above = _mapping(data, client.servers[:-1])
    if above and not above.get(client.servers[-1], True):
        del above[client.servers[-1]]
    return data


def _container(data: object, keys: Sequence[str]) -> object:
    for key in keys:
        if not isinstance(data, Mapping) or key not in data:
            return None
        data = data[key]
    return data


def _mapping(data: object, keys: Sequence[str]) -> dict[str, object]:
    """What keys lead to, to be changed in place; empty when there is no mapping."""
    found = _container(data, keys)
    return found if isinstance(found, dict) else {}


def _decode(data: bytes) -> tuple[str, str]:
    """The byte order mark, if there is one, and the text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8") from error
    return (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)

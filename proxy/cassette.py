"""Recorded answers of upstream servers, to be given again without them.

An answer is found by server version, tool and canonical arguments; the same question asked again gets the
recorded answers in their order, then the last one. Servers that hold state are never recorded: a question to
them has no one answer. A cassette is a JSON file that can be read and reviewed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError

FORMAT = "m3bench/cassette"
VERSION = 1


class Cassette:
    """A cassette that records, or one that plays.

    Args:
        path: The file.
        replaying: Whether answers come from the file; else they are recorded into it.
        live: Whether, when replaying, a question that was never recorded goes to the server.
        stateful: Servers that hold state.
    """

    def __init__(self, path: Path, *, replaying: bool, live: bool = False, stateful: Iterable[str] = ()) -> None:
        self.replaying = replaying
        self.live = live
        self._path = path
        self._stateful = frozenset(stateful)
        self._servers: dict[str, dict[str, Any]] = {}
        self._asked: dict[str, int] = {}
        if replaying:
            self._load()

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers that were recorded."""
        return tuple(self._servers) if self.replaying else ()

    def tools(self, server: str) -> list[dict[str, Any]]:
        """A recorded server's tool list."""
        found: list[dict[str, Any]] = self._servers[server]["tools"]
        return found

    def note_server(self, server: str, info: Mapping[str, Any]) -> None:
        """Remember a server's name and version; when replaying, another version's answers do not count."""
        entry = self._servers.setdefault(server, {"info": dict(info), "tools": [], "answers": {}})
        if entry["info"] != dict(info):
            entry |= {"info": dict(info), "answers": {}}

    def note_tools(self, server: str, tools: Sequence[Mapping[str, Any]]) -> None:
        """Remember a server's tool list."""
        self._servers.setdefault(server, {"info": {}, "tools": [], "answers": {}})["tools"] = [dict(t) for t in tools]

    def answer(self, server: str, tool: str, arguments: Mapping[str, Any]) -> bytes | None:
        """The next recorded answer; None when there is none or when this cassette records."""
        if not self.replaying or server in self._stateful or server not in self._servers:
            return None
        key = question(tool, arguments)
        answers = self._servers[server]["answers"].get(key)
        if not answers:
            return None
        turn = self._asked.get(server + key, 0)
        self._asked[server + key] = turn + 1
        return str(answers[min(turn, len(answers) - 1)]).encode(errors="surrogatepass")

    def keep(self, server: str, tool: str, arguments: Mapping[str, Any], result: bytes) -> None:
        """Record an answer."""
        if server in self._stateful or (self.replaying and not self.live):
            return
        entry = self._servers.setdefault(server, {"info": {}, "tools": [], "answers": {}})
        entry["answers"].setdefault(question(tool, arguments), []).append(result.decode(errors="surrogatepass"))

    def save(self) -> None:
        """Write the file, when this cassette records."""
        if self.replaying:
            return
        # Sorted for those who compare files; tool lists stay as the servers gave them, for those who read them.
        servers = {
            name: {**entry, "answers": dict(sorted(entry["answers"].items()))}
            for name, entry in sorted(self._servers.items())
        }
        data = {"format": FORMAT, "version": VERSION, "servers": servers}
        try:
            write_atomically(self._path, f"{json.dumps(data, ensure_ascii=False, indent=1)}\n".encode())
        except OSError as error:
            raise InputFileError(self._path, f"cannot be written ({error.strerror})") from error

    def _load(self) -> None:
        try:
            data = json.loads(self._path.read_bytes())
            if data["format"] != FORMAT or data["version"] != VERSION:
                raise ValueError
            self._servers = data["servers"]
        except OSError as error:
            raise InputFileError(self._path, f"cannot be read ({error.strerror})") from error
        except (ValueError, KeyError, TypeError) as error:
            raise InputFileError(self._path, "is not a cassette of this version of m3bench") from error


def question(tool: str, arguments: Mapping[str, Any]) -> str:
    """Tool and arguments in one canonical text: key order and the way numbers are written do not matter."""
    return f"{tool} {json.dumps(_canonical(arguments), sort_keys=True, ensure_ascii=False, separators=(',', ':'))}"


def _canonical(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case Mapping():
            return {key: _canonical(item) for key, item in value.items()}
        case list():
            return [_canonical(item) for item in value]
        case _:
            return value

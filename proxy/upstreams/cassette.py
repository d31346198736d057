"""Recorded answers of third-party servers, to be given again without them.

A cassette is a file of lines, each complete in itself: what a server is, one of its lists, or one answer. Lines are
only ever added, one write each, so that neither a second recording nor the death of the process takes anything away;
a line that was cut off is left out. An answer is found by server, method and canonical parameters. Each run has its
own way through a cassette (`Take`): the answers to a question that was asked again come in their order.
"""

import json
import os
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from m3bench.proxy.logs import tell
from m3bench.proxy.protocol.messages import Json, dump
from m3bench.proxy.protocol.tool_calls import WireError, error_object
from m3bench.tasks.errors import InputFileError

FORMAT = "m3bench/cassette"
VERSION = 2

Found = bytes | WireError
"""A recorded answer: a raw result, or the error that took its place."""


@dataclass(frozen=True)
class RecordedInfo:
    """What a recorded server said of itself."""

    info: Json
    """Its name and version."""
    capabilities: Json
    stateful: bool
    """Whether it holds state, as its entry said."""


@dataclass
class _Recorded:
    """What a cassette holds of one server."""

    about: RecordedInfo
    lists: dict[str, list[Json]] = field(default_factory=dict)
    """Its lists by method, as they were last."""
    answers: dict[str, dict[str, list[Found]]] = field(default_factory=dict)
    """Its answers by question and take, in their order."""


class Cassette:
    """A cassette that records, or one that plays.

    Args:
        paths: The file; when replaying, any number of them, which are read as one.
        replaying: Whether answers come from the file; else they are added to it.
        live: Whether, when replaying, a question that was never recorded goes to the server.

    Raises:
        InputFileError: A file cannot be read, or is something else.
    """

    def __init__(self, *paths: Path, replaying: bool, live: bool = False) -> None:
        self.replaying = replaying
        self.live = live
        self._paths = paths
        self._servers: dict[str, _Recorded] = {}
        self._file: int | None = None
        self._broken = False
        """Whether the last line could not be written whole."""
        for path in paths:
            if replaying or path.exists():
                self._load(path)

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers that were recorded."""
        return tuple(self._servers) if self.replaying else ()

    def about(self, server: str) -> RecordedInfo:
        """What a recorded server said of itself."""
        return self._servers[server].about

    def entries(self, server: str, method: str) -> list[Json]:
        """A list of a recorded server."""
        return self._servers[server].lists.get(method, [])

    def open(self) -> None:
        """Begin to record; nothing to do when replaying.

        Raises:
            InputFileError: The file cannot be written.
        """
        if self.replaying:
            return
        (path,) = self._paths
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            size = os.fstat(self._file).st_size
            # The last line of a process that was killed may have no end.
            self._broken = size > 0 and os.pread(self._file, 1, size - 1) != b"\n"
        except OSError as error:
            raise InputFileError(path, f"cannot be written ({error.strerror})") from error
        if not self._servers:
            self._write({"format": FORMAT, "version": VERSION})

    def close(self) -> None:
        """End the recording."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def note_server(self, server: str, info: Mapping[str, object], *, stateful: bool) -> None:
        """Remember what a server says of itself; answers of another version of it do not count."""
        about = RecordedInfo(_object(info.get("serverInfo")), _object(info.get("capabilities")), stateful)
        known = self._servers.get(server)
        if known is not None and known.about.info == about.info and (self.replaying or known.about == about):
            return
        if self.replaying and known is not None:
            _say(f"{server!r} is another version than the one that was recorded: its recorded answers do not count")
        self._servers[server] = _Recorded(about)
        self._write({"server": server, **asdict(about)})

    def note_list(self, server: str, method: str, entries: Sequence[Json]) -> None:
        """Remember a list of a server."""
        lists = self._servers[server].lists
        if not self.replaying and lists.get(method) != list(entries):
            lists[method] = list(entries)
            self._write({"server": server, "list": method, "entries": list(entries)})

    def answers(self, server: str, asked: str) -> tuple[Sequence[Found], bool]:
        """The answers to a question, and whether there may be others: those of the take that has most, then newest."""
        recorded = self._servers.get(server)
        if not self.replaying or recorded is None:
            return (), False
        takes = recorded.answers.get(asked, {})
        best: Sequence[Found] = max(reversed(takes.values()), key=len, default=())
        return best, recorded.about.stateful and len(set(map(repr, best))) > 1

    def keep(self, take: str, server: str, method: str, params: Mapping[str, object], found: Found) -> None:
        """Add an answer, when this cassette records."""
        if self.replaying:
            return
        answer: Json
        if isinstance(found, bytes):
            answer = {"result": found.decode(errors="surrogatepass")}
        else:
            answer = {"error": error_object(found)}
        self._write({"server": server, "take": take, "ask": method, "params": dict(params), **answer})

    def _write(self, line: Json) -> None:
        if self._file is None:
            return
        data = (b"\n" if self._broken else b"") + dump(line) + b"\n"
        self._broken = True
        try:
            # In one write: whoever reads, or writes as well, never meets half a line of a process that lives.
            self._broken = os.write(self._file, data) != len(data)
            problem = "it could only be written in part"
        except OSError as error:
            problem = str(error.strerror)
        if self._broken:
            _say(f"the cassette {self._paths[0]} cannot be written ({problem}): an answer is missing from it")

    def _load(self, path: Path) -> None:
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise InputFileError(path, f"cannot be read ({error.strerror})") from error
        lines: list[tuple[int, Any]] = []
        cut = 0
        for number, line in enumerate(raw.split(b"\n"), 1):
            try:
                lines += [(number, json.loads(line))] if line.strip() else []
            except (ValueError, RecursionError):
                cut += 1
        if not lines and cut <= 1 and raw and dump({"format": FORMAT}).startswith(raw.rstrip()[:20]):
            return  # Killed at its first line.
        header = lines[0][1] if lines else None
        if raw and not (isinstance(header, dict) and header.get("format") == FORMAT):
            raise InputFileError(path, "is not a cassette of this version of m3bench: record it again")
        for number, value in lines:
            try:
                self._take_in(value)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise InputFileError(path, f"line {number} is not that of a cassette") from error
        if cut:
            _say(f"{path}: {cut} {'line was' if cut == 1 else 'lines were'} cut off and left out")

    def _take_in(self, line: Any) -> None:
        """A line of a file, which may be anything: what is missing or of another kind raises."""
        if "format" in line:
            if line["version"] != VERSION:
                raise ValueError
        elif "info" in line:
            about = RecordedInfo(line["info"], line["capabilities"], bool(line["stateful"]))
            known = self._servers.get(line["server"])
            if known is None or known.about.info != about.info:
                if known is not None and known.answers:
                    _say(f"{line['server']!r} was recorded again in another version: earlier answers do not count")
                self._servers[line["server"]] = _Recorded(about)
            else:
                known.about = about
        elif "list" in line:
            self._servers[line["server"]].lists[line["list"]] = [dict(entry) for entry in line["entries"]]
        else:
            found: Found
            if "result" in line:
                found = str(line["result"]).encode(errors="surrogatepass")
            else:
                error = line["error"]
                found = (int(error["code"]), str(error["message"]))
                found = (*found, error["data"]) if "data" in error else found
            asked = question(line["ask"], line["params"])
            takes = self._servers[line["server"]].answers.setdefault(asked, {})
            takes.setdefault(str(line["take"]), []).append(found)


class Take:
    """One run's way through a cassette: what it records belongs together, and what it is given starts anew."""

    def __init__(self, cassette: Cassette) -> None:
        self._cassette = cassette
        self._id = secrets.token_hex(4)
        self._asked: Counter[tuple[str, str]] = Counter()

    def answer(self, server: str, method: str, params: Mapping[str, object]) -> Found | None:
        """The next recorded answer; None when there is none. The last one is given again, unless they differ and the
        server holds state: then nobody knows what it would say.
        """
        asked = question(method, params)
        answers, state = self._cassette.answers(server, asked)
        turn = self._asked[server, asked]
        if not answers or (state and turn >= len(answers)):
            return None
        self._asked[server, asked] += 1
        return answers[min(turn, len(answers) - 1)]

    def missing(self, what: str, server: str, method: str, params: Mapping[str, object]) -> str:
        """Why there is no answer, for whoever asked."""
        answers, _ = self._cassette.answers(server, question(method, params))
        if answers:
            return (
                f"This is not in the recording: it has {len(answers)} answers to {what} with these arguments, which "
                "differ, and this run has been given all of them."
            )
        return f"This is not in the recording: it has no answer to {what} with these arguments."

    def keep(self, server: str, method: str, params: Mapping[str, object], found: Found) -> None:
        """Add an answer, when the cassette records."""
        self._cassette.keep(self._id, server, method, params, found)


def question(method: str, params: Mapping[str, object]) -> str:
    """Method and parameters in one canonical text: key order and the way numbers are written do not matter."""
    return f"{method} {json.dumps(_canonical(params), sort_keys=True, ensure_ascii=False, separators=(',', ':'))}"


def _object(value: object) -> Json:
    return dict(value) if isinstance(value, dict) else {}


def _canonical(value: object) -> object:
    match value:
        case float() if value.is_integer():
            return int(value)
        case Mapping():
            return {key: _canonical(item) for key, item in value.items()}
        case list():
            return [_canonical(item) for item in value]
        case _:
            return value


def _say(text: str) -> None:
    tell(f"m3bench: {text}")

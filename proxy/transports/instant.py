"""Instant start: a client over stdio has its tools before anything heavy is loaded.

A client that connects asks for the same few things, and their answers are known before the program is loaded. `greet`
gives them from a prepared file, byte for byte as the SDK gives them, and only where a request leaves no doubt. The
first message that needs more ends it: the SDK is then told what was said, and goes on from there. While the program is
loaded for that, a process of its own answers what depends on nothing: a client that asks whether we live must not wait,
and on a busy machine a thread would wait for the one that loads. Only starts with the options that clients' entries
have are greeted; any other goes the usual way.

The file lies in the cache folder of the person (`M3BENCH_CACHE` names another), under a name that every version of the
program and of the tools changes, and is used only if its hash is right. `prepared` writes it, when a client is
installed and after the first start. Nothing but the standard library is imported.
"""

import json
import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeGuard

VERSION, CAPABILITIES, CLIENT = (
    f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientCapabilities", "clientInfo")
)
"""Keys of `_meta` in the newest revision; a test holds them against the SDK's."""

MODERN = "2026-07-28"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Of log messages: a start that is greeted has nobody whose messages could be passed on."""

UNCHANGING = ("tools/list", "prompts/list")
"""Lists that are the same whatever a client did before it asked."""

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")

MAX_LINE = 1 << 20
"""Longer lines are left to the SDK."""

QUIET_SECONDS = 0.25
"""After its tools were listed and the client was silent so long, the rest is loaded without being asked for."""

CACHE = "M3BENCH_CACHE"

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_SOURCES = (
    "proxy", "proxy/protocol", "proxy/steps", "proxy/transports", "proxy/upstreams", "server", "server/runs",
    "server/scorecard", "tasks", "tasks/data", "tasks/data/catalog", "tasks/data/further", "tasks/data/tables",
    "tasks/data/sets/m3",
)  # fmt: skip
"""Folders whose files decide what is answered."""
_PACKAGES = ("m3bench-", "mcp-", "mcp_types-", "pydantic-", "pydantic_core-")

_PLAIN_ID = re.compile(r"[ !#-\[\]-~]{0,128}")
"""Texts that every JSON writer encodes in the same bytes."""

_HANDLE = re.compile(r"[A-Za-z0-9_-]{22,64}")
"""Of a seat."""

Results = Mapping[str, bytes]
"""Raw results: `initialize REVISION` and `METHOD REVISION`; a list of the older revisions stands under the last one."""


@dataclass
class FirstMessages:
    """What was said before the program was loaded."""

    lines: list[bytes] = field(default_factory=list)
    """What the SDK has to be told, because its state depends on it."""
    said: dict[str | int, bytes] = field(default_factory=dict)
    """The answers that the client has to those lines, by id."""
    rest: bytes = b""
    """What arrived and is not answered; complete once nobody answers any more."""
    meanwhile: "LoadingAnswers | None" = None
    """Who answers while the program is loaded."""
    cause: bytes = b""
    """The line that the program is loaded for."""
    cause_ns: int = 0
    """When it arrived, by the monotonic clock: long before the program takes it."""

    def close(self) -> None:
        """Nobody answers any more from now on: what arrives is for the program."""
        if self.meanwhile is not None:
            self.rest = self.meanwhile.stop()
            self.meanwhile = None


class Greeter:
    """Answers the first messages of one client.

    Args:
        results: What was prepared.
    """

    def __init__(self, results: Results) -> None:
        self.first = FirstMessages()
        self.listed = False
        """Whether the client has its tools."""
        self._results = results
        self._revision = ""
        self._buffer = b""

    def feed(self, chunk: bytes) -> tuple[list[bytes], bool]:
        """The answers to what arrived, and whether more can be answered; if not, `first` is complete."""
        self._buffer += chunk
        answers: list[bytes] = []
        while (end := self._buffer.find(b"\n")) >= 0:
            line = self._buffer[:end]
            answer = self._answer(line) if line.strip() else b""
            if answer is None:
                self.first.rest, self.first.cause, self.first.cause_ns = self._buffer, line, time.monotonic_ns()
                return answers, False
            self._buffer = self._buffer[end + 1 :]
            if answer:
                answers.append(answer + b"\n")
        self.first.rest = self._buffer
        return answers, len(self._buffer) <= MAX_LINE

    def meanwhile(self, line: bytes) -> bytes | None:
        """The answer to a line while others wait for the program; None when it is for the program."""
        found = _request(line)
        if found is None or not _is_plain_id(found.get("id")):
            return None
        method, params, id = found["method"], found.get("params", {}), found["id"]
        if method == "logging/setLevel" and self._revision in HANDSHAKE:
            return _response(id, b"{}") if params.keys() == {"level"} and params["level"] in LEVELS else None
        meta = params.get("_meta", {})
        if not isinstance(meta, dict) or not params.keys() <= {"_meta"}:
            return None
        if VERSION in meta:
            is_settled = self._revision == MODERN and method in UNCHANGING
            return self._modern(id, method, meta, line) if is_settled else None
        if self._revision not in HANDSHAKE or method not in ("ping", *UNCHANGING):
            return None
        return _response(id, b"{}" if method == "ping" else self._results[f"{method} {HANDSHAKE[-1]}"])

    def _answer(self, line: bytes) -> bytes | None:
        """The answer to a line, empty when it wants none; None when the line is for somebody else."""
        message = _request(line)
        if message is None:
            return None
        method, params, id = message["method"], message.get("params", {}), message.get("id")
        if "id" not in message:
            return self._note(method, line)
        if not _is_plain_id(id):
            return None
        if method == "initialize":
            return self._initialize(id, params, line)
        if method == "logging/setLevel":
            return self.meanwhile(line)
        meta = params.get("_meta", {})
        if not isinstance(meta, dict) or not params.keys() <= {"_meta"}:
            return None
        if VERSION in meta:
            return self._modern(id, method, meta, line)
        if self._revision not in HANDSHAKE or (method != "ping" and method not in LISTS):
            return None
        self.listed = self.listed or method == "tools/list"
        return _response(id, b"{}" if method == "ping" else self._results[f"{method} {HANDSHAKE[-1]}"])

    def _note(self, method: str, line: bytes) -> bytes | None:
        if method != "notifications/initialized" or self._revision not in HANDSHAKE:
            return None
        self.first.lines.append(line)
        return b""

    def _initialize(self, id: str | int, params: Mapping[str, object], line: bytes) -> bytes | None:
        revision = params.get("protocolVersion")
        if self._revision in HANDSHAKE or revision not in HANDSHAKE:
            return None
        known = {"protocolVersion", "capabilities", "clientInfo"}
        if (
            params.keys() != known
            or not _are_capabilities(params["capabilities"])
            or not _is_info(params["clientInfo"])
        ):
            return None
        # A client may have looked for the newest revision before: that leaves nothing behind.
        self._revision, answer = revision, _response(id, self._results[f"initialize {revision}"])
        self.first.lines, self.first.said = [line], {id: answer}
        return answer

    def _modern(self, id: str | int, method: str, meta: Mapping[str, object], line: bytes) -> bytes | None:
        if self._revision not in ("", MODERN) or meta[VERSION] != MODERN or method not in ("server/discover", *LISTS):
            return None
        if not _are_capabilities(meta.get(CAPABILITIES)) or (CLIENT in meta and not _is_info(meta[CLIENT])):
            return None
        answer = _response(id, self._results[f"{method} {MODERN}"])
        if not self._revision:
            self._revision, self.first.lines, self.first.said = MODERN, [line], {id: answer}
        self.listed = self.listed or method == "tools/list"
        return answer


class LoadingAnswers:
    """Answers, in a process beside the one that loads the program, what depends on nothing, and keeps everything else.

    The process ends when it is told to, and with the one that started it.

    Args:
        greeter: Knows the answers, and has what arrived so far.
        source: Where the client writes.
        sink: Where it reads.
    """

    def __init__(self, greeter: Greeter, source: int = 0, sink: int = 1) -> None:
        woken, self._wake = os.pipe()
        self._left, leave = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                os.close(self._wake)
                os.close(self._left)
                _write(_AnsweringProcess(greeter, source, sink, woken).run(greeter.first.rest), leave)
            finally:
                os._exit(0)
        os.close(woken)
        os.close(leave)

    def stop(self) -> bytes:
        """Answer no more; what is left for the program."""
        os.close(self._wake)
        left = bytearray()
        while chunk := os.read(self._left, 1 << 16):
            left += chunk
        os.close(self._left)
        os.waitpid(self._process, 0)
        return bytes(left)


class _AnsweringProcess:
    """What the process beside does."""

    def __init__(self, greeter: Greeter, source: int, sink: int, woken: int) -> None:
        self._greeter = greeter
        self._kept = b""
        self._partial = b""
        self._source, self._sink, self._woken = source, sink, woken

    def run(self, arrived: bytes) -> bytes:
        """Answer until there is nobody to answer for; what is left for the program."""
        while True:
            self._take(arrived)
            if self._woken in select.select((self._source, self._woken), (), ())[0]:
                break
            arrived = os.read(self._source, 1 << 16)
            if not arrived:
                break
        return self._kept + self._partial

    def _take(self, chunk: bytes) -> None:
        *lines, self._partial = (self._partial + chunk).split(b"\n")
        for line in lines:
            answer = self._greeter.meanwhile(line)
            if answer is None:
                self._kept += line + b"\n"
            else:
                _write(answer + b"\n", self._sink)


def _request(line: bytes) -> dict[str, Any] | None:
    """A message with a method, as every client writes it; None for anything else."""
    try:
        message = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return None
    if not isinstance(message.get("params", {}), dict) or not message.keys() <= {"jsonrpc", "method", "params", "id"}:
        return None
    return message


def _is_plain_id(id: object) -> TypeGuard[str | int]:
    if isinstance(id, str):
        return _PLAIN_ID.fullmatch(id) is not None
    return isinstance(id, int) and not isinstance(id, bool) and 0 <= id < 1 << 53


def _are_capabilities(given: object) -> bool:
    return isinstance(given, dict) and all(isinstance(value, dict) for value in given.values())


def _is_info(given: object) -> bool:
    """Whether a client's name and version are as every revision wants them; further fields are texts."""
    if not isinstance(given, dict) or not {"name", "version"} <= given.keys():
        return False
    return all(isinstance(value, str) for name, value in given.items() if name != "icons")


def _response(id: str | int, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (json.dumps(id).encode(), result)


@dataclass(frozen=True)
class InstantStart:
    """A start that can be greeted."""

    profile: str = "full"
    content_only: bool = False


def start_of(arguments: Sequence[str]) -> InstantStart | None:
    """What `m3bench serve` was asked for, when that is nothing but what entries of clients say."""
    profile, content_only, rest = "full", False, list(arguments)
    while rest:
        option, given, value = rest.pop(0).partition("=")
        if option == "--content-only" and not given:
            content_only = True
        elif option in ("--profile", "--data", "--seat") and (given or rest):
            value = value if given else rest.pop(0)
            profile = value if option == "--profile" else profile
            if (option == "--data" and os.path.isfile(value)) or (option == "--seat" and not _HANDLE.fullmatch(value)):
                return None
        elif option != "--ranked" or given:
            return None
    elsewhere = os.environ.get("M3BENCH_DATA")
    made = os.environ.get("M3BENCH_SEED") or os.environ.get("M3BENCH_SECRET")
    if made or (elsewhere and os.path.isfile(elsewhere)):
        return None
    return InstantStart(profile, content_only)


def prepared_file(start: InstantStart) -> str:
    """Where the answers for a start are: another version of anything that decides them gets another file."""
    digest = sha256(repr((start, *_versions())).encode())
    return os.path.join(_cache(), f"{digest.hexdigest()[:32]}.answers")


def read_prepared(path: str) -> dict[str, bytes] | None:
    """The answers in a file; None when the file is missing or not as it was written."""
    try:
        with open(path, "rb") as file:
            seal, _, body = file.read().partition(b"\n")
    except OSError:
        return None
    if sha256(body).hexdigest().encode() != seal:
        return None
    results = {}
    while body:
        head, _, body = body.partition(b"\n")
        name, _, size = head.decode().rpartition(" ")
        results[name], body = body[: int(size)], body[int(size) + 1 :]
    return results


def prepared_bytes(results: dict[str, bytes]) -> bytes:
    """Answers as a file holds them."""
    body = b"".join(b"%b %d\n%b\n" % (name.encode(), len(result), result) for name, result in sorted(results.items()))
    return sha256(body).hexdigest().encode() + b"\n" + body


def greet(arguments: Sequence[str]) -> FirstMessages | None:
    """Answer a client that connects to `m3bench serve` with these arguments; None when nothing is prepared.

    Ends the process when the client goes, or a signal says stop, before anything else was asked.
    """
    start = start_of(arguments)
    results = read_prepared(prepared_file(start)) if start is not None else None
    if results is None:
        return None
    stops = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])]
    before = [(stop, signal.signal(stop, lambda *_: os._exit(0))) for stop in stops]
    try:
        return _converse(Greeter(results))
    finally:
        for stop, handler in before:
            signal.signal(stop, handler)


def _converse(greeter: Greeter) -> FirstMessages:
    goes_on = True
    while goes_on:
        if greeter.listed and (os.name != "posix" or not select.select((0,), (), (), QUIET_SECONDS)[0]):
            break
        chunk = os.read(0, 1 << 16)
        if not chunk:
            if not greeter.first.rest:
                os._exit(0)
            break
        answers, goes_on = greeter.feed(chunk)
        for answer in answers:
            _write(answer)
    if os.name == "posix":
        greeter.first.meanwhile = LoadingAnswers(greeter)
    return greeter.first


def _write(data: bytes, sink: int = 1) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(sink, view) :]
    except OSError:
        os._exit(0)  # Nobody reads any more: the client has left.


def _cache() -> str:
    if named := os.environ.get(CACHE):
        return named
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(
            os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "m3bench", "Cache"
        )
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "m3bench")
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "m3bench")


def _versions() -> Iterator[object]:
    """Everything that may change an answer: sizes and times of our files, names of the packages we rest on."""
    yield sys.version
    for folder in _SOURCES:
        with os.scandir(os.path.join(_ROOT, folder)) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith((".py", ".json", ".toml")):
                    found = entry.stat()
                    yield (folder, entry.name, found.st_size, found.st_mtime_ns)
    for folder in sys.path:
        if folder.endswith("-packages") and os.path.isdir(folder):
            yield sorted(name for name in os.listdir(folder) if name.startswith(_PACKAGES) and name.endswith("-info"))

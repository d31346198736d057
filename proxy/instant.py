"""Instant start: the client has its tools before anything heavy is loaded.

`greet` answers the first words of a client over stdio from a prepared file, and returns when something is asked that
needs the program. Only starts that say what every client's entry says are greeted; any other goes the usual way. The
file lies in the cache folder of the person (`M3BENCH_CACHE` names another), under a name that every version of the
program and of the tools changes, and is used only if its hash is right. `m3bench.proxy.prepared` writes it, when a
client is installed and behind the first start. Nothing but the standard library is imported.
"""

import os
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from m3bench.proxy.opening import Greeter, Opening

QUIET_SECONDS = 0.25
"""After its tools were listed and the client was silent so long, the rest is loaded without being asked for."""

CACHE = "M3BENCH_CACHE"

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SOURCES = (
    "proxy", "server", "server/runs", "server/scorecard", "tasks", "tasks/data", "tasks/data/catalog",
    "tasks/data/further", "tasks/data/tables", "tasks/data/sets/m3",
)  # fmt: skip
"""Folders whose files decide what is answered."""
_PACKAGES = ("m3bench-", "mcp-", "mcp_types-", "pydantic-", "pydantic_core-")


@dataclass(frozen=True)
class Start:
    """A start that can be greeted."""

    profile: str = "full"
    content_only: bool = False


def start_of(arguments: Sequence[str]) -> Start | None:
    """What `m3bench serve` was asked for, when that is nothing but what entries of clients say."""
    profile, content_only, rest = "full", False, list(arguments)
    while rest:
        option, given, value = rest.pop(0).partition("=")
        if option == "--content-only" and not given:
            content_only = True
        elif option in ("--profile", "--data") and (given or rest):
            value = value if given else rest.pop(0)
            profile = value if option == "--profile" else profile
            if option == "--data" and os.path.isfile(value):
                return None
        elif option != "--ranked" or given:
            return None
    elsewhere = os.environ.get("M3BENCH_DATA")
    made = os.environ.get("M3BENCH_SEED") or os.environ.get("M3BENCH_SECRET")
    if made or (elsewhere and os.path.isfile(elsewhere)):
        return None
    return Start(profile, content_only)


def prepared_file(start: Start) -> str:
    """Where the answers for a start lie: another version of anything that decides them is another file."""
    digest = sha256(repr((start, *_versions())).encode())
    return os.path.join(_cache(), f"{digest.hexdigest()[:32]}.answers")


def read_prepared(path: str) -> dict[str, bytes] | None:
    """The answers in a file; None when there is none, or it is not what was written."""
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


def greet(arguments: Sequence[str]) -> Opening | None:
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


def _converse(greeter: Greeter) -> Opening:
    goes_on = True
    while goes_on:
        if greeter.listed and (os.name != "posix" or not select.select((0,), (), (), QUIET_SECONDS)[0]):
            break
        chunk = os.read(0, 1 << 16)
        if not chunk:
            if not greeter.opening.rest:
                os._exit(0)
            break
        answers, goes_on = greeter.feed(chunk)
        for answer in answers:
            _write(answer)
    return greeter.opening


def _write(data: bytes) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(1, view) :]
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
            for entry in sorted(entries, key=lambda one: one.name):
                if entry.name.endswith((".py", ".json", ".toml")):
                    found = entry.stat()
                    yield (folder, entry.name, found.st_size, found.st_mtime_ns)
    for folder in sys.path:
        if folder.endswith("-packages") and os.path.isdir(folder):
            yield sorted(name for name in os.listdir(folder) if name.startswith(_PACKAGES) and name.endswith("-info"))

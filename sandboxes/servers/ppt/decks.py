"""The open decks of a workspace and which one is current.

A deck lies in the state folder as a .pptx and is written after every change, so that a host that starts again
goes on where the last one stopped. Every change starts from that file, so that neither a restart nor a look
changes a byte and a change that fails half-way leaves nothing behind; only looks are served from memory.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pptx
from pptx.presentation import Presentation

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt.package import dump
from m3bench.sandboxes.servers.ppt.registry import failure, refusal
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import LimitError

NO_DECK = "No presentation is currently loaded or the specified ID is invalid"
NOT_FOUND = "Presentation not found"

MAX_DECKS = 100
MAX_ID = 200
MAX_CACHED = 4
"""Decks kept in memory at once."""

_INDEX = "decks.json"


@dataclass(frozen=True)
class Deck:
    """An open presentation."""

    id: str
    presentation: Presentation


@dataclass
class _Index:
    """What the state folder says."""

    current: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    """Deck id to file name, in the order the decks were opened."""


@dataclass(frozen=True)
class _Cached:
    signature: tuple[int, ...]
    presentation: Presentation


def reading(context: Context, id: str | None, wording: str = NO_DECK) -> Deck:
    """A deck to look at: by id, else the current one."""
    index = _read_index(context)
    found = _find(index, id, wording)
    return Deck(found, _load(context, index.files[found]))


@contextmanager
def editing(context: Context, id: str | None, wording: str = NO_DECK) -> Iterator[Deck]:
    """A deck to change: kept when the block ends well, untouched when it raises."""
    index = _read_index(context)
    found = _find(index, id, wording)
    file = _folder(context) / index.files[found]
    deck = Deck(found, pptx.Presentation(str(file)))
    yield deck
    _store(context, file.name, deck.presentation)


def content(context: Context, id: str | None) -> bytes:
    """A deck as a file."""
    index = _read_index(context)
    return (_folder(context) / index.files[_find(index, id, NO_DECK)]).read_bytes()


def add(context: Context, id: str | None, presentation: Presentation) -> Deck:
    """Keep a new deck and make it the current one; one of the same id is replaced."""
    index = _read_index(context)
    if id is None:
        id = next(name for count in range(1, MAX_DECKS + 2) if (name := f"presentation_{count}") not in index.files)
    if not id.strip() or len(id) > MAX_ID:
        raise refusal("id", f"must have between 1 and {MAX_ID} characters")
    if id not in index.files and len(index.files) >= MAX_DECKS:
        raise failure(
            f"{MAX_DECKS} presentations are open, the most a workspace keeps: reuse one of their ids",
            outcome="invalid_arguments",
        )
    name = index.files.setdefault(id, f"{len(index.files) + 1}.pptx")
    _store(context, name, presentation)
    index.current = id
    _write_index(context, index)
    return Deck(id, presentation)


def switch(context: Context, id: str) -> str | None:
    """Make a deck the current one; the id of the one before."""
    index = _read_index(context)
    if id not in index.files:
        raise failure(f"Presentation '{id}' not found. Available presentations: {list(index.files)}")
    previous, index.current = index.current, id
    _write_index(context, index)
    return previous


def current(context: Context) -> str | None:
    """The id of the current deck."""
    return _read_index(context).current


def ids(context: Context) -> list[str]:
    """The ids of the open decks, oldest first."""
    return list(_read_index(context).files)


def _find(index: _Index, id: str | None, wording: str) -> str:
    wanted = id or index.current
    if wanted is not None and wanted in index.files:
        return wanted
    if not index.files:
        raise failure(f"{wording}: none is open, call create_presentation or open_presentation first")
    raise failure(f"{wording}: {wanted!r} is not among {list(index.files)}")


def _load(context: Context, name: str) -> Presentation:
    cache = _cache(context)
    file = _folder(context) / name
    cached = cache.get(name)
    if cached is None or cached.signature != _signature(file):
        cache.pop(name, None)
        cached = cache[name] = _Cached(_signature(file), pptx.Presentation(str(file)))
    while len(cache) > MAX_CACHED:
        del cache[next(iter(cache))]
    return cached.presentation


def _store(context: Context, name: str, presentation: Presentation) -> None:
    data = dump(presentation)
    folder = _folder(context)
    limits = context.workspace.limits
    if len(data) > limits.file_bytes:
        raise LimitError(f"the deck would have {len(data)} bytes, more than the {limits.file_bytes} allowed")
    others = sum(file.stat().st_size for file in folder.iterdir() if file.name != name)
    if others + len(data) > limits.bytes:
        raise LimitError(f"the open decks would take more than the {limits.bytes} bytes allowed")
    write_atomically(folder / name, data)


def _signature(file: Path) -> tuple[int, ...]:
    info = file.stat()
    return info.st_mtime_ns, info.st_size, info.st_ino


def _read_index(context: Context) -> _Index:
    file = _folder(context) / _INDEX
    if not file.exists():
        return _Index()
    data: dict[str, Any] = json.loads(file.read_bytes())
    return _Index(current=data["current"], files=data["files"])


def _write_index(context: Context, index: _Index) -> None:
    text = json.dumps({"current": index.current, "files": index.files}, ensure_ascii=False, indent=1)
    write_atomically(_folder(context) / _INDEX, text.encode())


def _folder(context: Context) -> Path:
    return context.workspace.state("ppt")


def _cache(context: Context) -> dict[str, _Cached]:
    cache: dict[str, _Cached] = context.memory.setdefault("ppt", {})
    return cache

"""Vectors in memory and on disk, so that a text is encoded once on a machine.

On disk it is SQLite, keyed by encoder and by what the encoder sees of a text. It is a cache: whatever goes wrong (a
full disk, a locked or broken file) costs time, never a result; `problem` says what happened. Processes may share the
file.
"""

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt
import platformdirs

from m3bench.server.scoring.encoder import Encoder

Floats = npt.NDArray[np.float32]

MAX_VECTORS = 500_000
"""About 800 MB of MiniLM vectors; the oldest go first."""

_MEMORY_VECTORS = 20_000
_KEYS_PER_QUERY = 500
_LOCK_SECONDS = 5.0
_UNIT_TOLERANCE = 1e-3


def default_path() -> Path:
    """The file in the user's cache folder."""
    return Path(platformdirs.user_cache_dir("m3bench", appauthor=False)) / "vectors.sqlite"


class VectorCache:
    """A file of vectors, opened at the first use."""

    def __init__(self, path: Path | str | None = None, *, max_vectors: int = MAX_VECTORS) -> None:
        self.path = Path(path) if path is not None else default_path()
        self.problem: str | None = None
        """Why the cache is not in use; `None` while it is."""
        self._max_vectors = max_vectors
        self._connection: sqlite3.Connection | None = None
        self._lock = Lock()

    def get(self, encoder: str, texts: Sequence[str]) -> dict[str, Floats]:
        """The vectors that are there."""
        keys = {_key(encoder, text): text for text in texts}
        rows: list[tuple[bytes, bytes]] = []
        with self._lock:
            connection = self._open()
            if connection is None:
                return {}
            try:
                for part in _parts(list(keys)):
                    marks = ",".join("?" * len(part))
                    query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
                    rows += connection.execute(query, part).fetchall()
            except sqlite3.Error as error:
                self._give_up(error)
                return {}
        return {keys[key]: vector for key, blob in rows if (vector := _vector(blob)) is not None}

    def put(self, encoder: str, vectors: Mapping[str, Floats]) -> None:
        """Keep the vectors."""
        with self._lock:
            connection = self._open()
            if connection is None:
                return
            rows = [(_key(encoder, text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
            try:
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)", rows)
                    newest = connection.execute("SELECT max(number) FROM vectors").fetchone()[0]
                    connection.execute("DELETE FROM vectors WHERE number <= ?", (newest - self._max_vectors,))
            except sqlite3.Error as error:
                self._give_up(error)

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection | None:
        if self._connection is not None or self.problem is not None:
            return self._connection
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_LOCK_SECONDS, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)
            return None
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors "
                "(number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"
            )
        except sqlite3.Error as error:
            connection.close()
            self._give_up(error)
            return None
        self._connection = connection
        return connection

    def _give_up(self, error: Exception) -> None:
        self.problem = f"{self.path}: {error}"
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class CachedEncoder:
    """Remembers vectors: recent ones in memory, all of them in a cache on disk when there is one."""

    def __init__(self, encoder: Encoder, cache: VectorCache | None = None) -> None:
        self._encoder = encoder
        self._cache = cache
        self._memory: dict[str, Floats] = {}
        self._lock = Lock()

    @property
    def id(self) -> str:
        """The id of the wrapped encoder: the vectors are the same."""
        return self._encoder.id

    def key(self, text: str) -> str:
        """The key of the wrapped encoder."""
        return self._encoder.key(text)

    def encode(self, texts: Sequence[str]) -> Floats:
        """One row of unit length per text; only what was never seen is encoded."""
        keys = [self._encoder.key(text) for text in texts]
        with self._lock:
            found = {key: self._memory[key] for key in keys if key in self._memory}
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            if missing and self._cache is not None:
                stored = self._cache.get(self.id, list(missing))
                found |= stored
                missing = {key: text for key, text in missing.items() if key not in stored}
            if missing:
                fresh = dict(zip(missing, self._encoder.encode(list(missing.values())), strict=True))
                found |= fresh
                if self._cache is not None:
                    self._cache.put(self.id, fresh)
            self._remember(found)
            return np.stack([found[key] for key in keys])

    def _remember(self, vectors: dict[str, Floats]) -> None:
        self._memory |= vectors
        for key in list(self._memory)[: max(0, len(self._memory) - _MEMORY_VECTORS)]:
            del self._memory[key]


def _key(encoder: str, text: str) -> bytes:
    return hashlib.blake2b(f"{encoder}\0{text}".encode("utf-8", "replace"), digest_size=16).digest()


def _vector(blob: bytes) -> Floats | None:
    """The vector, unless the bytes cannot be one."""
    if len(blob) % 4:
        return None
    vector = np.frombuffer(blob, "<f4")
    return vector if abs(float(vector @ vector) - 1.0) <= _UNIT_TOLERANCE else None


def _parts(keys: Sequence[bytes]) -> list[Sequence[bytes]]:
    return [keys[start : start + _KEYS_PER_QUERY] for start in range(0, len(keys), _KEYS_PER_QUERY)]

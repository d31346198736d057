"""A bundle read back, without trust: records as the store would give them, files written only below a given folder.

Nothing here judges; what does not fit the form is an `InputFileError`, what fits it and is not true is for `rescoring`.
"""

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TypeVar
from unicodedata import bidirectional, category

from pydantic import BaseModel, ValidationError

from m3bench.server.lab.interchange import bundle
from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import BundleIndex, PackedCall, PackedFile, PackedRun
from m3bench.server.lab.interchange.signatures import Signatures
from m3bench.server.lab.results.resultset import Header, Sample
from m3bench.server.scoring.words import printable
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.errors import InputFileError

MAX_NAME = 4000
"""Characters of whatever has a name; the profile of a set may list several."""

MAX_REPEATS = 10_000
MAX_SAMPLES = 1_000_000

MAX_REASON = 20_000
"""Characters of why a sample is void, or of what a provider said."""

MAX_FILES = 20_000
MAX_RUN_BYTES = 2 << 30
"""What the files of a run come to, and what its calls do: an archive holds a value once, however often it is named."""

MAX_PATH = 1000
"""Characters of a file's path in a workspace."""

_Form = TypeVar("_Form", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class SubmittedRun:
    """A run of a bundle."""

    record: RunRecord
    """Its score card is the one that is claimed."""
    calls: tuple[CallRecord, ...]
    """In the order of the log."""
    files: tuple[PackedFile, ...]
    judged: "JudgedRun | None" = None
    """What judges said of it."""


class JudgedRun(BaseModel):
    """What judges said of a run. Only which run it is matters here."""

    model_config = {"extra": "allow"}
    run: str
    task: str
    seal: str | None


class Submission:
    """A bundle.

    Args:
        archive: The opened file, which stays the caller's to close.

    Raises:
        InputFileError: It is not a bundle of this version.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.index = self._one(bundle.INDEX, BundleIndex)
        self.header = self._one(bundle.HEADER, Header)
        self.samples = tuple(self._many(bundle.SAMPLES, Sample))
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Names and numbers must be such as a server writes; a name that a screen could act upon is none."""
        header, path = self.header, self._archive.path
        if not 1 <= header.repeats <= MAX_REPEATS or len(header.tasks) * header.repeats > MAX_SAMPLES:
            raise InputFileError(path, f"plans more samples than can be read (at most {MAX_SAMPLES})")
        named = (header.name, header.agent, header.profile, header.started, *header.tasks)
        for name in (*named, header.solver):
            if len(name) > MAX_NAME or not _is_name(name) or not (name.strip() or name is header.solver):
                raise InputFileError(path, f"holds {printable(name[:80])!r}, which is not a name")
        for sample in self.samples:
            if len(sample.task) > MAX_NAME or len(sample.run or "") > MAX_NAME:
                raise InputFileError(path, "holds a sample whose task or run has no name")
            if len(sample.reason) + sum(len(retry.failure) for retry in sample.retries) > MAX_REASON:
                raise InputFileError(path, f"gives reasons of more than {MAX_REASON} characters for a sample")
            if not math.isfinite(sample.seconds):
                raise InputFileError(path, "holds a sample whose seconds have no end")

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The handles of the runs that are packed."""
        found = (name.split("/")[1] for name in self._archive.names if name.endswith(f"/{bundle.RUN}"))
        return tuple(sorted(found))

    @cached_property
    def signatures(self) -> Signatures | None:
        """What a server signed; None when there is nothing."""
        return self._one(bundle.SIGNED, Signatures) if bundle.SIGNED in self._archive else None

    def hashes(self) -> Iterator[tuple[str, str | None, str | None]]:
        """Every member with the hash that the index gives and the one it has; None where one of them is missing."""
        members = set(self._archive.names) - {bundle.INDEX}
        for name in sorted(members | set(self.index.members)):
            real = sha256(self._archive.read(name)).hexdigest() if name in members else None
            yield name, self.index.members.get(name), real

    def run(self, id: str) -> SubmittedRun:
        """A run with its calls and files.

        Raises:
            InputFileError: Something of it is missing or is not what it should be.
        """
        place = f"runs/{id}"
        packed = self._one(f"{place}/{bundle.RUN}", PackedRun)
        claimed = f"{place}/{bundle.CARD}"
        card = self._one(claimed, _Card).model_dump() if claimed in self._archive else None
        named = tuple(self._many(f"{place}/{bundle.CALLS}", PackedCall))
        files = tuple(self._many(f"{place}/{bundle.FILES}", PackedFile))
        self._bound(id, [getattr(call, name) for call in named for name in bundle.BYTES])
        self._bound(id, [file.value for file in files])
        if len(files) > MAX_FILES:
            raise InputFileError(self._archive.path, f"run {id[:12]} has {len(files)} files (at most {MAX_FILES})")
        calls = tuple(self._call(call) for call in named)
        for file in files:
            self._check(file.path)
        record = RunRecord(**packed.model_dump(), scorecard=card)
        judged = f"{place}/{bundle.JUDGES}"
        said = self._one(judged, JudgedRun) if judged in self._archive else None
        return SubmittedRun(record=record, calls=calls, files=files, judged=said)

    def furnish(self, run: SubmittedRun, folder: Path) -> None:
        """Write a run's files below a folder, as they lay in its workspace.

        Raises:
            InputFileError: They cannot all lie in one folder, or one is missing.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for file in run.files:
            content = self._value(file.value)
            path = folder / file.path
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as target:
                    target.write(content)
                os.utime(path, ns=(file.changed_ns, file.changed_ns))
            except (OSError, OverflowError, ValueError) as error:
                why = getattr(error, "strerror", None) or type(error).__name__
                raise InputFileError(
                    self._archive.path, f"the file {file.path[:80]!r} cannot be written out ({why})"
                ) from None

    def _bound(self, run: str, values: Sequence[str | None]) -> None:
        total = sum(self._archive.size(f"values/{digest}") for digest in values if digest is not None)
        if total > MAX_RUN_BYTES:
            raise InputFileError(
                self._archive.path, f"run {run[:12]} would unpack to {total} bytes (at most {MAX_RUN_BYTES} are read)"
            )

    def _call(self, packed: PackedCall) -> CallRecord:
        fields = packed.model_dump()
        for name in bundle.BYTES:
            fields[name] = None if fields[name] is None else self._value(fields[name])
        error = fields.pop("error")
        return CallRecord(**fields, error=None if error is None else tuple(error))

    def _value(self, digest: str) -> bytes:
        return self._archive.read(f"values/{digest}")

    def _check(self, path: str) -> None:
        """A path must stay below the folder that it is written into."""
        parts = PurePosixPath(path).parts
        odd = not parts or path.startswith("/") or ".." in parts or "\0" in path
        odd |= os.name == "nt" and any(letter in path for letter in "\\:")
        if odd or len(path) > MAX_PATH or PurePosixPath(path).as_posix() != path:
            raise InputFileError(
                self._archive.path, f"names the file {path[:80]!r}, which is not a path in a workspace"
            )

    def _one(self, name: str, form: type[_Form]) -> _Form:
        try:
            return form.model_validate_json(self._archive.read(name))
        except ValidationError as error:
            raise self._odd(name, error) from None

    def _many(self, name: str, form: type[_Form]) -> Iterator[_Form]:
        for number, line in enumerate(self._archive.read(name).splitlines(), 1):
            try:
                yield form.model_validate_json(line)
            except ValidationError as error:
                raise self._odd(f"{name}, line {number}", error) from None

    def _odd(self, place: str, error: ValidationError) -> InputFileError:
        first = error.errors(include_url=False, include_input=False)[0]
        # Where a field is not expected, its name is the submitter's.
        field = printable(".".join(map(str, first["loc"]))[:100])
        return InputFileError(self._archive.path, f"{place}: {field + ': ' if field else ''}{first['msg'][:200]}")


def _is_name(text: str) -> bool:
    """Whether nothing in a text acts upon what shows it: no control, no line of its own, no turn of direction."""
    return not any(
        category(character) in ("Cc", "Cs", "Zl", "Zp") or bidirectional(character) in _TURNS for character in text
    )


_TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""What has the text behind it read in another direction."""


class _Card(BaseModel):
    """A score card: any object."""

    model_config = {"extra": "allow"}

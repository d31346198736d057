"""A board in a folder: the bundles that were accepted, what came of verifying each, and the site made of them.

    board.json   the accepted bundles in the order they came, each with its verdict
    bundles/     the bundles as they came
    index.html … the site, made anew from the bundles whenever one is added

A bundle is on a board once, and so is a run: what is there already, under whatever name, is not accepted again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from unicodedata import category, normalize

from pydantic import BaseModel, ConfigDict, ValidationError

from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES
from m3bench.server.lab.interchange.consistency import RunTimes
from m3bench.server.lab.interchange.rescoring import needed
from m3bench.server.lab.interchange.submission import Submission
from m3bench.server.lab.interchange.unpacking import unpack
from m3bench.server.lab.interchange.verdict import LEVELS, BundleVerdict, Level, VerdictDocument
from m3bench.server.lab.reports.site.files import write_site
from m3bench.server.lab.reports.standings import Leaderboard
from m3bench.server.lab.results.comparability import refuse_unlike
from m3bench.server.lab.results.documents import file_name
from m3bench.server.lab.results.resultset import ResultSet, read_resultset
from m3bench.server.scoring import Encoder
from m3bench.server.serving.apart import work_apart
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.library import Library

INDEX, BUNDLES = "board.json", "bundles"

Outcome = Literal["accepted", "already there", "refused"]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Accepted(_Form):
    """A bundle on the board."""

    name: str
    """What the board calls it: as it calls itself, with digits of its hash where another one looks the same."""
    file: str
    sha256: str
    verdict: VerdictDocument
    """As it was when the bundle was accepted."""

    @property
    def decision(self) -> "BoardDecision":
        """The decision when it is submitted again."""
        return BoardDecision(outcome="already there", name=self.name, why=self.verdict.summary)


class BoardIndex(_Form):
    """The content of `board.json`."""

    format: Literal["m3bench/board"] = "m3bench/board"
    version: Literal[1] = 1
    mixed: bool = False
    bundles: tuple[Accepted, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BoardDecision:
    """The decision on a bundle."""

    outcome: Outcome
    name: str
    why: str
    """The verdict in a line, or why it is refused."""


class BundleBoard:
    """A board.

    Args:
        folder: Its folder, which may be empty or missing.
        library: The tasks of its bundles.
        encoder: To score with.
        mixed: Whether sets that were made under other conditions stand on it, without ranks.

    Raises:
        InputFileError: The folder holds something else, or its index cannot be read.
    """

    def __init__(self, folder: Path, library: Library, encoder: Encoder, *, mixed: bool = False) -> None:
        self.folder = folder
        self._library = library
        self._encoder = encoder
        self._index = _read(folder)
        if mixed:
            self._index = self._index.model_copy(update={"mixed": True})

    @property
    def bundles(self) -> Sequence[Accepted]:
        """What is on the board."""
        return self._index.bundles

    def find(self, path: Path) -> Accepted | None:
        """The bundle of a file, when it is on the board already."""
        return self._with(_digest(path))

    def _with(self, digest: str) -> Accepted | None:
        return next((bundle for bundle in self.bundles if bundle.sha256 == digest), None)

    def accept(self, path: Path, verdict: BundleVerdict, at_least: Level = "replayed") -> BoardDecision:
        """Put a bundle on the board, unless there is an objection.

        Args:
            path: The bundle.
            verdict: What came of verifying it.
            at_least: The level that it must have.

        Raises:
            InputFileError: It is no bundle, or the board cannot be written.
        """
        digest = _digest(path)
        found = self._with(digest)
        if why := self._objection(path, verdict, at_least, found):
            return BoardDecision(outcome="refused", name=verdict.name, why=why)
        if found is not None and LEVELS.index(found.verdict.verdict) >= LEVELS.index(verdict.level):
            return found.decision
        taken = {_look(bundle.name) for bundle in self.bundles if bundle is not found}
        names = (verdict.name, f"{verdict.name} ({digest[:8]})", f"{verdict.name} ({digest})")
        name = next(name for name in names if _look(name) not in taken)
        file = f"{BUNDLES}/{file_name(name)}-{digest[:12]}.m3run"
        accepted = Accepted(name=name, file=file, sha256=digest, verdict=verdict.document)
        kept = [accepted if bundle is found else bundle for bundle in self.bundles]
        try:
            (self.folder / BUNDLES).mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / file, path.read_bytes())
            self._index = self._index.model_copy(update={"bundles": tuple(kept if found else [*kept, accepted])})
            write_atomically(self.folder / INDEX, f"{self._index.model_dump_json(indent=1)}\n".encode())
        except OSError as error:
            raise InputFileError(self.folder, f"cannot be written ({error.strerror})") from error
        return BoardDecision(outcome="accepted", name=name, why=verdict.summary)

    def write(self) -> Leaderboard:
        """Write the site again; returns the document of its board."""
        with (
            TemporaryDirectory(prefix="m3bench-board-") as place,
            TemporaryDirectory(prefix=".draft-", dir=self.folder) as folder,
        ):
            draft = Path(folder)
            sets = [self._read(bundle, Path(place)) for bundle in self.bundles]
            verdicts = {bundle.name: bundle.verdict for bundle in self.bundles}
            document = write_site(draft, sets, mixed=self._index.mixed, libraries=[self._library], verdicts=verdicts)
            # Only when all of it is there: what fails before leaves the site as it was.
            for path in sorted(path for path in draft.rglob("*") if path.is_file()):
                target = self.folder / path.relative_to(draft)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
            return document

    def _objection(self, path: Path, verdict: BundleVerdict, at_least: Level, found: Accepted | None) -> str:
        """Why a bundle cannot be accepted; empty when it can."""
        if not verdict.confirmed:
            first = verdict.differences[0]
            more = f", and {len(verdict.differences) - 1} more" if len(verdict.differences) > 1 else ""
            return f"refuted: {first.where}: {first.what}: claimed {first.claimed}, found {first.recomputed}{more}"
        if not verdict.reaches(at_least):
            return f"it is {verdict.level}, and this board takes what is at least {at_least}"
        if not verdict.runs:
            return "there is no scored run in it"
        if found is not None:
            return ""
        checked = work_apart(
            path,
            lambda: {"why": self._copy(path) or self._unlike(path, verdict)},
            readable=[path, self.folder, *needed(self._library)],
        )
        return str(checked["why"])

    def _copy(self, path: Path) -> str:
        """Why a bundle is a copy of one on the board; empty when it is none."""
        times = RunTimes()
        whose: dict[str, str] = {}
        for bundle in self.bundles:
            with Archive(self.folder / bundle.file, NAMES) as archive:
                submission = Submission(archive)
                for id in submission.runs:
                    whose[id] = bundle.name
                    list(times.odd(submission.run(id)))
        with Archive(path, NAMES) as archive:
            submission = Submission(archive)
            for id in submission.runs:
                if id in whose:
                    return f"run {id[:12]} is already on the board, in {whose[id]!r}"
                for what, _, other in times.odd(submission.run(id)):
                    return f"run {id[:12]} has {what} that a run on the board already has ({other})"
        return ""

    def _unlike(self, path: Path, verdict: BundleVerdict) -> str:
        """Why a bundle does not compare with those on the board; empty when it does, and a page can be made of it."""
        with TemporaryDirectory(prefix="m3bench-board-") as place:
            known = (verdict.unsolved, verdict.alone)
            unpack(path, Path(place) / "new", self._library, self._encoder, None, *known)
            new = read_resultset(Path(place) / "new")
            verdicts = {new.header.name: verdict.document}
            # One bundle that cannot be shown would keep all others from being shown.
            write_site(Path(place) / "site", [new], libraries=[self._library], verdicts=verdicts)
            if self._index.mixed or not self.bundles:
                return ""
            first = self._read(self.bundles[0], Path(place))
            try:
                refuse_unlike(
                    [first, new], ["this board", new.header.name], ", on a board of their own, or say --mixed"
                )
            except UserError as error:
                return str(error)
        return ""

    def _read(self, bundle: Accepted, place: Path) -> ResultSet:
        folder = place / bundle.sha256[:12]
        known = (bundle.verdict.unsolved, bundle.verdict.alone)
        unpack(self.folder / bundle.file, folder, self._library, self._encoder, bundle.name, *known)
        return read_resultset(folder)


def _look(name: str) -> str:
    """What people see of a name: not its case, nor its kind of spaces, nor what has no shape."""
    seen = (character for character in normalize("NFKC", name).casefold() if category(character) != "Cf")
    return " ".join("".join(seen).split())


def _read(folder: Path) -> BoardIndex:
    path = folder / INDEX
    try:
        return BoardIndex.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        if folder.exists() and any(folder.iterdir()):
            raise InputFileError(folder, "is not empty and holds no board: name an empty folder") from None
        return BoardIndex()
    except NotADirectoryError:
        raise InputFileError(folder, "is a file: name a folder") from None
    except ValidationError as error:
        raise InputFileError(path, error.errors(include_url=False)[0]["msg"]) from error


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror})") from error

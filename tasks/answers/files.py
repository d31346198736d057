"""Files: what was asked to be made, judged by what is in it.

Where a value stands in a workbook, what a file is called and how it looks is the client's own choice, unless it was
asked for. Whoever names no file is judged by every file of the kind that the run left; so is whoever was asked for a
folder, which the question names.
"""

from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Annotated, Literal

from pydantic import Field as Setting

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, as_text, is_nothing
from m3bench.tasks.answers.drawings import PictureMarked, PicturePart, PictureToned
from m3bench.tasks.answers.office import DeckChart, DeckShows, WorkbookChart, WorkbookRows
from m3bench.tasks.answers.pages import (
    BarsTrue,
    BlocksAt,
    MarksIn,
    NoOverlap,
    PageKept,
    PageLacks,
    PageLooks,
    PageSays,
    TextFits,
)
from m3bench.tasks.checks import BaseCheck, DeckHas, Evidence, FileOpens, PictureChanged, PictureCut, WorkbookCells
from m3bench.tasks.facts import Fact


class FolderHas(BaseCheck):
    """A folder has a PDF of each of several names."""

    kind: Literal["folder_has"] = "folder_has"
    pattern: str = "*.pdf"
    folder: str
    """What it is called, wherever it is."""
    names: tuple[str, ...]
    """What the names of the files begin with."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"{self.folder} has {', '.join(self.names)}"

    def problem(self, evidence: Evidence) -> str | None:
        """Which files are missing."""
        there = [
            path.name
            for path in evidence.find("*.pdf")
            if path.parent.name == self.folder and path.read_bytes().startswith(b"%PDF-")
        ]
        missing = [name for name in self.names if not any(path.startswith(name) for path in there)]
        return f"{', '.join(missing)} not in {self.folder}" if missing else None


Content = Annotated[
    FileOpens
    | FolderHas
    | WorkbookCells
    | WorkbookRows
    | WorkbookChart
    | DeckHas
    | DeckChart
    | DeckShows
    | PictureChanged
    | PictureCut
    | PictureMarked
    | PicturePart
    | PictureToned
    | PageKept
    | PageSays
    | PageLacks
    | PageLooks
    | TextFits
    | NoOverlap
    | BarsTrue
    | BlocksAt
    | MarksIn,
    Setting(discriminator="kind"),
]


class File(Value):
    """A file that the run made."""

    SHOWN = ("form",)

    type: Literal["file"] = "file"
    form: Literal["xlsx", "pptx", "png", "pdf", "svg"]
    """What kind of file, by its ending."""
    value: str
    """Where the reference puts it."""
    holds: tuple[Content, ...]
    """What must be in it."""

    @property
    def described(self) -> str:
        """The type in words."""
        return f"folder with .{self.form} files: its path" if self._many else f"file, .{self.form}: its path"

    @property
    def _many(self) -> bool:
        """Whether a folder with files is asked for."""
        return any(isinstance(content, FolderHas) for content in self.holds)

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """What is wrong with the file."""
        if asked.evidence is None:
            return "there are no files"
        pattern = f"*.{self.form}"
        if not is_nothing(given) and not self._many:
            found = _named(as_text(given), asked.evidence)
            if found is None:
                return f"there is no file {as_text(given)[:60]!r}"
            pattern = found
        for content in (FileOpens(pattern=pattern), *self.holds):
            finding = content.model_copy(update={"pattern": pattern}).run(asked.evidence)
            if not finding.passed:
                return finding.reason
        return None

    def given(self) -> JSON:
        """Its path."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """None: what is in a file is not said."""
        yield from ()


def _named(path: str, evidence: Evidence) -> str | None:
    """The pattern of exactly the file that a path names; None when there is none."""
    wanted = path.replace("\\", "/").removeprefix("file://").removeprefix("./").strip("/")
    name = wanted.rpartition("/")[2]
    found = [path.relative_to(evidence.workspace).as_posix() for path in evidence.find("*")]
    same = [path for path in found if path == wanted] or [path for path in found if wanted.endswith(f"/{path}")]
    same = same or [path for path in found if path.rpartition("/")[2] == name and fnmatch(path, "*.*")]
    return same[-1].replace("[", "[[]") if same and name else None

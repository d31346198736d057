"""Outcome checks: did the run achieve what was asked? Deterministic, each with a reason when it fails.

Checks of files say what a file field must hold. The others look for words in the answer or for calls in the log: they
judge the tasks that have no fields, such as those of version 1. Files come from an agent, so a check that cannot read
one fails with a reason and never raises.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from m3bench.tasks.folding import fold
from m3bench.tasks.foreign_files import is_bearable, picture_in, workbook_in
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import openpyxl
    import pptx

    from m3bench.tasks import formulas, likeness
    from m3bench.tasks.answers import numerals
else:
    openpyxl = LazyModule("openpyxl")
    pptx = LazyModule("pptx")
    formulas = LazyModule("m3bench.tasks.formulas")
    numerals = LazyModule("m3bench.tasks.answers.numerals")
    likeness = LazyModule("m3bench.tasks.likeness")

_NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.])-?\d+(?:\.\d+)?(?![\d])")

LONGEST_FIGURE = 40
"""Characters of a cell that is a number with its unit, written as text."""


@dataclass(frozen=True, kw_only=True)
class LoggedCall:
    """A call of the run, as checks see it."""

    tool: str
    arguments: dict[str, object]
    outcome: str
    text: str
    """The text of its result."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a run left behind."""

    answer: str
    fields: Mapping[str, object] | None = None
    """The fields as the client gave them; None when it gave only prose."""
    workspace: Path
    calls: Sequence[LoggedCall] = ()

    def find(self, pattern: str) -> list[Path]:
        """Files of the workspace whose path matches, the most recently changed last."""
        found = [
            path
            for path in self.workspace.rglob("*")
            if path.is_file() and not path.is_symlink()
            and fnmatch(path.relative_to(self.workspace).as_posix(), pattern) and is_bearable(path)
        ]  # fmt: skip
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.as_posix()))


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check says."""

    check: str
    """What was checked, in words."""
    passed: bool
    reason: str = ""
    """Why it failed; empty when it passed."""


class BaseCheck(BaseModel, ABC):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    @abstractmethod
    def title(self) -> str:
        """What is checked, in words."""

    @abstractmethod
    def problem(self, evidence: Evidence) -> str | None:
        """Why the check fails; None when it passes."""

    def run(self, evidence: Evidence) -> Finding:
        """Carry out the check."""
        try:
            problem = self.problem(evidence)
        except Exception as error:  # whatever an agent's file makes a library raise
            problem = f"it could not be checked ({type(error).__name__})"
        return Finding(check=self.title, passed=problem is None, reason=problem or "")


class AnswerNames(BaseCheck):
    """The answer names each of several things, in one of its spellings."""

    kind: Literal["answer_names"] = "answer_names"
    all_of: tuple[tuple[str, ...], ...]
    """Each inner tuple holds the spellings of one thing."""

    @property
    def title(self) -> str:
        return "the answer names " + ", ".join(spellings[0] for spellings in self.all_of)

    def problem(self, evidence: Evidence) -> str | None:
        text = evidence.answer.casefold()
        missing = [spellings[0] for spellings in self.all_of if not any(_says(text, s.casefold()) for s in spellings)]
        return f"{', '.join(missing)} not in the answer" if missing else None


class AnswerNumber(BaseCheck):
    """The answer gives a number, within a tolerance."""

    kind: Literal["answer_number"] = "answer_number"
    value: float
    tolerance: float = 0.005
    what: str = "the number"

    @property
    def title(self) -> str:
        return f"the answer gives {self.what} ({self.value:g})"

    def problem(self, evidence: Evidence) -> str | None:
        numbers = [float(found.replace(",", "")) for found in _NUMBER.findall(evidence.answer)]
        if any(abs(number - self.value) <= self.tolerance for number in numbers):
            return None
        said = ", ".join(f"{number:g}" for number in numbers[:8])
        return f"the numbers in the answer are {said}" if numbers else "no number in it"


class AnswerIsNotTheQuestion(BaseCheck):
    """The answer says something that the question did not."""

    kind: Literal["answer_is_new"] = "answer_is_new"
    question: str

    @property
    def title(self) -> str:
        return "the answer is more than the question"

    def problem(self, evidence: Evidence) -> str | None:
        new = set(re.findall(r"\w+", evidence.answer.casefold())) - set(re.findall(r"\w+", self.question.casefold()))
        return None if len(new) >= 2 else "it repeats the question"


class CallMade(BaseCheck):
    """A tool was called successfully, with a given text in its arguments."""

    kind: Literal["call_made"] = "call_made"
    tool: str
    containing: str = ""
    times: int = 1

    @property
    def title(self) -> str:
        what = f" with {self.containing!r}" if self.containing else ""
        return f"{self.tool} was used{what}" + (f" at least {self.times} times" if self.times > 1 else "")

    def problem(self, evidence: Evidence) -> str | None:
        wanted = self.containing.casefold()
        made = [
            call for call in evidence.calls
            if call.tool == self.tool and call.outcome == "success" and wanted in str(call.arguments).casefold()
        ]  # fmt: skip
        return None if len(made) >= self.times else _too_few(len(made))


class BackedByCall(BaseCheck):
    """What the answer says was read from some tool, not made up."""

    kind: Literal["backed_by_call"] = "backed_by_call"
    any_of: tuple[str, ...]
    """Texts of which one must be in the answer and in the result of a call."""

    @property
    def title(self) -> str:
        return f"{self.any_of[0]} comes from a tool"

    def problem(self, evidence: Evidence) -> str | None:
        for text in self.any_of:
            folded = text.casefold()
            if folded in evidence.answer.casefold() and any(folded in call.text.casefold() for call in evidence.calls):
                return None
        return "no tool's result says it"


class FileOpens(BaseCheck):
    """A file was made and a program of its kind can open it."""

    kind: Literal["file_opens"] = "file_opens"
    pattern: str
    """Such as `*.xlsx`; `*` crosses folders."""
    count: int = 1

    @property
    def title(self) -> str:
        return f"{self.count} × {self.pattern} can be opened" if self.count > 1 else f"{self.pattern} can be opened"

    def problem(self, evidence: Evidence) -> str | None:
        good = [path for path in evidence.find(self.pattern) if _opens(path)]
        return None if len(good) >= self.count else f"{len(good)} such files"


class WorkbookCells(BaseCheck):
    """A workbook holds values, wherever in it they are."""

    kind: Literal["workbook_cells"] = "workbook_cells"
    pattern: str = "*.xlsx"
    values: tuple[str | float, ...]
    tolerance: float = 0.005

    @property
    def title(self) -> str:
        return "the workbook holds " + ", ".join(str(value) for value in self.values)

    def problem(self, evidence: Evidence) -> str | None:
        files = evidence.find(self.pattern)
        if not files:
            return f"there is no {self.pattern}"
        closest: list[str | float] = list(self.values)
        for path in files:
            cells = [
                *formulas.cell_values(workbook_in(path)),
                *formulas.cell_values(workbook_in(path, data_only=True)),
            ]
            missing = [value for value in self.values if not any(self._is(cell, value) for cell in cells)]
            if not missing:
                return None
            closest = min(closest, missing, key=len)
        return f"{', '.join(map(str, closest))} not in it"

    def _is(self, cell: object, value: str | float) -> bool:
        if isinstance(value, str):
            return isinstance(cell, str) and fold(value) in fold(cell)
        if isinstance(cell, str) and len(cell) <= LONGEST_FIGURE:
            return any(abs(number - value) <= self.tolerance for number in numerals.numbers_in(cell))
        return isinstance(cell, int | float) and not isinstance(cell, bool) and abs(cell - value) <= self.tolerance


class DeckHas(BaseCheck):
    """A presentation has texts and pictures."""

    kind: Literal["deck_has"] = "deck_has"
    pattern: str = "*.pptx"
    texts: tuple[str, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    """Things that it must name: one spelling of each."""
    pictures: int = 0

    @property
    def title(self) -> str:
        named = (*self.texts, *(spelled[0] for spelled in self.one_of))
        wanted = [*(repr(text) for text in named), *([f"{self.pictures} picture(s)"] if self.pictures else [])]
        return "the presentation has " + ", ".join(wanted)

    def problem(self, evidence: Evidence) -> str | None:
        reason = f"there is no {self.pattern}"
        for path in evidence.find(self.pattern):
            shapes = [shape for slide in pptx.Presentation(str(path)).slides for shape in slide.shapes]
            text = fold("\n".join(words for shape in shapes for words in _texts(shape)))
            pictures = sum(hasattr(shape, "image") for shape in shapes)
            missing = [wanted for wanted in self.texts if fold(wanted) not in text]
            missing += [names[0] for names in self.one_of if not any(fold(name) in text for name in names)]
            if not missing and pictures >= self.pictures:
                return None
            reason = f"{', '.join(map(repr, missing))} not in it" if missing else f"it has {pictures} pictures"
        return reason


class PictureChanged(BaseCheck):
    """A copy of the task's picture was changed inside some boxes and nowhere else."""

    kind: Literal["picture_changed"] = "picture_changed"
    source: str
    """Path of the task's picture in the workspace."""
    pattern: str
    boxes: tuple[tuple[int, int, int, int], ...]
    margin: int = 12
    """Pixels around a box that may change as well."""
    kept: tuple[tuple[int, int, int, int], ...] = ()
    """Parts in which nothing may change, even where they are near a box."""
    least: float = 0.0
    """The share of each box that must have changed."""
    colour: tuple[int, int, int] | None = None
    """In which colour something must be drawn."""

    @property
    def title(self) -> str:
        return f"{len(self.boxes)} places of the picture are changed, and nothing else"

    def problem(self, evidence: Evidence) -> str | None:
        reason: str | None = f"there is no {self.pattern} of the same size"
        for source, copy in likeness.copies(evidence.workspace / self.source, evidence.find(self.pattern)):
            reason = likeness.changes_elsewhere(
                source, copy, self.boxes, self.margin, self.kept, self.least, self.colour
            )
            if reason is None:
                return None
        return reason


class PictureCut(BaseCheck):
    """A part of the task's picture was cut out: judged by its pixels where it is known where the part lies."""

    kind: Literal["picture_cut"] = "picture_cut"
    pattern: str
    size: tuple[int, int]
    tolerance: int = 12
    what: str = "a part"
    source: str = ""
    """Path of the task's picture in the workspace."""
    box: tuple[int, int, int, int] | None = None
    """Where the part lies in it."""

    @property
    def title(self) -> str:
        return f"{self.what} is cut out"

    def problem(self, evidence: Evidence) -> str | None:
        wide, tall = self.size
        fitting = False
        for path in evidence.find(self.pattern):
            cut = picture_in(path).convert("RGB")
            if abs(cut.width - wide) > self.tolerance or abs(cut.height - tall) > self.tolerance:
                continue
            fitting = True
            if self.box is None or likeness.shows_part(evidence.workspace / self.source, self.box, cut, self.tolerance):
                return None
        what = "shows that part" if fitting else f"of about {wide}×{tall} pixels was made"
        return f"no picture {what}"


Check = Annotated[
    AnswerNames
    | AnswerNumber
    | AnswerIsNotTheQuestion
    | CallMade
    | BackedByCall
    | FileOpens
    | WorkbookCells
    | DeckHas
    | PictureChanged
    | PictureCut,
    Field(discriminator="kind"),
]


def _says(text: str, word: str) -> bool:
    """Whether a text has a word or phrase, not as a part of a longer word."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _texts(shape: Any) -> list[str]:
    """The text on a shape of a slide, including its table."""
    if shape.has_text_frame:
        return [shape.text_frame.text]
    return [cell.text for row in shape.table.rows for cell in row.cells] if shape.has_table else []


def _opens(path: Path) -> bool:
    try:
        match path.suffix.lower():
            case ".xlsx":
                openpyxl.load_workbook(path, read_only=True).close()
            case ".pptx":
                pptx.Presentation(str(path))
            case ".png" | ".jpg" | ".jpeg" | ".webp":
                picture_in(path)
            case _:
                path.read_bytes()
    except Exception:
        return False
    return True


def _too_few(calls: int) -> str:
    return f"only {calls} call{'' if calls == 1 else 's'} did so" if calls else "no call did so"

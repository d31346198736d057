"""What commands print and write: tables for a person, JSON for a program, files, and progress on standard error.

Colours and progress bars appear on a terminal only. Numbers are shown to three digits; JSON carries them in full.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.markdown import Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.progress import Progress, track
from rich.table import Column, Table

from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError

_Item = TypeVar("_Item")

_PLAIN_WIDTH, _BOUNDLESS = 120, 100_000


class StandardOutput(Console):
    """Standard output; it is not a failure when the reader stops."""

    def on_broken_pipe(self) -> None:
        """Say it as any other writer does: rich would end the program with exit code 1."""
        raise BrokenPipeError


class _PlainConsole(StandardOutput):
    """What is no terminal. A table is as wide as its rows: other programs want one row in one line, and whole."""

    def print(self, *objects: Any, **settings: Any) -> None:
        """Print things."""
        boundless = self.options.update_width(_BOUNDLESS)
        rows = [part.__rich_measure__(self, boundless).maximum for part in objects if isinstance(part, Table)]
        self.width = max(_PLAIN_WIDTH, *rows, 0)
        super().print(*objects, **settings)


class FittingConsole(StandardOutput):
    """A terminal. A table that would cut words or numbers, because it is too narrow, is printed row by row."""

    def print(self, *objects: Any, **settings: Any) -> None:
        """Print things."""
        super().print(*(self._fitting(part) for part in objects), **settings)

    def _fitting(self, shown: Any) -> Any:
        return shown if not isinstance(shown, Table) or _fits(shown, self, self.options) else stacked(shown)


def _fits(table: Table, console: Console, options: ConsoleOptions) -> bool:
    """Whether a table cuts no word; its columns get widths, for rich itself takes from the widest until words are cut.

    Args:
        table: The table.
        console: Where it is printed.
        options: How much room there is.
    """
    whole = table.__rich_measure__(console, options)
    if whole.minimum > options.max_width:
        return False
    cells = [[Measurement.get(console, options, cell) for cell in (each.header, *each.cells)] for each in table.columns]
    least = [max(cell.minimum for cell in column) for column in cells]
    most = [max(cell.maximum for cell in column) for column in cells]
    room = options.max_width - (whole.minimum - sum(least))
    if sum(most) > room:
        # Who wants little gets it; the rest share what is left.
        spare = room - sum(least)
        wishes = sorted(range(len(cells)), key=lambda place: most[place] - least[place])
        for others, place in zip(range(len(cells), 0, -1), wishes, strict=True):
            given = min(most[place] - least[place], spare // others)
            table.columns[place].width = least[place] + given
            spare -= given
    return True


def console() -> Console:
    """Standard output, plain and wide enough when it is not a terminal."""
    tolerate()
    if sys.stdout.isatty():
        return FittingConsole(highlight=False, emoji=False, markup=False)
    return _PlainConsole(highlight=False, emoji=False, markup=False, width=_PLAIN_WIDTH)


def tolerate() -> None:
    """Let an output that cannot show a character show another one, instead of failing."""
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(errors="replace")


def plain_table(*headings: str, right: Sequence[str] = ()) -> Table:
    """A table without lines.

    Args:
        headings: Of its columns.
        right: Those whose columns are aligned to the right.
    """
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left")
    return table


def stacked(table: Table) -> Group:
    """A table row by row: what the row is about, and below it each value with its heading."""
    headings = [column.header for column in table.columns]
    rows = zip(*(list(column.cells) for column in table.columns), strict=True)
    parts: list[Any] = []
    for about, *values in rows:
        lines = Table.grid("", "", Column(overflow="fold"), padding=(0, 2))
        for heading, value in zip(headings[1:], values, strict=True):
            if value != "":
                lines.add_row("", heading, value)
        parts += [f"{headings[0]} {about}".strip(), lines]
    return Group(*parts)


class _FittingTable(TableElement):
    """A table that a terminal prints row by row where it would cut words."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if (
                not isinstance(console, FittingConsole)
                or not isinstance(table, Table)
                or _fits(table, console, options)
            ):
                yield table
                continue
            headings = [str(column.header) for column in table.columns]
            for row in zip(*(list(column.cells) for column in table.columns), strict=True):
                lines = Table.grid("", Column(overflow="fold"), padding=(0, 2))
                for heading, value in zip(headings, row, strict=True):
                    if str(value):
                        lines.add_row(heading, value)
                yield lines
                yield ""


class FittingMarkdown(Markdown):
    """Markdown, such as a score card, with tables that cut nothing on a terminal."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "table_open": _FittingTable}


def number_table(*, header: bool = True) -> Table:
    """A table for numbers, with a line below its headings."""
    return Table(box=box.SIMPLE_HEAD, show_header=header, show_edge=False, pad_edge=False, header_style="dim")


def number(value: float | None) -> str:
    """Three digits, or a dash."""
    return "–" if value is None else f"{value:.3f}"


def counted(amount: int, noun: str) -> str:
    """A number with its noun, in the plural where it is one."""
    return f"{amount} {noun}{'' if amount == 1 else 's'}"


def say(text: str) -> None:
    """A line on standard error, at once."""
    print(text, file=sys.stderr, flush=True)


def print_json(data: Mapping[str, object] | Sequence[object]) -> None:
    """Strict JSON on standard output."""
    json.dump(data, sys.stdout, indent=1, allow_nan=False)
    sys.stdout.write("\n")


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file that a person named, whole or not at all.

    Raises:
        InputFileError: It cannot be written.
    """
    try:
        write_atomically(path, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise InputFileError(path, _why_not_written(path, error)) from error


def _why_not_written(path: Path, error: OSError) -> str:
    """What is in the way of a file, in words that say what to do."""
    if not path.parent.is_dir():
        return f"cannot be written: there is no folder {path.parent}, make it first"
    if path.is_dir():
        return "cannot be written: it is a folder, name a file in it"
    return f"cannot be written ({error.strerror})"


def progress(items: Iterable[_Item], total: int, label: str = "Scoring") -> Iterator[_Item]:
    """The items, with a bar on standard error while they are made, if that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    yield from track(items, label, total=total, console=Console(stderr=True), transient=True)


@contextmanager
def counter(total: int, label: str) -> Iterator[Callable[[str], None]]:
    """Something to tell each finished item; a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda item: None
        return
    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(label, total=total)
        yield lambda item: bars.update(bar, advance=1, description=f"{label} {item}")

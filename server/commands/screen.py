"""How results look: tables and explanations for a person, CSV and JSON for a program.

Colours and progress bars appear on a terminal only, the bars on standard error. Numbers are shown to three digits;
JSON and CSV carry them in full.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from m3bench.server.scoring import aggregate
from m3bench.server.scoring.aggregate import METRICS, Row
from m3bench.server.scoring.compare import Comparison
from m3bench.server.scoring.effect_reasons import KINDS_ALONE
from m3bench.server.scoring.explain import explain
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.results import Results
from m3bench.server.scoring.words import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_Item = TypeVar("_Item")

_PLAIN_WIDTH = 120
_BAR_CELLS = 24
_SHORT = {
    "recall": "recall",
    "precision": "precis.",
    "argument_similarity": "args",
    "step_coherence": "coher.",
    "order_consistency": "order",
    "merge_purity": "purity",
    "average": "average",
}
_STYLES = {
    "title": "bold",
    "heading": "bold cyan",
    "strong": "green",
    "weak": "yellow",
    "missed": "red",
    "extra": "magenta",
    "difference": "dim",
    "metric": "",
    "note": "italic",
}


def console() -> "Console":
    """Standard output, plain and wide enough when it is not a terminal."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            # rich would end the program with exit code 1; that nobody reads on is no failure.
            raise BrokenPipeError

    _tolerate()
    terminal = sys.stdout.isatty()
    return Screen(highlight=False, emoji=False, markup=False, width=None if terminal else _PLAIN_WIDTH)


def _tolerate() -> None:
    """Let an output that cannot show a character show another one, instead of failing."""
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(errors="replace")


def show_results(results: Results, *, per_task: bool = False) -> None:
    """The aggregate with bars and intervals, families, and every task when asked for."""
    out = console()
    rows = results.rows
    out.print(_headline(results))
    out.print()
    out.print(_summary(rows))
    families = aggregate.by_family(rows)
    if len(families) > 1:
        out.print()
        out.print(
            _grid("family", [(name or "(none)", aggregate.overall(part), len(part)) for name, part in families.items()])
        )
    if per_task:
        out.print()
        out.print(_grid("task", [(row.id, row.metrics, None) for row in rows]))
    for line in _notes(results):
        out.print(line, style="yellow", soft_wrap=True)


def show_explanations(results: Results, only: str | None = None) -> None:
    """Each task's alignment, or one task's, step by step."""
    from rich.text import Text

    out = console()
    for number, entry in enumerate(entry for entry in results.scored if only in (None, entry.task)):
        if number:
            out.print()
        for line in explain(entry.card, entry.task, entry.family):
            if line.kind == "heading":
                out.print()
            out.print(Text(line.text, style=_STYLES[line.kind]), soft_wrap=True)


def show_comparison(comparison: Comparison, first: str, second: str) -> None:
    """Both sets side by side, and what changed."""
    from rich.text import Text

    out = console()
    out.print(Text.assemble(("A  ", "bold"), printable(first)), soft_wrap=True)
    out.print(Text.assemble(("B  ", "bold"), printable(second)), soft_wrap=True)
    out.print()
    table = _table()
    table.add_column("metric")
    for name in ("A", "B", "B − A"):
        table.add_column(name, justify="right")
    table.add_column("95 % interval", justify="center")
    for name in ("p", "better", "worse", "equal"):
        table.add_column(name, justify="right")
    for change in comparison.changes:
        step = change.difference
        if change.first is None and change.second is None and change.metric not in AVERAGED:
            continue
        style = "" if not change.clear or step is None else "bold green" if step > 0 else "bold red"
        if change.metric == "average":
            table.add_section()
        interval = change.interval
        table.add_row(
            change.metric.replace("_", " "),
            _number(change.first),
            _number(change.second),
            Text("–" if step is None else f"{step:+.3f}", style=style),
            "" if interval is None else f"{interval.low:+.3f} … {interval.high:+.3f}{' *' if change.clear else '  '}",
            "" if change.paired is None else f"{change.paired.p:.3f}",
            *map(str, change.counts),
        )
    out.print(table)
    clear = any(change.clear for change in comparison.changes)
    note = "* clear of chance: p ≤ 0.05" if clear else "No difference is clear of chance."
    out.print(f"{comparison.tasks} tasks in both, each counts the same. {note}", style="dim")
    if comparison.mcnemar is not None:
        out.print(
            f"McNemar's exact test of solved, task by task without clusters: p = {comparison.mcnemar:.3f}", style="dim"
        )
    average = comparison.changes[-1]
    if average.detectable is not None:
        least = f"A true difference of the average of {average.detectable:.3f} is found four times out of five."
        out.print(least, style="dim")
    for name, tasks in (("A", comparison.only_first), ("B", comparison.only_second)):
        if tasks:
            out.print(f"Only in {name}: {_names(tasks)}", style="yellow", soft_wrap=True)


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """A dict that `json.dumps` takes."""
    return {
        "tasks": comparison.tasks,
        **({} if comparison.mcnemar is None else {"mcnemar": comparison.mcnemar}),
        "metrics": {
            change.metric: {
                "first": change.first,
                "second": change.second,
                "difference": change.difference,
                "interval": None if change.interval is None else [change.interval.low, change.interval.high],
                "p": None if change.paired is None else change.paired.p,
                "detectable": change.detectable,
                **dict(zip(("better", "worse", "equal"), change.counts, strict=True)),
            }
            for change in comparison.changes
        },
        "only_first": list(comparison.only_first),
        "only_second": list(comparison.only_second),
    }


def print_json(data: Mapping[str, Any] | Sequence[Any]) -> None:
    """Strict JSON on standard output."""
    json.dump(data, sys.stdout, indent=1, allow_nan=False)
    sys.stdout.write("\n")


def print_csv(results: Results, *, per_task: bool = False) -> None:
    """One line per family and one for all, or one per task; an empty cell has no value."""
    names = (*METRICS, "average")
    counts = ("reference_calls", "actual_calls", "matched")
    _tolerate()
    out = csv.writer(sys.stdout, lineterminator="\n")
    if per_task:
        out.writerow(("task", "family", *names, *counts))
        for row in results.rows:
            numbers = [row.metrics.get(name) for name in names]
            out.writerow(
                (printable(row.id), printable(row.family or ""), *numbers, *(getattr(row, name) for name in counts))
            )
        return
    out.writerow(("family", "tasks", *names, *counts))
    families = {name: rows for name, rows in aggregate.by_family(results.rows).items() if name}
    for name, rows in (*families.items(), ("(all)", list(results.rows))):
        values = aggregate.overall(rows)
        sums = [sum(getattr(row, count) for row in rows) for count in counts]
        out.writerow((printable(name), len(rows), *(values[metric] for metric in names), *sums))


def progress(items: Iterable[_Item], total: int, label: str = "Scoring") -> Iterator[_Item]:
    """The items, with a bar on standard error while they are made, if that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, label, total=total, console=Console(stderr=True), transient=True)


@contextmanager
def counter(total: int, label: str) -> Iterator[Callable[[str], None]]:
    """Something to tell each finished item; a bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda item: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(label, total=total)
        yield lambda item: bars.update(bar, advance=1, description=f"{label} {item}")


def download_report() -> Callable[[int, int], None] | None:
    """Something to tell how far a download is; shown on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        return None
    shown = -1

    def report(done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // total if total else 0
        if percent != shown:
            shown = percent
            end = "\n" if total and done >= total else ""
            print(f"\rFetching all-MiniLM-L6-v2 … {percent:3d} %", end=end, file=sys.stderr, flush=True)

    return report


def _headline(results: Results) -> "Text":
    from rich.text import Text

    rows = results.rows
    parts = [
        f"profile {results.profile}",
        f"{len(rows)} {'task' if len(rows) == 1 else 'tasks'}",
        f"{sum(row.reference_calls for row in rows)} reference calls",
        f"{sum(row.actual_calls for row in rows)} actual calls",
        f"{sum(row.matched for row in rows)} matched",
    ]
    return Text.assemble(("m3bench score", "bold"), ("  " + " · ".join(parts), "dim"))


def _summary(rows: Sequence[Row]) -> "Table":
    from rich.text import Text

    values, ranges = aggregate.overall(rows), aggregate.intervals(rows)
    table = _table(header=bool(ranges))
    table.add_column("metric")
    table.add_column("", justify="right")
    table.add_column("", width=_BAR_CELLS)
    table.add_column("95 % interval" if ranges else "", justify="center", style="dim")
    for name in (*METRICS, "average"):
        if name == "average":
            table.add_section()
        interval = ranges.get(name)
        minor = name not in (*AVERAGED, "average")
        if minor and values[name] is None:
            continue
        label = f"  · {name.removeprefix('argument_similarity_')}" if minor else name.replace("_", " ")
        style = "dim" if minor else "bold" if name == "average" else ""
        table.add_row(
            Text(label, style=style),
            Text(_number(values[name]), style=style),
            _bar(values[name], dim=minor),
            "" if interval is None else f"{interval.low:.3f} … {interval.high:.3f}",
        )
    return table


def _grid(title: str, lines: Sequence[tuple[str, Mapping[str, float | None], int | None]]) -> "Table":
    from rich.text import Text

    table = _table()
    table.add_column(title, overflow="fold")
    counted = any(count is not None for _, _, count in lines)
    if counted:
        table.add_column("tasks", justify="right")
    for name in _SHORT.values():
        table.add_column(name, justify="right")
    for label, values, count in lines:
        cells = [Text(_number(values.get(name)), style=_shade(values.get(name))) for name in _SHORT]
        table.add_row(Text(printable(label)), *([str(count)] if counted else []), *cells)
    return table


def _notes(results: Results) -> Iterator[str]:
    if not results.results_known:
        yield KINDS_ALONE
    if results.not_run:
        yield f"Not run, and so not scored: {_names(results.not_run)}"
    failed = sorted({name for entry in results.scored for name in entry.card.failures})
    if failed:
        yield f"Failed on some tasks, and left out there: {', '.join(failed)}"
    if results.unreadable:
        count = len(results.unreadable)
        yield f"Left out because unreadable: {count} {'task' if count == 1 else 'tasks'}"


def _table(*, header: bool = True) -> "Table":
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, show_header=header, show_edge=False, pad_edge=False, header_style="dim")


def _bar(value: float | None, *, dim: bool = False) -> "Text":
    from rich.text import Text

    eighths = round((value or 0.0) * _BAR_CELLS * 8)
    full, part = divmod(eighths, 8)
    bar = "█" * full + (" ▏▎▍▌▋▊▉"[part] if part else "")
    return Text(bar, style="dim" if dim else _shade(value))


def _shade(value: float | None) -> str:
    if value is None:
        return "dim"
    return "green" if value >= 0.8 else "yellow" if value >= 0.5 else "red"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(printable(name) for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown

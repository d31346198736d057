"""Shows what judges said as tables in the terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from m3bench.server.evaluate.judges.asks import CRITERIA
from m3bench.server.evaluate.judges.summary import PUBLISHED, Judged, mean
from m3bench.server.scoring.words import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_PROBLEMS = 8


def show(out: "Console", entries: Sequence[Judged], numbers: Mapping[str, Any]) -> None:
    """A line per run, then the means with how far the judges agree, then what is missing."""
    out.print(_runs(entries))
    out.print()
    out.print(_agreement(numbers))
    published = numbers[PUBLISHED]
    if published["value"] is not None:
        out.print(
            f"\naverage_published {published['value']:.3f}: mean of the six metrics and grounding, over "
            f"{published['runs']} of {numbers['runs']} runs (the six alone: {_number(published['average'])})",
            soft_wrap=True,
        )
    for line in _notes(entries, numbers):
        out.print(line, style="yellow", soft_wrap=True)


def _runs(entries: Sequence[Judged]) -> "Table":
    table = _table("run", "task", "completion", "grounding", "rubric", "average_published")
    for entry in entries:
        values = {name: panel.value for name, panel in entry.panels.items()}
        rubric = mean([values.get(f"rubric.{name}") for name in CRITERIA])
        table.add_row(
            entry.judgement.run[:12],
            printable(entry.judgement.task),
            _number(values.get("completion")),
            _number(values.get("grounding")),
            _number(rubric, 2),
            _number(entry.published),
        )
    return table


def _agreement(numbers: Mapping[str, Any]) -> "Table":
    table = _table("over all runs", "mean", "scale", "high − low", "deviation", "α")
    for name in ("completion", "grounding", *(f"rubric.{criterion}" for criterion in CRITERIA)):
        if name in numbers:
            over = numbers[name]
            digits, scale = (2, "1–10") if name.startswith("rubric.") else (3, "0–1")
            table.add_row(
                name.removeprefix("rubric.").replace("_", " ") + (" (rubric)" if digits == 2 else ""),
                _number(over["value"], digits),
                scale,
                _number(over["span"], digits),
                _number(over["deviation"], digits),
                _number(over["alpha"]),
            )
    return table


def _notes(entries: Sequence[Judged], numbers: Mapping[str, Any]) -> Iterator[str]:
    names = [name for name in numbers if isinstance(numbers[name], dict) and "rules" in numbers[name]]
    rules = dict.fromkeys(rule for name in names for rule in numbers[name]["rules"])
    yield "Combined by " + "; ".join(rules) + "." if rules else "Nothing was asked."
    lost = Counter((line["judge"], line["why"]) for entry in entries for line in entry.missing)
    for (model, why), count in lost.most_common(SHOWN_PROBLEMS):
        yield f"Missing: {count} {'vote' if count == 1 else 'votes'} of {printable(model)}: {printable(why)}"
    if len(lost) > SHOWN_PROBLEMS:
        yield f"Missing for other reasons: {sum(sorted(lost.values())[:-SHOWN_PROBLEMS])} votes; --json has them all."


def _table(*headings: str) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for place, heading in enumerate(headings):
        text = place == 0 or heading == "task"
        table.add_column(heading, justify="left" if text else "right", overflow="fold")
    return table


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"

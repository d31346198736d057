"""Shows what judges said as tables in the terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from m3bench.server.lab.judges.mcp_bench import AXES
from m3bench.server.lab.judges.questions import NAMES, RUBRICS, Name
from m3bench.server.lab.judges.summary import AVERAGES, JudgedRun, mean
from m3bench.server.scoring.words import printable

SHOWN_PROBLEMS = 8


def show(out: Console, entries: Sequence[JudgedRun], numbers: Mapping[str, Any]) -> None:
    """A line per run, then the means with how far the judges agree, then what is missing."""
    out.print(_runs(entries))
    out.print()
    out.print(_agreement(numbers))
    if "mcp_bench" in numbers:
        out.print()
        out.print(_axes(numbers["mcp_bench"]))
    for name, question in AVERAGES.items():
        average = numbers[name]
        if average["value"] is not None:
            out.print(
                f"\n{name} {average['value']:.3f}: mean of the six metrics and {question}, over "
                f"{average['runs']} of {numbers['runs']} runs (the six alone: {_number(average['average'])})",
                soft_wrap=True,
            )
    for line in _notes(entries, numbers):
        out.print(line, style="yellow", soft_wrap=True)


def _runs(entries: Sequence[JudgedRun]) -> Table:
    asked = [name for name in NAMES if any(name in entry.judgement.panels for entry in entries)]
    averages = [name for name in AVERAGES if any(entry.average(name) is not None for entry in entries)]
    overall = ["overall (MCP-Bench)"] if "mcp-bench" in asked else []
    table = _table("run", "task", *asked, *overall, *averages)
    for entry in entries:
        values = {name: panel.value for name, panel in entry.panels.items()}
        table.add_row(
            entry.judgement.run[:12],
            printable(entry.judgement.task),
            *(_shown(values, name) for name in asked),
            *(_number((entry.mcp_bench or {}).get("overall")) for _ in overall),
            *(_number(entry.average(name)) for name in averages),
        )
    return table


def _shown(values: Mapping[str, float | None], name: Name) -> str:
    if name not in RUBRICS:
        return _number(values.get(name))
    return _number(mean([values.get(f"{name}.{criterion}") for criterion in RUBRICS[name]]), 2)


def _agreement(numbers: Mapping[str, Any]) -> Table:
    table = _table("over all runs", "mean", "scale", "high − low", "deviation", "variation", "over orders", "α")
    names = [name for name in NAMES if name not in RUBRICS]
    for name in (*names, *(f"{rubric}.{criterion}" for rubric, criteria in RUBRICS.items() for criterion in criteria)):
        if name in numbers:
            over = numbers[name]
            rubric, _, criterion = name.rpartition(".")
            digits, scale = (2, "0–10" if rubric == "artefact" else "1–10") if rubric else (3, "0–1")
            table.add_row(
                criterion.replace("_", " ") + (f" ({rubric})" if rubric else ""),
                _number(over["value"], digits),
                scale,
                _number(over["span"], digits),
                _number(over["deviation"], digits),
                _percent(over["variation"]),
                _percent(over.get("order_variation")),
                _number(over["alpha"]),
            )
    return table


def _axes(found: Mapping[str, float | None]) -> Table:
    table = _table("MCP-Bench", "score")
    for name in (*AXES, "overall"):
        table.add_row(name.replace("_", " "), _number(found[name]))
    return table


def _notes(entries: Sequence[JudgedRun], numbers: Mapping[str, Any]) -> Iterator[str]:
    names = [name for name in numbers if isinstance(numbers[name], dict) and "rules" in numbers[name]]
    rules = dict.fromkeys(rule for name in names for rule in numbers[name]["rules"])
    yield "Combined by " + "; ".join(rules) + "." if rules else "Nothing was asked."
    lost = Counter((line["judge"], line["why"]) for entry in entries for line in entry.missing)
    for (model, why), count in lost.most_common(SHOWN_PROBLEMS):
        yield f"Missing: {count} {'vote' if count == 1 else 'votes'} of {printable(model)}: {printable(why)}"
    if len(lost) > SHOWN_PROBLEMS:
        yield f"Missing for other reasons: {sum(sorted(lost.values())[:-SHOWN_PROBLEMS])} votes; --json has them all."


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for place, heading in enumerate(headings):
        text = place == 0 or heading == "task"
        table.add_column(heading, justify="left" if text else "right", overflow="fold")
    return table


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"

"""`m3bench compare`: two sets of results task by task, from files or from folders of result sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from m3bench.server.commands.options import Json
from m3bench.server.commands.score import (
    CacheOptions,
    EncoderOptions,
    Scoring,
    ScoringOptions,
    score_both,
    some_names,
)
from m3bench.server.commands.screen import console, number, number_table, print_json
from m3bench.server.lab.reports.paper.groups import result_folders
from m3bench.server.lab.reports.uncertainty import solved_of
from m3bench.server.lab.results.analyses.regressions import Turned, lost, turned
from m3bench.server.lab.results.comparability import distinct_names, over_common_tasks, refuse_unlike
from m3bench.server.lab.results.resultset import HEADER, read_resultset
from m3bench.server.scoring.aggregate import Row
from m3bench.server.scoring.compare import Comparison
from m3bench.server.scoring.compare import compare as compare_rows
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.results import read_results
from m3bench.server.scoring.words import p_value, printable
from m3bench.tasks.errors import UserError
from m3bench.tasks.json_types import JsonObject


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """What is compared, and under which conditions."""

    references: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Reference trajectories: FIRST and SECOND are then files of runs, and are scored now.",
            show_default=False,
        ),
    ] = None
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare even if the conditions differ; the result means little.")
    ] = False
    common: Annotated[
        bool, typer.Option("--common", help="Compare result sets over the tasks both have, which must be 30 or more.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class OutcomeChanges:
    """How the outcomes of tasks changed from one result set to the other."""

    tasks: Sequence[Turned]
    lost: dict[str, str]
    """Tasks that were solved and have no score now, each with the reason."""

    def to_json(self) -> JsonObject:
        """What `--json` prints of it."""
        return {
            **{turn: [task.task for task in self.tasks if task.turn == turn] for turn in ("broken", "mended")},
            "changed": [task.to_json() for task in self.tasks],
            "lost": self.lost,
        }


def compare(
    first: Annotated[
        Path,
        typer.Argument(
            help="Folder of a result set, or results as `m3bench lab score --json` prints.", show_default=False
        ),
    ],
    second: Annotated[
        Path | None,
        typer.Argument(
            help="What to compare with the first; left out when the first is a folder with two result sets.",
            show_default=False,
        ),
    ] = None,
    *,
    options: CompareOptions,
    scoring: ScoringOptions,
    encoder: EncoderOptions,
    cache: CacheOptions,
    json: Json = False,
) -> None:
    """Compare two sets of results, task by task.

    \b
    m3bench compare runs/before runs/after   # result sets of `m3bench run`
    m3bench compare studies/first            # a folder with two result sets
    m3bench compare before.json after.json   # of `m3bench lab score --json`
    m3bench compare a.json b.json --references references.json

    Prints the second minus the first, with 95 % intervals. Repeats are averaged per task, and tasks are paired, so that
    what makes a task hard for both cancels out. p is from a permutation test over clusters of tasks; clear differences
    are marked. For two result sets it also says what is solved, and which tasks broke, are solved less often or were
    fixed, each with the reason in words.
    """
    first, second = _both(first, second)
    for path in (first, second):
        if not path.exists():
            raise UserError(f"There is no {path}: name two folders of result sets, or two files.")
    folders = [path.is_dir() for path in (first, second)]
    if any(folders) and not all(folders):
        raise UserError(f"{first} and {second} do not compare: name two folders of result sets, or two files.")
    changes = None
    if all(folders):
        if options.references is not None:
            raise UserError("--references goes with files of runs; result sets are scored already.")
        comparison, changes = _compare_sets(first, second, options)
    else:
        if options.references is not None:
            chosen = Scoring(options=scoring, encoder=encoder, cache=cache)
            before, after = score_both(options.references, (first, second), chosen)
        else:
            before, after = _rows(first, second, anyway=options.anyway)
        comparison = compare_rows(before, after)
    if not comparison.tasks:
        raise UserError(f"{first} and {second} have no task in common.")
    if json:
        print_json(_comparison_json(comparison) | ({} if changes is None else changes.to_json()))
        return
    _show_comparison(comparison, str(first), str(second))
    if changes is not None:
        _tell(changes)


def _both(first: Path, second: Path | None) -> tuple[Path, Path]:
    """What is compared with what: a folder that holds result sets stands for the one that is in it, or for both.

    Raises:
        UserError: It holds others than that.
    """
    given = [first] if second is None else [first, second]
    found: list[Path] = []
    for path in given:
        found += result_folders([path]) if path.is_dir() and not (path / HEADER).exists() else [path]
    if len(found) == 2:
        return found[0], found[1]
    if second is None and found == given:
        raise UserError(f"Say what to compare {first} with: m3bench compare {first} SECOND")
    names = " ".join(str(path) for path in found[:8])
    raise UserError(f"Name two of these {len(found)} result sets: {names}{' …' if found[8:] else ''}")


def _tell(changes: OutcomeChanges) -> None:
    """What broke and why, what is solved less often, what was mended."""
    headings = {"broken": "Broken", "rarer": "Solved less often", "mended": "Mended"}
    for turn, heading in headings.items():
        found = [task for task in changes.tasks if task.turn == turn]
        if turn == "mended" and found:
            typer.echo(f"{heading}: {', '.join(task.task for task in found)}")
            continue
        if found:
            typer.echo(f"{heading}:")
        for task in found:
            (was, of), (now, tries) = task.before, task.after
            typer.echo(f"  {task.task}: {was}/{of} solved, now {now}/{tries}. {printable(task.reason)}")
    for name, why in changes.lost.items():
        typer.echo(f"Without a score now: {name}. {printable(why)}")


def _rows(first: Path, second: Path, *, anyway: bool) -> tuple[Sequence[Row], Sequence[Row]]:
    """The rows of two files of results."""
    before, after = read_results(first), read_results(second)
    for name in ("profile", "encoder"):
        values = (getattr(before, name), getattr(after, name))
        if values[0] != values[1] and not anyway:
            raise UserError(
                f"The {name}s differ ({values[0]} and {values[1]}), so the numbers are not comparable. "
                "Score both the same way, or say --anyway."
            )
    return before.rows, after.rows


def _compare_sets(first: Path, second: Path, options: CompareOptions) -> tuple[Comparison, OutcomeChanges]:
    """Two result sets compared, and the tasks whose outcome changed."""
    sets = [read_resultset(folder) for folder in (first, second)]
    names = distinct_names(sets)
    if options.common:
        sets = over_common_tasks(sets)
    if not options.anyway:
        refuse_unlike(sets, names, ", or say --anyway")
    before, after = sets
    solved = [
        {task: [bool(success) for success in tries] for task, tries in solved_of(found.results).items()}
        for found in sets
    ]
    changes = OutcomeChanges(tasks=turned(before, after), lost=lost(before, after))
    return compare_rows(before.rows, after.rows, solved=(solved[0], solved[1])), changes


def _show_comparison(comparison: Comparison, first: str, second: str) -> None:
    """Both sets side by side, and what changed."""
    out = console()
    out.print(Text.assemble(("A  ", "bold"), printable(first)), soft_wrap=True)
    out.print(Text.assemble(("B  ", "bold"), printable(second)), soft_wrap=True)
    out.print()
    table = number_table()
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
            number(change.first),
            number(change.second),
            Text("–" if step is None else f"{step:+.3f}", style=style),
            "" if interval is None else f"{interval.low:+.3f} … {interval.high:+.3f}{' *' if change.clear else '  '}",
            "" if change.paired is None or change.paired.p is None else p_value(change.paired.p),
            *map(str, change.counts),
        )
    out.print(table)
    clear = any(change.clear for change in comparison.changes)
    note = "* clear of chance: p ≤ 0.05" if clear else "No difference is clear of chance."
    if comparison.caution is not None:
        note = "There is no test for so few."
    out.print(f"{comparison.tasks} tasks in both, each counts the same. {note}", style="dim")
    if comparison.caution is not None:
        out.print(comparison.caution, style="yellow")
    elif comparison.mcnemar is not None:
        out.print(
            f"McNemar's exact test of solved, task by task without clusters: p = {comparison.mcnemar:.3f}", style="dim"
        )
    average = comparison.changes[-1]
    if average.detectable is not None:
        least = f"A true difference in the average of {average.detectable:.3f} is found four times out of five."
        out.print(least, style="dim")
    for name, tasks in (("A", comparison.only_first), ("B", comparison.only_second)):
        if tasks:
            out.print(f"Only in {name}: {some_names(tasks)}", style="yellow", soft_wrap=True)


def _comparison_json(comparison: Comparison) -> JsonObject:
    """What `--json` prints."""
    return {
        "tasks": comparison.tasks,
        **({} if comparison.mcnemar is None or comparison.caution else {"mcnemar": comparison.mcnemar}),
        **({} if comparison.caution is None else {"caution": comparison.caution}),
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

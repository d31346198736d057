"""`m3bench compare`: two sets of results task by task, from files or from folders of result sets."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.score import (
    AsJson,
    Cache,
    EncoderName,
    KeepGoing,
    NoCache,
    Profile,
    Tasks,
    Weights,
    score_both,
)
from m3bench.tasks.errors import UserError

if TYPE_CHECKING:
    from m3bench.server.lab.results.resultset import ResultSet
    from m3bench.server.scoring.aggregate import Row
    from m3bench.server.scoring.compare import Comparison


def compare(
    first: Annotated[
        Path,
        typer.Argument(help="Folder of a result set, or results as `m3bench score --json` prints.", show_default=False),
    ],
    second: Annotated[Path, typer.Argument(help="What to compare with the first.", show_default=False)],
    references: Annotated[
        Path | None,
        typer.Option(
            help="File of reference trajectories: FIRST and SECOND are then files of runs, and are scored now.",
            show_default=False,
        ),
    ] = None,
    profile: Profile = None,
    tasks: Tasks = None,
    as_json: AsJson = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare even if the conditions differ; the result means little.")
    ] = False,
    common: Annotated[
        bool, typer.Option("--common", help="Compare result sets over the tasks both have, which must be 30 or more.")
    ] = False,
    keep_going: KeepGoing = False,
    cache: Cache = None,
    no_cache: NoCache = False,
    encoder: EncoderName = "minilm",
    weights: Weights = None,
) -> None:
    """Compare two sets of results task by task: second minus first, with 95 % intervals.

    Repeats are averaged to tasks, and tasks are paired, so what makes a task
    hard for both cancels out. p is that of a permutation test over clusters
    of tasks; a clear difference is marked. Of two result sets it also says
    what is solved, and which tasks broke, are solved less often or were
    mended, each with the reason in words.
    """
    from m3bench.server.commands import screen

    for path in (first, second):
        if not path.exists():
            raise UserError(f"There is no {path}: name two folders of result sets, or two files.")
    folders = [path.is_dir() for path in (first, second)]
    if any(folders) and not all(folders):
        raise UserError(f"{first} and {second} do not compare: name two folders of result sets, or two files.")
    if all(folders):
        if references is not None:
            raise UserError("--references goes with files of runs; result sets are scored already.")
        comparison, turned = _sets(first, second, anyway=anyway, common=common)
    else:
        turned = None
        one: Sequence[Row]
        other: Sequence[Row]
        if references is not None:
            one, other = score_both(
                references, (first, second), profile=profile, tasks=tasks, keep_going=keep_going, cache=cache,
                no_cache=no_cache, encoder=encoder, weights=weights,
            )  # fmt: skip
        else:
            one, other = _files(first, second, anyway=anyway)
        from m3bench.server.scoring.compare import compare as compare_rows

        comparison = compare_rows(one, other)
    if not comparison.tasks:
        raise UserError(f"{first} and {second} have no task in common.")
    if as_json:
        screen.print_json(screen.comparison_json(comparison) | (turned or {}))
        return
    screen.show_comparison(comparison, str(first), str(second))
    if turned is not None:
        _tell(turned)


def _tell(turned: "dict[str, Any]") -> None:
    """What broke and why, what is solved less often, what was mended."""
    from m3bench.server.scoring.words import printable

    headings = {"broken": "Broken", "rarer": "Solved less often", "mended": "Mended"}
    for turn, heading in headings.items():
        found = [one for one in turned["changed"] if one["turn"] == turn]
        if turn == "mended" and found:
            typer.echo(f"{heading}: {', '.join(one['task'] for one in found)}")
            continue
        if found:
            typer.echo(f"{heading}:")
        for one in found:
            (was, of), (now, tries) = one["before"], one["after"]
            typer.echo(f"  {one['task']}: {was}/{of} solved, now {now}/{tries}. {printable(one['reason'])}")
    for task, why in turned["lost"].items():
        typer.echo(f"Without a score now: {task}. {printable(why)}")


def _files(first: Path, second: Path, *, anyway: bool) -> "tuple[Sequence[Row], Sequence[Row]]":
    from m3bench.server.scoring.results import read_results

    before, after = read_results(first), read_results(second)
    for name in ("profile", "encoder"):
        values = (getattr(before, name), getattr(after, name))
        if values[0] != values[1] and not anyway:
            raise UserError(
                f"The {name}s differ ({values[0]} and {values[1]}), so the numbers are not comparable. "
                "Score both the same way, or say --anyway."
            )
    return before.rows, after.rows


def _sets(first: Path, second: Path, *, anyway: bool, common: bool) -> "tuple[Comparison, dict[str, Any]]":
    """Two result sets compared, and the tasks whose outcome turned, with the reasons."""
    from m3bench.server.lab.reports.uncertainty import solved_of
    from m3bench.server.lab.results.analyses.regressions import lost, turned
    from m3bench.server.lab.results.comparability import distinct_names, over_common_tasks, refuse_unlike
    from m3bench.server.lab.results.resultset import read_resultset
    from m3bench.server.scoring.compare import compare as compare_rows

    sets: list[ResultSet] = [read_resultset(folder) for folder in (first, second)]
    names = distinct_names(sets)
    if common:
        sets = over_common_tasks(sets)
    if not anyway:
        refuse_unlike(sets, names, ", or say --anyway")
    tries = [{task: [bool(one) for one in ones] for task, ones in solved_of(one.results).items()} for one in sets]
    changed = turned(sets[0], sets[1])
    told = {
        **{turn: [one.task for one in changed if one.turn == turn] for turn in ("broken", "mended")},
        "changed": [one.to_json() for one in changed],
        "lost": lost(sets[0], sets[1]),
    }
    return compare_rows(sets[0].rows, sets[1].rows, solved=(tries[0], tries[1])), told

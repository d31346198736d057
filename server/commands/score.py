"""`m3bench score`.

Thin: options in, the scoring package called, `screen` shows the result. Results go to standard output, everything
about the way there (warnings, progress) to standard error.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.tasks.errors import UserError

if TYPE_CHECKING:
    from m3bench.server.scoring.aggregate import Row
    from m3bench.server.scoring.encoder import Encoder
    from m3bench.server.scoring.results import Results
    from m3bench.server.scoring.trajectory_score import TrajectoryScore
    from m3bench.tasks.library import Library
    from m3bench.tasks.plan import Plan
    from m3bench.tasks.predictions import Defect
    from m3bench.tasks.trajectory import Trajectory
    from m3bench.tasks.trajectory_files import TaskFile, TaskTrajectories

_PROGRESS_FROM_TASKS = 20
_WARNINGS = 20
"""Lines on what was skipped or amended; `--json` has it all."""


class ProfileName(StrEnum):
    """The ways to score, spelled for the command line."""

    EFFECT = "effect"
    M3 = "m3"
    OPEN_M3_BENCH = "open-m3-bench"


Profile = Annotated[
    ProfileName | None,
    typer.Option(
        help="By what calls bring about, by the paper's formulas, or by the public evaluator's arithmetic. "
        "By default effect where the references are those of a known set of tasks, else m3.",
        show_default=False,
    ),
]
Tasks = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the set that the references are from. By default the bundled set.", show_default=False
    ),
]
Cache = Annotated[
    Path | None, typer.Option(help="File for embeddings. By default one in your cache folder.", show_default=False)
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor write embeddings on disk.")]
EncoderName = Annotated[
    str,
    typer.Option(
        "--encoder",
        metavar="NAME",
        help="What compares arguments: minilm, or sentence-transformers:MODEL for any of its models, by name or path.",
    ),
]
Weights = Annotated[
    Path | None,
    typer.Option(help="Folder with the built-in model's weights. By default they are looked for.", show_default=False),
]
KeepGoing = Annotated[
    bool,
    typer.Option(
        "--keep-going",
        help="Leave unreadable tasks of references and of our own format out instead of stopping; "
        "public predictions are always scored as far as they can be read.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def score(
    references: Annotated[Path, typer.Argument(help="File of reference trajectories.", show_default=False)],
    actual: Annotated[Path, typer.Argument(help="File of what the agent did.", show_default=False)],
    profile: Profile = None,
    tasks: Tasks = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_table: Annotated[bool, typer.Option("--table", help="Print tables, which is the default.")] = False,
    per_task: Annotated[bool, typer.Option("--per-task", help="Show every task, not only the families.")] = False,
    explain: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="Show how this task was aligned, step by step.", show_default=False),
    ] = None,
    keep_going: KeepGoing = False,
    cache: Cache = None,
    no_cache: NoCache = False,
    encoder: EncoderName = "minilm",
    weights: Weights = None,
) -> None:
    """Score what an agent did against reference trajectories.

    Both files hold trajectories by task id, in our format or in that of
    Open-M3-Bench. Tasks with several references are scored against the best.
    Files hold no results, so by effect the kinds of arguments decide alone.
    A task that was not run is listed, not counted as 0. In a public file of
    predictions a malformed call counts as one that answers nothing; every
    defect is listed, in --json under `skipped`.
    """
    if as_json + as_csv + as_table > 1:
        raise UserError("Choose one of --json, --csv and --table.")
    from m3bench.server.commands import screen

    results = score_files(
        references,
        actual,
        profile=profile,
        tasks=tasks,
        task=explain,
        keep_going=keep_going,
        cache=cache,
        no_cache=no_cache,
        encoder=encoder,
        weights=weights,
    )
    if explain is not None and not as_json:
        screen.show_explanations(results)
    elif as_json:
        screen.print_json(results.to_json())
    elif as_csv:
        screen.print_csv(results, per_task=per_task)
    else:
        screen.show_results(results, per_task=per_task)


def score_files(
    references: Path,
    actual: Path,
    *,
    profile: ProfileName | None = None,
    tasks: Path | None = None,
    task: str | None = None,
    keep_going: bool = False,
    cache: Path | None = None,
    no_cache: bool = False,
    encoder: str = "minilm",
    weights: Path | None = None,
) -> "Results":
    """Score one file against another, or only one task of them; warnings and progress go to standard error."""
    from m3bench.tasks.trajectory_files import read_tasks

    expected = read_tasks(references, keep_going=keep_going)
    runs = read_tasks(actual, keep_going=keep_going, predictions=True)
    if task is not None:
        expected, runs = _only(task, expected), _only(task, runs)
    profile, plans = _profile(profile, tasks, expected)
    with _encoder(profile, encoder, weights, cache, no_cache) as embedder:
        return _score(expected, runs, profile, plans, embedder)


def score_both(
    references: Path,
    files: Sequence[Path],
    *,
    profile: ProfileName | None,
    tasks: Path | None,
    keep_going: bool,
    cache: Path | None,
    no_cache: bool,
    encoder: str,
    weights: Path | None,
) -> "list[Sequence[Row]]":
    """Score several files of runs against one of references, for a comparison."""
    from m3bench.tasks.trajectory_files import read_tasks

    expected = read_tasks(references, keep_going=keep_going)
    played = [read_tasks(path, keep_going=keep_going, predictions=True) for path in files]
    profile, plans = _profile(profile, tasks, expected)
    with _encoder(profile, encoder, weights, cache, no_cache) as embedder:
        return [_score(expected, runs, profile, plans, embedder).rows for runs in played]


def _profile(
    wanted: ProfileName | None, folder: Path | None, expected: "TaskFile"
) -> "tuple[ProfileName, dict[str, tuple[Plan, ...]]]":
    """The profile to score with and, for `effect`, the plans of the references by task."""
    from m3bench.tasks.library import BUNDLED, Library

    if wanted not in (None, ProfileName.EFFECT):
        return wanted, {}
    library = Library(folder or BUNDLED)
    plans = {task.id: _plans(task, library) for task in expected.tasks.values()}
    known = {id: tuple(plan for plan in found if plan is not None) for id, found in plans.items()}
    whole = all(len(known[id]) == len(found) for id, found in plans.items())
    if wanted is None and not whole:
        return ProfileName.M3, {}
    if not whole:
        _warn("some references are not those of the set: their calls are taken to need the whole step before")
    return ProfileName.EFFECT, {id: found for id, found in known.items() if len(found) == len(plans[id])}


def _plans(task: "TaskTrajectories", library: "Library") -> "list[Plan | None]":
    """The plan of each of a task's references, where the set has that reference."""
    known = library.tasks.get(task.id)
    if known is None:
        return [None] * len(task.trajectories)
    plans = {_calls(one.trajectory): plan for one, plan in zip(known.references, library.plans(known), strict=True)}
    return [plans.get(_calls(trajectory)) for trajectory in task.trajectories]


def _calls(trajectory: "Trajectory") -> str:
    """A trajectory without what files of references do not carry."""
    import json

    steps = [[[call.tool, dict(call.arguments)] for call in step.calls] for step in trajectory.steps]
    return json.dumps(steps, sort_keys=True)


@contextmanager
def _encoder(
    profile: ProfileName, name: str, weights: Path | None, cache: Path | None, no_cache: bool
) -> "Iterator[Encoder | None]":
    """What embeds texts; by effect nothing is embedded."""
    if no_cache and cache is not None:
        raise UserError("Choose one of --cache and --no-cache.")
    if profile is ProfileName.EFFECT:
        yield None
        return
    from m3bench.server.commands import screen
    from m3bench.server.scoring.cache import VectorCache
    from m3bench.server.scoring.encoder import open_encoder

    store = None if no_cache else VectorCache(cache)
    try:
        yield open_encoder(name, weights=weights, cache=store, report=screen.download_report())
    finally:
        if store is not None:
            store.close()
            if store.problem is not None:
                _warn(f"Embeddings were not kept: {store.problem}")


def _score(
    expected: "TaskFile",
    runs: "TaskFile",
    profile: ProfileName,
    plans: "Mapping[str, tuple[Plan, ...]]",
    encoder: "Encoder | None",
) -> "Results":
    from m3bench.server.commands import screen
    from m3bench.server.lab.interchange.skipped import skipped_of
    from m3bench.server.scoring.effect_scorer import Played, score_by_effect
    from m3bench.server.scoring.profiles import find_profile
    from m3bench.server.scoring.results import Results, Scored
    from m3bench.server.scoring.scorer import Attempt, score_many
    from m3bench.server.scoring.signatures import catalog_signatures
    from m3bench.tasks.catalog import load_catalog

    unreadable = [str(error) for error in (*expected.errors, *runs.errors)]
    common = [task for task in expected.tasks if task in runs.tasks]
    if not common:
        first = f" What could not be read begins with {unreadable[0]}" if unreadable else ""
        raise UserError(f"{expected.path} and {runs.path} have no task in common: there is nothing to score.{first}")
    skipped = tuple(skipped_of(expected, runs))
    _warn_of(expected, runs, skipped)
    # Repeats of a task are runs of their own.
    jobs = [
        (f"{task}#{number}" if number > 1 else task, expected.tasks[task], trajectory)
        for task in common
        for number, trajectory in enumerate(runs.tasks[task].trajectories, start=1)
    ]
    signatures = catalog_signatures(load_catalog())
    cards: Iterator[TrajectoryScore]
    if encoder is None:
        cards = (
            score_by_effect(
                Played(actual=actual, references=task.trajectories, plans=plans.get(task.id, ())), signatures
            )
            for _, task, actual in jobs
        )
    else:
        attempts = [Attempt(actual=actual, references=task.trajectories) for _, task, actual in jobs]
        cards = score_many(attempts, encoder=encoder, profile=find_profile(profile), signatures=signatures)
    if len(jobs) >= _PROGRESS_FROM_TASKS:
        cards = screen.progress(cards, len(jobs))
    return Results(
        profile=profile,
        encoder="none" if encoder is None else encoder.id,
        scored=tuple(
            Scored(task=name, family=task.family, card=card) for (name, task, _), card in zip(jobs, cards, strict=True)
        ),
        not_run=tuple(task for task in expected.tasks if task not in runs.tasks),
        unreadable=tuple(unreadable),
        skipped=skipped,
    )


def _only(task: str, file: "TaskFile") -> "TaskFile":
    from dataclasses import replace

    from m3bench.tasks.errors import InputFileError

    if task not in file.tasks:
        from difflib import get_close_matches

        near = get_close_matches(task, file.tasks, n=3)
        raise InputFileError(
            file.path, f"there is no task {task!r}" + (f" (did you mean {', '.join(near)}?)" if near else "")
        )
    mine = tuple(defect for defect in file.defects if defect.task == task)
    return replace(file, tasks={task: file.tasks[task]}, defects=mine)


def _warn_of(expected: "TaskFile", runs: "TaskFile", skipped: "Sequence[Defect]") -> None:
    """Say what was not scored as it stands: the first of it line by line, and how much of each kind in the end."""
    files = [*expected.warnings, *runs.warnings, *(str(error) for error in (*expected.errors, *runs.errors))]
    amended = [
        f"{runs.path}, task {one.task!r}, {one.where}: {one.why}" if one.where else f"{runs.path}: {one.why}"
        for one in skipped
        if one.kind in ("step", "call", "unknown_tool")
    ]
    from m3bench.server.lab.interchange.skipped import summary

    lines = [*files, *amended]
    for message in lines[:_WARNINGS]:
        _warn(message)
    if len(lines) > _WARNINGS:
        _warn(f"… and {len(lines) - _WARNINGS} more; --json lists them under skipped")
    if strangers := [one.task for one in skipped if one.kind == "no_reference"]:
        _warn(f"{runs.path}: {_some(strangers)} without a reference, left out")
    if len(skipped) > len(strangers):
        _warn("in all " + summary(skipped))


def _some(names: Iterable[str]) -> str:
    names = list(names)
    listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return f"{len(names)} {'task' if len(names) == 1 else 'tasks'} ({listed})"


def _warn(message: str) -> None:
    print(f"m3bench: {message}", file=sys.stderr)

"""`m3bench tasks lint`, `verify` and `identity`: is a set of tasks right and fair?"""

from collections.abc import Sequence
from typing import Annotated

import typer

from m3bench.server.commands.options import Families, Json, Sandbox, Tasks
from m3bench.server.commands.screen import counter, print_json
from m3bench.server.lab.authoring.checkpoints import ProofCheckpoints, key_of
from m3bench.server.lab.authoring.fairness import unfair, unfair_together
from m3bench.server.lab.authoring.identity import IdentityVerdict, try_set
from m3bench.server.lab.authoring.lint import lint as lint_task
from m3bench.server.lab.authoring.lint import lint_set
from m3bench.server.lab.authoring.verification import verify as prove
from m3bench.server.serving import interrupts
from m3bench.server.serving.backend import backend_of
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.task import Task


def lint(tasks: Tasks = None, json: Json = False) -> None:
    """Look for mistakes and unfair tasks in a set, without playing it.

    \b
    m3bench tasks lint --tasks my-tasks

    It finds ties where the best is asked for, answers that the question gives away, two answers that are one, and
    broken references. Prints a line for each problem; the exit code is 1 when there is one.
    """
    library = Library(tasks or BUNDLED)
    catalog = load_catalog().ready
    problems = [*lint_set(library), *unfair_together(library)]
    for task in library.tasks.values():
        found = (*lint_task(task, library, catalog), *unfair(task, library))
        problems += [f"{task.id}: {problem}" for problem in found]
    if json:
        print_json({"tasks": len(library.tasks), "hash": library.hash, "problems": problems})
    else:
        for problem in problems:
            typer.echo(problem)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        typer.echo(f"{len(library.tasks)} tasks: {count if problems else 'nothing to mend'}.", err=True)
    if problems:
        raise typer.Exit(1)


def verify(
    tasks: Tasks = None,
    json: Json = False,
    sandbox: Sandbox = "process",
    parallel: Annotated[int, typer.Option(min=1, metavar="N", help="Tasks at a time.")] = 2,
) -> None:
    """Prove a set: every reference runs, passes its checks and scores 1.

    \b
    m3bench tasks verify --tasks my-tasks

    Every reference is played in a fresh sandbox, with the calls of a step in any order. Prints what does not hold; the
    exit code is 1 when something does not. Proofs are remembered until the command finishes: after a stop it continues
    from there.
    """
    library = Library(tasks or BUNDLED)
    settings = Settings.of(sandbox=sandbox)
    proofs = ProofCheckpoints(settings.data / "verify" / f"{key_of(library.hash, sandbox)[:32]}.jsonl")

    async def main() -> list[str]:
        with counter(len(library.tasks), "Verifying") as done:
            async with backend_of(settings) as backend:
                return await prove(library, backend, parallel=parallel, progress=done, proofs=proofs)

    problems = interrupts.run(main)
    proofs.clear()
    if json:
        print_json({"tasks": len(library.tasks), "hash": library.hash, "problems": problems})
    else:
        for problem in problems:
            typer.echo(problem)
        good = f"{len(library.tasks)} tasks: every reference runs, passes its checks and scores 1."
        typer.echo(good if not problems else f"{len(problems)} problems.", err=True)
    if problems:
        raise typer.Exit(1)


def identity(
    tasks: Tasks = None,
    family: Families = None,
    each: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Look-alikes of each call; all when left out.")
    ] = None,
    json: Json = False,
    sandbox: Sandbox = "process",
) -> None:
    """Try whether calls about other things match those of a set's references, and honest variants do.

    \b
    m3bench tasks identity --tasks my-tasks --family movies

    For every call the nearest other things that the world holds are asked for (the next name, place, day or amount),
    and the same thing in other words, units and calls. Prints how many of each match, and what does not hold; the exit
    code is 1 when something does not.
    """
    library = Library(tasks or BUNDLED)
    chosen = [task for task in library.tasks.values() if not family or task.family in family]

    verdict = tried(library, chosen, Settings.of(sandbox=sandbox), each=each)
    problems = verdict.problems(whole=len(chosen) == len(library.tasks))
    if json:
        print_json({"tasks": len(chosen), "hash": library.hash, "problems": list(problems), **verdict.to_json()})
    else:
        for line in (*problems, verdict.told):
            typer.echo(line)
    if problems:
        raise typer.Exit(1)


def tried(library: Library, chosen: Sequence[Task], settings: Settings, *, each: int | None = None) -> IdentityVerdict:
    """Look-alikes and variants of some tasks of a set, tried with a count on the screen."""

    async def main() -> IdentityVerdict:
        with counter(len(chosen), "Trying") as done:
            async with backend_of(settings) as backend:
                found = [trial async for trial in try_set(library, chosen, backend, each=each, progress=done)]
                return IdentityVerdict(trials=tuple(found))

    return interrupts.run(main)

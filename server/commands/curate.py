"""`m3bench curate`: recorded runs become references, after proof and a person's yes."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Data, Json, StoreAt, find_run, record

if TYPE_CHECKING:
    from m3bench.server.lab.authoring.curation.material import Material
    from m3bench.server.lab.authoring.curation.pipeline import Curated, Reviewer
    from m3bench.tasks.library import Library


def curate(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Handles of runs, their beginnings, `latest`, or `all`.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of the set of tasks to create or extend.")
    ] = None,
    data: Data = None,
    store: StoreAt = None,
    task_set: Annotated[
        Path | None, typer.Option(help="Folder of the set the runs were made on; the bundled set when left out.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A model that judges and proposes, as Inspect names it; by default rules do.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Your name in the record; by default git's or the account's.")] = None,
    accept_verified: Annotated[
        bool, typer.Option("--accept-verified", help="Do not ask: accept every proved candidate.")
    ] = False,
    json: Json = False,
    sandbox: Annotated[
        str, typer.Option(help="Where candidates are played: process, docker or inprocess.")
    ] = "process",
) -> None:
    """Make references out of recorded runs.

    A judge accepts or rejects the run; failed, repeated and useless calls are left out and independent calls put
    into one step; the candidate is proved in fresh sandboxes; then you see it next to the run and accept or reject it.
    Accepted ones are written to the set in FOLDER, every decision to its curation.jsonl. With --json and without
    --accept-verified nothing is decided or written: the proved candidates are printed.

    The exit code is 1 when no run gave a proved candidate.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.lab.authoring.curation.task_folder import check_folder
    from m3bench.server.serving import interrupts
    from m3bench.tasks.errors import UserError
    from m3bench.tasks.library import BUNDLED, Library

    asking = not accept_verified and not json
    if output is None and not (json and not accept_verified):
        raise UserError("Name the folder that accepted references go to: -o FOLDER.")
    if asking and not sys.stdin.isatty():
        raise UserError("Nobody can be asked, this is no terminal: use --accept-verified, or --json to look only.")
    if output is not None:
        check_folder(output)
    library = Library(task_set or BUNDLED)
    materials = _materials(data, store, library, runs)
    found = interrupts.run(
        _curate, materials, library, _reviewer(asking, accept_verified), output, model, by, sandbox, asking
    )
    if json:
        print_json({"runs": [_row(curated) for curated in found]})
    else:
        for curated in found:
            decision = curated.decision
            reason = f": {decision.reason}" if decision.reason else ""
            typer.echo(f"{decision.run[:12]}  {decision.task}  {decision.decision}{reason}")
        written = sum(curated.decision.decision == "accepted" for curated in found)
        if written:
            typer.echo(
                f"{written} references in {output}; `m3bench tasks verify --tasks {output}` proves them.", err=True
            )
    if not any(curated.reference is not None for curated in found):
        raise typer.Exit(1)


def _materials(data: Path | None, store: str | None, library: "Library", names: list[str]) -> "list[Material]":
    from m3bench.server.lab.authoring.curation.material import gather

    with record(data, store) as opened:
        found = [run for run in opened.runs() if run.task in library.tasks] if "all" in names else []
        found = [run for run in found if run.state in ("submitted", "scored")][::-1]
        found += [find_run(opened, name) for name in names if name != "all"]
        unique = {run.id: run for run in found}
        return [gather(opened, library, run) for run in unique.values()]


def _reviewer(asking: bool, accept: bool) -> "Reviewer":
    from m3bench.server.lab.authoring.curation.review import Everyone, Terminal

    if not asking:
        return Everyone("accept", "accepted as proved") if accept else Everyone("skip", "nobody was asked")
    import click

    from m3bench.server.commands.screen import console

    return Terminal(console(), input, lambda text: click.edit(text, extension=".json"))


async def _curate(
    materials: "list[Material]",
    library: "Library",
    reviewer: "Reviewer",
    output: Path | None,
    model: str | None,
    by: str | None,
    sandbox: str,
    asking: bool,
) -> "list[Curated]":
    from contextlib import nullcontext

    from m3bench.server.commands.screen import counter
    from m3bench.server.lab.authoring.curation.decisions import note, who
    from m3bench.server.lab.authoring.curation.judge import Judge, RuleJudge
    from m3bench.server.lab.authoring.curation.pipeline import curate
    from m3bench.server.lab.authoring.curation.proof import Prover
    from m3bench.server.lab.authoring.curation.summary import RuleSummariser, Summariser
    from m3bench.server.lab.authoring.curation.task_folder import add_references
    from m3bench.server.scoring import open_encoder
    from m3bench.server.serving.backend import backend_of
    from m3bench.server.settings import Settings

    judge: Judge = RuleJudge()
    summariser: Summariser = RuleSummariser()
    if model is not None:
        from m3bench.server.lab.authoring.curation.model import Asker, ModelJudge, ModelSummariser

        asker = Asker(model)
        judge, summariser = ModelJudge(asker), ModelSummariser(asker)

    def keep(curated: "Curated") -> None:
        done(curated.material.run[:12])
        if output is None:
            return
        if curated.decision.decision == "accepted" and curated.reference is not None:
            add_references(output, library, [(curated.material.task.id, curated.reference)])
        note(output, curated.decision)

    # A bar and a question at the same time would write over one another.
    bar = nullcontext(lambda run: None) if asking else counter(len(materials), "Curating")
    with bar as done:
        async with backend_of(Settings.of(sandbox=sandbox)) as backend:
            return await curate(
                materials, judge=judge, summariser=summariser, prover=Prover(library, backend, open_encoder()),
                reviewer=reviewer, by=who(by), on_decision=keep,
            )  # fmt: skip


def _row(curated: "Curated") -> dict[str, Any]:
    from dataclasses import asdict

    reference = None if curated.reference is None else curated.reference.model_dump(mode="json", exclude_defaults=True)
    row = {**asdict(curated.decision), "problems": list(curated.problems), "reference": reference}
    del row["time"]
    return row

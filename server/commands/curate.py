"""`m3bench lab curate`: recorded runs become references, after proof and a person's yes."""

import sys
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import click
import typer

from m3bench.server.commands.options import Json, RecordOptions, Sandbox
from m3bench.server.commands.recorded import records
from m3bench.server.commands.screen import console, counter, print_json
from m3bench.server.lab.authoring.curation.judge import RuleJudge, RunJudge
from m3bench.server.lab.authoring.curation.material import CurationMaterial, gather
from m3bench.server.lab.authoring.curation.model import Asker, ModelJudge, ModelSummariser
from m3bench.server.lab.authoring.curation.pipeline import Curated, Reviewer, note, who
from m3bench.server.lab.authoring.curation.pipeline import curate as curate_runs
from m3bench.server.lab.authoring.curation.proof import Prover
from m3bench.server.lab.authoring.curation.review import Everyone, Terminal
from m3bench.server.lab.authoring.curation.summary import RuleSummariser, Summariser
from m3bench.server.lab.authoring.curation.task_folder import add_references, check_folder
from m3bench.server.scoring import open_encoder
from m3bench.server.serving import interrupts
from m3bench.server.serving.backend import backend_of
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED, Library


@dataclass(frozen=True, kw_only=True)
class CurateOptions:
    """How candidates are judged and proved, and what becomes of them."""

    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="The set of tasks to create or extend."),
    ] = None
    tasks: Annotated[
        Path | None,
        typer.Option("--tasks", metavar="FOLDER", help="The set that the runs played; by default the bundled set."),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER/NAME",
            help="A model that judges and proposes, as Inspect names it; by default rules do.",
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Your name in the record; by default git's or the account's."),
    ] = None
    accept_verified: Annotated[
        bool, typer.Option("--accept-verified", help="Do not ask: accept every proved candidate.")
    ] = False
    sandbox: Sandbox = "process"

    @property
    def judges(self) -> tuple[RunJudge, Summariser]:
        """Who accepts or rejects runs, and who proposes references."""
        if self.model is None:
            return RuleJudge(), RuleSummariser()
        asker = Asker(self.model)
        return ModelJudge(asker), ModelSummariser(asker)


def curate(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Handles of runs, their beginnings, `latest`, or `all`.")
    ],
    options: CurateOptions,
    where: RecordOptions,
    json: Json = False,
) -> None:
    """Make references from recorded runs.

    \b
    m3bench lab curate latest -o curated
    m3bench lab curate all --json                # only look

    A judge accepts or rejects the run; failed, repeated and useless calls are left out and independent calls put
    into one step; the candidate is proved in fresh sandboxes; then you see it next to the run and accept or reject it.
    Accepted ones are written to the set in FOLDER, every decision to its curation.jsonl. With --json and without
    --accept-verified nothing is decided or written: the proved candidates are printed.

    The exit code is 1 when no run gave a proved candidate.
    """
    asking = not options.accept_verified and not json
    if options.out is None and not (json and not options.accept_verified):
        raise UserError("Name the folder that accepted references go to: -o FOLDER.")
    if asking and not sys.stdin.isatty():
        raise UserError(
            "Nobody can be asked, because this is not a terminal: use --accept-verified, or --json to only look."
        )
    if options.out is not None:
        check_folder(options.out)
    library = Library(options.tasks or BUNDLED)
    materials = _materials(where, library, runs)
    found = interrupts.run(_curate, materials, library, options, asking)
    if json:
        print_json({"runs": [_row(curated) for curated in found]})
    else:
        for curated in found:
            decision = curated.decision
            reason = f": {decision.reason}" if decision.reason else ""
            typer.echo(f"{decision.run[:12]}  {decision.task}  {decision.decision}{reason}")
        written = sum(curated.decision.decision == "accepted" for curated in found)
        if written:
            proof = f"`m3bench tasks verify --tasks {options.out}` proves them"
            typer.echo(f"{written} references in {options.out}; {proof}.", err=True)
    if not any(curated.reference is not None for curated in found):
        raise typer.Exit(1)


def _materials(where: RecordOptions, library: Library, names: list[str]) -> list[CurationMaterial]:
    with records(where) as opened:
        found = [pair for pair in opened.runs() if pair[1].task in library.tasks] if "all" in names else []
        found = [pair for pair in found if pair[1].state in ("submitted", "scored")][::-1]
        found += [opened.find(name) for name in names if name != "all"]
        unique = {run.id: (store, run) for store, run in found}
        return [gather(store, library, run) for store, run in unique.values()]


def _reviewer(asking: bool, accept: bool) -> Reviewer:
    if not asking:
        return Everyone("accept", "accepted as proved") if accept else Everyone("skip", "nobody was asked")
    return Terminal(console(), input, lambda text: click.edit(text, extension=".json"))


async def _curate(
    materials: list[CurationMaterial], library: Library, options: CurateOptions, asking: bool
) -> list[Curated]:
    judge, summariser = options.judges

    def keep(curated: Curated) -> None:
        done(curated.material.run[:12])
        if options.out is None:
            return
        if curated.decision.decision == "accepted" and curated.reference is not None:
            add_references(options.out, library, [(curated.material.task.id, curated.reference)])
        note(options.out, curated.decision)

    # A bar and a question at the same time would write over one another.
    bar = nullcontext(lambda run: None) if asking else counter(len(materials), "Curating")
    with bar as done:
        async with backend_of(Settings.of(sandbox=options.sandbox)) as backend:
            return await curate_runs(
                materials,
                judge=judge,
                summariser=summariser,
                prover=Prover(library, backend, open_encoder()),
                reviewer=_reviewer(asking, options.accept_verified),
                by=who(options.by),
                on_decision=keep,
            )


def _row(curated: Curated) -> dict[str, object]:
    reference = None if curated.reference is None else curated.reference.model_dump(mode="json", exclude_defaults=True)
    row = {**asdict(curated.decision), "problems": list(curated.problems), "reference": reference}
    del row["time"]
    return row

"""`m3bench lab synthesize`: new tasks from the tools of chosen servers, executed and proved."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.commands.options import ArtFolder, Json
from m3bench.server.commands.screen import counter, print_json
from m3bench.server.lab.authoring.curation.model import Asker
from m3bench.server.lab.authoring.curation.task_folder import check_folder, write_set
from m3bench.server.lab.authoring.synthesis.errand import usable
from m3bench.server.lab.authoring.synthesis.pipeline import SynthesisRequest, check_servers, make_set
from m3bench.server.lab.authoring.synthesis.usefulness import ModelRater, Usefulness
from m3bench.server.lab.authoring.synthesis.wording import ModelRewording, Rewording
from m3bench.server.serving import interrupts
from m3bench.tasks.library import Library, MadeLibrary
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.packages import default_folder, fetch


@dataclass(frozen=True, kw_only=True)
class SynthesisOptions:
    """Which tasks are made."""

    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write the set of tasks into.")]
    servers: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Servers, separated by commas; by default all that tasks can be made for."),
    ] = None
    count: Annotated[int, typer.Option(min=1, metavar="N", help="How many tasks.")] = 20
    seed: Annotated[int, typer.Option(help="Another seed gives other tasks; the same seed the same bytes.")] = 1
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER/NAME",
            help="A model that rewords the questions, as Inspect names it; by default a grammar does.",
        ),
    ] = None
    rated_by: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER/NAME",
            help="A model that rates every task as in MCP-Bench; below 9 of 10 for solvability or 5 for utility it is "
            "left out. By default rules alone decide.",
        ),
    ] = None
    name: Annotated[str, typer.Option(help="The set's name.")] = "synthesized"
    art: ArtFolder = None

    @property
    def chosen(self) -> list[str]:
        """The servers that tasks are made for.

        Raises:
            UserError: There is no such server, or no task can be made for it.
        """
        if self.servers is None:
            return usable()
        named = [part.strip() for part in self.servers.split(",") if part.strip()]
        check_servers(named)
        return named


def synthesize(options: SynthesisOptions, json: Json = False) -> None:
    """Make a set of new tasks from what tools can do.

    \b
    m3bench lab synthesize -o new --count 5 --servers movies,weather
    m3bench tasks verify --tasks new
    m3bench serve --tasks new

    It proposes errands of several steps that somebody would ask for, fills them with things that calls really return,
    draws a card with what has to be read, words the question without naming a service or a step, and proves each task
    by execution. The folder is a set of tasks like any other.
    """
    chosen = options.chosen
    check_folder(options.out)
    rewording = ModelRewording(Asker(options.model)) if options.model is not None else None
    usefulness = Usefulness(ModelRater(Asker(options.rated_by)) if options.rated_by is not None else None)
    made = interrupts.run(_make, options, chosen, rewording, usefulness)
    write_set(made, options.out)
    refused = dict(sorted(usefulness.refused.items()))
    if json:
        tasks = [
            {"id": task.id, "role": task.role, "question": task.question, "servers": list(task.servers)}
            for task in made.tasks.values()
        ]
        print_json({"set": made.set.name, "version": made.set.version, "hash": Library(options.out).hash,
                    "refused": refused, "tasks": tasks})  # fmt: skip
    else:
        typer.echo(f"{len(made.tasks)} tasks written to {options.out}", err=True)
        if refused:
            told = ", ".join(f"{reason} {count}" for reason, count in refused.items())
            typer.echo(f"Refused as of no use: {told}.", err=True)


async def _make(
    options: SynthesisOptions, servers: list[str], rewording: Rewording | None, usefulness: Usefulness
) -> MadeLibrary:
    folder = options.art or default_folder()
    fetch(folder)
    with counter(options.count, "Synthesizing") as done:
        return await make_set(
            SynthesisRequest(servers=servers, count=options.count, seed=options.seed, name=options.name),
            art=Art(folder),
            backend=InProcessBackend(),
            rewording=rewording,
            usefulness=usefulness,
            progress=done,
        )

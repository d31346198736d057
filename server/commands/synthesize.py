"""`m3bench synthesize`: new tasks from the tools of chosen servers, executed and proved."""

from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.record import Json


def synthesize(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the set of tasks into.")],
    servers: Annotated[
        str | None,
        typer.Option(help="Names of servers, separated by commas; by default all that tasks can be made for."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many tasks.")] = 20,
    seed: Annotated[int, typer.Option(help="Another seed gives other tasks; the same seed the same bytes.")] = 1,
    model: Annotated[
        str | None,
        typer.Option(help="A model that rewords the questions, as Inspect names it; a grammar when left out."),
    ] = None,
    name: Annotated[str, typer.Option(help="The set's name.")] = "synthesized",
    art: Annotated[
        Path | None,
        typer.Option(help="Folder with the art packages; fetched with npm into the user's cache when left out."),
    ] = None,
    json: Json = False,
) -> None:
    """Make a set of new tasks from what tools can do.

    Proposes errands of several steps that somebody would ask for, fills them with things that calls really return,
    draws a card with what has to be read, words the question without naming a service or a step, and proves each task
    by execution. The folder is a set like any other: `m3bench tasks verify --tasks FOLDER`, `m3bench serve --tasks
    FOLDER`.
    """
    from m3bench.sandboxes.backends.inprocess import InProcessBackend
    from m3bench.server.commands.screen import counter, print_json
    from m3bench.server.lab.authoring.curation.task_folder import check_folder, write_set
    from m3bench.server.lab.authoring.synthesis.errand import usable
    from m3bench.server.lab.authoring.synthesis.pipeline import check_servers, make_set
    from m3bench.server.lab.authoring.synthesis.rewording import Rewording
    from m3bench.server.lab.authoring.synthesis.usefulness import Usefulness
    from m3bench.server.serving import interrupts
    from m3bench.tasks.library import Library, MadeLibrary
    from m3bench.tasks.render.art import Art
    from m3bench.tasks.render.packages import default_folder, fetch

    chosen = [part.strip() for part in servers.split(",") if part.strip()] if servers is not None else usable()
    check_servers(chosen)
    check_folder(output)
    rewording: Rewording | None = None
    if model is not None:
        from m3bench.server.lab.authoring.curation.model import Asker
        from m3bench.server.lab.authoring.synthesis.rewording import ModelRewording

        rewording = ModelRewording(Asker(model))
    folder, usefulness = art or default_folder(), Usefulness()
    fetch(folder)

    async def main() -> MadeLibrary:
        with counter(count, "Synthesizing") as done:
            return await make_set(
                chosen, count=count, seed=seed, art=Art(folder), backend=InProcessBackend(), name=name,
                rewording=rewording, usefulness=usefulness, progress=done,
            )  # fmt: skip

    made = interrupts.run(main)
    write_set(made, output)
    refused = dict(sorted(usefulness.refused.items()))
    if json:
        tasks = [
            {"id": task.id, "role": task.role, "question": task.question, "servers": list(task.servers)}
            for task in made.tasks.values()
        ]
        print_json({"set": made.set.name, "version": made.set.version, "hash": Library(output).hash,
                    "refused": refused, "tasks": tasks})  # fmt: skip
    else:
        typer.echo(f"{len(made.tasks)} tasks written to {output}", err=True)
        if refused:
            told = ", ".join(f"{reason} {count}" for reason, count in refused.items())
            typer.echo(f"Refused as of no use: {told}.", err=True)

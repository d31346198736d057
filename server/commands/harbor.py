"""`m3bench lab harbor`: tasks for Harbor, its results, and what the containers of an exported task run."""

import json as json_text
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from m3bench.sandboxes.images.builder import BASE, SERVICE
from m3bench.server.app import App
from m3bench.server.clients.table import KnownClients
from m3bench.server.commands.installed import LocalInstallation, library_for
from m3bench.server.commands.options import Data, Families, Json, Tasks
from m3bench.server.commands.recorded import remember
from m3bench.server.commands.screen import counter, print_json, progress, write_file
from m3bench.server.lab.interchange.harbor.dataset import SEAT, Dataset
from m3bench.server.lab.interchange.harbor.importing import CheckedTrial, check_trial, write_sets
from m3bench.server.lab.interchange.harbor.jobs import read_trials
from m3bench.server.lab.interchange.harbor.verdict import METRICS, REWARD, REWARDS, counted, judge, lay_out
from m3bench.server.scoring import open_encoder
from m3bench.server.serving import interrupts
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import did_you_mean, load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.profiles import tools_of
from m3bench.tasks.task import Task

Collected = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that Harbor collects.")]
TrialTask = Annotated[str, typer.Option("--task", metavar="ID", help="The task of the trial.")]


@dataclass(frozen=True, kw_only=True)
class DatasetOptions:
    """Which tasks a dataset has, and with which tools."""

    tasks: Tasks = None
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; may be repeated.")] = None
    family: Families = None
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N of them.")] = None
    profile: Annotated[
        str, typer.Option(help="Tools to show: standard, task, family, full, wide, compact, mini or retrieve.")
    ] = "standard"


def export_harbor(
    options: DatasetOptions,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the dataset.")],
    base: Annotated[
        str | None,
        typer.Option(
            metavar="IMAGE", help="The image that agents' containers start from, and that m3bench's image was built on."
        ),
    ] = None,
    image: Annotated[
        str | None, typer.Option(metavar="NAME", help="The name of the server's image, perhaps in a registry.")
    ] = None,
    single: Annotated[
        bool,
        typer.Option("--single", help="For trainers without compose: one container for each task."),
    ] = False,
    json: Json = False,
) -> None:
    """Write tasks as a Harbor dataset.

    \b
    m3bench lab harbor export -o dataset --limit 10

    Any of Harbor's agents plays the tasks, in any environment that has compose. In each task the m3bench server runs
    beside the agent, in a container of its own that holds the references. The verifier scores the sealed run; the
    reward is the average of its score card.

    Prints the commands that come next. The image of the server is built once, from FOLDER/image: FOLDER/README.md says
    how. An existing dataset is replaced.
    """
    library = Library(options.tasks or BUNDLED)
    chosen = _chosen(library, options)
    name = image or f"m3bench-harbor{'-single' if single else ''}:{version('m3bench')}"
    made = Dataset(
        library=library,
        tasks=chosen,
        profile=options.profile,
        base=base or BASE,
        service=f"{SERVICE}:{version('m3bench')}",
        image=name,
        single=single,
    )
    tools_of(made.profile_of(chosen[0]), load_catalog(), library)
    with counter(len(chosen), "Writing") as tell:
        made.write(out, tell)
    if json:
        print_json({"path": str(out), "tasks": [task.id for task in chosen], "set": library.set.name, "image": name})
        return
    count = "1 task" if len(chosen) == 1 else f"{len(chosen)} tasks"
    typer.echo(f"{count} written to {out / 'tasks'}. Next:", err=True)
    typer.echo(f"docker build -t {name} {out / 'image'}\nharbor run -p {out / 'tasks'} -a oracle")


def import_harbor(
    jobs: Annotated[Path, typer.Argument(metavar="JOBS", help="Harbor's jobs folder, one job or one trial.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the result sets.")],
    tasks: Tasks = None,
    json: Json = False,
) -> None:
    """Make result sets of what Harbor's agents did.

    \b
    m3bench lab harbor import jobs -o results
    m3bench leaderboard results/*

    There is one result set for each agent and model, for `m3bench report` and `m3bench leaderboard`. Every run is
    scored again from its log. A trial without an answer counts as a run in which nothing was done. Trials that were
    changed, or that Harbor has no reward for, are left out and listed.

    Exit code 0: every trial was taken. 1: some were left out, each with the reason.
    """
    trials, unreadable = read_trials(jobs)
    installation, encoder = LocalInstallation.of(Settings.of(tasks=tasks)), open_encoder()
    looked = [check_trial(trial, installation, encoder) for trial in progress(trials, len(trials), "Scoring")]
    ours = [trial for trial in looked if trial.trial.task in installation.library.tasks]
    sets = write_sets(ours, out, installation, encoder)
    remember(place for place, _ in sets)
    left = [
        (trial.trial.folder, f"{trial.outcome}: {trial.why}")
        for trial in looked
        if trial.outcome in ("refuted", "incomplete")
    ]
    left += [(folder, f"incomplete: {why}") for folder, why in unreadable]
    if json:
        print_json({
            "sets": [{"path": str(place), "name": header.name, "tasks": len(header.tasks)} for place, header in sets],
            "trials": [_row(trial) for trial in looked],
            "left_out": [{"trial": str(folder), "why": why} for folder, why in left],
        })  # fmt: skip
    else:
        for place, header in sets:
            counts = Counter(trial.outcome for trial in ours if trial.trial.agent == header.name)
            told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
            typer.echo(f"{header.name}: {told}: {place}")
        for folder, why in left:
            typer.echo(f"m3bench: left out: {folder}: {why}", err=True)
    if left:
        raise typer.Exit(1)


def collect(folder: Collected, task: TrialTask, tasks: Tasks = None, data: Data = None) -> None:
    """In a task's container: lay out the agent's run for the verifier.

    \b
    m3bench lab harbor collect /verdict --task movies-1

    Harbor runs this beside the server, after the agent. It writes the run into the folder, and prints its state.
    """
    settings = Settings.of(ranked=True, tasks=tasks, data=data)
    interrupts.run(_score, settings, SEAT, task)
    collected = lay_out(settings.data, SEAT, task, folder)
    typer.echo(f"{collected.task}: {collected.state}")


def reward(
    folder: Collected,
    task: TrialTask,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The folder of Harbor's verifier.")],
    tasks: Tasks = None,
) -> None:
    """In a task's container: score the collected run, and write the reward.

    \b
    m3bench lab harbor reward /verdict --task movies-1 -o /logs/verifier

    Harbor runs this as the verifier. `reward.json`, which Harbor shows, has `reward` and `solved`; `metrics.json`
    beside it has every number of the card.

    Exit code 0: a reward was written. 1: none was, because the run says nothing about the agent.
    """
    judged = judge(folder, SEAT, task, LocalInstallation.of(Settings.of(tasks=tasks)), open_encoder())
    typer.echo(f"{task}: {judged.outcome}{': ' if judged.why else ''}{judged.why}")
    if judged.numbers is None:
        raise typer.Exit(1)
    shown = {name: judged.numbers[name] for name in REWARDS}
    for file, numbers in ((REWARD, shown), (METRICS, judged.numbers)):
        write_file(out / file, f"{json_text.dumps(numbers, indent=1)}\n")


async def _score(settings: Settings, seat: str, task: str) -> None:
    """Score the agent's run if that could not be done when it was submitted."""
    app = App(settings, clients=KnownClients(), library=library_for(settings))
    async with app.lifespan():
        run = counted(app.store.runs(), seat, task)
        if run is not None and run.state == "submitted":
            await app.score(run)


def _chosen(library: Library, options: DatasetOptions) -> tuple[Task, ...]:
    families = options.family or ()
    known = {task.family for task in library.tasks.values()}
    for family in families:
        if family not in known:
            raise UserError(f"There is no family {family!r}.{did_you_mean(family, sorted(known))}")
    named = {library.task(id).id for id in options.task or ()}
    found = [
        task
        for task in library.tasks.values()
        if (not named or task.id in named) and (not families or task.family in families)
    ]
    if not found:
        raise UserError("No task of the set has both this name and this family: give only --task or only --family.")
    return tuple(found[: options.limit])


def _row(trial: CheckedTrial) -> dict[str, object]:
    numbers = trial.judged.numbers if trial.judged is not None else None
    return {
        "trial": str(trial.trial.folder), "task": trial.task, "agent": trial.trial.agent, "outcome": trial.outcome,
        "why": trial.why, "reward": (numbers or {}).get("reward"),
        "harbor_reward": (trial.trial.rewards or {}).get("reward"),
    }  # fmt: skip

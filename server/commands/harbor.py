"""`m3bench export harbor` and `m3bench import harbor`, and what the containers of an exported task run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.record import Data, Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from m3bench.server.lab.interchange.harbor.importing import Looked
    from m3bench.server.settings import Settings
    from m3bench.tasks.library import Library
    from m3bench.tasks.task import Task

exports = typer.Typer(name="export", help="Write tasks for other harnesses: Harbor.", no_args_is_help=True)
imports = typer.Typer(name="import", help="Read results of other harnesses: Harbor.", no_args_is_help=True)
inside = typer.Typer(name="harbor", help="What the containers of a Harbor task run.", no_args_is_help=True)

Set = Annotated[
    Path | None,
    typer.Option("--set", "--tasks", metavar="FOLDER", help="A set of tasks; the bundled set when left out."),
]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that Harbor collects.")]
One = Annotated[str, typer.Option("--task", metavar="ID", help="The task of the trial.")]


@exports.callback()
def export() -> None:
    """Write tasks for other harnesses: Harbor."""


@imports.callback()
def import_() -> None:
    """Read results of other harnesses: Harbor."""


@exports.command("harbor")
def export_harbor(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the dataset.")],
    tasks: Set = None,
    task: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this task; may be repeated.")] = None,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only tasks of this family; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N of them.")] = None,
    profile: Annotated[
        str, typer.Option(help="Tools to show: standard, task, family, full, wide, compact, mini or retrieve.")
    ] = "standard",
    base: Annotated[
        str | None,
        typer.Option(metavar="IMAGE", help="What agents' containers start from, and m3bench's image was made of."),
    ] = None,
    image: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the image of the server is called, in a registry perhaps.")
    ] = None,
    json: Json = False,
) -> None:
    """Write tasks as a Harbor dataset: any of Harbor's agents plays them in any environment that has compose.

    In each task the m3bench server runs beside the agent, in a container of its own that holds the references. The
    verifier scores the sealed run; the reward is the average of its score card.

    The image of the server is built once, from DIR/image: DIR/README.md says how. A dataset that is there already is
    replaced.
    """
    from importlib.metadata import version

    from m3bench.sandboxes.images.builder import BASE, SERVICE
    from m3bench.server.commands.screen import counter, print_json
    from m3bench.server.lab.interchange.harbor.dataset import Dataset
    from m3bench.tasks.catalog import load_catalog
    from m3bench.tasks.library import BUNDLED, Library
    from m3bench.tasks.profiles import tools_of

    library = Library(tasks or BUNDLED)
    chosen = _chosen(library, task or (), family or (), limit)
    name = image or f"m3bench-harbor:{version('m3bench')}"
    made = Dataset(
        library=library,
        tasks=chosen,
        profile=profile,
        base=base or BASE,
        service=f"{SERVICE}:{version('m3bench')}",
        image=name,
    )
    tools_of(made.profile_of(chosen[0]), load_catalog(), library)
    with counter(len(chosen), "Writing") as tell:
        made.write(out, tell)
    if json:
        print_json({"path": str(out), "tasks": [one.id for one in chosen], "set": library.set.name, "image": name})
        return
    count = "1 task" if len(chosen) == 1 else f"{len(chosen)} tasks"
    typer.echo(f"{count} written to {out / 'tasks'}. Next:", err=True)
    typer.echo(f"docker build -t {name} {out / 'image'}\nharbor run -p {out / 'tasks'} -a oracle")


@imports.command("harbor")
def import_harbor(
    jobs: Annotated[Path, typer.Argument(metavar="JOBS", help="Harbor's jobs folder, one job or one trial.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the result sets.")],
    tasks: Set = None,
    json: Json = False,
) -> None:
    """Make result sets of what Harbor's agents did: one for each agent and model, for `report` and `leaderboard`.

    Every run is scored again from its log. A trial without an answer counts as
    a run in which nothing was done. Trials that were changed, or that Harbor
    has no reward for, are left out and listed.

    Exit code 0: every trial was taken. 1: some were left out, each with the
    reason.
    """
    from collections import Counter

    from m3bench.server.commands.installed import Installation
    from m3bench.server.commands.screen import print_json, progress
    from m3bench.server.lab.interchange.harbor.importing import look, write_sets
    from m3bench.server.lab.interchange.harbor.jobs import read_trials
    from m3bench.server.scoring import open_encoder
    from m3bench.server.settings import Settings

    trials, unreadable = read_trials(jobs)
    installation, encoder = Installation.of(Settings.of(tasks=tasks)), open_encoder()
    looked = [look(trial, installation, encoder) for trial in progress(trials, len(trials), "Scoring")]
    ours = [one for one in looked if one.trial.task in installation.library.tasks]
    sets = write_sets(ours, out, installation, encoder)
    left = [
        (one.trial.folder, f"{one.outcome}: {one.why}") for one in looked if one.outcome in ("refuted", "incomplete")
    ]
    left += [(folder, f"incomplete: {why}") for folder, why in unreadable]
    if json:
        print_json({
            "sets": [{"path": str(place), "name": header.name, "tasks": len(header.tasks)} for place, header in sets],
            "trials": [_row(one) for one in looked],
            "left_out": [{"trial": str(folder), "why": why} for folder, why in left],
        })  # fmt: skip
    else:
        for place, header in sets:
            counts = Counter(one.outcome for one in ours if one.trial.agent == header.name)
            told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
            typer.echo(f"{header.name}: {told}: {place}")
        for folder, why in left:
            typer.echo(f"m3bench: left out: {folder}: {why}", err=True)
    if left:
        raise typer.Exit(1)


@inside.command()
def collect(folder: Folder, task: One, tasks: Set = None, data: Data = None) -> None:
    """Lay out what became of the agent's run: Harbor runs this beside the server, after the agent."""
    from m3bench.server.lab.interchange.harbor.dataset import SEAT
    from m3bench.server.lab.interchange.harbor.verdict import lay_out
    from m3bench.server.serving import interrupts
    from m3bench.server.settings import Settings

    settings = Settings.of(ranked=True, tasks=tasks, data=data)
    interrupts.run(_score, settings, SEAT, task)
    collected = lay_out(settings.data, SEAT, task, folder)
    typer.echo(f"{collected.task}: {collected.state}")


@inside.command()
def reward(
    folder: Folder,
    task: One,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="LOGS", help="The folder of Harbor's verifier.")],
    tasks: Set = None,
) -> None:
    """Score what was collected again, and write the reward: Harbor runs this as the verifier.

    `reward.json`, which Harbor shows, has `reward` and `solved`; `metrics.json` beside it has every number of the card.

    Exit code 0: a reward was written. 1: none was, because the run says nothing about the agent.
    """
    import json

    from m3bench.server.commands.installed import Installation
    from m3bench.server.commands.record import write_text
    from m3bench.server.lab.interchange.harbor.dataset import SEAT
    from m3bench.server.lab.interchange.harbor.verdict import METRICS, REWARD, REWARDS, judge
    from m3bench.server.scoring import open_encoder
    from m3bench.server.settings import Settings

    judged = judge(folder, SEAT, task, Installation.of(Settings.of(tasks=tasks)), open_encoder())
    typer.echo(f"{task}: {judged.outcome}{': ' if judged.why else ''}{judged.why}")
    if judged.numbers is None:
        raise typer.Exit(1)
    shown = {name: judged.numbers[name] for name in REWARDS}
    for file, numbers in ((REWARD, shown), (METRICS, judged.numbers)):
        write_text(out / file, f"{json.dumps(numbers, indent=1)}\n")


async def _score(settings: "Settings", seat: str, task: str) -> None:
    """Score the agent's run if that could not be done when it was submitted."""
    from m3bench.server.app import App
    from m3bench.server.clients.table import KnownClients
    from m3bench.server.commands.installed import library_for
    from m3bench.server.lab.interchange.harbor.verdict import counted

    app = App(settings, clients=KnownClients(), library=library_for(settings))
    async with app.lifespan():
        run = counted(app.store.runs(), seat, task)
        if run is not None and run.state == "submitted":
            await app.score(run)


def _chosen(
    library: "Library", ids: "Sequence[str]", families: "Sequence[str]", limit: int | None
) -> "tuple[Task, ...]":
    from m3bench.tasks.catalog import did_you_mean
    from m3bench.tasks.errors import UserError

    known = {task.family for task in library.tasks.values()}
    for family in families:
        if family not in known:
            raise UserError(f"There is no family {family!r}.{did_you_mean(family, sorted(known))}")
    named = {library.task(id).id for id in ids}
    found = [
        task
        for task in library.tasks.values()
        if (not named or task.id in named) and (not families or task.family in families)
    ]
    if not found:
        raise UserError("No task of the set is both named and of such a family: give --task or --family alone.")
    return tuple(found[:limit])


def _row(one: "Looked") -> dict[str, object]:
    numbers = one.judged.numbers if one.judged is not None else None
    return {
        "trial": str(one.trial.folder), "task": one.task, "agent": one.trial.agent, "outcome": one.outcome,
        "why": one.why, "reward": (numbers or {}).get("reward"),
        "harbor_reward": (one.trial.rewards or {}).get("reward"),
    }  # fmt: skip

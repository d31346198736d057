"""`m3bench lab train-set`: tasks for training, with trajectories to copy."""

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from m3bench.server.commands.options import ArtFolder, Families, Json, OutFolder
from m3bench.server.commands.screen import print_json
from m3bench.server.lab.training.splits import HELD_OUT, split_of_seed
from m3bench.server.lab.training.train_set import PER_FAMILY, TrainSetRequest, make_train_set
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.library import Library
from m3bench.tasks.render.packages import default_folder, fetch


@dataclass(frozen=True, kw_only=True)
class TrainSetOptions:
    """What is made."""

    out: OutFolder
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="How many tasks.")] = 1000
    seed: Annotated[
        int,
        typer.Option(min=0, help="Where seeds begin: one that ends in 8 is for validation, in 9 for testing."),
    ] = 1
    family: Families = None
    hold_out: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A family that is kept for testing. [default: " + ", ".join(HELD_OUT) + "]"),
    ] = None
    per_family: Annotated[int, typer.Option(min=1, metavar="N", help="Tasks of a family from each seed.")] = PER_FAMILY
    parallel: Annotated[int | None, typer.Option(min=1, metavar="N", help="Processes; by default one per core.")] = None
    art: ArtFolder = None


def train_set(options: TrainSetOptions, json: Json = False) -> None:
    """Make tasks for training, with trajectories to copy.

    \b
    m3bench lab train-set --n 10000 --seed 1 -o data
    m3bench lab train-set --n 500 --seed 8 -o validation

    It writes sets of tasks (sets/), and a row for each task with the messages of a perfect run, as JSON Lines and, with
    'm3bench[parquet]', Parquet. Tasks that ask for what the bundled tasks ask for are left out; report.json says where
    that was not possible. What is finished is kept: the same command continues.
    """
    held = options.hold_out if options.hold_out is not None else list(HELD_OUT)
    for name in (*held, *(options.family or ())):
        if name not in FAMILIES:
            raise UserError(f"There is no family {name!r}.{did_you_mean(name, FAMILIES)}")
    training = split_of_seed(options.seed) == "train"
    families = [name for name in options.family or FAMILIES if not training or name not in held]
    art = options.art or default_folder()
    if options.art is None:
        fetch(art)
    request = TrainSetRequest(
        number=options.n, seed=options.seed, families=families, art=art, per_family=options.per_family,
        parallel=options.parallel,
    )  # fmt: skip
    tested = Library().tasks.values()
    report = make_train_set(request, options.out, tested, lambda shard: typer.echo(f"{shard} is finished", err=True))
    if json:
        print_json(asdict(report))
        return
    typer.echo(f"{report.rows} tasks for {report.split} in {', '.join(report.files)}; {report.dropped} left out.")
    for family, number in report.shared.items():
        typer.echo(f"{family}: {number} tasks ask for what a test asks for, and too few would be left without them.")

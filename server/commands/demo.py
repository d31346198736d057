"""`m3bench demo`: three clients play the same task through a real server, and get their score cards."""

from typing import Annotated

import typer
from rich.table import Table

from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import FittingMarkdown, console, number, print_json
from m3bench.server.lab.headless.demonstration import play_all
from m3bench.server.scorecard.markdown import METRICS, calls_markdown
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.serving import interrupts
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task

TASK = "barcode_lookup-1"


def demo(
    task: Annotated[str, typer.Option(metavar="ID", help="The task to play.")] = TASK,
    json: Json = False,
) -> None:
    """See it work: three clients play one task; compare their score cards.

    \b
    m3bench demo

    Starts `m3bench serve` as a client would, in a temporary data folder; a correct, a sloppy and an idle client play
    over stdio. No model is involved. Prints the three score cards side by side, and where the sloppy client lost its
    points.
    """
    library = Library()
    chosen = library.task(task)
    cards = interrupts.run(play_all, chosen, not json)
    if json:
        print_json({name: card.to_json() for name, card in cards.items()})
    else:
        _show(chosen, str(library.folder / "pictures" / chosen.pictures[0]), cards)


def _show(task: Task, picture: str, cards: dict[str, ScoreCard]) -> None:
    screen = console()
    screen.print(f"\nTask {task.id}", style="bold")
    screen.print(f"{task.question}\nPicture: {picture}\n")
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in cards:
        table.add_column(f"{name} client", justify="right")
    for metric in (*METRICS, "average"):
        values = [card.metrics[metric] for card in cards.values()]
        table.add_row(metric.replace("_", " "), *map(number, values), style="bold" if metric == "average" else "")
    table.add_row("paper's metric", *(number(card.paper_average) for card in cards.values()))
    checks = [f"{card.checks_passed} of {len(card.checks)}" for card in cards.values()]
    table.add_row("checks passed", *checks)
    table.add_row("solved", *("yes" if card.success else "no" for card in cards.values()))
    screen.print(table)
    screen.print("\nWhere the sloppy client lost its points", style="bold")
    screen.print(FittingMarkdown(calls_markdown(cards["sloppy"])))
    screen.print("\nNow in your own client: `m3bench install CLIENT` puts m3bench into it; then say “start a task”.\n")

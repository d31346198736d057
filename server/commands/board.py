"""`m3bench board`: a leaderboard of bundles that others sent."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.record import Json
from m3bench.server.commands.submissions import Replay, Sandbox, Tasks, Trust

if TYPE_CHECKING:
    from m3bench.server.lab.reports.board.folder import Answer

commands = typer.Typer(name="board", help="Make a leaderboard of bundles that others sent.", no_args_is_help=True)


@commands.callback()
def board() -> None:
    """Make a leaderboard of bundles that others sent."""


@commands.command()
def accept(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The board's folder; made when it is missing.")],
    bundles: Annotated[
        list[Path], typer.Argument(metavar="BUNDLE...", help="Bundles, as `m3bench submit-bundle` writes them.")
    ],
    tasks: Tasks = None,
    trust: Trust = None,
    at_least: Annotated[
        str, typer.Option(metavar="LEVEL", help="Refuse what is below: attested, replayed or consistent.")
    ] = "consistent",
    replay: Replay = True,
    sandbox: Sandbox = "process",
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Take sets that were made under different conditions, without ranks.")
    ] = False,
    json: Json = False,
) -> None:
    """Verify bundles, and put those that hold on a board: a site with ranks, in which every set shows its level.

    A bundle is refused when it is refuted, below the level that was asked for,
    not comparable with what is there, or a copy of it: a run counts once. What
    was to be played and was not submitted counts as not solved. Bundles that
    are on the board already change nothing.

    Exit code 0: every bundle is on the board. 1: some were refused, each with
    the reason.
    """
    from m3bench.server.commands.installed import Installation
    from m3bench.server.commands.screen import print_json
    from m3bench.server.commands.submissions import level_of, verified
    from m3bench.server.lab.reports.board.folder import Answer, Board
    from m3bench.server.runs.attestation.keys import PublicKey
    from m3bench.server.scoring import open_encoder
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import InputFileError

    level = level_of(at_least)
    settings = Settings.of(tasks=tasks, sandbox=sandbox)
    installation, keys = Installation.of(settings), [PublicKey.read(key) for key in trust or ()]
    made = Board(folder, installation.library, open_encoder(), mixed=mixed)
    answers: list[Answer] = []
    for path in bundles:
        try:
            known = made.find(path)
            if known is not None and (not keys or known.verdict["verdict"] == "attested"):
                answers.append(known.answer)
            else:
                answers.append(made.accept(path, verified(path, settings, installation, keys, replay=replay), level))
        except InputFileError as error:
            answers.append(Answer(outcome="refused", name=path.name, why=str(error)))
        if not json:
            _tell(path, answers[-1])
    if made.bundles:
        document = made.write()
    if json:
        told = [{"file": str(path), "outcome": one.outcome, "name": one.name, "why": one.why}
                for path, one in zip(bundles, answers, strict=True)]  # fmt: skip
        print_json({"board": str(folder), "bundles": told, "sets": len(made.bundles)})
    elif made.bundles:
        from m3bench.server.commands.leaderboard import show

        show(document["entries"])
        typer.echo(f"{len(made.bundles)} sets on the board: open {folder / 'index.html'}", err=True)
    if any(one.outcome == "refused" for one in answers):
        raise typer.Exit(1)


def _tell(path: Path, answer: "Answer") -> None:
    from m3bench.server.scoring.words import printable

    typer.echo(f"{path}: {answer.outcome}: {printable(answer.name)}: {printable(answer.why)}", err=True)

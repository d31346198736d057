"""`m3bench lab board`: a leaderboard of bundles that others sent."""

from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.commands.leaderboard import show
from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import print_json
from m3bench.server.commands.submissions import VerifyOptions, verified
from m3bench.server.lab.reports.board import BoardDecision, BundleBoard
from m3bench.server.scoring import open_encoder
from m3bench.server.scoring.words import printable
from m3bench.server.settings import Settings
from m3bench.tasks.errors import M3Error, SandboxError


def accept(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The board's folder; made when it is missing.")],
    bundles: Annotated[
        list[Path], typer.Argument(metavar="BUNDLE...", help="Bundles, as `m3bench lab pack` writes them.")
    ],
    options: VerifyOptions,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="Take sets that were made under different conditions, without ranks.")
    ] = False,
    json: Json = False,
) -> None:
    """Verify bundles, and put those that hold on a board.

    \b
    m3bench lab board accept board oracle.m3run sloppy.m3run
    m3bench lab board accept board *.m3run --at-least attested --trust KEY

    A board is a site with ranks, in which every set shows its level: open FOLDER/index.html. A bundle is refused when
    it is refuted, below the level that was asked for, not comparable with what is there, or a copy of it: a run counts
    once. Planned tasks that were not submitted count as not solved. Bundles already on the board change nothing.

    Exit code 0: every bundle is on the board. 1: some were refused, each with the reason.
    """
    level, keys = options.level("replayed"), options.trusted
    settings = Settings.of(tasks=options.tasks, sandbox=options.sandbox)
    installation = LocalInstallation.of(settings)
    board = BundleBoard(folder, installation.library, open_encoder(), mixed=mixed)
    answers: list[BoardDecision] = []
    for path in bundles:
        try:
            known = board.find(path)
            if known is not None and (not keys or known.verdict.verdict == "attested"):
                answers.append(known.decision)
            else:
                answers.append(board.accept(path, verified(path, settings, installation, options), level))
        except SandboxError:
            # Nothing can be made again here, whoever sent it.
            raise
        except Exception as error:
            # Whatever a bundle brings about, the others are not lost for it.
            why = str(error) if isinstance(error, M3Error) else f"it cannot be read ({type(error).__name__})"
            answers.append(BoardDecision(outcome="refused", name=path.name, why=why))
        if not json:
            _tell(path, answers[-1])
    document = board.write() if board.bundles else None
    if json:
        told = [{"file": str(path), "outcome": answer.outcome, "name": answer.name, "why": answer.why}
                for path, answer in zip(bundles, answers, strict=True)]  # fmt: skip
        print_json({"board": str(folder), "bundles": told, "sets": len(board.bundles)})
    elif document is not None:
        show(document.entries)
        typer.echo(f"{len(board.bundles)} sets on the board: open {folder / 'index.html'}", err=True)
    if any(answer.outcome == "refused" for answer in answers):
        raise typer.Exit(1)


def _tell(path: Path, answer: BoardDecision) -> None:
    typer.echo(f"{path}: {answer.outcome}: {printable(answer.name)}: {printable(answer.why)}", err=True)

"""`m3bench lab pack`, `verify` and `board`: results that others can check, and a leaderboard of them."""

import json as json_text
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.commands.leaderboard import show
from m3bench.server.commands.options import Json, Sandbox, Tasks
from m3bench.server.commands.screen import console, counter, print_json
from m3bench.server.lab.interchange import rescoring
from m3bench.server.lab.interchange.attesting import attest_bundle
from m3bench.server.lab.interchange.bundle import pack
from m3bench.server.lab.interchange.replaying import replay_bundle
from m3bench.server.lab.interchange.verdict import CANNOT, PROVES, BundleVerdict, Level
from m3bench.server.lab.reports.board import BoardDecision, BundleBoard
from m3bench.server.runs.attestation.keys import PublicKey
from m3bench.server.scoring import open_encoder
from m3bench.server.scoring.words import printable
from m3bench.server.serving import interrupts
from m3bench.server.serving.apart import work_apart
from m3bench.server.serving.backend import backend_of
from m3bench.server.settings import Settings
from m3bench.tasks.errors import M3Error, SandboxError, UserError
from m3bench.tasks.json_types import JsonObject

_LEVELS: tuple[Level, ...] = ("consistent", "replayed", "attested")

SHOWN = 40
"""Differences that are printed; `--json` has them all."""

Bundle = Annotated[Path, typer.Argument(metavar="BUNDLE", help="A bundle, as `m3bench lab pack` writes it.")]


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """How bundles are verified."""

    tasks: Tasks = None
    trust: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY", help="A public key that you trust, as `m3bench keys show` prints it, or its file."),
    ] = None
    at_least: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="The level to reach: attested, replayed or consistent.",
            show_default="consistent, and replayed for a board",
        ),
    ] = None
    replay: Annotated[bool, typer.Option(help="Make every recorded call again in fresh sandboxes.")] = True
    sandbox: Sandbox = "process"

    def level(self, unless_given: Level = "consistent") -> Level:
        """The level to reach.

        Raises:
            UserError: There is no such level.
        """
        level = next((level for level in _LEVELS if level == (self.at_least or unless_given)), None)
        if level is None:
            raise UserError(f"There is no level {self.at_least!r}: use {', '.join(_LEVELS)}.")
        return level

    @property
    def trusted(self) -> list[PublicKey]:
        """The keys whose signatures count."""
        return [PublicKey.read(key) for key in self.trust or ()]


def pack_bundle(
    folder: Annotated[
        Path, typer.Argument(metavar="SET", help="A result set, as `m3bench run` makes it, or a plain data folder.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write, such as results.m3run.")],
    json: Json = False,
) -> None:
    """Pack a result set into a bundle that others can verify.

    \b
    m3bench lab pack runs/oracle -o oracle.m3run
    m3bench lab verify oracle.m3run

    The file holds everything the numbers were computed from: every call's bytes, files, manifests, hashes. The same
    results give the same file.
    """
    index = pack(folder, out)
    runs = sum(name.endswith("/run.json") for name in index.members)
    if json:
        print_json({"file": str(out), "runs": runs})
    typer.echo(f"{runs} runs packed into {out}: check it with `m3bench lab verify {out}`", err=True)


def verify_bundle(
    file: Bundle,
    options: VerifyOptions,
    seed: Annotated[int | None, typer.Option(help="The tasks are those of a private set made from this seed.")] = None,
    per_family: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Tasks of each family in the private set.")
    ] = None,
    json: Json = False,
) -> None:
    """Verify a bundle: score it again, and make every call again.

    \b
    m3bench lab verify oracle.m3run
    m3bench lab verify oracle.m3run --at-least replayed

    Prints a level and what it proves. Attested: signed by a key that you trust. Replayed: at least 95 % of the calls
    came out the same again, and none differently. Consistent: nothing contradicts itself, but too few calls were made
    again. Refuted: something is not as claimed, and each difference is listed.

    Exit code 0: not refuted, and of the level that was asked for. 1: refuted, or below that level. 2: the file is not
    a complete bundle.
    """
    level = options.level()
    settings = Settings.of(tasks=options.tasks, seed=seed, per_family=per_family, sandbox=options.sandbox)
    verdict = verified(file, settings, LocalInstallation.of(settings), options)
    if json:
        print_json({"file": str(file), **verdict.to_json()})
    else:
        _show(verdict)
    if not verdict.reaches(level):
        raise typer.Exit(1)


def verified(file: Path, settings: Settings, installation: LocalInstallation, options: VerifyOptions) -> BundleVerdict:
    """What came of verifying a bundle, in a process of its own.

    Args:
        file: The bundle.
        settings: Where calls are made again.
        installation: What it is held against.
        options: Whose signatures count, and whether calls are made again.

    Raises:
        InputFileError: It is not a whole bundle.
    """
    trusted = options.trusted

    def rescored() -> JsonObject:
        verdict = rescoring.verify_bundle(file, installation, open_encoder())
        attest_bundle(file, verdict, trusted)
        return verdict.to_json()

    def replayed() -> JsonObject:
        return interrupts.run(_replayed, file, verdict, settings, installation).to_json()

    # Known before the first fork, all of them need not find it out.
    _ = installation.public
    verdict = BundleVerdict.read(work_apart(file, rescored, readable=[file, *rescoring.needed(installation.library)]))
    if options.replay and verdict.confirmed:
        verdict = BundleVerdict.read(work_apart(file, replayed))
    return verdict


async def _replayed(
    file: Path, verdict: BundleVerdict, settings: Settings, installation: LocalInstallation
) -> BundleVerdict:
    with counter(verdict.runs, "Replaying") as tell:
        async with backend_of(settings) as backend:
            await replay_bundle(file, verdict, installation, backend, tell)
    return verdict


def _show(verdict: BundleVerdict) -> None:
    screen = console()
    name, summary = printable(verdict.name), verdict.summary.capitalize()
    if verdict.confirmed:
        again = f", {verdict.calls} calls of {verdict.replayed} runs made again" if verdict.replayed else ""
        screen.print(f"{summary}: {name}.", soft_wrap=True)
        screen.print(f"{verdict.runs} runs scored again, {verdict.values} values compared{again}.", soft_wrap=True)
    else:
        screen.print(f"{summary}: {name}. {len(verdict.differences)} differences.", soft_wrap=True)
    screen.print(f"What this proves: {PROVES[verdict.level]}", soft_wrap=True)
    screen.print(f"What it cannot: {CANNOT[verdict.level]}", soft_wrap=True)
    for difference in verdict.differences[:SHOWN]:
        screen.print(f"{printable(difference.where)}: {printable(difference.what)}", soft_wrap=True)
        screen.print(f"    claimed     {_value(difference.claimed)}", soft_wrap=True)
        screen.print(f"    recomputed  {_value(difference.recomputed)}", soft_wrap=True)
    if len(verdict.differences) > SHOWN:
        screen.print(f"… and {len(verdict.differences) - SHOWN} more; --json lists them all")
    for note in verdict.notes:
        screen.print(printable(note), style="dim", soft_wrap=True)


def _value(value: object) -> str:
    return printable(value if isinstance(value, str) else json_text.dumps(value, ensure_ascii=False))


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

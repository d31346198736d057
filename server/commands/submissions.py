"""`m3bench submit-bundle` and `m3bench verify-bundle`: results that others can check."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Json

if TYPE_CHECKING:
    from m3bench.server.commands.installed import Installation
    from m3bench.server.lab.interchange.verdict import Level, Verdict
    from m3bench.server.runs.attestation.keys import PublicKey
    from m3bench.server.settings import Settings

_LEVELS: tuple["Level", ...] = ("consistent", "replayed", "attested")

Tasks = Annotated[
    Path | None, typer.Option("--tasks", help="Folder with the set of tasks; the bundled set when left out.")
]
Replay = Annotated[bool, typer.Option(help="Make every recorded call again in fresh sandboxes.")]
Sandbox = Annotated[str, typer.Option(help="Where calls are made again: process, docker or inprocess.")]
Trust = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY", help="A public key that you trust, as `m3bench keys show` prints it, or its file."),
]

SHOWN = 40
"""Differences that are printed; `--json` has them all."""


def submit_bundle(
    folder: Annotated[
        Path, typer.Argument(metavar="SET", help="A result set, as `m3bench run` makes it, or a plain data folder.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, such as results.m3run.")],
    json: Json = False,
) -> None:
    """Pack a result set with everything its numbers were computed from: every call's bytes, files, manifests, hashes.

    The same results give the same file. `m3bench verify-bundle` checks it.
    """
    from m3bench.server.lab.interchange.bundle import pack

    index = pack(folder, output)
    runs = sum(name.endswith("/run.json") for name in index.members)
    if json:
        from m3bench.server.commands.screen import print_json

        print_json({"file": str(output), "runs": runs})
    typer.echo(f"{runs} runs packed into {output}: check it with `m3bench verify-bundle {output}`", err=True)


def verify_bundle(
    file: Annotated[Path, typer.Argument(help="A bundle, as `m3bench submit-bundle` writes it.")],
    tasks: Tasks = None,
    seed: Annotated[int | None, typer.Option(help="The tasks are those of a private set made from this seed.")] = None,
    per_family: Annotated[int | None, typer.Option(min=1, help="Tasks of each family in the private set.")] = None,
    replay: Replay = True,
    sandbox: Sandbox = "process",
    trust: Trust = None,
    at_least: Annotated[
        str, typer.Option(metavar="LEVEL", help="Exit with 1 below this level: attested, replayed or consistent.")
    ] = "consistent",
    json: Json = False,
) -> None:
    """Verify a bundle: score it again from its raw log, then make every call again and compare results and files.

    The verdict is a level. Attested: signed by a key that you trust. Replayed:
    every call came out the same. Consistent: nothing contradicts, and not every
    call was made again. Refuted: something is not as claimed, and each
    difference is listed.

    Exit code 0: not refuted, and of the level that was asked for. 1: refuted,
    or below that level. 2: the file is not a complete bundle.
    """
    from m3bench.server.commands.installed import Installation
    from m3bench.server.commands.screen import print_json
    from m3bench.server.runs.attestation.keys import PublicKey
    from m3bench.server.settings import Settings

    level = level_of(at_least)
    settings = Settings.of(tasks=tasks, seed=seed, per_family=per_family, sandbox=sandbox)
    keys = [PublicKey.read(key) for key in trust or ()]
    verdict = verified(file, settings, Installation.of(settings), keys, replay=replay)
    if json:
        print_json({"file": str(file), **verdict.to_json()})
    else:
        _show(verdict)
    if not verdict.reaches(level):
        raise typer.Exit(1)


def level_of(name: str) -> "Level":
    """The level of a name.

    Raises:
        UserError: There is no such level.
    """
    from m3bench.tasks.errors import UserError

    level = next((one for one in _LEVELS if one == name), None)
    if level is None:
        raise UserError(f"There is no level {name!r}: use {', '.join(_LEVELS)}.")
    return level


def verified(
    file: Path, settings: "Settings", installation: "Installation", trusted: "list[PublicKey]", *, replay: bool = True
) -> "Verdict":
    """What came of verifying a bundle.

    Args:
        file: The bundle.
        settings: Where calls are made again.
        installation: What it is held against.
        trusted: Keys whose signatures count.
        replay: Whether calls are made again.

    Raises:
        InputFileError: It is not a whole bundle.
    """
    from m3bench.server.serving import interrupts

    return interrupts.run(_verify, file, settings, installation, replay, trusted)


async def _verify(
    file: Path, settings: "Settings", installation: "Installation", replay: bool, trusted: "list[PublicKey]"
) -> "Verdict":
    import anyio.to_thread

    from m3bench.server.commands.screen import counter
    from m3bench.server.lab.interchange import rescoring
    from m3bench.server.lab.interchange.attesting import attest_bundle
    from m3bench.server.lab.interchange.replaying import replay_bundle
    from m3bench.server.scoring import open_encoder
    from m3bench.server.serving.backend import backend_of

    verdict = await anyio.to_thread.run_sync(rescoring.verify_bundle, file, installation, open_encoder())
    attest_bundle(file, verdict, trusted)
    if replay and verdict.confirmed:
        with counter(verdict.runs, "Replaying") as tell:
            async with backend_of(settings) as backend:
                await replay_bundle(file, verdict, installation, backend, tell)
    return verdict


def _show(verdict: "Verdict") -> None:
    from m3bench.server.commands.screen import console
    from m3bench.server.lab.interchange.verdict import CANNOT, PROVES
    from m3bench.server.scoring.words import printable

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


def _value(value: Any) -> str:
    import json

    from m3bench.server.scoring.words import printable

    return printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))

"""`m3bench submit-bundle` and `m3bench verify-bundle`: results that others can check."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Json

if TYPE_CHECKING:
    from m3bench.server.results.interchange.rescoring import Verdict

SHOWN = 40
"""Differences that are printed; `--json` has them all."""


def submit_bundle(
    folder: Annotated[
        Path, typer.Argument(metavar="SET", help="A result set, as `m3bench run` makes it, or a plain data folder.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write, such as results.m3run.")],
) -> None:
    """Pack a result set with everything its numbers were computed from: every call's bytes, files, manifests, hashes.

    The same results give the same file. `m3bench verify-bundle` checks it.
    """
    from m3bench.server.results.interchange.bundle import pack

    index = pack(folder, output)
    runs = sum(name.endswith("/run.json") for name in index.members)
    typer.echo(f"{runs} runs packed into {output}: check it with `m3bench verify-bundle {output}`", err=True)


def verify_bundle(
    file: Annotated[Path, typer.Argument(help="A bundle, as `m3bench submit-bundle` writes it.")],
    tasks: Annotated[
        Path | None, typer.Option("--tasks", help="Folder with the set of tasks; the bundled set when left out.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The tasks are those of a private set made from this seed.")] = None,
    per_family: Annotated[int | None, typer.Option(min=1, help="Tasks of each family in the private set.")] = None,
    json: Json = False,
) -> None:
    """Score a bundle again from its raw log, with the tasks and the encoder that are installed here.

    Exit code 0: every number is confirmed. 1: something is not as claimed, and
    each difference is listed. 2: the file is not a complete bundle.
    """
    from m3bench.server.app import App
    from m3bench.server.commands.installed import Installation
    from m3bench.server.commands.screen import print_json
    from m3bench.server.results.interchange import rescoring
    from m3bench.server.scoring import open_encoder
    from m3bench.server.settings import Settings

    library = App(Settings.of(tasks=tasks, seed=seed, per_family=per_family)).library
    verdict = rescoring.verify_bundle(file, Installation(library), open_encoder())
    if json:
        print_json({"file": str(file), **verdict.to_json()})
    else:
        _show(verdict)
    if not verdict.confirmed:
        raise typer.Exit(1)


def _show(verdict: "Verdict") -> None:
    from m3bench.server.commands.screen import console
    from m3bench.server.scoring.words import printable

    screen = console()
    name = printable(verdict.name)
    if verdict.confirmed:
        screen.print(f"Confirmed: {name}. {verdict.runs} runs scored again, {verdict.values} values compared.")
    else:
        screen.print(f"Refuted: {name}. {len(verdict.differences)} differences.", soft_wrap=True)
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

"""`m3bench runs prune`: deletes runs that are old enough, for whoever keeps a server for months."""

from typing import Annotated

import typer

from m3bench.server.commands.record import Data, Json, StoreAt, record


def prune(
    older_than: Annotated[
        str,
        typer.Option("--older-than", metavar="AGE", help="Runs that ended longer ago, such as 12h, 30d or 8w."),
    ],
    state: Annotated[
        list[str] | None,
        typer.Option(metavar="STATE", help="Only runs in this state: submitted, scored, abandoned or void."),
    ] = None,
    keep_submitted: Annotated[
        bool, typer.Option("--keep-submitted", help="Keep what was handed in, scored or not.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Needed on a terminal.")] = False,
    data: Data = None,
    store: StoreAt = None,
    json: Json = False,
) -> None:
    """Delete old runs with their calls, files and score cards. Runs under way stay.

    Servers may use the record meanwhile. On a terminal it needs --yes; elsewhere it asks nothing.
    """
    import sys
    from collections import Counter
    from datetime import UTC, datetime

    from m3bench.server.commands.screen import print_json
    from m3bench.server.store import retention
    from m3bench.server.store.layout import run_folder
    from m3bench.tasks.errors import UserError

    states = set(state or retention.OVER)
    if unknown := states - set(retention.OVER):
        raise UserError(f"--state cannot be {min(unknown)!r}: choose from {', '.join(retention.OVER)}.")
    if keep_submitted:
        states -= retention.HANDED_IN
    before = datetime.now(UTC) - retention.age(older_than)
    if not dry_run and not yes and sys.stdin.isatty():
        raise UserError("This deletes runs for good: look with --dry-run first, then add --yes.")
    with record(data, store) as opened:
        runs = opened.runs()
        found = retention.expired(runs, before, states)
        if dry_run:
            freed = sum(retention.size(run_folder(opened.folder, run.id)) for run in found)
        else:
            freed = retention.forget(opened, found)
    counts = dict(sorted(Counter(run.state for run in found).items()))
    if json:
        print_json(
            {"deleted": [run.id for run in found], "states": counts, "kept": len(runs) - len(found), "bytes": freed,
             "before": before.isoformat(timespec="seconds"), "dry_run": dry_run}
        )  # fmt: skip
        return
    how = ", ".join(f"{count} {name}" for name, count in counts.items())
    typer.echo(
        f"{'Would delete' if dry_run else 'Deleted'} {len(found)} of {len(runs)} runs{f' ({how})' if how else ''} "
        f"that ended before {before:%Y-%m-%d %H:%M} UTC, with {freed / 1e6:.1f} MB of files."
    )

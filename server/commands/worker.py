"""`m3bench worker`: plays samples that studies put into a database."""

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.record import Json

if TYPE_CHECKING:
    from m3bench.server.store.place import Place

PARENT_SECONDS = 1.0
"""Between two looks for the process that a worker ends with."""

StoreOf = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="URL", help="Database with the queue, as postgresql://USER@HOST/NAME, or M3BENCH_STORE."
    ),
]


def worker(
    store: StoreOf = None,
    slots: Annotated[int, typer.Option(min=1, metavar="N", help="Samples at a time.")] = 4,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when nothing is left to play; else wait for more.")
    ] = False,
    study: Annotated[
        str | None, typer.Option(metavar="ID", help="Only samples of this study, as `m3bench study` names it.")
    ] = None,
    lease: Annotated[
        float,
        typer.Option(min=2, metavar="SECONDS", help="When this worker is gone, others take its samples after so long."),
    ] = 60.0,
    parent: Annotated[int | None, typer.Option(hidden=True, help="End as with Ctrl-C when this process has.")] = None,
    json: Json = False,
) -> None:
    """Play samples that `m3bench study PLAN --store URL` put into a database.

    Start as many as you like, on any machine that reaches the database and has
    the keys of the models in its environment. Each takes samples by lease,
    plays them, and hands the results in; the study gathers them. Samples of a
    worker that was killed are taken by another when its leases have run out.
    While the database is away, workers wait, and nothing is lost.

    Ctrl-C gives back what is not finished. The exit code is 1 when cells could
    not be played here, 130 after Ctrl-C.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.lab.studies.worker import Terms, work

    # Whoever starts workers ends them with SIGTERM; it is Ctrl-C here. Shells have what runs behind them ignore Ctrl-C,
    # and others block signals in what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    if parent is not None:
        threading.Thread(target=_end_with, args=[parent], name="m3bench-parent", daemon=True).start()
    # Cores are busy with samples: threads of the encoder's sums would wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    terms = Terms(place=queue_place(store), study=study, slots=slots, until_empty=until_empty, lease=lease)
    done = work(terms, _say)
    if json:
        print_json(vars(done))
    else:
        late = f", {done.late} finished by others first" if done.late else ""
        _say(f"{done.worker}: {done.scored} samples scored, {done.void} void{late}")
    if done.stopped:
        raise typer.Exit(130)
    if done.troubles:
        raise typer.Exit(1)


def queue_place(store: str | None) -> "Place":
    """Where the queue is.

    Raises:
        UserError: No database is named.
    """
    from m3bench.server.settings import Settings
    from m3bench.server.store.place import Place
    from m3bench.tasks.errors import UserError

    chosen = Settings.of(store=store)
    if chosen.store is None:
        raise UserError("Say where the queue is: --store postgresql://USER@HOST:PORT/DATABASE, or M3BENCH_STORE.")
    return Place(chosen.data, chosen.store)


def _end_with(parent: int) -> None:
    """Stop when the process that started this one is gone; a cluster does not tell."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os.kill(os.getpid(), signal.SIGINT)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

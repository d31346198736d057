"""`m3bench lab worker`: plays samples that studies put into a database."""

import os
import signal
import threading
import time
from typing import Annotated

import typer

from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import print_json, say
from m3bench.server.lab.studies.worker import LEASE_SECONDS, Terms, work
from m3bench.server.settings import Settings
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import UserError

PARENT_SECONDS = 1.0
"""Between two looks for the process that a worker ends with."""


def worker(
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Database with the queue, as postgresql://USER@HOST/NAME, instead of M3BENCH_STORE."
        ),
    ] = None,
    slots: Annotated[int, typer.Option(min=1, metavar="N", help="Samples at a time.")] = 4,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when nothing is left to play; otherwise wait for more.")
    ] = False,
    study: Annotated[
        str | None, typer.Option(metavar="ID", help="Only samples of this study, as `m3bench lab study` names it.")
    ] = None,
    lease: Annotated[
        float,
        typer.Option(min=2, metavar="SECONDS", help="How long after this worker is gone others take over its samples."),
    ] = LEASE_SECONDS,
    parent: Annotated[
        int | None, typer.Option(hidden=True, help="Stop, as on Ctrl-C, when this process has ended.")
    ] = None,
    json: Json = False,
) -> None:
    """Play samples that a study put into a database.

    \b
    m3bench lab study plan.yaml --store URL      # puts them there
    m3bench lab worker --store URL               # plays them, here or elsewhere

    Start as many as you like, on any machine that reaches the database and has the keys of the models in its
    environment. Each takes samples by lease, plays them, and hands the results in; the study gathers them. Samples of a
    worker that was killed are taken by another when its leases have run out. While the database is down, workers wait,
    and nothing is lost. Prints how many samples were played.

    Ctrl-C gives back what is not finished. The exit code is 1 when cells could not be played here, 130 after Ctrl-C.
    """
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
    done = work(terms, say)
    if json:
        print_json(vars(done))
    else:
        late = f", {done.late} finished by others first" if done.late else ""
        say(f"{done.worker}: {done.scored} samples scored, {done.void} void{late}")
    if done.stopped:
        raise typer.Exit(130)
    if done.troubles:
        raise typer.Exit(1)


def queue_place(store: str | None) -> RecordLocation:
    """Where the queue is.

    Raises:
        UserError: No database is named.
    """
    chosen = Settings.of(store=store)
    if chosen.store is None:
        raise UserError("Say where the queue is: --store postgresql://USER@HOST:PORT/DATABASE, or M3BENCH_STORE.")
    return RecordLocation(chosen.data, chosen.store)


def _end_with(parent: int) -> None:
    """Stop when the process that started this one is gone; a cluster does not tell."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os.kill(os.getpid(), signal.SIGINT)

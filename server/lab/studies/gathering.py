"""Brings what workers hand in to the folders of a study's cells, where it is what a study leaves that plays by itself.

A sample is put on record first, then noted in its cell, then ticked off in the queue: whoever is stopped in between
goes on there, and nothing is noted twice.
"""

from collections.abc import Callable, Iterable, Sequence

from m3bench.server.lab.headless.plan import Plan
from m3bench.server.lab.results.resultset import DATA, Sample, append_sample, read_samples
from m3bench.server.lab.studies.cells import Cell
from m3bench.server.lab.studies.queued import text_of
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.store.parcels import unpack
from m3bench.server.store.postgres.queue import ATTEMPTS, Counts, Finished, Queue

WORN_OUT = f"{ATTEMPTS} workers took this sample, and all were gone before it was done."

Told = Callable[[Cell, Sample, ScoreCard | None], None]
"""Is told of every sample that is noted."""


class Gathering:
    """The samples of a study as they come in.

    Args:
        queue: Where they come from.
        study: What the queue calls the study.
        chosen: The cells, whose folders are held by this process.
        told: Is told of every sample that is noted.
    """

    def __init__(self, queue: Queue, study: str, chosen: Sequence[tuple[Cell, Plan]], told: Told) -> None:
        self._queue = queue
        self._study = study
        self._cells = {cell.name: (cell, plan) for cell, plan in chosen}
        self._told = told
        self._there = {cell.name: read_samples(plan.folder) for cell, plan in chosen}

    def gather(self) -> Counts:
        """Take over what is done by now; how the study stands."""
        names = list(self._cells)
        for key in self._queue.worn_out(self._study):
            void = Sample(task=key.task, repeat=key.repeat, state="void", fault="sandbox", reason=WORN_OUT)
            self._queue.settle(key, text_of(void))
        # Before the look for results, so that of what is counted as done nothing is left behind.
        counts = self._queue.counts(self._study, names)
        while found := self._queue.finished(self._study, names):
            by_cell: dict[str, list[Finished]] = {}
            for one in found:
                by_cell.setdefault(one.key.cell, []).append(one)
            for name, ones in by_cell.items():
                self._take_over(*self._cells[name], ones)
            self._queue.gathered(one.key for one in found)
        return counts

    def _take_over(self, cell: Cell, plan: Plan, found: Iterable[Finished]) -> None:
        there = self._there[cell.name]
        new = [one for one in found if _state(there, one) != "scored"]
        cards = unpack(plan.folder / DATA, [one.parcel for one in new if one.parcel is not None])
        for one in new:
            sample = Sample.model_validate_json(one.sample)
            append_sample(plan.folder, sample)
            there[sample.task, sample.repeat] = sample
            run = cards.get(sample.run or "")
            self._told(cell, sample, None if run is None else card_of(run))


def _state(there: dict[tuple[str, int], Sample], one: Finished) -> str:
    sample = there.get((one.key.task, one.key.repeat))
    return "" if sample is None else sample.state

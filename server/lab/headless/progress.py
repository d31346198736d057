"""Shows the progress of a headless run on standard error: a bar on a terminal, otherwise a plain line now and then.

It shows how many samples are done, how fast, at what cost, how long the rest will take, and how the last one went.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from m3bench.server.lab.results.resultset import Sample
from m3bench.server.scorecard.model import ScoreCard

LINES = 20
"""Plain lines over a whole run, about."""
_MINUTE = 60.0


class Progress:
    """Counts samples and puts what is known of the run into one line.

    Args:
        total: Samples that are to be made now.
        show: Takes the line after each sample: how many are done, and the text.
        clock: Seconds, monotonic.
        parallel: Samples at a time.
    """

    def __init__(
        self,
        total: int,
        show: Callable[[int, str], None],
        clock: Callable[[], float] = time.monotonic,
        parallel: int = 1,
    ) -> None:
        self.total = total
        self._parallel = max(1, min(parallel, total))
        self.done = 0
        self.void = 0
        self.cost: float | None = None
        self._show = show
        self._clock = clock
        self._began = clock()

    def tell(self, agent: str, sample: Sample, card: ScoreCard | None) -> None:
        """A sample is over."""
        self.done += 1
        self.void += sample.state == "void"
        if sample.usage.cost is not None:
            self.cost = (self.cost or 0.0) + sample.usage.cost
        average = card.average if card is not None else None
        result = "void" if card is None else "unscored" if average is None else f"{average:.3f}"
        self._show(self.done, self._line(f"{agent} {sample.task} {result}"))

    def _line(self, last: str) -> str:
        elapsed = max(self._clock() - self._began, 1e-9)
        rate = self.done / elapsed
        parts = [f"{self.done}/{self.total}", f"{rate:.1f}/s" if rate >= 1 else f"{rate * 60:.1f}/min"]
        if self.cost is not None:
            parts.append(f"${self.cost:.2f}")
        parts += [*self._left(elapsed), last]
        if self.void:
            parts.append(f"{self.void} void")
        return " · ".join(parts)

    def _left(self, elapsed: float) -> list[str]:
        """How long the rest takes, once there is enough to estimate it: two samples for every place, or a minute.

        Samples that are under way are half done, on average, and count as that.
        """
        if self.done == self.total or (self.done < min(self.total, 2 * self._parallel) and elapsed < _MINUTE):
            return []
        under_way = min(self._parallel, self.total - self.done) / 2
        return [f"{duration((self.total - self.done - under_way) * elapsed / (self.done + under_way))} left"]


@contextmanager
def progress(total: int, stream: TextIO | None = None, parallel: int = 1) -> Iterator[Progress]:
    """The progress of so many samples, shown on standard error as it can show it."""
    stream = stream or sys.stderr
    if total == 0 or not stream.isatty():
        yield Progress(total, _plain(total, stream), parallel=parallel)
        return
    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Bars(*columns, console=Console(file=stream), transient=True) as bars:
        bar = bars.add_task(f"0/{total}", total=total)
        yield Progress(total, lambda done, line: bars.update(bar, completed=done, description=line), parallel=parallel)


def duration(seconds: float) -> str:
    """A span of time, as short as is useful."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 99.5 * 60 else f"{seconds / 3600:.1f} h"


def _plain(total: int, stream: TextIO) -> Callable[[int, str], None]:
    every = max(1, total // LINES)

    def show(done: int, line: str) -> None:
        if done % every == 0 or done in (1, total):
            print(line, file=stream, flush=True)

    return show

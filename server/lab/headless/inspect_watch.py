"""Reports samples while Inspect runs them, and decides when to stop.

A headless run sets the watch of its context; samples that Inspect plays on its own, with `inspect eval`, have none.
Failures that are not the model's make a sample void; many in a row mean that something is down, and that going on
would only make more of them.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.solver import TaskState

from m3bench.server.lab.headless.plan import SampleDone
from m3bench.server.lab.results.resultset import Sample
from m3bench.server.scorecard.model import ScoreCard
from m3bench.tasks.errors import RunError

PATIENCE = 8
"""Void samples in a row after which nothing more is begun."""


class Watch:
    """Passes on what became of samples.

    Args:
        done: Is told of every sample that is over.
        patience: Void samples in a row after which nothing more is begun.
        found: Finds what is to be played, for samples that are only places for one; None when nothing is left.
    """

    def __init__(
        self,
        done: SampleDone,
        patience: int = PATIENCE,
        found: Callable[[], Awaitable[InspectSample | None]] | None = None,
    ) -> None:
        self._done = done
        self._found = found
        self._patience = patience
        self._void_in_a_row = 0
        self.broken: Exception | None = None
        """Why samples could no longer be kept."""
        self.last_reason = ""

    @property
    def halted(self) -> bool:
        """Whether nothing more is to be begun."""
        return self.broken is not None or self._void_in_a_row >= self._patience

    def check(self) -> None:
        """Raise when nothing more is to be begun."""
        if self.halted:
            raise RunError("Not begun: the run was stopped before this sample.")

    async def begin(self, state: TaskState) -> None:
        """A sample is to begin; one that is only a place becomes what is found for it.

        Raises:
            RunError: Nothing more is to be begun.
        """
        self.check()
        if self._found is None:
            return
        sample = await self._found()
        if sample is None:
            raise RunError("Not begun: nothing is left to play.")
        assert isinstance(sample.input, list)
        state.messages, state.metadata = list(sample.input), dict(sample.metadata or {})

    def over(self, sample: Sample, card: ScoreCard | None) -> None:
        """A sample is over."""
        if sample.state == "void":
            self._void_in_a_row += 1
            self.last_reason = sample.reason
        else:
            self._void_in_a_row = 0
        try:
            self._done(sample, card)
        except Exception as error:
            self.broken = error
            raise


WATCH: ContextVar[Watch | None] = ContextVar("m3bench_watch", default=None)

"""Steps that a client announces: no answer to one of their calls leaves before all of them have arrived.

On a busy machine a quick tool has answered before the next call of the same turn is read, and then nothing proves that
the two were one step. A client that knows how many calls its turn has says so (`m3bench/calls` beside `m3bench/step`),
and the proof is made: whoever sent the last of them had none of the answers. Nothing is believed here. A client that
announces more calls than it sends waits for its own answers, once; from then on its seat holds nothing back.
"""

from collections.abc import Mapping

import anyio

from m3bench.proxy.steps.hints import HINT, conversation

CALLS = "m3bench/calls"
"""Key in a request's `_meta` with which a client says how many calls the step has that it names."""

MOST_CALLS = 256
"""More than this is not waited for."""

MOST_STEPS = 64
"""A seat with more steps that are not complete has cancelled their calls; the oldest of them waits no longer."""

PATIENCE_SECONDS = 30.0
"""How long answers are held back for calls that do not come."""


class AnnouncedStep:
    """An announced step."""

    def __init__(self) -> None:
        self.arrived = 0
        self.complete = anyio.Event()


class AnnouncedSteps:
    """The announced steps of a seat.

    Args:
        patience: Seconds that answers are held back for calls that do not come.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._steps: dict[tuple[object, ...], AnnouncedStep] = {}
        self._kept = True

    def arrive(self, meta: Mapping[str, object]) -> AnnouncedStep | None:
        """Count a call that has arrived; None when its answer need not wait for others."""
        name, calls = meta.get(HINT), meta.get(CALLS)
        if not self._kept or not isinstance(name, int | str) or type(calls) is not int or not 1 < calls <= MOST_CALLS:
            return None
        key = (*conversation(meta), name, calls)
        step = self._steps.setdefault(key, AnnouncedStep())
        step.arrived += 1
        if len(self._steps) > MOST_STEPS:
            self._steps.pop(next(iter(self._steps))).complete.set()
        if step.arrived == calls:
            del self._steps[key]
            step.complete.set()
        return step

    async def wait(self, step: AnnouncedStep) -> None:
        """Until every call of a step has arrived, or must be taken not to come."""
        with anyio.move_on_after(self._patience):
            await step.complete.wait()
            return
        self._kept = False
        for waiting in self._steps.values():
            waiting.complete.set()
        self._steps.clear()

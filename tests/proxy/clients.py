"""A simulator of how clients put calls on the wire, with the steps known.

Every behaviour makes a seeded log: steps of one to four calls, tools that take some time, a model that thinks
between steps, and answers from which later calls take values or do not.
"""

import random
from dataclasses import dataclass

from m3bench.proxy.steps import HINT, Timed

MS = 1_000_000

WORDS = (
    "amber",
    "basalt",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "garnet",
    "harbor",
    "indigo",
    "juniper",
    "karst",
    "lagoon",
)


@dataclass(frozen=True)
class Log:
    """Calls in order of arrival, and the steps they were issued in."""

    calls: tuple[Timed, ...]
    steps: tuple[int, ...]
    """The step of each call."""


def simulate(behaviour: str, seed: int) -> Log:
    """A log of a client that behaves so."""
    return _BEHAVIOURS[behaviour](random.Random(f"{behaviour} {seed}"))


class _Wire:
    """Builds a log call by call."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now = 0
        self.calls: list[Timed] = []
        self.steps: list[int] = []
        self.facts: list[str] = []
        """Values that answers of earlier steps gave."""
        self._fresh: list[str] = []

    def call(self, step: int, start: int, dataflow: bool, meta: dict[str, object] | None = None) -> int:
        """Put a call on the wire at a time; returns when its answer is sent."""
        took = self.rng.randint(1, 900) * MS
        fact = f"{self.rng.choice(WORDS)}-{self.rng.randint(1000, 999999)}"
        used = self.rng.choice(self.facts) if dataflow and self.facts else self.rng.choice(WORDS)
        arguments = {"query": used, "limit": self.rng.randint(1, 9), "serial": self.rng.randint(1, 10**9)}
        self.calls.append(
            Timed(tool=f"world/{self.rng.choice(WORDS)}", arguments=arguments, text=f"Found {fact}, rated 4.5.",
                  received_ns=start, sent_ns=start + took, meta=meta or {})
        )  # fmt: skip
        self.steps.append(step)
        self._fresh.append(fact)
        return start + took

    def end_step(self, think: int) -> None:
        """The model thinks; what this step answered can be used from now on."""
        self.facts, self._fresh = self._fresh, []
        self.now += think

    def log(self) -> Log:
        order = sorted(range(len(self.calls)), key=lambda index: self.calls[index].received_ns)
        return Log(tuple(self.calls[index] for index in order), tuple(self.steps[index] for index in order))


def _think(rng: random.Random) -> int:
    """A turn of a model: from half a second to half a minute."""
    return int(rng.lognormvariate(8.0, 0.8)) * MS + 400 * MS


def _sizes(rng: random.Random) -> list[int]:
    return [rng.choice((1, 1, 2, 3, 4)) for _ in range(rng.randint(1, 6))]


def _parallel(rng: random.Random, dataflow: bool = False) -> Log:
    """Sends the calls of a step within some milliseconds of each other, each before the first answer."""
    wire = _Wire(rng)
    for step, size in enumerate(_sizes(rng)):
        ends = [wire.call(step, wire.now, dataflow)]
        for _ in range(size - 1):
            # The next call leaves before the first answer arrives.
            ends.append(wire.call(step, rng.randint(wire.now, ends[0] - 1), dataflow))
        wire.now = max(ends)
        wire.end_step(_think(rng))
    return wire.log()


def _serial(rng: random.Random, dataflow: bool = False, low: int = 1, high: int = 60) -> Log:
    """Sends the calls of a step one after the other, each some milliseconds after the answer before it."""
    wire = _Wire(rng)
    for step, size in enumerate(_sizes(rng)):
        for _ in range(size):
            wire.now = wire.call(step, wire.now, dataflow) + rng.randint(low * MS, high * MS)
        wire.end_step(_think(rng))
    return wire.log()


def _approvals(rng: random.Random, dataflow: bool = False) -> Log:
    """A person approves every call: seconds between any two, in a step or not."""
    wire = _Wire(rng)
    for step, size in enumerate(_sizes(rng)):
        for _ in range(size):
            wire.now = wire.call(step, wire.now, dataflow) + rng.randint(800 * MS, 20_000 * MS)
        wire.end_step(_think(rng))
    return wire.log()


def _chain(rng: random.Random, dataflow: bool) -> Log:
    """One call a turn."""
    wire = _Wire(rng)
    for step in range(rng.randint(2, 8)):
        wire.now = wire.call(step, wire.now, dataflow)
        wire.end_step(_think(rng))
    return wire.log()


def _fast_chain(rng: random.Random) -> Log:
    """A fast model, one call a turn, each with a value of the answer before it: no gap to speak of."""
    wire = _Wire(rng)
    for step in range(rng.randint(2, 8)):
        wire.now = wire.call(step, wire.now, dataflow=True)
        wire.end_step(rng.randint(20, 180) * MS)
    return wire.log()


def _hinted(rng: random.Random) -> Log:
    """Says which step a call belongs to, and sends the calls whenever it likes."""
    wire = _Wire(rng)
    for step, size in enumerate(_sizes(rng)):
        for _ in range(size):
            wire.now = wire.call(step, wire.now, False, {HINT: f"turn-{step}"}) + rng.randint(0, 3000 * MS)
        wire.end_step(rng.randint(0, 3000 * MS))
    return wire.log()


def _mixed(rng: random.Random) -> Log:
    """Overlaps the calls of some steps and serialises those of others, as with tools that may not run in parallel."""
    wire = _Wire(rng)
    for step, size in enumerate(_sizes(rng)):
        if rng.random() < 0.5:
            ends = [wire.call(step, wire.now, True)]
            for _ in range(size - 1):
                ends.append(wire.call(step, rng.randint(wire.now, ends[0] - 1), True))
            wire.now = max(ends)
        else:
            for _ in range(size):
                wire.now = wire.call(step, wire.now, True) + rng.randint(MS, 60 * MS)
        wire.end_step(_think(rng))
    return wire.log()


def _two_chats(rng: random.Random) -> Log:
    """Two conversations on one seat, each with its own id, their calls interleaved."""
    wire = _Wire(rng)
    for chat in ("one", "two"):
        wire.now = rng.randint(0, 4000 * MS)
        for step, size in enumerate(_sizes(rng)):
            number = step + (1000 if chat == "two" else 0)
            ends = [wire.call(number, wire.now, False, {"vscode.conversationId": chat})]
            for _ in range(size - 1):
                start = rng.randint(wire.now, ends[0] - 1)
                ends.append(wire.call(number, start, False, {"vscode.conversationId": chat}))
            wire.now = max(ends)
            wire.end_step(_think(rng))
    return wire.log()


_BEHAVIOURS = {
    "parallel": _parallel,
    "parallel with dataflow": lambda rng: _parallel(rng, dataflow=True),
    "serialising, 1-60 ms": _serial,
    "serialising with dataflow": lambda rng: _serial(rng, dataflow=True),
    "chain with dataflow": lambda rng: _chain(rng, dataflow=True),
    "chain without dataflow": lambda rng: _chain(rng, dataflow=False),
    "fast chain with dataflow": _fast_chain,
    "hints": _hinted,
    "mixed": _mixed,
    "two chats": _two_chats,
    "slow approvals": _approvals,
    "slow approvals with dataflow": lambda rng: _approvals(rng, dataflow=True),
}

BEHAVIOURS = tuple(_BEHAVIOURS)

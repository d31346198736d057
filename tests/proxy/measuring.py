"""Measures segmentation on simulated clients: does the range hold the true value, how wide is it, how far off is the
headline? `python -m tests.proxy.measuring` prints the numbers of docs/proxy.md; with `--first` and the revision of an
earlier release, read from this repository's history, it adds what that one would have said."""

import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from m3bench.proxy.steps.dataflow import Flow
from m3bench.proxy.steps.segmentation import ClientSending, Segmentation, segment
from m3bench.server.scoring import EFFECT, ScorableRun, TrajectoryScore, best_of, score, score_each
from m3bench.server.scoring.profiles import STRUCTURE
from m3bench.server.scoring.ranges import Ranges, score_ranges, values_in
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from tests.proxy.clients import BEHAVIOURS, PAUSES_MS, Log, Steps, play_in, simulate
from tests.proxy.plays import Play, PlayedCall, plays, trajectory

RUNS = 100
"""Of each behaviour."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One simulated run."""

    log: Log
    segmentation: Segmentation
    card: TrajectoryScore
    """In the reading that is scored."""
    true: TrajectoryScore
    ranges: Ranges

    @property
    def missed(self) -> list[str]:
        """The metrics whose true value lies outside of the range."""
        return [
            name
            for name, (low, high) in self.ranges.values.items()
            if not low - 1e-6 <= (self.true.metrics[name] or 0.0) <= high + 1e-6
        ]

    @property
    def width(self) -> float:
        low, high = self.ranges.values["average"]
        return high - low

    @property
    def error(self) -> float:
        """How far the headline is from the truth."""
        return abs((self.card.average or 0.0) - (self.true.average or 0.0))


class _Words:
    """An encoder that counts hashed words: segmentation does not depend on how similarity is measured."""

    id = "words"

    def key(self, text: str) -> str:
        return text

    def encode(self, texts: Sequence[str]) -> Any:
        vectors = np.full((len(texts), 64), 0.01, np.float32)
        for number, text in enumerate(texts):
            for word in text.split('"'):
                vectors[number, zlib.crc32(word.encode()) % 64] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@cache
def _signatures() -> Any:
    return catalog_signatures(load_catalog())


def measure(play: Play, log: Log, *, by_effect: bool = False) -> Measured:
    """Segment and score a log, by the paper's metric or by effect."""
    found = segment(log.calls, play.question, log.sending)
    scored = _cards_by_effect if by_effect else _cards
    cards = scored(play, log, found.steps)
    order = [index for step in found.steps for index in step]
    return Measured(
        log=log,
        segmentation=found,
        card=best_of(cards),
        true=best_of(cards if found.steps == log.true_steps else scored(play, log, log.true_steps)),
        ranges=score_ranges(cards, found.readings, order),
    )


def _cards(play: Play, log: Log, steps: Sequence[Sequence[int]]) -> list[TrajectoryScore]:
    actual = trajectory(tuple(tuple(log.played[index] for index in step) for step in steps))
    return [score(actual, [one], encoder=_Words(), signatures=_signatures()) for one in play.trajectories]


def _cards_by_effect(play: Play, log: Log, steps: Sequence[Sequence[int]]) -> list[TrajectoryScore]:
    run = ScorableRun(
        actual=trajectory(tuple(tuple(log.played[index] for index in step) for step in steps)),
        references=play.trajectories,
        plans=play.plans,
        results=[log.played[index].text for step in steps for index in step],
    )
    return score_each(run, profile=EFFECT, signatures=_signatures())


def varied(play: Play, rng: random.Random) -> Steps:
    """A reference of a task, in half of the cases with calls left out, repeated or taken from elsewhere."""
    while not _possible(play, steps := _changed(play, rng)):
        pass
    return steps


def _changed(play: Play, rng: random.Random) -> Steps:
    steps = [list(step) for step in rng.choice(play.references)]
    for step in steps:
        rng.shuffle(step)
    if rng.random() < 0.5:
        return steps
    for _ in range(rng.randint(1, 4)):
        step = rng.choice(steps)
        other: PlayedCall = rng.choice([call for one in rng.choice(plays()).references for row in one for call in row])
        change = rng.choice(("drop", "repeat", "other"))
        if change == "drop" and len(step) > 1:
            step.pop(rng.randrange(len(step)))
        elif change == "repeat":
            step.append(rng.choice(step))
        else:
            step.insert(rng.randint(0, len(step)), other)
    return steps


def flawed(play: Play, rng: random.Random) -> Steps:
    """A play with other calls than any reference has."""
    references = [_calls(reference) for reference in play.references]
    while True:
        steps = varied(play, rng)
        if _calls(steps) not in references:
            return steps


def _calls(steps: Steps) -> list[str]:
    return sorted(f"{call.tool} {call.arguments}" for step in steps for call in step)


def _possible(play: Play, steps: Steps) -> bool:
    """Whether no call uses what an answer in its own step is the first to say, in whatever order they arrive."""
    return _in_order(play, steps) and _in_order(play, [step[::-1] for step in steps])


def _in_order(play: Play, steps: Steps) -> bool:
    flow = Flow(play.question)
    number = 0
    for step in steps:
        begin = number
        for call in step:
            source = flow.source(call.arguments)
            if source is not None and source >= begin:
                return False
            flow.ask(call.arguments)
            flow.answer(number, call.text)
            number += 1
    return True


def in_manner(manner: str, runs: int, sending: ClientSending | None = None) -> Iterator[Measured]:
    """Runs of a client of some manner by effect: perfect and flawed in turn, all families.

    Args:
        manner: How it sends calls.
        runs: How many.
        sending: What is known of the client, rightly or not.
    """
    for number in range(runs):
        play = plays()[number // 2 % len(plays())]
        rng = random.Random(f"{manner} {number}")
        steps = flawed(play, rng) if number % 2 else play.references[number // 2 // len(plays()) % len(play.references)]
        yield measure(play, replace(play_in(manner, steps, number), sending=sending), by_effect=True)


def simulated(behaviour: str, runs: int = RUNS) -> Iterator[tuple[Play, Log]]:
    """Runs of a behaviour: all families in turn, with all pauses."""
    for number in range(runs):
        rng = random.Random(f"{behaviour} {number}")
        play = plays()[number % len(plays())]
        pause = rng.choice((*PAUSES_MS, None))
        yield play, simulate(behaviour, varied(play, rng), number, pause)


def row(behaviour: str, found: Sequence[Measured]) -> str:
    """A line of the table: runs whose ranges hold, mean width, error of the headline, open boundaries."""
    runs = len(found)
    held = sum(not one.missed for one in found) / runs
    width, error = sum(one.width for one in found) / runs, sum(one.error for one in found) / runs
    boundaries = sum(one.segmentation.readings.open for one in found) / runs
    return f"| {behaviour} | {held:.1%} | {width:.3f} | {error:.3f} | {boundaries:.1f} |"


def _earlier(revision: str) -> Callable[[Play, Log], tuple[bool, float, float]]:
    """What an earlier release makes of a log: whether its ranges hold, their mean width, the error of its average."""
    modules: dict[str, ModuleType] = {}
    for name in ("dataflow", "steps"):
        text = subprocess.run(
            ["git", "show", f"{revision}:proxy/{name}.py"], check=True, capture_output=True, text=True
        ).stdout
        modules[name] = ModuleType(f"earlier_{name}")
        sys.modules[f"earlier_{name}"] = modules[name]
        exec(text.replace("m3bench.proxy.dataflow", "earlier_dataflow"), modules[name].__dict__)

    def judged(play: Play, log: Log) -> tuple[bool, float, float]:
        calls = [
            modules["steps"].Timed(
                tool=call.tool, arguments=call.arguments, text=call.text, received_ns=call.received_ns,
                sent_ns=call.sent_ns, meta=call.meta,
            )
            for call in log.calls
        ]  # fmt: skip
        found = modules["steps"].segment(calls, play.question)
        headline = best_of(_cards(play, log, found.steps))
        true = best_of(_cards(play, log, log.true_steps))
        order = [index for step in found.steps for index in step]
        seen = []
        for steps in found.readings():
            place = {index: number for number, step in enumerate(steps) for index in step}
            seen.append(values_in(headline, place, order))
        spans = {name: [one[name] for one in seen] for name in (*STRUCTURE, "average")}
        held = all(min(span) - 1e-6 <= (true.metrics[name] or 0.0) <= max(span) + 1e-6 for name, span in spans.items())
        width = max(spans["average"]) - min(spans["average"])
        return held, width, abs((headline.average or 0.0) - (true.average or 0.0))

    return judged


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    before = _earlier(arguments[1]) if arguments[:1] == ["--first"] else None
    head = "| behaviour | range holds | mean width | off by | open boundaries |"
    print(head + (" first release: range holds | mean width | off by |" if before else ""))
    print("|---|---|---|---|---|" + ("---|---|---|" if before else ""))
    measured_all: list[Measured] = []
    judged_all: list[tuple[bool, float, float]] = []
    for behaviour in BEHAVIOURS:
        runs = list(simulated(behaviour))
        found = [measure(play, log) for play, log in runs]
        judged = [before(play, log) for play, log in runs] if before else []
        print(row(behaviour, found) + _earlier_row(judged), flush=True)
        measured_all += found
        judged_all += judged
    print(row(f"all {len(measured_all)}", measured_all) + _earlier_row(judged_all))


def _earlier_row(judged: Sequence[tuple[bool, float, float]]) -> str:
    if not judged:
        return ""
    held, width, error = (sum(values) / len(judged) for values in zip(*judged, strict=True))
    return f" {held:.1%} | {width:.3f} | {error:.3f} |"


if __name__ == "__main__":
    main(sys.argv[1:])

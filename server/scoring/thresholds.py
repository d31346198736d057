"""Which similarity makes two calls the same, by the labels that people gave to pairs of calls.

A pair is the same when its similarity reaches the threshold. Fitted is the threshold that agrees with most labels; as
several do that equally well, it is the middle of the widest range of them. Calls of different tools never match, so
pairs of such calls say nothing about a threshold and are left out by the caller.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from m3bench.server.scoring.encoder import Encoder
from m3bench.server.scoring.matching.text import TEXT_MATCHINGS, TextMatching
from m3bench.server.scoring.signatures import Signatures
from m3bench.tasks.errors import UserError
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.trajectory import Call

Floats = npt.NDArray[np.floating]

RESAMPLES = 2000
SEED = 0
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class ThresholdAccuracy:
    """How well a threshold agrees with labels."""

    threshold: float
    accuracy: float
    precision: float | None
    """Of the pairs that reach it, the share that people call the same; None when none does."""
    recall: float
    """Of the pairs that people call the same, the share that reaches it."""

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes."""
        return vars(self).copy()


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A threshold that was fitted, and how sure it is."""

    best: ThresholdAccuracy
    equal: tuple[float, float]
    """Thresholds between these agree with as many labels."""
    interval: tuple[float, float]
    """Of the threshold, over resamples of the pairs."""
    accuracy_interval: tuple[float, float]
    """Of the accuracy, each resample with a threshold of its own."""
    held_out: float
    """Accuracy on each pair with the threshold that all others give: what can be expected of new pairs."""

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes."""
        return {
            **self.best.to_json(), "equal": list(self.equal), "interval": list(self.interval),
            "accuracy_interval": list(self.accuracy_interval), "held_out": self.held_out,
        }  # fmt: skip


def find_text_matching(name: str) -> TextMatching:
    """How the profile of that name compares the texts of calls.

    Raises:
        UserError: There is no such profile, or it compares no texts.
    """
    try:
        return TEXT_MATCHINGS[name]
    except KeyError:
        raise UserError(f"Unknown profile {name!r}: there are {' and '.join(TEXT_MATCHINGS)}.") from None


def similarity_of(
    pairs: Sequence[tuple[Call, Call]], encoder: Encoder, matching: TextMatching, signatures: Signatures
) -> list[float]:
    """The similarity of each pair, as alignment computes it; exactly 1 for equal texts."""
    texts = [[matching.text(call, matching.arguments(call, signatures(call.tool))) for call in pair] for pair in pairs]
    flat = list(dict.fromkeys(text for pair in texts for text in pair))
    if not flat:
        return []
    vectors = dict(zip(flat, encoder.encode(flat), strict=True))
    return [
        1.0
        if matching.key(first, encoder) == matching.key(second, encoder)
        else float(np.clip(vectors[first] @ vectors[second], -1.0, matching.ceiling))
        for first, second in texts
    ]


def agreement(similarities: Sequence[float], same: Sequence[bool], threshold: float) -> ThresholdAccuracy:
    """How well a given threshold agrees with labels."""
    reached = [value >= threshold for value in similarities]
    both = sum(first and second for first, second in zip(reached, same, strict=True))
    return ThresholdAccuracy(
        threshold=threshold,
        accuracy=sum(first == second for first, second in zip(reached, same, strict=True)) / len(same),
        precision=both / sum(reached) if any(reached) else None,
        recall=both / sum(same),
    )


def fit(similarities: Sequence[float], same: Sequence[bool]) -> Fit:
    """The threshold that agrees best with labels.

    Raises:
        UserError: The labels are all alike, so that any threshold beyond all similarities would do.
    """
    if len(set(same)) < 2:
        raise UserError("A threshold needs pairs that people call the same and pairs that they do not: label both.")
    order = np.argsort(np.asarray(similarities), kind="stable")
    values, labels = np.asarray(similarities)[order], np.asarray(same, dtype=bool)[order]
    whole = np.ones(len(values))
    low, high, accuracy = _best(values, labels, whole)
    dice = np.random.default_rng(SEED)
    thresholds, accuracies = [], []
    for _ in range(RESAMPLES):
        weights = np.bincount(dice.integers(0, len(values), len(values)), minlength=len(values)).astype(float)
        if weights[labels].sum() and weights[~labels].sum():
            lower, upper, share = _best(values, labels, weights)
            thresholds.append((lower + upper) / 2)
            accuracies.append(share)
    held_out = 0
    for place in range(len(values)):
        weights = whole.copy()
        weights[place] = 0
        lower, upper, _ = _best(values, labels, weights)
        held_out += bool(values[place] >= (lower + upper) / 2) == bool(labels[place])
    found = agreement(similarities, same, (low + high) / 2)
    assert abs(found.accuracy - accuracy) < 1e-9
    return Fit(
        best=found,
        equal=(low, high),
        interval=_percentiles(thresholds),
        accuracy_interval=_percentiles(accuracies),
        held_out=held_out / len(values),
    )


def _best(values: Floats, labels: npt.NDArray[np.bool_], weights: Floats) -> tuple[float, float, float]:
    """The widest range of thresholds with the highest accuracy, and that accuracy.

    A threshold in the range (values[i - 1], values[i]] calls the pairs from i on the same.
    """
    kept = weights > 0
    values, labels, weights = values[kept], labels[kept], weights[kept]
    right_below = np.concatenate([[0.0], np.cumsum(weights * ~labels)])
    right_above = np.concatenate([np.cumsum((weights * labels)[::-1])[::-1], [0.0]])
    correct = right_below + right_above
    # The ends: everything is the same, and nothing is. Similarities lie between -1 and 1.
    lows, highs = np.concatenate([[-1.0], values]), np.concatenate([values, [1.0 + 1e-6]])
    correct[highs <= lows] = -1.0
    most = correct.max()
    runs: list[list[float]] = []
    for low, high, count in zip(lows, highs, correct, strict=True):
        if count != most:
            continue
        if runs and runs[-1][1] == low:
            runs[-1][1] = float(high)
        else:
            runs.append([float(low), float(high)])
    low, high = max(runs, key=lambda run: (run[1] - run[0], -run[0]))
    return low, high, float(most / weights.sum())


def _percentiles(found: Sequence[float]) -> tuple[float, float]:
    low, high = np.percentile(found, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return float(low), float(high)

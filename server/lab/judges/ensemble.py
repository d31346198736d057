"""Combines many judges into one number, and measures how far they agree. Pure arithmetic.

Of four judges or more the highest and the lowest value are dropped and the rest averaged; of three the median is taken,
two are averaged, one counts as it is, and none gives no value. Only one value is
dropped at each end, however many are equal to it.
"""

import math
from collections.abc import Sequence

FULL = 4
"""Judges of a full ensemble."""


def combine(values: Sequence[float]) -> float | None:
    """One value for all."""
    ordered = sorted(values)
    kept = ordered[1:-1] if len(ordered) >= 3 else ordered
    return math.fsum(kept) / len(kept) if kept else None


def rule(count: int) -> str:
    """How so many values are combined, in words."""
    if count > FULL:
        return f"{count} judges: highest and lowest dropped, mean of the rest"
    return {
        0: "no judge",
        1: "1 judge: its own value",
        2: "2 judges: mean",
        3: "3 judges: median",
        4: "4 judges: mean of the middle two",
    }[count]


def span(values: Sequence[float]) -> float | None:
    """Highest minus lowest; None for fewer than two."""
    return max(values) - min(values) if len(values) >= 2 else None


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation of these values, as a whole population; None for fewer than two."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def variation(values: Sequence[float]) -> float | None:
    """The coefficient of variation: deviation over mean; None for fewer than two values or a mean of 0."""
    spread = deviation(values)
    return spread * len(values) / math.fsum(values) if spread is not None and math.fsum(values) else None


def alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's α for interval data.

    1 − observed / expected disagreement, where disagreement is the mean squared difference of two values: observed
    inside units, each pair weighted 1 / (values of the unit − 1), expected over all values. A unit with fewer than two
    values takes no part. 1 is agreement, 0 is chance, less is systematic disagreement. None when no unit has two
    values, or when all values are the same, so that there is nothing to agree about.

    Args:
        units: The values that the judges gave for each thing they judged.
    """
    paired = [unit for unit in units if len(unit) >= 2]
    everything = [value for unit in paired for value in unit]
    if not everything or min(everything) == max(everything):
        return None
    observed = math.fsum(_differences(unit) / (len(unit) - 1) for unit in paired) / len(everything)
    expected = _differences(everything) / (len(everything) * (len(everything) - 1))
    return 1 - observed / expected


def _differences(values: Sequence[float]) -> float:
    """The sum of squared differences over all ordered pairs."""
    mean = math.fsum(values) / len(values)
    return 2 * len(values) * math.fsum((value - mean) ** 2 for value in values)

"""The numbers along an axis of a chart, in the round steps that LibreOffice takes."""

from dataclasses import dataclass
from math import ceil, floor, log10

from m3bench.tasks.office.chart_data import Axis

_MOST_STEPS = 10


@dataclass(frozen=True)
class TickScale:
    """The numbers along an axis."""

    least: float
    most: float
    step: float

    def ticks(self) -> list[float]:
        """Every number."""
        count = min(200, round((self.most - self.least) / self.step))
        return [round(self.least + self.step * number, 12) for number in range(count + 1)]

    def share(self, value: float) -> float:
        """Where a value is, as a share of the axis."""
        return (value - self.least) / (self.most - self.least)


def scale(low: float, high: float, axis: Axis, room: float, needed: float, *, from_zero: bool = True) -> TickScale:
    """The numbers along an axis over a range of values.

    Args:
        low: The least value.
        high: The largest.
        axis: What the file says of it.
        room: How long it is.
        needed: How much of it a label takes.
        from_zero: Whether it begins at nothing where values are not far above, as figures do and places do not.
    """
    if low == high:
        low, high = (min(0.0, low), max(0.0, high)) if low else (0.0, 1.0)
    spread = high - low
    if from_zero and low >= 0 and (spread > high / 6 or low == 0):
        bottom, top = 0.0, high * 1.05
    elif from_zero and high <= 0 and spread > -low / 6:
        bottom, top = low * 1.05, 0.0
    else:
        bottom, top = (low - spread / 2 if low > 0 and from_zero else low - 0.05 * spread), high + 0.05 * spread
    least = axis.least if axis.least is not None else bottom
    most = axis.most if axis.most is not None else top
    count = min(_MOST_STEPS, max(2, int(room / max(1.0, needed))))
    step = axis.step or _round_step((most - least) / count)
    first = least if axis.least is not None else floor(least / step + 1e-9) * step
    last = most if axis.most is not None else ceil(most / step - 1e-9) * step
    return TickScale(first, last if last > first else first + step, step)


def _round_step(rough: float) -> float:
    if rough <= 0:
        return 1.0
    size = 10.0 ** floor(log10(rough))
    return next(factor * size for factor in (1, 2, 5, 10) if rough <= factor * size * (1 + 1e-9))

"""How small a difference can be found: before a study from variances, after it from the standard error it had.

A paired comparison of two sets on the same tasks. `correlation` says how much of what makes families and tasks hard is
the same for both agents; repeats are independent. Student's t stands for the normal throughout.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3bench.server.scoring.statistics.clusters import critical
from m3bench.server.scoring.statistics.components import Components
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from scipy import special
else:
    special = LazyModule("scipy.special")

ALPHA = 0.05
POWER = 0.8
CORRELATION = 0.5
"""Of difficulty between two agents, when nothing better is known."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is played."""

    families: int
    tasks: int
    """In all."""
    repeats: int

    @property
    def freedom(self) -> int:
        """Degrees of freedom: families are the clusters."""
        return max(1, self.families - 1)


def planned_error(size: Size, parts: Components, correlation: float = CORRELATION) -> float:
    """The standard error of a difference that a plan will have, were the variances these."""
    hard = parts.family / size.families + parts.task / size.tasks
    noise = (parts.repeat or 0.0) / (size.tasks * size.repeats)
    return float((2 * (hard * (1 - correlation) + noise)) ** 0.5)


def detectable(
    error: float, freedom: int, *, threshold: float | None = None, alpha: float = ALPHA, power: float = POWER
) -> float:
    """The smallest true difference that is found with this power, two-sided.

    Args:
        error: Standard error of the difference.
        freedom: Degrees of freedom of that.
        threshold: From how many standard errors on a difference counts as found; Student's t unless given.
        alpha: The size of the test, where no threshold is given.
        power: The chance of finding it.
    """
    least = critical(freedom, 1 - alpha) if threshold is None else threshold
    return (least + critical(freedom, 2 * power - 1)) * error


def power_of(effect: float, error: float, freedom: int, *, alpha: float = ALPHA) -> float:
    """The chance of finding a true difference of this size, two-sided."""
    if error <= 0:
        return 1.0 if effect else alpha
    limit, shift = critical(freedom, 1 - alpha), abs(effect) / error
    return float(1 - special.nctdtr(freedom, shift, limit) + special.nctdtr(freedom, shift, -limit))

"""Tasks as items of a test: how hard each is, and how well it tells able agents from others.

The two-parameter logistic model of Birnbaum: a set of ability `theta` solves a task with probability
`expit(discrimination * (theta - difficulty))`, and abilities are drawn from a standard normal distribution. Parameters
maximise the marginal likelihood with mild priors, so that few sets do not send them to infinity (Bock and Aitkin's EM;
the integral over abilities is a Gauss-Hermite sum centred at each set's own mode). Standard errors are by Louis'
formula. Repeats of a set at a task resemble each other more than other tries do, and count for less accordingly. What
is shown is scaled so that the abilities of the sets at hand have mean 0 and standard deviation 1.

Which tasks make a good short test is in `short_form`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from m3bench.server.scoring.statistics.clusters import Floats, critical

FEWEST_SETS = 4
"""With fewer, hard tasks cannot be told from weak sets, nor tasks that discriminate from those that do not."""
FEW_SETS = 10
"""With fewer, much of what is said about a task comes from the priors."""

_INTERCEPT_SPREAD = 3.0
"""Standard deviation, before the data, of the logit with which a set of average ability solves a task."""
_LEAST_MEAN, _WIDEST = 0.2, 0.4
"""Where discriminations are pooled: their mean at least, and their spread at most, as a part of the mean. Without these
bounds, sets that hardly differ would be put in the order of whatever else they differ in."""
_NODES = 7
_ROUNDS, _CHANGE = 300, 2e-3
"""How often parameters are improved at most, and the change below which they are not improved any more."""
_FLAT = 0.1
"""Discrimination below which no ability can be named at which a task is solved half the time."""

_STRANGER = 4.0
"""Standard deviation of the ability of a set that the model was not fitted to: it may be unlike all of them."""

Tries = Mapping[str, Mapping[str, Sequence[float]]]
"""By set and task, whether each try was solved, as 0 or 1; or another number between 0 and 1."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Who solved what how often, [set, task]."""

    sets: tuple[str, ...]
    tasks: tuple[str, ...]
    solved: Floats
    tries: Floats

    @classmethod
    def of(cls, tries: Tries, tasks: tuple[str, ...] | None = None) -> "Answers":
        """Those of these sets at these tasks, or at all; a set may lack tasks."""
        tasks = tasks or tuple(dict.fromkeys(task for known in tries.values() for task in known if known[task]))
        solved, count = np.zeros((2, len(tries), len(tasks)))
        for row, known in enumerate(tries.values()):
            for column, task in enumerate(tasks):
                values = known.get(task, ())
                solved[row, column], count[row, column] = sum(values), len(values)
        return cls(sets=tuple(tries), tasks=tasks, solved=solved, tries=count)

    def without(self, row: int) -> "Answers":
        """The same without one set."""
        sets = self.sets[:row] + self.sets[row + 1 :]
        return replace(self, sets=sets, solved=np.delete(self.solved, row, 0), tries=np.delete(self.tries, row, 0))

    @property
    def varied(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """For each task, whether some try was solved and some was not."""
        total = self.solved.sum(axis=0)
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (total > 0) & (total < self.tries.sum(axis=0))
        return found


@dataclass(frozen=True, kw_only=True)
class Prior:
    """What is assumed of discriminations before the data: a normal distribution."""

    mean: float = 1.0
    spread: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ItemValue:
    """A parameter and its standard error."""

    value: float
    error: float

    def to_json(self) -> dict[str, float]:
        """A dict that `json.dumps` takes."""
        return {"value": self.value, "error": self.error}


@dataclass(frozen=True, kw_only=True)
class ItemFit:
    """What is known of a task."""

    task: str
    solved: float
    """The share of sets that solve it, tries averaged first."""
    sets: int
    """How many sets tried it."""
    discrimination: ItemValue | None
    """None where it cannot be told: too few sets, or every try ended alike."""
    difficulty: ItemValue | None
    """The ability, in standard deviations of the sets, at which it is solved half the time; None where the
    discrimination is not known, or not above 0."""

    @property
    def backwards(self) -> bool:
        """Whether abler sets clearly solve it less often: at 95 %."""
        found = self.discrimination
        return found is not None and found.value + critical(10**6, 0.95) * found.error < 0

    @property
    def doubtful(self) -> bool:
        """Whether abler sets seem to solve it less often, which chance may have done."""
        return self.discrimination is not None and self.discrimination.value < 0 and not self.backwards

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {
            "task": self.task,
            "solved": self.solved,
            "sets": self.sets,
            "discrimination": self.discrimination and self.discrimination.to_json(),
            "difficulty": self.difficulty and self.difficulty.to_json(),
        }


@dataclass(frozen=True, kw_only=True)
class ItemModel:
    """The model after the data."""

    slopes: Floats
    """Discriminations, by task."""
    intercepts: Floats
    """Logits with which a set of average ability solves each task."""
    abilities: Floats
    """By set."""
    ability_errors: Floats
    covariances: Floats
    """Of slope and intercept, [task, 2, 2]."""
    repeat_correlation: float
    """How alike the tries of a set at a task are, beyond what its ability explains."""
    prior: Prior
    """Of slopes."""

    def scaled(self) -> "ItemModel":
        """The same model, with abilities of mean 0 and standard deviation 1 over the sets at hand."""
        middle, scale = float(self.abilities.mean()), float(self.abilities.std()) or 1.0
        turn = np.array([[scale, 0.0], [middle, 1.0]])
        return replace(
            self,
            slopes=self.slopes * scale,
            intercepts=self.intercepts + self.slopes * middle,
            abilities=(self.abilities - middle) / scale,
            ability_errors=self.ability_errors / scale,
            covariances=turn @ self.covariances @ turn.T,
            prior=Prior(mean=self.prior.mean * scale, spread=self.prior.spread * scale),
        )

    def chances(self, abilities: Floats) -> Floats:
        """With which probability sets of these abilities solve each task, [ability, task]."""
        found: Floats = expit(np.multiply.outer(abilities, self.slopes) + self.intercepts)
        return found

    def information(self, abilities: Floats) -> Floats:
        """Fisher's, of one try at each task about abilities of this size, [ability, task]."""
        chances = self.chances(abilities)
        found: Floats = self.slopes**2 * chances * (1 - chances)
        return found

    def ability_of(self, solved: Floats, tries: Floats) -> float:
        """The most likely ability of another set, by how often it solved each task."""
        count, share = weighed(tries, self.repeat_correlation), shares(solved, tries)
        found, _ = _modes(
            self.slopes, self.intercepts, (share * count)[None], count[None], np.zeros(1), 40, spread=_STRANGER
        )
        return float(found[0])


def weighed(tries: Floats, correlation: float) -> Floats:
    """How many independent tries so many of one set at one task are worth."""
    found: Floats = tries / (1 + np.maximum(0, tries - 1) * correlation)
    return found


def shares(solved: Floats, tries: Floats) -> Floats:
    """The part of tries that was solved; 0 where there was none."""
    found: Floats = np.divide(solved, tries, out=np.zeros_like(solved), where=tries > 0)
    return found


def fit(answers: Answers, *, start: ItemModel | None = None, pooled: bool = False) -> ItemModel:
    """Fit the model.

    Args:
        answers: Of at least `FEWEST_SETS` sets; fewer give little but the priors.
        start: A model of nearly the same sets, to begin from and to take the correlation of repeats from.
        pooled: Assume of a task's discrimination what the other tasks have: better for what is computed from many
            tasks, while a task that is unlike all others looks more like them than it is.
    """
    if start is None:
        start = _fitted(answers, 0.0, None, pooled=False)
        if (answers.tries > 1).any():
            start = _fitted(answers, _repeat_correlation(answers, start), start, pooled=False)
        if not pooled:
            return start
    return _fitted(answers, start.repeat_correlation, start, pooled=pooled)


def items(answers: Answers, own: ItemModel | None = None, pooled: ItemModel | None = None) -> list[ItemFit]:
    """What is known of each task; without models only how many solve it.

    Args:
        answers: The data.
        own: A model in which a task's discrimination is its own.
        pooled: One with pooled discriminations, which knows difficulties better.
    """
    tried, varied = answers.tries > 0, answers.varied
    solved = shares(answers.solved, answers.tries).sum(axis=0) / np.maximum(1, tried.sum(axis=0))
    own, pooled = (None if model is None else model.scaled() for model in (own, pooled))
    return [
        ItemFit(
            task=task,
            solved=float(solved[at]),
            sets=int(tried[:, at].sum()),
            discrimination=_discrimination(own, at) if own is not None and varied[at] else None,
            difficulty=_difficulty(own, pooled, at) if own is not None and pooled is not None and varied[at] else None,
        )
        for at, task in enumerate(answers.tasks)
    ]


def _discrimination(model: ItemModel, at: int) -> ItemValue:
    return ItemValue(value=float(model.slopes[at]), error=float(model.covariances[at, 0, 0] ** 0.5))


def _difficulty(own: ItemModel, model: ItemModel, at: int) -> ItemValue | None:
    """-intercept / slope, with its error by the delta method."""
    slope, intercept = float(model.slopes[at]), float(model.intercepts[at])
    if min(slope, float(own.slopes[at])) < _FLAT:
        return None
    turn = np.array([intercept / slope**2, -1 / slope])
    return ItemValue(value=-intercept / slope, error=float(turn @ model.covariances[at] @ turn) ** 0.5)


def _fitted(answers: Answers, correlation: float, start: ItemModel | None, *, pooled: bool) -> ItemModel:
    count = weighed(answers.tries, correlation)
    hits = shares(answers.solved, answers.tries) * count
    means = (hits.sum(axis=0) + 0.5) / (count.sum(axis=0) + 1)
    prior = start.prior if start is not None and pooled else Prior()
    slopes = np.full(len(means), prior.mean) if start is None else start.slopes
    intercepts = np.log(means / (1 - means)) if start is None else start.intercepts
    modes, errors = _modes(slopes, intercepts, hits, count, np.zeros(len(hits)), 10)
    for _ in range(_ROUNDS):
        seen = _seen(slopes, intercepts, hits, count, modes, errors)
        better, other, spread = _improved(slopes, intercepts, seen, prior)
        after = spread if pooled else prior
        change = max(abs(better - slopes).max(), abs(other - intercepts).max(), abs(after.spread - prior.spread))
        slopes, intercepts, prior = better, other, after
        modes, errors = _modes(slopes, intercepts, hits, count, modes, 2)
        if change < _CHANGE:
            break
    seen = _seen(slopes, intercepts, hits, count, modes, errors)
    return ItemModel(
        slopes=slopes,
        intercepts=intercepts,
        abilities=modes,
        ability_errors=errors,
        covariances=_covariances(seen, prior),
        repeat_correlation=correlation,
        prior=prior,
    )


def _modes(
    slopes: Floats, intercepts: Floats, hits: Floats, count: Floats, modes: Floats, steps: int, *, spread: float = 1.0
) -> tuple[Floats, Floats]:
    """The most likely ability of each set and its standard error, by Newton's method."""
    sharp = np.ones(len(modes))
    for _ in range(steps):
        chances = expit(np.multiply.outer(modes, slopes) + intercepts)
        pull = (hits - count * chances) @ slopes - modes / spread**2
        sharp = spread**-2 + (count * chances * (1 - chances)) @ slopes**2
        modes = modes + np.clip(pull / sharp, -1, 1)
    return modes, sharp**-0.5


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """The data at points of each set's ability, [set x node] or [set x node, task]."""

    places: Floats
    """The points."""
    weights: Floats
    """Of each point after the data; those of a set are 1 in all."""
    misses: Floats
    """By how much more is solved than expected."""
    spread: Floats
    """The variance of that."""

    def sum(self, power: int, values: Floats) -> Floats:
        """Over sets, with ability to this power, by task."""
        found: Floats = (self.weights * self.places**power) @ values
        return found


def _seen(slopes: Floats, intercepts: Floats, hits: Floats, count: Floats, modes: Floats, errors: Floats) -> _Seen:
    nodes, masses = np.polynomial.hermite_e.hermegauss(_NODES)
    places = modes[:, None] + errors[:, None] * nodes
    chances = np.clip(expit(places[:, :, None] * slopes + intercepts), 1e-12, 1 - 1e-12)
    # log p is log(1 - p) and the logit, whose sum over tasks is linear in the ability.
    logs = np.einsum("st,snt->sn", count, np.log1p(-chances)) + places * (hits @ slopes)[:, None]
    logs += np.log(masses) + nodes**2 / 2 - places**2 / 2
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    expected = count[:, None, :] * chances
    return _Seen(
        places=places.ravel(),
        weights=(weights / weights.sum(axis=1, keepdims=True)).ravel(),
        misses=(hits[:, None, :] - expected).reshape(-1, len(slopes)),
        spread=(expected * (1 - chances)).reshape(-1, len(slopes)),
    )


def _improved(slopes: Floats, intercepts: Floats, seen: _Seen, prior: Prior) -> tuple[Floats, Floats, Prior]:
    """Slopes and intercepts after a step of Newton's towards the most likely ones, and how slopes are spread."""
    up = seen.sum(1, seen.misses) - (slopes - prior.mean) / prior.spread**2
    right = seen.sum(0, seen.misses) - intercepts / _INTERCEPT_SPREAD**2
    steep = seen.sum(2, seen.spread) + prior.spread**-2
    wide = seen.sum(0, seen.spread) + _INTERCEPT_SPREAD**-2
    cross = seen.sum(1, seen.spread)
    whole = steep * wide - cross**2
    slopes = slopes + np.clip((wide * up - cross * right) / whole, -1, 1)
    intercepts = intercepts + np.clip((steep * right - cross * up) / whole, -1, 1)
    return slopes, intercepts, _pooled(slopes, wide / whole)


def _pooled(slopes: Floats, variances: Floats) -> Prior:
    """How discriminations are spread, the doubt in each included; most are above 0."""
    mean = max(_LEAST_MEAN, float(slopes.mean()))
    spread = float(((slopes - mean) ** 2 + variances).mean()) ** 0.5
    return Prior(mean=mean, spread=min(spread, _WIDEST * mean))


def _covariances(seen: _Seen, prior: Prior) -> Floats:
    """Of slope and intercept of each task: Louis' formula, what is known less what not knowing abilities takes away."""
    known = [seen.sum(power, seen.spread) for power in (2, 1, 0)]
    squares = [seen.sum(power, seen.misses**2) for power in (2, 1, 0)]
    ups, rights = (
        (seen.weights * seen.places**power).reshape(-1, 1, _NODES)
        @ seen.misses.reshape(-1, _NODES, seen.misses.shape[1])
        for power in (1, 0)
    )
    products = [(first * second).sum(axis=(0, 1)) for first, second in ((ups, ups), (ups, rights), (rights, rights))]
    lost = [square - product for square, product in zip(squares, products, strict=True)]
    steep = np.maximum(known[0] - lost[0], 0) + prior.spread**-2
    wide = np.maximum(known[2] - lost[2], 0) + _INTERCEPT_SPREAD**-2
    cross = known[1] - lost[1]
    bound = 0.99 * np.sqrt(steep * wide)
    cross = np.clip(cross, -bound, bound)
    whole = steep * wide - cross**2
    found: Floats = np.moveaxis(np.array([[wide, -cross], [-cross, steep]]) / whole, -1, 0)
    return found


def _repeat_correlation(answers: Answers, model: ItemModel) -> float:
    """How alike the tries of a set at a task are beyond its ability: from how much more their sums vary than by chance.

    Parameters follow the data, so that what is left varies less than it should; each of them takes one sum away.
    """
    solved, tries, chances = answers.solved, answers.tries, model.chances(model.abilities)
    spread = chances * (1 - chances)
    free = 1 - (2 * len(answers.tasks) + len(answers.sets)) / max(1, (tries > 0).sum())
    own, left = float((tries * spread).sum()), float(((solved - tries * chances) ** 2).sum())
    if own <= 0 or free <= 0:
        return 0.0
    most = float((tries * (tries - 1) * spread).sum())
    return float(np.clip((left / free - own) / max(most, 1e-9), 0, 1))

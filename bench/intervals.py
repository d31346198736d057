"""Simulates agents whose true value is known: how often intervals cover it, how wide they are, whether ranks hold.

    python bench/intervals.py [--draws 1000] [--processes 1] [--held-out] [--quick] [--all]

Families differ by 10 to 40 % of the variance. Their means are drawn from a beta or a logit-normal distribution, and
repeats are chance, or bring the same again. Intervals are set beside Wilson's with an effective number of tasks, and
beside a studentised cluster bootstrap on the logit, on the same draws. A line for each requirement says whether it
holds in every setting; a share of draws counts as below (or above) a bound when it is so by more than three standard
errors of the simulation, and how many are so by less is said too. --held-out takes other truths, shares and draws than
those that the priors were chosen by. --quick is a sample that takes seconds. --all prints every setting.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import brentq
from scipy.special import expit, logit, stdtrit

from m3bench.server.scoring.statistics.estimates import DISPERSION, LEVEL
from m3bench.server.scoring.statistics.logistic import dispersions_of_many, over_families_of_many
from m3bench.server.scoring.statistics.paired import difference
from m3bench.server.scoring.statistics.ranks import rank

Floats = npt.NDArray[np.float64]
TASKS = 8
"""Of a family."""
_RESAMPLES = 199
_CHANCE = 3.0
"""Standard errors of the simulation within which a share may miss its bound."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """What is simulated."""

    families: tuple[int, ...] = (5, 8, 28, 60)
    shares: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4)
    repeats: tuple[int, ...] = (1, 2, 3, 4, 5)
    truths: tuple[float, ...] = (0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.995)
    sets: tuple[int, ...] = (2, 5, 10, 20, 50, 100)
    kinds: tuple[str, ...] = ("beta", "logit")
    draws: int = 1000
    seed: int = 1


HELD_OUT = Matrix(
    shares=(0.13, 0.25, 0.37),
    truths=(0.007, 0.015, 0.03, 0.07, 0.16, 0.38, 0.62, 0.84, 0.93, 0.97, 0.985, 0.993),
    sets=(3, 8, 35, 80),
    kinds=("beta", "logit", "same"),
    seed=20261118,
)
QUICK = Matrix(families=(8, 28), shares=(0.2,), repeats=(1, 3), truths=(0.02, 0.3, 0.95), sets=(2, 20), draws=150)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One cell of the matrix."""

    families: int
    share: float
    repeats: int
    truth: float
    draws: int
    seed: int
    kind: str = "beta"
    """How families differ: `beta`, `logit` (logit-normal), or `same`: beta, and repeats that bring the same again."""

    @property
    def successes(self) -> float:
        """Expected, or failures where these are fewer."""
        return self.families * TASKS * self.repeats * min(self.truth, 1 - self.truth)

    def __str__(self) -> str:
        return f"{self.kind}, {self.families} families, share {self.share}, {self.repeats} repeats, truth {self.truth}"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Shares of draws in a setting, and widths of intervals."""

    setting: Setting
    covers: dict[str, float]
    widths: dict[str, float]

    def __str__(self) -> str:
        parts = (f"{name} {self.covers[name] * 100:5.1f} % of {self.widths[name]:.3f}" for name in self.covers)
        return f"{self.setting}: {'; '.join(parts)}"


@dataclass(frozen=True, kw_only=True)
class Share:
    """How often something happened."""

    what: str
    share: float
    draws: int


def drawn(setting: Setting) -> Floats:
    """The means of tasks, [draw, family, task]: families and tasks are harder or easier, repeats are chance."""
    strength, truth = 1 / setting.share - 1, setting.truth
    dice = np.random.default_rng(
        [setting.seed, setting.families, setting.repeats, round(strength * 1e3), round(truth * 1e4)]
    )
    size = (setting.draws, setting.families)
    if setting.kind == "logit":
        middle, spread = logit_normal(truth, setting.share)
        family = expit(middle + spread * dice.normal(size=(*size, 1)))
    else:
        family = dice.beta(truth * strength, (1 - truth) * strength, (*size, 1))
    family = np.clip(family, 1e-9, 1 - 1e-9)
    if setting.kind == "same":
        same: Floats = (dice.random((*size, TASKS)) < family).astype(np.float64)
        return same
    task = dice.beta(np.maximum(family * 7 / 3, 1e-9), np.maximum((1 - family) * 7 / 3, 1e-9), (*size, TASKS))
    found: Floats = dice.binomial(setting.repeats, task) / setting.repeats
    return found


@lru_cache(maxsize=1024)
def logit_normal(mean: float, share: float) -> tuple[float, float]:
    """Mean and spread of logits whose chances have this mean, and this share of the variance of 0 and 1."""
    nodes, weights = hermegauss(201)
    weights = weights / weights.sum()

    def middle(spread: float) -> float:
        return float(brentq(lambda at: weights @ expit(at + spread * nodes) - mean, -90, 90))

    def excess(spread: float) -> float:
        return float(weights @ expit(middle(spread) + spread * nodes) ** 2 - mean**2 - share * mean * (1 - mean))

    spread = float(brentq(excess, 1e-3, 25))
    return middle(spread), spread


def named(families: int) -> dict[str, str | None]:
    """The tasks of so many families, with the family of each."""
    return {f"{family}-{task}": str(family) for family in range(families) for task in range(TASKS)}


def ours(values: Floats) -> Floats:
    """The intervals of this package, [draw, end]: those of `estimate`, for all draws at once."""
    means = values.mean(axis=2)
    found = over_families_of_many(means, TASKS, dispersions_of_many(values, DISPERSION["solved"]), LEVEL)
    mean = means.mean(axis=1)
    return np.stack([np.minimum(mean, found[:, 0]), np.maximum(mean, found[:, 1])], axis=1)


def wilson(values: Floats) -> Floats:
    """Wilson's intervals with the number of tasks that the clustered standard error amounts to."""
    means, mean = values.mean(axis=2), values.mean(axis=(1, 2))
    count = means.shape[1]
    error, spread = means.std(axis=1, ddof=1) / count**0.5, mean * (1 - mean)
    known = error > 0
    worth = np.where(known, spread / np.where(known, error, 1) ** 2, count * TASKS)
    square = stdtrit(count - 1, 0.975) ** 2
    middle = (mean + square / (2 * worth)) / (1 + square / worth)
    half = np.sqrt(square * (spread / worth + square / (4 * worth**2))) / (1 + square / worth)
    return np.stack([middle - half, middle + half], axis=1)


def bootstrap(values: Floats) -> Floats:
    """A studentised bootstrap of families, on the logit with half a task added to each side."""
    means = values.mean(axis=2)
    count, extra = means.shape[1], 0.5 / (means.shape[1] * TASKS)
    picks = np.random.default_rng(0).integers(0, count, (_RESAMPLES, count))
    # How often each family is in each resample.
    taken = np.stack([np.bincount(pick, minlength=count) for pick in picks], axis=1) / count

    def studied(mean: Floats, square: Floats) -> tuple[Floats, Floats]:
        centre = (mean + extra) / (1 + 2 * extra)
        error = np.sqrt(np.maximum(0, square - mean**2) / (count - 1)) + extra
        return logit(centre), error / (centre * (1 - centre))

    middle, error = studied(means.mean(axis=1), (means**2).mean(axis=1))
    again, errors = studied(means @ taken, means**2 @ taken)
    low, high = np.quantile((again - middle[:, None]) / errors, (0.025, 0.975), axis=1)
    return np.stack([expit(middle - high * error), expit(middle - low * error)], axis=1)


METHODS: dict[str, Callable[[Floats], Floats]] = {"ours": ours, "wilson": wilson, "bootstrap": bootstrap}


def measured(setting: Setting) -> Measured:
    """Cover and mean width of each method in a setting."""
    values = drawn(setting)
    found = {name: method(values) for name, method in METHODS.items()}
    return Measured(
        setting=setting,
        covers={
            name: float(((ends[:, 0] <= setting.truth) & (setting.truth <= ends[:, 1])).mean())
            for name, ends in found.items()
        },
        widths={name: float((ends[:, 1] - ends[:, 0]).mean()) for name, ends in found.items()},
    )


def alarm(given: tuple[int, float, int, int]) -> Share:
    """How often two equal agents differ with p ≤ 0.05."""
    count, truth, draws, seed = given
    dice, families, strength = np.random.default_rng([seed, count]), named(count), 4.0
    found = 0
    for _ in range(draws):
        chance = dice.beta(truth * strength, (1 - truth) * strength, count * TASKS)
        first, second = (
            dict(zip(families, (dice.random(len(chance)) < chance).astype(float).tolist(), strict=True))
            for _ in range(2)
        )
        compared = difference(first, second, families)
        found += compared is not None and compared.p is not None and compared.p <= 0.05
    return Share(what=f"{count} families, truth {truth}", share=found / draws, draws=draws)


def ranked(given: tuple[int, int, str, int, int]) -> tuple[Share, int]:
    """How often ranks hold, and how many pairs six standard errors apart share a place."""
    sets, count, name, draws, seed = given
    skills = {
        "equal": np.zeros(sets),
        "groups": np.arange(sets) % 3 * 0.7,
        "spread": np.linspace(-1.5, 1.5, sets),
    }
    skill, dice, families = skills[name], np.random.default_rng([seed, sets, count]), named(count)
    right = overlaps = 0
    for _ in range(draws):
        hard = dice.normal(0, 0.8, (count, 1)) + dice.normal(0, 1, (count, TASKS))
        own = dice.normal(0, 0.5, (sets, count, 1))
        played = (dice.random((sets, count, TASKS)) < expit(skill[:, None, None] - hard + own)).astype(float)
        values = {
            str(row): dict(zip(families, found.ravel().tolist(), strict=True)) for row, found in enumerate(played)
        }
        found = rank(values, families)
        for row, own_skill in enumerate(skill):
            true, place = 1 + int((skill > own_skill + 1e-9).sum()), found.ranks[str(row)]
            right += place.low <= true <= place.high
        for pair in found.pairs:
            step = pair.difference
            if step.error and abs(step.value) >= 6 * step.error:
                best, last = pair.order
                overlaps += found.ranks[best].high >= found.ranks[last].low
    # The ranks of one draw hang together: draws are what there are many of.
    return Share(what=f"{sets} sets, {count} families, {name}", share=right / (draws * sets), draws=draws), overlaps


def verdict(requirement: str, shares: Iterable[Share], *, least: float = -1.0, most: float = 2.0) -> str:
    """A line that says whether all shares keep within bounds, and which comes out worst."""
    known = list(shares)
    if not known:
        return f"none    {requirement}: no such setting"
    beyond = {share: max(least - share.share, share.share - most) for share in known}
    error = {share: (share.share * (1 - share.share) / share.draws) ** 0.5 + 0.5 / share.draws for share in known}
    failed = [share for share in known if beyond[share] > _CHANCE * error[share]]
    missed = [share for share in known if beyond[share] > 0]
    worst = max(known, key=lambda share: beyond[share])
    word = "FAILS  " if failed else "holds  "
    return (
        f"{word} {requirement}: {len(known)} settings, {len(failed)} fail, {len(missed) - len(failed)} within chance; "
        f"worst {worst.share * 100:.1f} % ({worst.what})"
    )


def verdicts_of_intervals(found: Sequence[Measured]) -> Iterator[str]:
    """The lines about intervals."""

    def shares(kept: Callable[[Setting], bool]) -> list[Share]:
        return [
            Share(what=str(part.setting), share=part.covers["ours"], draws=part.setting.draws)
            for part in found
            if kept(part.setting)
        ]

    def usual(setting: Setting) -> bool:
        return setting.families >= 8 and 0.02 <= setting.truth <= 0.98

    yield verdict("cover ≥ 93 %, truths .02 to .98, 8 families or more", shares(usual), least=0.93)
    yield verdict("cover ≥ 92 % beyond", shares(lambda setting: not usual(setting)), least=0.92)
    yield verdict(
        "cover ≤ 97 % where ten successes are expected", shares(lambda setting: setting.successes >= 10), most=0.97
    )
    ratios = []
    for part in found:
        bound = 0.93 if usual(part.setting) else 0.92
        others = [part.widths[name] for name in METHODS if name != "ours" and part.covers[name] >= bound]
        if others:
            ratios.append((part.widths["ours"] / min(others), part.setting))
    ratio, where = max(ratios, key=lambda pair: pair[0], default=(0.0, None))
    mean = float(np.mean([ratio for ratio, _ in ratios])) if ratios else 0.0
    wider = sum(ratio > 1.3 for ratio, _ in ratios)
    word = "FAILS  " if mean > 1.3 else "holds  "
    yield (
        f"{word} mean width ≤ 1.3 × that of the narrowest other method that covers in the same setting: "
        f"{len(ratios)} settings have one, mean {mean:.2f}; {wider} are above 1.3, the worst {ratio:.2f} ({where})"
    )


def lines(matrix: Matrix, processes: int, *, every: bool) -> Iterator[str]:
    """Everything there is to say."""
    settings = [
        Setting(
            families=families,
            share=share,
            repeats=repeats,
            truth=truth,
            draws=matrix.draws,
            seed=matrix.seed,
            kind=kind,
        )
        for kind, families, share, repeats, truth in product(
            matrix.kinds, matrix.families, matrix.shares, matrix.repeats, matrix.truths
        )
    ]
    many = tuple(count for count in matrix.families if count >= 8)
    pairs = [(count, truth, matrix.draws, matrix.seed) for count in many for truth in (0.02, 0.1, 0.5, 0.9)]
    boards = [
        (sets, count, name, matrix.draws, matrix.seed)
        for sets in matrix.sets
        for count in many
        for name in ("equal", "groups", "spread")
    ]
    with ProcessPoolExecutor(processes) as pool:
        spread = map if processes == 1 else pool.map
        found: list[Measured] = []
        alarms: list[Share] = []
        ranks: list[tuple[Share, int]] = []
        for part in spread(measured, settings):
            found.append(part)
            yield from [str(part)] * every
        yield from verdicts_of_intervals(found)
        for share in spread(alarm, pairs):
            alarms.append(share)
            yield from [f"{share.what}: {share.share * 100:.1f} % of equal pairs differ"] * every
        yield verdict("size of the paired test ≤ 6 %", alarms, most=0.06)
        for share, over in spread(ranked, boards):
            ranks.append((share, over))
            yield from [f"{share.what}: {share.share * 100:.1f} % of ranks hold, {over} overlap"] * every
    yield verdict("rank intervals cover ≥ 94 %", (share for share, _ in ranks), least=0.94)
    overlaps = sum(over for _, over in ranks)
    yield f"{'FAILS  ' if overlaps else 'holds  '} pairs six standard errors apart never overlap: {overlaps} do"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print everything; 1 when a requirement fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--held-out", action="store_true", help="other truths, shares and draws")
    parser.add_argument("--quick", action="store_true", help="a sample that takes seconds")
    parser.add_argument("--all", action="store_true", help="print every setting")
    for name, kind in (
        ("families", int),
        ("repeats", int),
        ("shares", float),
        ("truths", float),
        ("sets", int),
        ("kinds", str),
    ):
        parser.add_argument(f"--{name}", type=kind, nargs="+", help="in place of those of the matrix")
    options = parser.parse_args(arguments)
    matrix = QUICK if options.quick else HELD_OUT if options.held_out else Matrix()
    names = ("families", "repeats", "shares", "truths", "sets", "kinds")
    given = {name: tuple(value) for name in names if (value := getattr(options, name)) is not None}
    given |= {} if options.draws is None else {"draws": options.draws}
    failed = 0
    for line in lines(Matrix(**{**vars(matrix), **given}), options.processes, every=options.all):
        print(line, flush=True)
        failed += line.startswith("FAILS")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Simulates agents whose true value is known: how often intervals cover it, how wide they are, whether ranks hold.

    python bench/intervals.py [--draws 1000] [--quick]

Families differ by 10 to 40 % of the variance. Intervals are set beside Wilson's with an effective number of tasks, and
beside a studentised cluster bootstrap on the logit, on the same draws.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit, stdtrit

from m3bench.server.scoring.statistics.estimates import estimate
from m3bench.server.scoring.statistics.paired import difference
from m3bench.server.scoring.statistics.ranks import rank

Floats = npt.NDArray[np.float64]
TASKS = 8
SHARES = (0.1, 0.2, 0.4)
TRUTHS = (0.005, 0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.995)


def drawn(dice: np.random.Generator, families: int, repeats: int, share: float, truth: float) -> Floats:
    """The means of tasks, [families, tasks]: families and tasks are harder or easier, repeats are chance."""
    strength = 1 / share - 1
    family = np.clip(dice.beta(truth * strength, (1 - truth) * strength, (families, 1)), 1e-9, 1 - 1e-9)
    task = dice.beta(np.maximum(family * 7 / 3, 1e-9), np.maximum((1 - family) * 7 / 3, 1e-9), (families, TASKS))
    found: Floats = dice.binomial(repeats, task) / repeats
    return found


def by_task(values: Floats) -> tuple[dict[str, float], dict[str, str | None]]:
    """Values by the names of tasks, and the family of each."""
    names = [f"{family}-{task}" for family in range(len(values)) for task in range(values.shape[1])]
    return dict(zip(names, values.ravel().tolist(), strict=True)), {name: name.partition("-")[0] for name in names}


def ours(values: Floats) -> tuple[float, float]:
    """The interval of this package."""
    found = estimate(*by_task(values), of="solved")
    assert found is not None
    assert found.interval is not None
    return found.interval.low, found.interval.high


def wilson(values: Floats) -> tuple[float, float]:
    """Wilson's interval with the number of tasks that the clustered standard error amounts to."""
    means, mean = values.mean(axis=1), values.mean()
    error, spread = means.std(ddof=1) / len(means) ** 0.5, mean * (1 - mean)
    worth = spread / error**2 if error > 0 else values.size
    square = stdtrit(len(means) - 1, 0.975) ** 2
    middle = (mean + square / (2 * worth)) / (1 + square / worth)
    half = (square * (spread / worth + square / (4 * worth**2))) ** 0.5 / (1 + square / worth)
    return middle - half, middle + half


def bootstrap(values: Floats) -> tuple[float, float]:
    """A studentised bootstrap of families, on the logit with half a task added to each side."""
    dice, means = np.random.default_rng(0), values.mean(axis=1)
    count, extra = len(means), 0.5 / values.size

    def studied(means: Floats) -> tuple[Floats, Floats]:
        centre = (means.mean(axis=-1) + extra) / (1 + 2 * extra)
        error = means.std(axis=-1, ddof=1) / count**0.5 + extra
        return logit(centre), error / (centre * (1 - centre))

    middle, error = studied(means)
    again, errors = studied(means[dice.integers(0, count, (199, count))])
    low, high = np.quantile((again - middle) / errors, (0.025, 0.975))
    return float(expit(middle - high * error)), float(expit(middle - low * error))


METHODS: dict[str, Callable[[Floats], tuple[float, float]]] = {"ours": ours, "wilson": wilson, "bootstrap": bootstrap}


def intervals(draws: int, families: tuple[int, ...], repeats: tuple[int, ...]) -> Iterator[str]:
    """A line for each setting: cover and mean width of each method."""
    for count in families:
        for share in SHARES:
            for tries in repeats:
                for truth in TRUTHS:
                    dice = np.random.default_rng(1)
                    samples = [drawn(dice, count, tries, share, truth) for _ in range(draws)]
                    parts = []
                    for name, method in METHODS.items():
                        found = np.array([method(sample) for sample in samples])
                        cover = ((found[:, 0] <= truth) & (truth <= found[:, 1])).mean()
                        parts.append(f"{name} {cover * 100:5.1f} % of {(found[:, 1] - found[:, 0]).mean():.3f}")
                    yield f"{count:3} families, share {share}, {tries} repeats, truth {truth}: {'; '.join(parts)}"


def alarms(draws: int) -> Iterator[str]:
    """How often two equal agents differ with p ≤ 0.05."""
    for count in (8, 28, 60):
        for truth in (0.02, 0.1, 0.5):
            dice, found = np.random.default_rng(2), 0
            for _ in range(draws):
                strength = 4.0
                chance = dice.beta(truth * strength, (1 - truth) * strength, (count, TASKS))
                first, second = (by_task((dice.random(chance.shape) < chance).astype(float)) for _ in range(2))
                compared = difference(first[0], second[0], first[1])
                found += compared is not None and compared.p is not None and compared.p <= 0.05
            yield f"{count:3} families, truth {truth}: {found / draws * 100:.1f} % of equal pairs differ"


def ranks(draws: int) -> Iterator[str]:
    """How often ranks hold, for sets that are equal, that come in three groups, and that are evenly spread."""
    for sets in (2, 5, 20, 100):
        for count in (8, 28):
            for name, skill in {
                "equal": np.zeros(sets),
                "groups": np.arange(sets) % 3 * 0.7,
                "spread": np.linspace(-1.5, 1.5, sets),
            }.items():
                dice, right, overlaps = np.random.default_rng(3), 0, 0
                for _ in range(max(10, draws // sets)):
                    hard = dice.normal(0, 0.8, (count, 1)) + dice.normal(0, 1, (count, TASKS))
                    own = dice.normal(0, 0.5, (sets, count, 1))
                    played = dice.random((sets, count, TASKS)) < expit(skill[:, None, None] - hard + own)
                    _, families = by_task(hard)
                    found = rank(
                        {str(number): by_task(row.astype(float))[0] for number, row in enumerate(played)}, families
                    )
                    for number, own_skill in enumerate(skill):
                        true, place = 1 + int((skill > own_skill + 1e-9).sum()), found.ranks[str(number)]
                        right += place.low <= true <= place.high
                    for pair in found.pairs:
                        step = pair.difference
                        if step.error and abs(step.value) >= 6 * step.error:
                            best, last = (pair.second, pair.first) if step.value > 0 else (pair.first, pair.second)
                            overlaps += found.ranks[best].high >= found.ranks[last].low
                total = max(10, draws // sets) * sets
                held = f"{right / total * 100:.1f} % of ranks hold, {overlaps} overlap"
                yield f"{sets:3} sets, {count} families, {name}: {held}"


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="8 and 28 families, 1 and 3 repeats")
    options = parser.parse_args()
    wide = ((8, 28), (1, 3)) if options.quick else ((5, 8, 28, 60), (1, 3, 5))
    for line in (*intervals(options.draws, *wide), *alarms(options.draws), *ranks(options.draws)):
        print(line, flush=True)


if __name__ == "__main__":
    main()

"""How much processor time a board of many result sets takes, once they are read: numbers of each set, and ranks.

    python bench/board.py [--sets 100] [--tasks 224] [--repeats 3]

Sets are made by rule, and a few of them stand for all: what is computed of a set does not depend on the others.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from m3bench.server.lab.reports.summary import set_totals
from m3bench.server.scoring.statistics.ranks import rank
from tests.server.lab.reports.made_sets import made_set

SAMPLED = 4


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--tasks", type=int, default=224)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    made = [
        made_set(f"set {number}", options.tasks * options.repeats, repeats=options.repeats, skill=0.6 + 0.1 * number)
        for number in range(SAMPLED)
    ]
    times = []
    for results in made:
        began = time.process_time()
        set_totals(results)
        times.append(time.process_time() - began)
    # The first one fills what others share.
    totals = times[0] + sum(times[1:]) / (SAMPLED - 1) * (options.sets - 1)
    families: dict[str, str | None] = {task: task.rpartition("-")[0] for task in made[0].header.tasks}
    dice = np.random.default_rng(0)
    began = time.process_time()
    for levels in (options.repeats, 1000):
        chances = np.clip(dice.random(options.tasks) + np.linspace(-0.4, 0.4, options.sets)[:, None], 0, 1)
        values = dice.binomial(levels, chances) / levels
        rank({str(row): dict(zip(families, found.tolist(), strict=True)) for row, found in enumerate(values)}, families)
    ranks = time.process_time() - began
    print(f"{options.sets} sets of {options.tasks} tasks, {options.repeats} repeats, in CPU-seconds:")
    print(f"numbers of the sets {totals:.1f}, ranks by solved and by average {ranks:.1f}, in all {totals + ranks:.1f}")


if __name__ == "__main__":
    main()

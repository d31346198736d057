"""Which tasks are for training, which for choosing among learners, and which for the result.

Every seed belongs to one split, by its last digit, so that whoever names a seed knows what it may be used for; whole
families can be held out beside that. The sets that travel with the package are for testing. What is told before an
episode has ended, and whether there are trajectories to copy, depends on the split alone.
"""

from typing import Literal

Split = Literal["train", "validation", "test"]

SPLITS: tuple[Split, ...] = ("train", "validation", "test")


def split_of_seed(seed: int) -> Split:
    """Seeds that end in 8 are for validation, in 9 for testing, all others for training."""
    last = abs(seed) % 10
    return "validation" if last == 8 else "test" if last == 9 else "train"

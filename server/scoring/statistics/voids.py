"""What void samples could have done to a number: its bounds, had each of them gone as well or as badly as can be."""

from collections.abc import Mapping, Sequence

from m3bench.server.scoring.statistics.estimates import Interval, mean_of


def bounds(samples: Mapping[str, Sequence[float]], lost: Mapping[str, int]) -> Interval | None:
    """The mean over tasks with every lost sample at 0, and with every one at 1.

    Args:
        samples: For each task, the values of its repeats, from 0 to 1.
        lost: For each task, how many more there were to be.

    Returns:
        The bounds, or None when there is neither a sample nor a lost one.
    """
    ends = []
    for value in (0.0, 1.0):
        tasks = {
            task: [*samples.get(task, ()), *[value] * lost.get(task, 0)] for task in dict.fromkeys([*samples, *lost])
        }
        ends.append(mean_of([sum(values) / len(values) for values in tasks.values() if values]))
    low, high = ends
    return None if low is None or high is None else Interval(low=low, high=high)

"""Makes families of a bundled set again: tasks, pictures, scenes, truths and plans, and leaves the others as they are.

    python bench/families.py movies museum            # of the set m3
    python bench/families.py --set desk buffet

A set comes from one seed; a family that was changed gives other tasks from it.
"""

import argparse
from pathlib import Path

from m3bench.server.lab.authoring.sets import SetRequest, make_set
from m3bench.tasks.families.registry import EVERY
from m3bench.tasks.library import SETS, Library, MadeLibrary
from m3bench.tasks.render.packages import default_folder, fetch
from m3bench.tasks.task import TaskSet

SEED = 1
PER_FAMILY = 8


def renewed(name: str, families: list[str], parallel: int) -> MadeLibrary:
    """The set with some families made again."""
    old = Library(SETS / name)
    kept, set_ = [task for task in old.set.tasks if task.family not in families], old.set
    place = default_folder()
    fetch(place)
    request = SetRequest(
        families=families, seed=SEED, per_family=PER_FAMILY, art=place, name=set_.name, version=set_.version
    )
    made = make_set(request, parallel=parallel, progress=print)
    gone = {task.id for task in set_.tasks if task.family in families}
    files = {file: data for file, data in old.files() if "/" in file and not _belongs(file, gone)}
    files |= {file: data for file, data in made.files() if "/" in file}
    order = list(dict.fromkeys(task.family for task in set_.tasks))
    tasks = sorted([*kept, *made.set.tasks], key=lambda task: order.index(task.family))
    plans = {task.id: (made if task.family in families else old).plans(task) for task in tasks}
    return MadeLibrary(TaskSet(schema=2, name=set_.name, version=set_.version, tasks=tuple(tasks)), files, plans)


def _belongs(file: str, tasks: set[str]) -> bool:
    """Whether a file is one of some tasks: `fish-1.png`, `larder-1-2.jpg`, `fish-1.json`."""
    stem = Path(file).name.partition(".")[0]
    return stem in tasks or stem.rpartition("-")[0] in tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="+", choices=sorted(EVERY))
    parser.add_argument("--set", default="m3")
    parser.add_argument("--parallel", type=int, default=1)
    options = parser.parse_args()
    made = renewed(options.set, options.families, options.parallel)
    made.write(SETS / options.set)


if __name__ == "__main__":
    main()

"""How long the pictures of a set take to draw, and how large they are.

    python bench/pictures.py [--per-family N] [--json]

Draws as many pictures as the bundled set has, from the seeds that its tasks are tried with first, family by family, in
one process. A task whose first picture made no good task has another one in the set, so not all of them are there;
those that are there must be the same bytes, which is what exit code 1 denies.
"""

import argparse
import json
import random
import statistics
import sys
import time

from m3bench.sandboxes.world.tables import load
from m3bench.tasks.families.base import Kit, Unfit
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.library import Library
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.packages import default_folder, fetch

SEED = 1
"""That of the bundled set."""
ATTEMPTS = 100


def drawn(family: str, number: int, kit: Kit) -> tuple[bytes, float]:
    """The first picture that can be drawn for a task, and the seconds of a processor that it took."""
    for attempt in range(ATTEMPTS):
        began = time.process_time()
        try:
            made = FAMILIES[family].compose(random.Random(f"picture {family} {SEED} {number} {attempt}"), kit)
        except Unfit:
            continue
        return made.picture, time.process_time() - began
    raise SystemExit(f"{family} drew nothing in {ATTEMPTS} attempts")


def main() -> None:
    """Draw and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-family", type=int, default=8, metavar="N")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    fetch(default_folder())
    kit, library = Kit(Art(default_folder()), load), Library()
    families = list(dict.fromkeys(task.family for task in library.tasks.values()))
    rows = []
    for family in families:
        pictures = [drawn(family, number, kit) for number in range(1, options.per_family + 1)]
        known = {library.picture(task.pictures[0]) for task in library.tasks.values() if task.family == family}
        rows.append({
            "family": family,
            "seconds": round(sum(seconds for _, seconds in pictures), 2),
            "median_ms": round(1000 * statistics.median(seconds for _, seconds in pictures)),
            "bytes": sum(len(picture) for picture, _ in pictures),
            "largest": max(len(picture) for picture, _ in pictures),
            "in_the_set": sum(picture in known for picture, _ in pictures),
        })  # fmt: skip
        if not options.json:
            print(
                "{family:24} {seconds:7.2f} s  {median_ms:6} ms each  {bytes:10,} bytes  largest {largest:9,}"
                "  {in_the_set} in the set".format(**rows[-1]),
                flush=True,
            )
    total = {name: sum(row[name] for row in rows) for name in ("seconds", "bytes", "in_the_set")}
    total["pictures"] = options.per_family * len(families)
    if options.json:
        print(json.dumps({"total": total, "families": rows}, indent=1))
    else:
        print("{pictures} pictures: {seconds:.1f} s, {bytes:,} bytes, {in_the_set} in the set".format(**total))
    # Every family's first pictures are in the set now and then; none at all means that drawing has changed.
    sys.exit(0 if total["in_the_set"] else 1)


if __name__ == "__main__":
    main()

"""How long the pictures of the bundled set take to draw, and how large they are.

    python bench/pictures.py [--per-family N] [--json]

Draws as many pictures as the bundled set has, family by family, in one process, from the seeds that its tasks were
tried with first. Seconds are those of a processor, so a busy machine hardly changes them.
"""

import argparse
import json
import random
import statistics
import time

from m3bench.sandboxes.world.tables import load
from m3bench.tasks.families.base import Kit, Unfit
from m3bench.tasks.families.registry import FAMILIES
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
    kit = Kit(Art(default_folder()), load)
    rows = []
    for family in FAMILIES:
        pictures = [drawn(family, number, kit) for number in range(1, options.per_family + 1)]
        rows.append({
            "family": family,
            "seconds": round(sum(seconds for _, seconds in pictures), 2),
            "median_ms": round(1000 * statistics.median(seconds for _, seconds in pictures)),
            "bytes": sum(len(picture) for picture, _ in pictures),
            "largest": max(len(picture) for picture, _ in pictures),
        })  # fmt: skip
        if not options.json:
            line = "{family:24} {seconds:7.2f} s  {median_ms:6} ms each  {bytes:10,} bytes  largest {largest:9,}"
            print(line.format(**rows[-1]), flush=True)
    total = {name: sum(row[name] for row in rows) for name in ("seconds", "bytes")}
    total["pictures"] = options.per_family * len(rows)
    if options.json:
        print(json.dumps({"total": total, "families": rows}, indent=1))
    else:
        print("{pictures} pictures: {seconds:.1f} s, {bytes:,} bytes".format(**total))


if __name__ == "__main__":
    main()

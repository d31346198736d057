"""How well the detector finds what is in the pictures of the bundled set, and in copies of them.

    python bench/detector.py [--limit N]

Precision and recall against the scene, for the pictures as they are and for mirrored, turned, cropped, framed and
recompressed copies. A thing counts as found when one of the same label overlaps it by half. Things that a copy cuts off
are not asked for. Exit code 1 when a kind of copy is more than three points from the pictures as they are.
"""

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import NamedTuple

from PIL import Image, ImageOps

from m3bench.sandboxes.recognition import Recogniser, area, clip
from m3bench.sandboxes.servers.dinox_mcp.sight import noticed
from m3bench.tasks.drawing.files import jpeg
from m3bench.tasks.library import Library
from m3bench.tasks.scene import Box, SceneObject

DEGREES = 4
EDGE = 40
MOST_APART = 0.03


class Copy(NamedTuple):
    """A changed picture, and where a box of the original lies in it."""

    kind: str
    image: Image.Image
    moved: Callable[[Box], Box]


def copies(image: Image.Image) -> Iterator[Copy]:
    """The picture as it is, and what people do to pictures."""
    width, height = image.size
    yield Copy("as it is", image, lambda box: box)
    yield Copy("mirrored", ImageOps.mirror(image), lambda box: (width - box[2], box[1], width - box[0], box[3]))
    yield Copy("turned", image.rotate(DEGREES, Image.Resampling.BICUBIC), lambda box: turned(box, image.size))
    inside = (EDGE, EDGE, width - EDGE, height - EDGE)
    yield Copy("cropped", image.crop(inside), lambda box: shifted(box, -EDGE))
    yield Copy("framed", ImageOps.expand(image, EDGE, "#d8c9a8"), lambda box: shifted(box, EDGE))
    yield Copy("recompressed", Image.open(BytesIO(jpeg(image, 60))), lambda box: box)


def shifted(box: Box, by: float) -> Box:
    """A box moved to the right and down."""
    return (box[0] + by, box[1] + by, box[2] + by, box[3] + by)


def turned(box: Box, size: tuple[int, int]) -> Box:
    """The box around a box that was turned about the middle of its picture."""
    angle = math.radians(DEGREES)
    corners = [(x - size[0] / 2, y - size[1] / 2) for x in (box[0], box[2]) for y in (box[1], box[3])]
    across = [size[0] / 2 + x * math.cos(angle) + y * math.sin(angle) for x, y in corners]
    down = [size[1] / 2 - x * math.sin(angle) + y * math.cos(angle) for x, y in corners]
    return (min(across), min(down), max(across), max(down))


def same(one: SceneObject, other: SceneObject) -> bool:
    """Whether two detections are of one thing."""
    part = clip(one.box, (10**6, 10**6)), clip(other.box, (10**6, 10**6))
    left, top = max(one.box[0], other.box[0]), max(one.box[1], other.box[1])
    right, bottom = min(one.box[2], other.box[2]), min(one.box[3], other.box[3])
    if one.label != other.label or None in part or left >= right or top >= bottom:
        return False
    common = area((left, top, right, bottom))
    return common >= 0.5 * (area(one.box) + area(other.box) - common)


def main() -> None:
    """Look at every picture and its copies, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--limit", type=int, default=224)
    options = parser.parse_args()
    library = Library()
    found, told, wanted = defaultdict[str, int](int), defaultdict[str, int](int), defaultdict[str, int](int)
    tasks = library.set.tasks
    for task in tasks[:: max(1, len(tasks) // options.limit)]:
        (scene,) = library.scenes(task)
        recogniser = Recogniser([noticed(scene)])
        image = Image.open(BytesIO(library.picture(task.pictures[0]))).convert("RGB")
        for copy in copies(image):
            sighting = recogniser.recognise(copy.kind.encode(), copy.image)
            seen = list(sighting.objects) if sighting is not None else []
            there = [SceneObject(label=item.label, box=copy.moved(item.box)) for item in scene.objects]
            whole = [item for item in there if clip(item.box, copy.image.size) == item.box]
            found[copy.kind] += sum(any(same(one, item) for one in seen) for item in whole)
            wanted[copy.kind] += len(whole)
            told[copy.kind] += len(seen) - sum(any(same(one, item) for item in there) for one in seen)
    print(f"{'copy':<14}{'things':>8}{'recall':>9}{'precision':>11}")
    rates = {}
    for kind, count in wanted.items():
        rates[kind] = (found[kind] / max(1, count), found[kind] / max(1, found[kind] + told[kind]))
        print(f"{kind:<14}{count:>8}{rates[kind][0]:>9.3f}{rates[kind][1]:>11.3f}")
    plain = rates["as it is"]
    apart = max(abs(rate - plain[place]) for pair in rates.values() for place, rate in enumerate(pair))
    print(f"at most {apart * 100:.1f} points apart")
    sys.exit(1 if apart > MOST_APART else 0)


if __name__ == "__main__":
    main()

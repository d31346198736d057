"""How well the detector finds what is in the pictures of the bundled set, and in copies of them.

    python bench/detector.py [--pictures N] [-o FILE]
    python bench/detector.py --show FILE

Precision and recall against the scene, for the pictures as they are and for mirrored, turned, cropped, framed and
recompressed copies. A thing counts as found when one of the same label overlaps it by half. Things that a copy cuts off
are not asked for, and are not wrong when they are told of. `-o` writes the counts as JSON; `--show` prints the table of
`docs/tasks.md` from such a file. Exit code 1 when a kind of copy is more than three points from another.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageOps

from m3bench.sandboxes.recognition import Recogniser, area, clip
from m3bench.sandboxes.servers.dinox_mcp import noticed
from m3bench.tasks.drawing.files import jpeg
from m3bench.tasks.library import Library
from m3bench.tasks.scene import Box, Scene, SceneObject
from m3bench.tasks.task import Task

DEGREES = 4
EDGE = 40
QUALITY = 60
MOST_APART = 0.03

Counts = dict[str, int]
"""`things` that could be found, those `found`, detections `told`, and those of them that are `right`."""


class Copy(NamedTuple):
    """A changed picture, and where a box of the original lies in it."""

    kind: str
    image: Image.Image
    moved: Callable[[Box], Box]


def copies(image: Image.Image) -> Iterator[Copy]:
    """The picture as it is, and what people do to pictures."""
    width, height = image.size
    turn = Image.Transpose
    yield Copy("as it is", image, lambda box: box)
    yield Copy("mirrored", ImageOps.mirror(image), lambda box: (width - box[2], box[1], width - box[0], box[3]))
    yield Copy(
        f"turned by {DEGREES}°",
        image.rotate(DEGREES, Image.Resampling.BICUBIC),
        lambda box: turned(box, image.size),
    )
    yield Copy(
        "turned by 90°", image.transpose(turn.ROTATE_90), lambda box: (box[1], width - box[2], box[3], width - box[0])
    )
    yield Copy(
        "turned by 180°",
        image.transpose(turn.ROTATE_180),
        lambda box: (width - box[2], height - box[3], width - box[0], height - box[1]),
    )
    inside = (EDGE, EDGE, width - EDGE, height - EDGE)
    yield Copy("cropped", image.crop(inside), lambda box: shifted(box, -EDGE))
    yield Copy("framed", ImageOps.expand(image, EDGE, "#d8c9a8"), lambda box: shifted(box, EDGE))
    yield Copy("recompressed", Image.open(BytesIO(jpeg(image, QUALITY))), lambda box: box)


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
    left, top = max(one.box[0], other.box[0]), max(one.box[1], other.box[1])
    right, bottom = min(one.box[2], other.box[2]), min(one.box[3], other.box[3])
    if one.label != other.label or left >= right or top >= bottom:
        return False
    common = area((left, top, right, bottom))
    return common >= 0.5 * (area(one.box) + area(other.box) - common)


def compare(seen: Sequence[SceneObject], there: Sequence[SceneObject], size: tuple[int, int]) -> Counts:
    """What was seen in a copy against what is there; boxes that reach beyond the copy are cut at its edge."""
    cut = [
        (SceneObject(label=item.label, box=box), box == item.box)
        for item in there
        if (box := clip(item.box, size)) is not None
    ]
    whole = [item for item, complete in cut if complete]
    return {
        "things": len(whole),
        "found": sum(any(same(sight, item) for sight in seen) for item in whole),
        "told": len(seen),
        "right": sum(any(same(sight, item) for item, _ in cut) for sight in seen),
    }


def look(scenes: Sequence[Scene], picture: bytes, scene: Scene) -> Iterator[tuple[str, Counts]]:
    """What the detector of a run with these scenes tells of a picture and its copies."""
    recogniser = Recogniser(map(noticed, scenes))
    with Image.open(BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    for copy in copies(image):
        # The picture itself is known by its file; a copy has another one.
        file = picture if copy.kind == "as it is" else copy.kind.encode()
        sighting = recogniser.recognise(file, copy.image)
        seen = sighting.objects if sighting is not None else ()
        there = [SceneObject(label=item.label, box=copy.moved(item.box)) for item in scene.objects]
        yield copy.kind, compare(seen, there, copy.image.size)


def measure(library: Library, tasks: Sequence[Task]) -> dict[str, Counts]:
    """The counts of each kind of copy, over the pictures of these tasks."""
    found: dict[str, Counts] = {}
    for task in tasks:
        scenes = library.scenes(task)
        for picture, scene in zip(task.pictures, scenes, strict=True):
            for kind, counts in look(scenes, library.picture(picture), scene):
                before = found.get(kind, dict.fromkeys(("pictures", *counts), 0))
                found[kind] = {name: before[name] + amount for name, amount in {"pictures": 1, **counts}.items()}
    return found


def recall(counts: Mapping[str, int]) -> float:
    """The share of things that was found."""
    return counts["found"] / max(1, counts["things"])


def precision(counts: Mapping[str, int]) -> float:
    """The share of detections that is right."""
    return counts["right"] / max(1, counts["told"])


def apart(found: Mapping[str, Mapping[str, int]]) -> float:
    """How far the kinds of copies are from one another, in recall or precision."""
    rates = [[rate(counts) for counts in found.values()] for rate in (recall, precision)]
    return max(max(row) - min(row) for row in rates)


def table(found: Mapping[str, Mapping[str, int]]) -> str:
    """What `docs/tasks.md` shows of the counts."""
    rows = [
        f"| {kind} | {counts['things']} | {recall(counts):.1%} | {precision(counts):.1%} |"
        for kind, counts in found.items()
    ]
    return "\n".join(("| copy | things | recall | precision |", "|---|---|---|---|", *rows))


def main() -> None:
    """Look at every picture and its copies, and compare; or show what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--pictures", type=int, default=0, help="so many, spread over the set; all when left out")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--show", type=Path)
    chosen = parser.parse_args()
    if chosen.show is not None:
        print(table(json.loads(chosen.show.read_text())))
        return
    library = Library()
    found = measure(library, sample(library.set.tasks, chosen.pictures))
    if chosen.output is not None:
        chosen.output.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    print(table(found))
    print(f"at most {apart(found) * 100:.1f} points apart")
    sys.exit(1 if apart(found) > MOST_APART else 0)


def sample(tasks: Sequence[Task], count: int) -> Sequence[Task]:
    """So many tasks, spread evenly; all for 0."""
    return tasks[:: len(tasks) // count] if 0 < count < len(tasks) else tasks


if __name__ == "__main__":
    main()

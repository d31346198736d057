"""Scenes for tests: building sites drawn by code, with what is in them and where."""

from collections.abc import Callable
from functools import cache
from random import Random

from PIL import Image, ImageDraw

from m3bench.tasks.scene import Keypoint, Scene, SceneObject
from tests.pictures import encoded

Pen = ImageDraw.ImageDraw

BODY = {
    "nose": (0.5, 0.13),
    "left eye": (0.54, 0.11),
    "right eye": (0.46, 0.11),
    "left ear": (0.58, 0.12),
    "right ear": (0.42, 0.12),
    "left shoulder": (0.68, 0.26),
    "right shoulder": (0.32, 0.26),
    "left elbow": (0.82, 0.4),
    "right elbow": (0.18, 0.4),
    "left wrist": (0.9, 0.54),
    "right wrist": (0.1, 0.54),
    "left hip": (0.6, 0.55),
    "right hip": (0.4, 0.55),
    "left knee": (0.64, 0.76),
    "right knee": (0.36, 0.76),
    "left ankle": (0.66, 0.95),
    "right ankle": (0.34, 0.95),
}
"""Where the 17 points of a pose lie in a worker, in COCO order."""


def building_site(seed: int, *, ground: int | None = None, size: tuple[int, int] = (960, 640)) -> Image.Image:
    """The picture of a building site; those of one ground share their background."""
    return _site(seed, ground, size)[0]


def objects_of(seed: int, *, ground: int | None = None, size: tuple[int, int] = (960, 640)) -> list[SceneObject]:
    """What there is to see on that picture."""
    return _site(seed, ground, size)[1]


def scene_of(seed: int, *, ground: int | None = None, size: tuple[int, int] = (960, 640)) -> tuple[bytes, Scene]:
    """The picture as a PNG file, and its scene."""
    image, objects = _site(seed, ground, size)
    file = encoded(image, "PNG")
    return file, Scene.of(file, objects)


@cache
def _site(seed: int, ground: int | None, size: tuple[int, int]) -> tuple[Image.Image, list[SceneObject]]:
    image = _background(Random(f"ground {seed if ground is None else ground}"), size)
    random = Random(seed)
    objects = []
    columns, rows = 4, 2
    width, height = size[0] // columns, size[1] // rows
    for slot in random.sample(range(columns * rows), random.randint(4, 7)):
        label = random.choice(list(_PAINTERS))
        tall, share = random.uniform(0.55, 0.9) * height, _SHAPES[label]
        wide = min(tall * share, 0.9 * width)
        layer = Image.new("RGBA", (round(wide), round(wide / share)))
        colour = random.choice(list(_COLOURS))
        _PAINTERS[label](ImageDraw.Draw(layer), layer.width - 1, layer.height - 1, _COLOURS[colour])
        left = slot % columns * width + random.randint(0, width - layer.width)
        top = slot // columns * height + random.randint(0, height - layer.height)
        bounds = layer.getbbox()
        assert bounds is not None
        image.paste(layer, (left, top), layer)
        objects.append(
            SceneObject(
                label=label,
                box=(left + bounds[0], top + bounds[1], left + bounds[2], top + bounds[3]),
                score=round(random.uniform(0.6, 0.98), 2),
                keypoints=_pose(left, top, layer.size) if label == "worker" else (),
            )
        )
    return image, objects


def _pose(left: int, top: int, size: tuple[int, int]) -> tuple[Keypoint, ...]:
    return tuple((left + x * size[0], top + y * size[1], 1.0) for x, y in BODY.values())


def _background(random: Random, size: tuple[int, int]) -> Image.Image:
    """A sky, a wall of bricks, and a ground with pebbles."""
    width, height = size
    image = Image.new("RGB", size)
    pen = ImageDraw.Draw(image)
    tint, horizon = random.randint(0, 60), round(height * random.uniform(0.25, 0.5))
    for y in range(horizon):
        pen.line((0, y, width, y), fill=(120 + tint + y * 60 // horizon, 190 + y * 40 // horizon, 240))
    pen.rectangle((0, horizon, width, height), fill=(150 + tint, 120 + tint, 90))
    brick = random.randint(24, 44)
    wall = random.randint(0, width // 2)
    for row, y in enumerate(range(horizon - 3 * brick, horizon + 2 * brick, brick // 2)):
        for x in range(wall - row % 2 * brick // 2, wall + width // 3, brick):
            shade = random.randint(-15, 15)
            pen.rectangle((x, y, x + brick - 3, y + brick // 2 - 3), fill=(170 + shade, 80 + shade, 60 + shade))
    for _ in range(160):
        x, y, radius = random.randint(0, width), random.randint(horizon + 2 * brick, height), random.randint(2, 7)
        shade = random.randint(70, 190)
        pen.ellipse((x, y, x + 2 * radius, y + radius), fill=(shade, shade - 10, shade - 30))
    return image


def _worker(pen: Pen, width: int, height: int, colour: str) -> None:
    joints = {name: (x * width, y * height) for name, (x, y) in BODY.items()}
    limb = max(3, width // 9)
    for side in ("left", "right"):
        pen.line([joints[f"{side} {part}"] for part in ("hip", "knee", "ankle")], fill="#26364d", width=limb)
        pen.line([joints[f"{side} {part}"] for part in ("shoulder", "elbow", "wrist")], fill="#e0a37e", width=limb)
    pen.polygon([joints[part] for part in ("left shoulder", "right shoulder", "right hip", "left hip")], fill=colour)
    pen.line((0.32 * width, 0.4 * height, 0.68 * width, 0.4 * height), fill="#f4f4e0", width=max(2, height // 40))
    pen.ellipse((0.39 * width, 0.05 * height, 0.61 * width, 0.21 * height), fill="#e0a37e")
    pen.pieslice((0.36 * width, 0, 0.64 * width, 0.18 * height), 180, 360, fill="#ffd21f")


def _cone(pen: Pen, width: int, height: int, colour: str) -> None:
    pen.polygon([(0.5 * width, 0), (0.85 * width, 0.9 * height), (0.15 * width, 0.9 * height)], fill="#f26a1b")
    for y in (0.35, 0.6):
        pen.line((0.3 * width, y * height, 0.7 * width, y * height), fill="white", width=max(3, height // 12))
    pen.rectangle((0, 0.9 * height, width, height), fill=colour)


def _ladder(pen: Pen, width: int, height: int, colour: str) -> None:
    rail = max(3, width // 7)
    for x in (0, width - rail):
        pen.rectangle((x, 0, x + rail, height), fill=colour)
    for step in range(1, 9):
        pen.rectangle((0, step * height // 9, width, step * height // 9 + rail // 2), fill="#7d5a33")


def _barrel(pen: Pen, width: int, height: int, colour: str) -> None:
    pen.rounded_rectangle((0, 0, width, height), radius=width // 5, fill=colour)
    for y in (0.2, 0.5, 0.8):
        pen.line((0, y * height, width, y * height), fill="#333333", width=max(2, height // 25))
    pen.ellipse((0.3 * width, 0.28 * height, 0.7 * width, 0.45 * height), fill="#f5e663")


def _crate(pen: Pen, width: int, height: int, colour: str) -> None:
    pen.rectangle((0, 0, width, height), fill="#b98a4e", outline="#5e4321", width=max(3, width // 20))
    for start, end in (((0, 0), (width, height)), ((width, 0), (0, height))):
        pen.line((*start, *end), fill=colour, width=max(3, width // 14))


def _tree(pen: Pen, width: int, height: int, colour: str) -> None:
    pen.rectangle((0.42 * width, 0.55 * height, 0.58 * width, height), fill="#6b4a2b")
    for x, y in ((0.0, 0.2), (0.4, 0.2), (0.2, 0.0)):
        pen.ellipse((x * width, y * height, (x + 0.6) * width, (y + 0.45) * height), fill="#2f7d3b")
    pen.ellipse((0.4 * width, 0.2 * height, 0.55 * width, 0.3 * height), fill=colour)


_PAINTERS: dict[str, Callable[[Pen, int, int, str], None]] = {
    "worker": _worker,
    "traffic cone": _cone,
    "ladder": _ladder,
    "barrel": _barrel,
    "crate": _crate,
    "tree": _tree,
}
_SHAPES = {"worker": 0.5, "traffic cone": 0.8, "ladder": 0.4, "barrel": 0.7, "crate": 1.0, "tree": 0.8}
"""Width against height."""
_COLOURS = {"red": "#d43d3d", "blue": "#2c67c9", "green": "#34a853", "yellow": "#e8c51b", "black": "#222222"}

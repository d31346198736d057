"""Draws the photo of a place: sky, ground, and a silhouette in the manner of its kind, with its name below.

A drawing, not a photograph: it tells what kind of place it is and which, and is the same every time.
"""

import io
from random import Random

from PIL import Image, ImageDraw

from m3bench.sandboxes.servers.google_maps.lettering import font_of, writable
from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.places import Place

Colour = tuple[int, int, int]

_SKIES: tuple[tuple[Colour, Colour], ...] = (
    ((92, 150, 214), (214, 232, 246)),
    ((64, 112, 178), (246, 206, 170)),
    ((120, 170, 220), (240, 244, 248)),
    ((52, 72, 122), (238, 152, 112)),
)
_NATURE = frozenset(("natural_feature", "mountain_peak", "waterfall", "park", "beach", "inlet", "scenic_point"))


def draw(place: Place, reference: str, width: int, height: int) -> bytes:
    """A JPEG of the given size."""
    random = noise.generator_of("drawing", reference)
    picture = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(picture)
    horizon = int(height * random.uniform(0.55, 0.68))
    _sky(pen, width, horizon, random)
    kinds = set(place.types)
    if kinds & _NATURE:
        _hills(pen, width, height, horizon, random, water=bool(kinds & {"beach", "inlet", "waterfall"}))
    elif kinds & {"tower", "lighthouse"}:
        _ground(pen, width, height, horizon, (124, 130, 120))
        _skyline(pen, width, horizon, random, 0.18)
        _tower(pen, width, horizon, random)
    elif "bridge" in kinds:
        _ground(pen, width, height, horizon, (70, 110, 146))
        _bridge(pen, width, horizon, random)
    else:
        _ground(pen, width, height, horizon, (118, 116, 112))
        _skyline(pen, width, horizon, random, 0.2)
        _house(pen, width, height, horizon, random)
    _caption(pen, width, height, place.name)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=82)
    return out.getvalue()


def _sky(pen: ImageDraw.ImageDraw, width: int, horizon: int, random: Random) -> None:
    high, low = random.choice(_SKIES)
    for y in range(horizon):
        pen.line((0, y, width, y), fill=_blend(high, low, y / max(1, horizon)))
    radius = width // 18
    x, y = int(width * random.uniform(0.1, 0.9)), int(horizon * random.uniform(0.15, 0.5))
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=(255, 246, 214))


def _ground(pen: ImageDraw.ImageDraw, width: int, height: int, horizon: int, colour: Colour) -> None:
    for y in range(horizon, height):
        pen.line((0, y, width, y), fill=_blend(colour, (60, 62, 64), (y - horizon) / max(1, height - horizon)))


def _skyline(pen: ImageDraw.ImageDraw, width: int, horizon: int, random: Random, share: float) -> None:
    x = 0
    while x < width:
        wide = int(width * random.uniform(0.05, 0.12)) + 1
        high = int(horizon * random.uniform(share / 3, share))
        grey = random.randint(130, 170)
        pen.rectangle((x, horizon - high, x + wide, horizon), fill=(grey, grey + 4, grey + 12))
        x += wide


def _hills(pen: ImageDraw.ImageDraw, width: int, height: int, horizon: int, random: Random, *, water: bool) -> None:
    for layer, colour in enumerate(((140, 158, 170), (98, 128, 112), (66, 102, 74))):
        base = horizon + int((height - horizon) * layer * 0.18)
        step = max(4, width // 12)
        line = [
            (x, base - int(horizon * random.uniform(0.04, 0.5 - 0.14 * layer))) for x in range(0, width + step, step)
        ]
        pen.polygon([(0, height), *line, (width, height)], fill=colour)
    if water:
        _ground(pen, width, height, int(height * 0.78), (74, 128, 168))


def _tower(pen: ImageDraw.ImageDraw, width: int, horizon: int, random: Random) -> None:
    middle, foot, top = width // 2, max(6, width // 9), int(horizon * random.uniform(0.06, 0.16))
    colour = random.choice(((106, 90, 76), (150, 148, 146), (168, 78, 60)))
    pen.polygon(
        [(middle - foot, horizon), (middle - foot // 8, top), (middle + foot // 8, top), (middle + foot, horizon)],
        fill=colour,
    )
    for share in (0.35, 0.62, 0.84):
        y = int(top + (horizon - top) * share)
        half = int(foot * share)
        pen.rectangle(
            (middle - half, y, middle + half, y + max(2, horizon // 60)), fill=_blend(colour, (40, 40, 40), 0.4)
        )


def _bridge(pen: ImageDraw.ImageDraw, width: int, horizon: int, random: Random) -> None:
    colour = random.choice(((176, 74, 54), (96, 104, 116), (142, 132, 118)))
    deck, top = horizon - max(3, horizon // 22), int(horizon * 0.28)
    thick = max(2, width // 140)
    left, right = width // 4, 3 * width // 4
    for x in (left, right):
        pen.rectangle((x - 2 * thick, top, x + 2 * thick, horizon + horizon // 8), fill=colour)
    for start, end in ((-width // 4, left), (left, right), (right, 5 * width // 4)):
        points = []
        for part in range(21):
            share = part / 20
            sag = 4 * share * (1 - share)
            points.append((start + (end - start) * share, top + (deck - top) * 0.9 * sag))
        pen.line(points, fill=colour, width=thick)
    pen.rectangle((0, deck, width, deck + 2 * thick), fill=colour)


def _house(pen: ImageDraw.ImageDraw, width: int, height: int, horizon: int, random: Random) -> None:
    left, right = int(width * 0.18), int(width * 0.82)
    top, bottom = int(horizon * random.uniform(0.28, 0.45)), int(horizon + (height - horizon) * 0.3)
    wall = random.choice(((206, 186, 158), (184, 120, 96), (222, 214, 198), (150, 166, 176), (196, 160, 110)))
    pen.rectangle((left, top, right, bottom), fill=wall)
    pen.rectangle((left - 4, top - max(3, height // 60), right + 4, top), fill=_blend(wall, (50, 40, 36), 0.5))
    columns, rows = random.randint(4, 7), random.randint(2, 3)
    cell_wide, cell_high = (right - left) / columns, (bottom - top) * 0.66 / rows
    for row in range(rows):
        for column in range(columns):
            x, y = left + (column + 0.28) * cell_wide, top + (row + 0.25) * cell_high
            lit = random.random() < 0.3
            pen.rectangle(
                (x, y, x + cell_wide * 0.44, y + cell_high * 0.55), fill=(250, 226, 150) if lit else (78, 98, 116)
            )
    awning = random.choice(((164, 44, 44), (38, 92, 70), (36, 62, 110), (196, 146, 40)))
    shop = top + int((bottom - top) * 0.72)
    pen.rectangle((left, shop, right, shop + max(4, (bottom - top) // 14)), fill=awning)
    door = (left + right) // 2
    pen.rectangle(
        (door - cell_wide * 0.3, shop + (bottom - top) // 12, door + cell_wide * 0.3, bottom), fill=(58, 44, 38)
    )


def _caption(pen: ImageDraw.ImageDraw, width: int, height: int, name: str) -> None:
    size, name = max(10, min(28, width // 26)), writable(name)
    font = font_of(size)
    box = pen.textbbox((0, 0), name, font=font)
    wide, high = box[2] - box[0], box[3] - box[1]
    x, y = max(6, (width - wide) // 2), height - high - size
    pen.rectangle((x - 8, y - 6, x + wide + 8, y + high + 10), fill=(250, 248, 242))
    pen.text((x, y), name, fill=(40, 40, 44), font=font)


def _blend(start: Colour, end: Colour, share: float) -> Colour:
    return (
        int(start[0] + (end[0] - start[0]) * share),
        int(start[1] + (end[1] - start[1]) * share),
        int(start[2] + (end[2] - start[2]) * share),
    )

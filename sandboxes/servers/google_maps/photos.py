"""Draws the photo of a place: sky, ground, and a silhouette in the manner of its kind, with its name below.

A drawing, not a photograph: it tells what kind of place it is and which, and is the same every time.
"""

from random import Random

from PIL import Image

from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.places import Place
from m3bench.tasks.drawing.files import jpeg
from m3bench.tasks.drawing.lettering import plain_font, writable
from m3bench.tasks.drawing.sheet import Colour, Sheet

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
    sheet = Sheet(Image.new("RGB", (width, height)))
    horizon = int(height * random.uniform(0.55, 0.68))
    _sky(sheet, width, horizon, random)
    kinds = set(place.types)
    if kinds & _NATURE:
        _hills(sheet, width, height, horizon, random, water=bool(kinds & {"beach", "inlet", "waterfall"}))
    elif kinds & {"tower", "lighthouse"}:
        _ground(sheet, width, height, horizon, (124, 130, 120))
        _skyline(sheet, width, horizon, random, 0.18)
        _tower(sheet, width, horizon, random)
    elif "bridge" in kinds:
        _ground(sheet, width, height, horizon, (70, 110, 146))
        _bridge(sheet, width, horizon, random)
    else:
        _ground(sheet, width, height, horizon, (118, 116, 112))
        _skyline(sheet, width, horizon, random, 0.2)
        _house(sheet, width, height, horizon, random)
    _caption(sheet, width, height, place.name)
    return jpeg(sheet.image, 82)


def _sky(sheet: Sheet, width: int, horizon: int, random: Random) -> None:
    high, low = random.choice(_SKIES)
    for y in range(horizon):
        sheet.box(0, y, width, y, _blend(high, low, y / max(1, horizon)))
    radius = width // 18
    x, y = int(width * random.uniform(0.1, 0.9)), int(horizon * random.uniform(0.15, 0.5))
    sheet.oval(x, y, radius, radius, (255, 246, 214))


def _ground(sheet: Sheet, width: int, height: int, horizon: int, colour: Colour) -> None:
    for y in range(horizon, height):
        sheet.box(0, y, width, y, _blend(colour, (60, 62, 64), (y - horizon) / max(1, height - horizon)))


def _skyline(sheet: Sheet, width: int, horizon: int, random: Random, share: float) -> None:
    x = 0
    while x < width:
        wide = int(width * random.uniform(0.05, 0.12)) + 1
        high = int(horizon * random.uniform(share / 3, share))
        grey = random.randint(130, 170)
        sheet.box(x, horizon - high, x + wide, horizon, (grey, grey + 4, grey + 12))
        x += wide


def _hills(sheet: Sheet, width: int, height: int, horizon: int, random: Random, *, water: bool) -> None:
    for layer, colour in enumerate(((140, 158, 170), (98, 128, 112), (66, 102, 74))):
        base = horizon + int((height - horizon) * layer * 0.18)
        step = max(4, width // 12)
        line = [
            (x, base - int(horizon * random.uniform(0.04, 0.5 - 0.14 * layer))) for x in range(0, width + step, step)
        ]
        sheet.polygon([(0, height), *line, (width, height)], colour)
    if water:
        _ground(sheet, width, height, int(height * 0.78), (74, 128, 168))


def _tower(sheet: Sheet, width: int, horizon: int, random: Random) -> None:
    middle, foot, top = width // 2, max(6, width // 9), int(horizon * random.uniform(0.06, 0.16))
    colour = random.choice(((106, 90, 76), (150, 148, 146), (168, 78, 60)))
    sheet.polygon(
        [(middle - foot, horizon), (middle - foot // 8, top), (middle + foot // 8, top), (middle + foot, horizon)],
        colour,
    )
    for share in (0.35, 0.62, 0.84):
        y = int(top + (horizon - top) * share)
        half = int(foot * share)
        sheet.box(middle - half, y, middle + half, y + max(2, horizon // 60), _blend(colour, (40, 40, 40), 0.4))


def _bridge(sheet: Sheet, width: int, horizon: int, random: Random) -> None:
    colour = random.choice(((176, 74, 54), (96, 104, 116), (142, 132, 118)))
    deck, top = horizon - max(3, horizon // 22), int(horizon * 0.28)
    thick = max(2, width // 140)
    left, right = width // 4, 3 * width // 4
    for x in (left, right):
        sheet.box(x - 2 * thick, top, x + 2 * thick, horizon + horizon // 8, colour)
    for start, end in ((-width // 4, left), (left, right), (right, 5 * width // 4)):
        points = []
        for part in range(21):
            share = part / 20
            sag = 4 * share * (1 - share)
            points.append((start + (end - start) * share, top + (deck - top) * 0.9 * sag))
        sheet.line(points, colour, thick)
    sheet.box(0, deck, width, deck + 2 * thick, colour)


def _house(sheet: Sheet, width: int, height: int, horizon: int, random: Random) -> None:
    left, right = int(width * 0.18), int(width * 0.82)
    top, bottom = int(horizon * random.uniform(0.28, 0.45)), int(horizon + (height - horizon) * 0.3)
    wall = random.choice(((206, 186, 158), (184, 120, 96), (222, 214, 198), (150, 166, 176), (196, 160, 110)))
    sheet.box(left, top, right, bottom, wall)
    sheet.box(left - 4, top - max(3, height // 60), right + 4, top, _blend(wall, (50, 40, 36), 0.5))
    columns, rows = random.randint(4, 7), random.randint(2, 3)
    cell_wide, cell_high = (right - left) / columns, (bottom - top) * 0.66 / rows
    for row in range(rows):
        for column in range(columns):
            x, y = left + (column + 0.28) * cell_wide, top + (row + 0.25) * cell_high
            lit = random.random() < 0.3
            sheet.box(x, y, x + cell_wide * 0.44, y + cell_high * 0.55, (250, 226, 150) if lit else (78, 98, 116))
    awning = random.choice(((164, 44, 44), (38, 92, 70), (36, 62, 110), (196, 146, 40)))
    shop = top + int((bottom - top) * 0.72)
    sheet.box(left, shop, right, shop + max(4, (bottom - top) // 14), awning)
    door = (left + right) // 2
    sheet.box(door - cell_wide * 0.3, shop + (bottom - top) // 12, door + cell_wide * 0.3, bottom, (58, 44, 38))


def _caption(sheet: Sheet, width: int, height: int, name: str) -> None:
    size, name = max(10, min(28, width // 26)), writable(name)
    font = plain_font(size)
    left, top, right, bottom = font.getbbox(name)
    wide, high = right - left, bottom - top
    x, y = max(6, (width - wide) // 2), height - high - size
    sheet.box(x - 8, y - 6, x + wide + 8, y + high + 10, (250, 248, 242))
    sheet.text(x, y, name, font, (40, 40, 44))


def _blend(start: Colour, end: Colour, share: float) -> Colour:
    return (
        int(start[0] + (end[0] - start[0]) * share),
        int(start[1] + (end[1] - start[1]) * share),
        int(start[2] + (end[2] - start[2]) * share),
    )

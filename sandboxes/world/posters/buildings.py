"""Houses, skylines, palaces, domes and bridges of a poster."""

from math import cos, pi, sin

from m3bench.sandboxes.world.posters.poster import WIDTH, Colour, Point, PosterCanvas

_FACADES = (
    "#e07a5f",
    "#f2cc8f",
    "#81b29a",
    "#d9534f",
    "#f4a259",
    "#5b8e7d",
    "#e9c46a",
    "#bc4b51",
    "#8cb5c9",
    "#f6e7cb",
)


def windows(
    poster: PosterCanvas, left: float, top: float, right: float, bottom: float, columns: int, rows: int, colour: Colour
) -> None:
    """A grid of windows."""
    wide, high = (right - left) / columns, (bottom - top) / rows
    for column in range(columns):
        for row in range(rows):
            x, y = left + wide * (column + 0.28), top + high * (row + 0.22)
            poster.block(x, y, x + wide * 0.44, y + high * 0.56, colour)


def houses(
    poster: PosterCanvas,
    left: float,
    right: float,
    base: float,
    height: float = 220,
    wide: float = 80,
    roof: str = "gable",
    colours: list[str] | None = None,
) -> None:
    """A row of narrow house fronts, wall to wall."""
    x, number = left, poster.random.randrange(10)
    while x < right - wide * 0.4:
        width = min(wide * poster.random.uniform(0.8, 1.2), right - x)
        high = height * poster.random.uniform(0.78, 1)
        number += 1 + poster.random.randrange(2)
        shades = colours or _FACADES
        front = shades[number % len(shades)]
        top = base - high
        _roof(poster, roof, x, x + width, top, width * 0.55)
        poster.block(x, top, x + width, base, poster.colour(front))
        poster.block(x + width * 0.9, top, x + width, base, poster.colour(front, 0.16))
        rows, shop = max(2, round(high / 52)), min(34, high * 0.22)
        glass = poster.colour("light") if poster.palette in ("night", "dusk") else poster.colour("#33515f")
        frame = poster.colour("#fbf7ec")
        windows(poster, x + width * 0.06, top + high * 0.05, x + width * 0.92, base - shop, 3, rows, frame)
        windows(poster, x + width * 0.08, top + high * 0.055, x + width * 0.9, base - shop - 1, 3, rows, glass)
        poster.block(x, base - shop, x + width, base, poster.colour(front, 0.3))
        poster.block(x + width * 0.4, base - shop * 0.88, x + width * 0.6, base, poster.colour("#3d2b23"))
        x += width


def _roof(poster: PosterCanvas, kind: str, left: float, right: float, top: float, high: float) -> None:
    colour, middle = poster.colour("roof", poster.random.uniform(-0.1, 0.15)), (left + right) / 2
    if kind == "gable":
        poster.polygon([(left, top + 1), (middle, top - high), (right, top + 1)], colour)
        poster.block(middle - 5, top - high * 0.45, middle + 5, top - high * 0.2, poster.colour("light"))
    elif kind == "low":
        poster.polygon(
            [
                (left - 3, top + 1),
                (left + 12, top - high * 0.35),
                (right - 12, top - high * 0.35),
                (right + 3, top + 1),
            ],
            colour,
        )
    else:
        poster.block(left, top - 8, right, top, colour)


def skyline(
    poster: PosterCanvas,
    base: float,
    height: float,
    left: float = 0,
    right: float = 1200,
    colour: str = "far",
    lit: bool = False,
) -> None:
    """Blocks of a distant city."""
    x = left
    while x < right:
        wide = poster.random.uniform(26, 64)
        high = height * poster.random.uniform(0.3, 1) ** 1.3
        poster.block(
            x, base - high, min(right, x + wide), base, poster.colour(colour, poster.random.uniform(-0.08, 0.12))
        )
        if lit:
            for _ in range(round(high / 9)):
                at = (x + poster.random.uniform(4, wide - 6), base - poster.random.uniform(6, high - 4))
                poster.block(at[0], at[1], at[0] + 3, at[1] + 4, poster.colour("light"), 0.8)
        x += wide * poster.random.uniform(0.9, 1.15)


def dome(poster: PosterCanvas, x: float, base: float, size: float, colour: str = "#ffffff", onion: float = 0.0) -> None:
    """A dome with a finial; `onion` makes it swell over its foot."""
    outline: list[Point] = []
    for step in range(25):
        share = step / 24
        reach = size * (cos(share * pi / 2) ** 0.8 + onion * sin(min(1.0, share * 1.6) * pi) * 0.35)
        outline.append((x - reach, base - size * 1.25 * share))
    other = [(2 * x - left, y) for left, y in outline]
    poster.polygon([*outline, *reversed(other)], poster.colour(colour))
    poster.polygon(
        [(x + size * 0.2, base), *reversed([(x + (px - x) * 0.4, py) for px, py in other]), *other],
        poster.colour(colour, 0.12),
        0.8,
    )
    poster.line([(x, base - size * 1.2), (x, base - size * 1.6)], poster.colour("light", 0.25), size * 0.06)
    poster.oval(x, base - size * 1.38, size * 0.07, size * 0.07, poster.colour("light", 0.25))


def palace(
    poster: PosterCanvas,
    left: float,
    right: float,
    base: float,
    height: float,
    floors: int = 4,
    colour: str = "#f4efe3",
) -> None:
    """A long front of many windows, with turrets and small domes on the roof."""
    wide = right - left
    poster.block(left, base - height, right, base, poster.colour(colour))
    for block in range(3):
        start = left + wide * (0.06 + 0.32 * block)
        high = height * (1.22 if block == 1 else 1.1)
        poster.block(start, base - high, start + wide * 0.24, base, poster.colour(colour, -0.3))
        poster.block(start + wide * 0.225, base - high, start + wide * 0.24, base, poster.colour(colour, 0.12))
        for turret in range(3):
            x = start + wide * (0.03 + 0.09 * turret)
            poster.block(x - 9, base - high - 26, x + 9, base - high, poster.colour(colour, 0.06))
            poster.block(x - 12, base - high - 30, x + 12, base - high - 25, poster.colour(colour, 0.2))
            dome(poster, x, base - high - 29, 14, colour)
    glass = poster.colour("#4a5a6d") if poster.palette not in ("night", "dusk") else poster.colour("light", 0.1)
    windows(poster, left + 8, base - height + 12, right - 8, base - 10, round(wide / 26), floors, glass)
    for floor in range(1, floors):
        y = base - height * floor / floors
        poster.block(left, y, right, y + 3, poster.colour(colour, 0.18))


def mausoleum(poster: PosterCanvas, x: float, base: float, size: float, colour: str = "#f7f3ea") -> None:
    """A white tomb with a swelling dome, an arch, and four minarets."""
    for side in (-1.55, -1.15, 1.15, 1.55):
        at, high = x + side * size, size * (1.25 if abs(side) > 1.3 else 1.1)
        poster.polygon(
            [(at - 9, base), (at - 6, base - high), (at + 6, base - high), (at + 9, base)], poster.colour(colour, 0.05)
        )
        for ring in (0.35, 0.68, 1.0):
            poster.block(at - 11, base - high * ring - 3, at + 11, base - high * ring + 3, poster.colour(colour, 0.18))
        dome(poster, at, base - high, 9, colour)
    dome(poster, x, base - size * 0.86, size * 0.36, colour, onion=0.5)
    poster.block(x - size * 0.33, base - size * 0.95, x + size * 0.33, base - size * 0.6, poster.colour(colour, 0.04))
    for side in (-0.52, 0.52):
        dome(poster, x + side * size, base - size * 0.66, size * 0.14, colour, onion=0.3)
    poster.block(x - size * 0.8, base - size * 0.64, x + size * 0.8, base, poster.colour(colour))
    poster.block(x - size * 0.26, base - size * 0.76, x + size * 0.26, base, poster.colour(colour, -0.4))
    for at, wide, high in (
        (0.0, 0.17, 0.62),
        (-0.55, 0.09, 0.26),
        (0.55, 0.09, 0.26),
        (-0.55, 0.09, 0.56),
        (0.55, 0.09, 0.56),
    ):
        foot = base if high > 0.6 or high < 0.3 else base - size * 0.32
        _pointed(
            poster,
            x + at * size,
            foot,
            wide * size,
            (high if high > 0.6 else 0.24) * size,
            poster.colour("#7f8fa6", -0.1),
        )
    poster.block(x - size * 1.75, base, x + size * 1.75, base + 12, poster.colour(colour, 0.1))


def _pointed(poster: PosterCanvas, x: float, base: float, half: float, high: float, colour: Colour) -> None:
    """A pointed arch."""
    shoulder = base - high * 0.62
    poster.polygon(
        [
            (x - half, base),
            (x - half, shoulder),
            (x - half * 0.7, base - high * 0.84),
            (x, base - high),
            (x + half * 0.7, base - high * 0.84),
            (x + half, shoulder),
            (x + half, base),
        ],
        colour,
    )


def suspension(
    poster: PosterCanvas,
    deck: float,
    height: float,
    water: float,
    colour: str = "#d2492a",
    towers: tuple[float, float] = (330, 930),
) -> None:
    """Two portals, main cables and hangers over the whole width."""
    steel, dark = poster.colour(colour), poster.colour(colour, 0.25)
    left, right = towers
    top = deck - height
    spans = ((left - (right - left), left), (left, right), (right, right + (right - left)))
    for start, end in spans:
        cable = []
        for step in range(41):
            share = step / 40
            x = start + (end - start) * share
            cable.append((x, top + (deck - 18 - top) * (1 - (2 * share - 1) ** 2)))
        poster.line(cable, steel, 5)
        for x, y in cable[1:-1]:
            poster.line([(x, y), (x, deck)], steel, 1.4, 0.85)
    for x in towers:
        for side in (-1, 1):
            poster.block(x + side * 20 - 9, top - 8, x + side * 20 + 9, water + 24, steel if side < 0 else dark)
        for share in (0.0, 0.24, 0.48, 0.74):
            poster.block(x - 24, top + height * share, x + 24, top + height * share + 14, steel)
        poster.block(x - 40, water - 6, x + 40, water + 26, poster.colour("stone", 0.3))
    poster.block(0, deck, WIDTH, deck + 12, steel)
    poster.block(0, deck + 12, WIDTH, deck + 24, dark)
    for x in range(0, WIDTH, 22):
        poster.line([(x, deck + 12), (x + 11, deck + 24), (x + 22, deck + 12)], steel, 1.4)


def arches(
    poster: PosterCanvas,
    deck: float,
    water: float,
    left: float = 0,
    right: float = WIDTH,
    count: int = 6,
    colour: str = "stone",
) -> None:
    """A stone bridge of round arches, with statues on its parapet."""
    poster.block(left, deck, right, water + 6, poster.colour(colour, 0.05))
    span = (right - left) / count
    for number in range(count):
        x, half = left + span * (number + 0.5), span * 0.38
        opening = [
            (x + cos(pi * step / 24) * half, water - sin(pi * step / 24) * (water - deck) * 0.72) for step in range(25)
        ]
        ring = [(x + (px - x) * 1.12, water - (water - py) * 1.1) for px, py in opening]
        poster.polygon([*ring, (x - half * 1.12, water + 6), (x + half * 1.12, water + 6)], poster.colour(colour, 0.24))
        poster.polygon([*opening, (x - half, water + 6), (x + half, water + 6)], poster.colour("water", 0.35))
        pier = left + span * number
        poster.polygon(
            [(pier - span * 0.1, water + 16), (pier, deck + 26), (pier + span * 0.1, water + 16)],
            poster.colour(colour, 0.15),
        )
        poster.block(pier - 7, deck - 18, pier + 7, deck, poster.colour(colour, 0.3))
        poster.polygon([(pier - 8, deck - 18), (pier, deck - 62), (pier + 8, deck - 18)], poster.colour("#3a3a40"))
        poster.oval(pier, deck - 60, 6, 7, poster.colour("#3a3a40"))
    poster.block(left, deck - 6, right, deck + 8, poster.colour(colour, -0.12))


def iron_arch(
    poster: PosterCanvas, left: float, right: float, deck: float, water: float, colour: str = "#5d6a74"
) -> None:
    """A high road on one great lattice arch."""
    steel, x, half = poster.colour(colour), (left + right) / 2, (right - left) / 2
    rise = water - deck - 14

    def at(share: float, lift: float) -> Point:
        return (x + (2 * share - 1) * half, water - (rise - lift) * float(1 - (2 * share - 1) ** 2))

    upper, lower = [at(step / 30, 0) for step in range(31)], [at(step / 30, 34) for step in range(31)]
    poster.line(upper, steel, 5)
    poster.line(lower, steel, 5)
    for one, other, following in zip(upper, lower, upper[1:], strict=False):
        poster.line([one, other, following], steel, 1.6)
    for share in (0.08, 0.2, 0.32, 0.68, 0.8, 0.92):
        poster.line([at(share, 0), (at(share, 0)[0], deck)], steel, 4)
    poster.block(left - 240, deck - 10, right + 240, deck, steel)
    poster.block(left - 240, deck, right + 240, deck + 4, poster.colour(colour, 0.3))
    for post in range(int(left - 240), int(right + 240), 26):
        poster.line([(post, deck - 10), (post, deck - 22)], steel, 1.6)
    poster.line([(left - 240, deck - 22), (right + 240, deck - 22)], steel, 1.6)


def towered(poster: PosterCanvas, deck: float, water: float, colour: str = "stone") -> None:
    """Two stone towers joined by high walkways, a lifting roadway between them, chains to the banks."""
    blue = poster.colour("#5f9dc4")
    for start, end in ((-40, 400), (800, 1240)):
        rise = [(start + (end - start) * step / 30, 0.0) for step in range(31)]
        inner_right = end < 600
        chain = [
            (x, deck - 8 - 190 * ((step / 30) if inner_right else 1 - step / 30) ** 2)
            for step, (x, _) in enumerate(rise)
        ]
        poster.line(chain, blue, 9)
        for x, y in chain[1:-1:2]:
            poster.line([(x, y), (x, deck)], blue, 2)
    for y in (deck - 236, deck - 212):
        poster.block(400, y, 800, y + 9, blue)
    for x in range(430, 790, 24):
        poster.line([(x, deck - 234), (x + 12, deck - 206), (x + 24, deck - 234)], poster.colour("#f4f1e8"), 2)
    for x in (400, 800):
        poster.block(x - 62, water - 10, x + 62, water + 34, poster.colour(colour, 0.32))
        poster.block(x - 48, deck - 286, x + 48, water - 10, poster.colour(colour))
        poster.block(x + 18, deck - 286, x + 48, water - 10, poster.colour(colour, 0.16))
        windows(poster, x - 40, deck - 270, x + 40, deck - 60, 3, 4, poster.colour("#58636e"))
        poster.polygon(
            [(x - 26, deck + 4), (x - 26, deck - 42), (x, deck - 60), (x + 26, deck - 42), (x + 26, deck + 4)],
            poster.colour("#3d4650"),
        )
        poster.block(x - 56, deck - 294, x + 56, deck - 284, poster.colour(colour, 0.25))
        poster.polygon([(x - 46, deck - 292), (x, deck - 386), (x + 46, deck - 292)], poster.colour("#4d6270"))
        poster.polygon([(x, deck - 292), (x, deck - 386), (x + 46, deck - 292)], poster.colour("#3c4f5b"))
        for side in (-48, 48):
            poster.block(x + side - 9, deck - 316, x + side + 9, deck - 200, poster.colour(colour, 0.1))
            poster.polygon(
                [(x + side - 10, deck - 314), (x + side, deck - 352), (x + side + 10, deck - 314)],
                poster.colour("#4d6270"),
            )
        poster.line([(x, deck - 384), (x, deck - 404)], poster.colour("light", 0.2), 3)
    poster.block(0, deck, 352, deck + 16, blue)
    poster.block(848, deck, WIDTH, deck + 16, blue)
    for side, start in ((1, 448), (-1, 752)):
        poster.polygon(
            [(start, deck), (start + side * 146, deck - 74), (start + side * 150, deck - 58), (start, deck + 18)], blue
        )

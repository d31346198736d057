"""Houses, skylines, palaces and domes of a poster."""

from math import cos, pi, sin

from m3bench.sandboxes.world.posters.canvas import Canvas, Colour, Point

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
    canvas: Canvas, left: float, top: float, right: float, bottom: float, columns: int, rows: int, colour: Colour
) -> None:
    """A grid of windows."""
    wide, high = (right - left) / columns, (bottom - top) / rows
    for column in range(columns):
        for row in range(rows):
            x, y = left + wide * (column + 0.28), top + high * (row + 0.22)
            canvas.box(x, y, x + wide * 0.44, y + high * 0.56, colour)


def houses(
    canvas: Canvas,
    left: float,
    right: float,
    base: float,
    height: float = 220,
    wide: float = 80,
    roof: str = "gable",
    colours: list[str] | None = None,
) -> None:
    """A row of narrow house fronts, wall to wall."""
    x, number = left, canvas.random.randrange(10)
    while x < right - wide * 0.4:
        width = min(wide * canvas.random.uniform(0.8, 1.2), right - x)
        high = height * canvas.random.uniform(0.78, 1)
        number += 1 + canvas.random.randrange(2)
        shades = colours or _FACADES
        front = shades[number % len(shades)]
        top = base - high
        _roof(canvas, roof, x, x + width, top, width * 0.55)
        canvas.box(x, top, x + width, base, canvas.colour(front))
        canvas.box(x + width * 0.9, top, x + width, base, canvas.colour(front, 0.16))
        rows, shop = max(2, round(high / 52)), min(34, high * 0.22)
        glass = canvas.colour("light") if canvas.palette in ("night", "dusk") else canvas.colour("#33515f")
        frame = canvas.colour("#fbf7ec")
        windows(canvas, x + width * 0.06, top + high * 0.05, x + width * 0.92, base - shop, 3, rows, frame)
        windows(canvas, x + width * 0.08, top + high * 0.055, x + width * 0.9, base - shop - 1, 3, rows, glass)
        canvas.box(x, base - shop, x + width, base, canvas.colour(front, 0.3))
        canvas.box(x + width * 0.4, base - shop * 0.88, x + width * 0.6, base, canvas.colour("#3d2b23"))
        x += width


def _roof(canvas: Canvas, kind: str, left: float, right: float, top: float, high: float) -> None:
    colour, middle = canvas.colour("roof", canvas.random.uniform(-0.1, 0.15)), (left + right) / 2
    if kind == "gable":
        canvas.polygon([(left, top + 1), (middle, top - high), (right, top + 1)], colour)
        canvas.box(middle - 5, top - high * 0.45, middle + 5, top - high * 0.2, canvas.colour("light"))
    elif kind == "low":
        canvas.polygon(
            [
                (left - 3, top + 1),
                (left + 12, top - high * 0.35),
                (right - 12, top - high * 0.35),
                (right + 3, top + 1),
            ],
            colour,
        )
    else:
        canvas.box(left, top - 8, right, top, colour)


def skyline(
    canvas: Canvas,
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
        wide = canvas.random.uniform(26, 64)
        high = height * canvas.random.uniform(0.3, 1) ** 1.3
        canvas.box(
            x, base - high, min(right, x + wide), base, canvas.colour(colour, canvas.random.uniform(-0.08, 0.12))
        )
        if lit:
            for _ in range(round(high / 9)):
                at = (x + canvas.random.uniform(4, wide - 6), base - canvas.random.uniform(6, high - 4))
                canvas.box(at[0], at[1], at[0] + 3, at[1] + 4, canvas.colour("light"), 0.8)
        x += wide * canvas.random.uniform(0.9, 1.15)


def dome(canvas: Canvas, x: float, base: float, size: float, colour: str = "#ffffff", onion: float = 0.0) -> None:
    """A dome with a finial; `onion` makes it swell over its foot."""
    outline: list[Point] = []
    for step in range(25):
        share = step / 24
        reach = size * (cos(share * pi / 2) ** 0.8 + onion * sin(min(1.0, share * 1.6) * pi) * 0.35)
        outline.append((x - reach, base - size * 1.25 * share))
    other = [(2 * x - left, y) for left, y in outline]
    canvas.polygon([*outline, *reversed(other)], canvas.colour(colour))
    canvas.polygon(
        [(x + size * 0.2, base), *reversed([(x + (px - x) * 0.4, py) for px, py in other]), *other],
        canvas.colour(colour, 0.12),
        0.8,
    )
    canvas.line([(x, base - size * 1.2), (x, base - size * 1.6)], canvas.colour("light", 0.25), size * 0.06)
    canvas.oval(x, base - size * 1.38, size * 0.07, size * 0.07, canvas.colour("light", 0.25))


def palace(
    canvas: Canvas, left: float, right: float, base: float, height: float, floors: int = 4, colour: str = "#f4efe3"
) -> None:
    """A long front of many windows, with turrets and small domes on the roof."""
    wide = right - left
    canvas.box(left, base - height, right, base, canvas.colour(colour))
    for block in range(3):
        start = left + wide * (0.06 + 0.32 * block)
        high = height * (1.22 if block == 1 else 1.1)
        canvas.box(start, base - high, start + wide * 0.24, base, canvas.colour(colour, -0.3))
        canvas.box(start + wide * 0.225, base - high, start + wide * 0.24, base, canvas.colour(colour, 0.12))
        for turret in range(3):
            x = start + wide * (0.03 + 0.09 * turret)
            canvas.box(x - 9, base - high - 26, x + 9, base - high, canvas.colour(colour, 0.06))
            canvas.box(x - 12, base - high - 30, x + 12, base - high - 25, canvas.colour(colour, 0.2))
            dome(canvas, x, base - high - 29, 14, colour)
    glass = canvas.colour("#4a5a6d") if canvas.palette not in ("night", "dusk") else canvas.colour("light", 0.1)
    windows(canvas, left + 8, base - height + 12, right - 8, base - 10, round(wide / 26), floors, glass)
    for floor in range(1, floors):
        y = base - height * floor / floors
        canvas.box(left, y, right, y + 3, canvas.colour(colour, 0.18))


def mausoleum(canvas: Canvas, x: float, base: float, size: float, colour: str = "#f7f3ea") -> None:
    """A white tomb with a swelling dome, an arch, and four minarets."""
    for side in (-1.55, -1.15, 1.15, 1.55):
        at, high = x + side * size, size * (1.25 if abs(side) > 1.3 else 1.1)
        canvas.polygon(
            [(at - 9, base), (at - 6, base - high), (at + 6, base - high), (at + 9, base)], canvas.colour(colour, 0.05)
        )
        for ring in (0.35, 0.68, 1.0):
            canvas.box(at - 11, base - high * ring - 3, at + 11, base - high * ring + 3, canvas.colour(colour, 0.18))
        dome(canvas, at, base - high, 9, colour)
    dome(canvas, x, base - size * 0.86, size * 0.36, colour, onion=0.5)
    canvas.box(x - size * 0.33, base - size * 0.95, x + size * 0.33, base - size * 0.6, canvas.colour(colour, 0.04))
    for side in (-0.52, 0.52):
        dome(canvas, x + side * size, base - size * 0.66, size * 0.14, colour, onion=0.3)
    canvas.box(x - size * 0.8, base - size * 0.64, x + size * 0.8, base, canvas.colour(colour))
    canvas.box(x - size * 0.26, base - size * 0.76, x + size * 0.26, base, canvas.colour(colour, -0.4))
    for at, wide, high in (
        (0.0, 0.17, 0.62),
        (-0.55, 0.09, 0.26),
        (0.55, 0.09, 0.26),
        (-0.55, 0.09, 0.56),
        (0.55, 0.09, 0.56),
    ):
        foot = base if high > 0.6 or high < 0.3 else base - size * 0.32
        _pointed(
            canvas,
            x + at * size,
            foot,
            wide * size,
            (high if high > 0.6 else 0.24) * size,
            canvas.colour("#7f8fa6", -0.1),
        )
    canvas.box(x - size * 1.75, base, x + size * 1.75, base + 12, canvas.colour(colour, 0.1))


def _pointed(canvas: Canvas, x: float, base: float, half: float, high: float, colour: Colour) -> None:
    """A pointed arch."""
    shoulder = base - high * 0.62
    canvas.polygon(
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

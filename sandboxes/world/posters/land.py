"""Nature on a poster (sky, mountains, dunes, water, trees) and the life in it (boats, people, birds, lamps)."""

from math import cos, pi, sin

from m3bench.sandboxes.world.posters.poster import HEIGHT, WIDTH, Point, PosterCanvas, blend


def sky(poster: PosterCanvas, horizon: float = 520) -> None:
    """From the zenith to the horizon, and on below it."""
    poster.fade(0, horizon, poster.colour("sky"), poster.colour("horizon"))
    poster.block(0, horizon, WIDTH, HEIGHT, poster.colour("horizon"))


def sun(poster: PosterCanvas, x: float, y: float, size: float = 60) -> None:
    """The sun or the moon, in a halo."""
    for ring in range(5, 0, -1):
        poster.oval(x, y, size * (1 + 0.35 * ring), size * (1 + 0.35 * ring), poster.colour("sun"), 0.07)
    poster.oval(x, y, size, size, poster.colour("sun"))


def stars(poster: PosterCanvas, count: int = 120, bottom: float = 400) -> None:
    """Over the upper sky."""
    for _ in range(count):
        x, y = poster.random.uniform(0, WIDTH), poster.random.uniform(0, bottom)
        size = poster.random.uniform(0.8, 2.2)
        poster.oval(x, y, size, size, poster.colour("sun"), poster.random.uniform(0.4, 1))


def clouds(poster: PosterCanvas, count: int = 4, top: float = 80, bottom: float = 260, size: float = 1.0) -> None:
    """Flat-bottomed, in a loose row."""
    for place in range(count):
        x = (place + poster.random.uniform(0.2, 0.8)) * WIDTH / count
        y, wide = poster.random.uniform(top, bottom), poster.random.uniform(70, 130) * size
        for part in range(-2, 3):
            reach = wide * (1 - abs(part) / 3.2)
            poster.oval(
                x + part * wide * 0.45, y - reach * 0.12, reach * 0.5, reach * 0.26, poster.colour("cloud"), 0.9
            )
        poster.block(x - wide * 1.1, y, x + wide * 1.1, y + wide * 0.13, poster.colour("cloud"), 0.9)


def mountains(
    poster: PosterCanvas, base: float, height: float, count: int = 5, colour: str = "far", snow: bool = False
) -> None:
    """A jagged range over the whole width, lit from the left."""
    step = WIDTH / count
    for place in range(-1, count + 1):
        x = (place + poster.random.uniform(0.3, 0.7)) * step
        high = height * poster.random.uniform(0.65, 1)
        peak(poster, x, base, step * poster.random.uniform(1.3, 1.7), high, colour, snow)


def peak(
    poster: PosterCanvas,
    x: float,
    base: float,
    wide: float,
    high: float,
    colour: str = "far",
    snow: bool = True,
    lean: float = 0,
) -> None:
    """One mountain: a lit and a shaded side, and snow on top."""
    top, left, right = (x + lean * wide, base - high), x - wide / 2, x + wide / 2
    poster.polygon([(left, base), top, (right, base)], poster.colour(colour))
    fold: list[Point] = [top, (x + wide * 0.02, base - high * 0.62), (x - wide * 0.06, base - high * 0.35), (x, base)]
    poster.polygon([*fold, (right, base)], poster.colour(colour, 0.18))
    if snow:
        line = 0.36

        def at(share: float, edge: float) -> Point:
            return (top[0] + (edge - top[0]) * share, top[1] + high * share)

        zigzag = [at(line, left), at(0.24, left + wide * 0.2), at(0.34, x - wide * 0.05), at(0.26, x + wide * 0.1)]
        zigzag += [at(0.36, right - wide * 0.22), at(0.27, right - wide * 0.05), at(line, right)]
        poster.polygon([top, *zigzag], poster.colour("#f7fafc"))
        poster.polygon([top, (x + wide * 0.01, base - high * 0.7), *zigzag[3:]], poster.colour("#cfdae6"))


def cone(poster: PosterCanvas, x: float, base: float, wide: float, high: float, colour: str = "far") -> None:
    """A volcano with hollow flanks, a flat top and snow."""

    def flank(share: float) -> float:
        return 0.09 + 0.91 * float(share**1.4)

    outline = [(x - wide / 2 * flank(step / 20), base - high * (1 - step / 20)) for step in range(21)]
    other = [(2 * x - left, y) for left, y in outline]
    poster.polygon([*outline, *reversed(other)], poster.colour(colour))
    poster.polygon([(x, base - high), *other, (x, base)], poster.colour(colour, 0.12))
    caps = [(x - wide / 2 * flank(0.36), base - high * 0.64), (x - wide * 0.05, base - high * 0.72)]
    caps += [(x, base - high * 0.6), (x + wide * 0.045, base - high * 0.73)]
    caps += [(x + wide / 2 * flank(0.36), base - high * 0.64)]
    snow = [*outline[:8], *caps, *reversed(other[:8])]
    poster.polygon(snow, poster.colour("#f6f9fb"))
    poster.polygon([(x, base - high), *other[:8], caps[-1], caps[-2], caps[2]], poster.colour("#d5e0ea"))


def mesa(
    poster: PosterCanvas,
    left: float,
    right: float,
    base: float,
    high: float,
    colour: str = "middle",
    slope: float = 0.1,
    bend: float = 0.0,
) -> None:
    """A rock with steep sides and a flat or bent top, grooved."""
    wide = right - left

    def lift(share: float) -> float:
        return 1 - bend * float((2 * share - 1) ** 4)

    top = [
        (
            left + wide * (slope + (1 - 2 * slope) * step / 24),
            base - high * lift(step / 24) * poster.random.uniform(0.96, 1),
        )
        for step in range(25)
    ]
    poster.polygon([(left, base), *top, (right, base)], poster.colour(colour))
    for number in range(26):
        share = (number + poster.random.random()) / 26
        x = left + wide * (slope + (1 - 2 * slope) * share)
        drift = (x - (left + right) / 2) / wide * wide * slope * 1.6
        start = base - high * 0.93 * lift(share)
        reach = poster.random.uniform(0.5, 0.95) * lift(share)
        poster.polygon(
            [(x, start), (x + 7, start), (x + drift + 12, start + high * reach), (x + drift, start + high * reach)],
            poster.colour(colour, 0.25),
            0.35,
        )


def hills(poster: PosterCanvas, base: float, height: float, colour: str = "middle", waves: float = 2.0) -> None:
    """Soft hills down to the lower edge."""
    phase = poster.random.uniform(0, 2 * pi)
    line = [
        (x, base - height * (0.5 + 0.35 * sin(phase + x / WIDTH * waves * 2 * pi) + 0.15 * sin(2.3 * phase + x / 97)))
        for x in range(0, WIDTH + 12, 12)
    ]
    poster.polygon([(0, HEIGHT), *line, (WIDTH, HEIGHT)], poster.colour(colour))


def dunes(poster: PosterCanvas, base: float, height: float, colour: str = "middle") -> None:
    """A ridge of sand with a lit and a shaded face."""
    phase = poster.random.uniform(0, 2 * pi)
    crest = [
        (x, base - height * (0.5 + 0.5 * sin(phase + x / WIDTH * 3.6 * pi) * cos(x / WIDTH * 1.7)))
        for x in range(0, WIDTH + 10, 10)
    ]
    poster.polygon([(0, HEIGHT), *crest, (WIDTH, HEIGHT)], poster.colour(colour, -0.12))
    foot = [(x + height * 0.9, y + height * 0.75 + 30 * sin(x / 130 + phase)) for x, y in crest]
    poster.polygon([*crest, *reversed(foot)], poster.colour(colour, 0.22), 0.85)
    for number in range(5):
        ripple = [(x, y + 40 + number * 26 + 6 * sin(x / 45 + number)) for x, y in crest]
        poster.line(ripple, poster.colour(colour, -0.3), 1.2, 0.35)


def ground(poster: PosterCanvas, top: float, colour: str = "near", bottom: float = HEIGHT) -> None:
    """Flat land."""
    poster.fade(top, bottom, poster.colour(colour, -0.12), poster.colour(colour, 0.12))


def water(poster: PosterCanvas, top: float, bottom: float = HEIGHT, glints: int = 90) -> None:
    """A lake, a river or the sea, with light on it."""
    deep = poster.colour("water", 0.2)
    poster.fade(top, bottom, blend(poster.colour("water"), poster.colour("horizon"), 0.25), deep)
    for _ in range(glints):
        share = poster.random.random() ** 1.5
        y, x, wide = top + 4 + (bottom - top - 8) * share, poster.random.uniform(0, WIDTH), 12 + 70 * share
        poster.block(x, y, x + wide, y + 1 + 2 * share, poster.colour("shine"), 0.16 + 0.24 * poster.random.random())


def mirror(poster: PosterCanvas, top: float, x: float, size: float = 60) -> None:
    """The path of the sun's light on the water."""
    for step in range(14):
        wide = size * (0.35 + 0.65 * poster.random.random())
        y = top + 6 + step * 13
        poster.block(x - wide, y, x + wide, y + 4, poster.colour("sun"), 0.5 - 0.025 * step)


def falls(poster: PosterCanvas, left: float, right: float, top: float, bottom: float) -> None:
    """A curtain of falling water and its spray."""
    poster.block(left, top, right, bottom, poster.colour("shine"))
    x = left
    while x < right:
        wide = poster.random.uniform(4, 14)
        opacity = poster.random.uniform(0.1, 0.5)
        poster.block(x, top, min(right, x + wide), bottom, poster.colour("water", -0.35), opacity)
        x += wide * 1.6
    for _ in range(40):
        x, size = poster.random.uniform(left - 20, right + 20), poster.random.uniform(14, 46)
        poster.oval(x, bottom + poster.random.uniform(-14, 16), size, size * 0.6, poster.colour("cloud"), 0.35)


def palms(poster: PosterCanvas, places: list[float], base: float, height: float = 180) -> None:
    """Palm trees, each leaning its own way."""
    for x in places:
        lean, high = poster.random.uniform(-0.18, 0.18) * height, height * poster.random.uniform(0.8, 1.1)
        top = (x + lean, base - high)
        trunk = [(x + lean * (step / 10) ** 2, base - high * step / 10) for step in range(11)]
        poster.line(trunk, poster.colour("#6a4a32"), height * 0.045)
        for leaf in range(9):
            angle = pi * (-0.15 + 1.3 * leaf / 8)
            reach = height * poster.random.uniform(0.36, 0.46)
            tip = (top[0] + cos(angle) * reach, top[1] - sin(angle) * reach * 0.55 + reach * 0.28)
            middle = (top[0] + cos(angle) * reach * 0.5, top[1] - sin(angle) * reach * 0.6)
            below = (middle[0], middle[1] + height * 0.07)
            poster.polygon([top, middle, tip, below], poster.colour("leaf", 0.1 if leaf % 2 else -0.08))


def trees(
    poster: PosterCanvas,
    places: list[float],
    base: float,
    height: float = 90,
    kind: str = "round",
    colour: str = "leaf",
) -> None:
    """Round crowns, tall cypresses or firs."""
    for x in places:
        high = height * poster.random.uniform(0.8, 1.15)
        poster.block(x - high * 0.04, base - high * 0.35, x + high * 0.04, base, poster.colour("#5d4330"))
        if kind == "cypress":
            poster.oval(x, base - high * 0.55, high * 0.14, high * 0.5, poster.colour(colour))
            poster.oval(x + high * 0.04, base - high * 0.55, high * 0.08, high * 0.45, poster.colour(colour, 0.18))
        elif kind == "fir":
            for level in range(3):
                y, wide = base - high * (0.15 + 0.26 * level), high * (0.3 - 0.07 * level)
                poster.polygon([(x - wide, y), (x, y - high * 0.42), (x + wide, y)], poster.colour(colour))
                poster.polygon([(x, y), (x, y - high * 0.42), (x + wide, y)], poster.colour(colour, 0.18))
        else:
            poster.oval(x, base - high * 0.62, high * 0.34, high * 0.36, poster.colour(colour))
            poster.oval(x - high * 0.1, base - high * 0.7, high * 0.18, high * 0.2, poster.colour(colour, -0.15), 0.6)


_COATS = ("#c8553d", "#2f5d8a", "#e0a458", "#4f7d5a", "#7d4f7d", "#3b3b4f", "#d98c9c")


def people(poster: PosterCanvas, places: list[float], base: float, size: float = 60) -> None:
    """Strollers, each with a shadow."""
    for x in places:
        high, coat = size * poster.random.uniform(0.88, 1.08), poster.random.choice(_COATS)
        poster.oval(x + high * 0.14, base, high * 0.24, high * 0.045, poster.colour("ink"), 0.25)
        stride = high * poster.random.uniform(0.08, 0.14)
        for side in (-1, 1):
            poster.line([(x, base - high * 0.46), (x + side * stride, base)], poster.colour("#2c3444"), high * 0.09)
        poster.polygon(
            [
                (x - high * 0.13, base - high * 0.8),
                (x + high * 0.13, base - high * 0.8),
                (x + high * 0.16, base - high * 0.36),
                (x - high * 0.16, base - high * 0.36),
            ],
            poster.colour(coat),
        )
        poster.line(
            [(x + high * 0.12, base - high * 0.76), (x + high * 0.19, base - high * 0.46)],
            poster.colour(coat, 0.2),
            high * 0.06,
        )
        poster.oval(x, base - high * 0.9, high * 0.085, high * 0.1, poster.colour("#b9805c"))
        poster.polygon(
            [(x - high * 0.09, base - high * 0.91), (x, base - high * 1.02), (x + high * 0.09, base - high * 0.91)],
            poster.colour("#3a2a22"),
        )


def boat(
    poster: PosterCanvas,
    x: float,
    base: float,
    size: float = 120,
    kind: str = "rowing",
    sail: str = "#f6efe0",
    hull: str = "#7a4a2b",
) -> None:
    """A boat with a mirror image: a long wine boat, a sailing boat, a ferry or a rowing boat."""
    half, high = size / 2, size * 0.16
    poster.oval(x, base + high * 0.5, half * 1.05, high * 0.4, poster.colour("water", 0.5), 0.45)
    if kind == "wine":
        _wine_boat(poster, x, base, size, sail, hull)
        return
    poster.polygon(
        [
            (x - half, base - high * 0.7),
            (x + half * 1.08, base - high * 0.9),
            (x + half * 0.72, base + high * 0.4),
            (x - half * 0.72, base + high * 0.4),
        ],
        poster.colour(hull),
    )
    poster.polygon(
        [
            (x - half, base - high * 0.7),
            (x + half * 1.08, base - high * 0.9),
            (x + half * 1.0, base - high * 0.55),
            (x - half * 0.95, base - high * 0.4),
        ],
        poster.colour(hull, -0.35),
    )
    if kind == "sail":
        poster.line([(x, base - high * 0.7), (x, base - size * 1.15)], poster.colour("#5b4634"), 3.5)
        poster.polygon(
            [(x + 4, base - size * 1.12), (x + 4, base - high * 1.2), (x + half * 0.95, base - high * 1.4)],
            poster.colour(sail),
        )
        poster.polygon(
            [(x - 4, base - size * 1.0), (x - 4, base - high * 1.2), (x - half * 0.75, base - high * 1.2)],
            poster.colour(sail, 0.1),
        )
    elif kind == "ferry":
        poster.block(x - half * 0.7, base - high * 2.2, x + half * 0.6, base - high * 0.7, poster.colour("#f7f4ea"))
        for window in range(6):
            left = x - half * 0.6 + window * half * 0.2
            poster.block(left, base - high * 1.9, left + half * 0.12, base - high * 1.3, poster.colour("#41606e"))
        poster.block(x - half * 0.1, base - high * 3.2, x + half * 0.12, base - high * 2.2, poster.colour("roof"))


def _wine_boat(poster: PosterCanvas, x: float, base: float, size: float, sail: str, hull: str) -> None:
    """A long boat with barrels and a square sail."""
    half, high = size / 2, size * 0.16
    outline = [
        (x - half * 1.15, base - high * 1.5),
        (x - half * 0.7, base - high * 0.4),
        (x + half * 0.6, base - high * 0.3),
        (x + half * 1.1, base - high * 1.1),
        (x + half * 0.75, base + high * 0.4),
        (x - half * 0.7, base + high * 0.4),
    ]
    poster.polygon(outline, poster.colour(hull))
    for barrel in range(4):
        at = x - half * 0.35 + barrel * half * 0.24
        poster.oval(at, base - high * 0.6, half * 0.11, high * 0.42, poster.colour("#a8693c"))
        poster.line([(at, base - high), (at, base - high * 0.2)], poster.colour("#4c2f1b"), 2)
    poster.line([(x - half * 0.55, base - high * 0.4), (x - half * 0.55, base - high * 5)], poster.colour("#4c2f1b"), 4)
    poster.polygon(
        [
            (x - half * 0.9, base - high * 4.8),
            (x - half * 0.05, base - high * 4.6),
            (x + half * 0.05, base - high * 1.8),
            (x - half * 0.85, base - high * 1.9),
        ],
        poster.colour(sail),
    )
    poster.line([(x + half * 0.7, base - high * 0.5), (x + half * 1.5, base + high * 0.3)], poster.colour("#4c2f1b"), 4)


def birds(poster: PosterCanvas, count: int = 6, top: float = 120, bottom: float = 280) -> None:
    """Gulls, far away."""
    for _ in range(count):
        x, y, size = poster.random.uniform(120, 1080), poster.random.uniform(top, bottom), poster.random.uniform(8, 16)
        wings = [(x + size * (step / 10 - 1), y - size * 0.45 * abs(sin(step / 10 * pi))) for step in range(21)]
        poster.line(wings, poster.colour("ink"), 2, 0.75)


def lamps(poster: PosterCanvas, places: list[float], base: float, height: float = 130) -> None:
    """Street lamps."""
    for x in places:
        poster.line([(x, base), (x, base - height)], poster.colour("#2d3138"), 5)
        poster.block(x - 8, base - 10, x + 8, base, poster.colour("#2d3138"))
        poster.polygon(
            [
                (x - 11, base - height - 22),
                (x + 11, base - height - 22),
                (x + 7, base - height),
                (x - 7, base - height),
            ],
            poster.colour("light"),
        )
        poster.polygon(
            [(x - 13, base - height - 22), (x, base - height - 34), (x + 13, base - height - 22)],
            poster.colour("#2d3138"),
        )


def quay(poster: PosterCanvas, top: float, bottom: float) -> None:
    """A stone edge between houses and water."""
    poster.block(0, top, 1200, bottom, poster.colour("stone", 0.12))
    poster.block(0, top, 1200, top + 7, poster.colour("stone", -0.2))
    for row, y in enumerate(range(int(top) + 16, int(bottom), 14)):
        poster.line([(0, y), (1200, y)], poster.colour("stone", 0.35), 1.2, 0.7)
        for x in range(-30 + 30 * (row % 2), 1200, 60):
            poster.line([(x, y), (x, min(bottom, y + 14))], poster.colour("stone", 0.35), 1.2, 0.7)


def promenade(poster: PosterCanvas, top: float, bottom: float = 800) -> None:
    """A paved walk that runs towards the horizon."""
    poster.fade(top, bottom, poster.colour("stone", -0.1), poster.colour("stone", 0.12))
    for line in range(-12, 13):
        poster.line([(600 + line * 34, top), (600 + line * 190, bottom)], poster.colour("stone", 0.25), 1.4, 0.6)
    y, step = top, 5.0
    while y < bottom:
        poster.line([(0, y), (1200, y)], poster.colour("stone", 0.25), 1.2, 0.6)
        y, step = y + step, step * 1.32

"""Bridges of a poster: hanging, of stone, of iron, with towers."""

from math import cos, pi, sin

from m3bench.sandboxes.world.posters.buildings import windows
from m3bench.sandboxes.world.posters.poster import WIDTH, Point, Poster


def suspension(
    poster: Poster,
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
    poster: Poster,
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


def iron_arch(poster: Poster, left: float, right: float, deck: float, water: float, colour: str = "#5d6a74") -> None:
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


def towered(poster: Poster, deck: float, water: float, colour: str = "stone") -> None:
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

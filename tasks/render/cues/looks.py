"""Cues of looks: patterns, what lies on top, where a ball lies, what is pointed at, the odd one out, kinds, handwriting."""

import math
import random

from m3bench.tasks.render.cues.cue import Cue, Fragments, Value, card, colour, pale
from m3bench.tasks.render.shapes import ellipse, line, mix, path, polygon, rect

_PATTERNS = ("striped", "checked", "dotted", "plain")


def cloth(rng: random.Random, value: Value) -> Fragments:
    """A pennant, a cloth, a ball or a vase in two colours of any kind, with a pattern at any angle."""
    ground, ink = colour(rng, (0.3, 0.92)), colour(rng, (0.15, 0.9))
    ink = (
        ink
        if abs(_bright(ground) - _bright(ink)) > 60
        else mix(ink, "#ffffff" if _bright(ground) < 128 else "#000000", 0.6)
    )
    shape = rng.choice(
        (
            '<path d="M6 12 L94 28 L10 88 Z"/>', '<rect x="8" y="16" width="84" height="76" rx="4"/>',
            '<circle cx="50" cy="52" r="43"/>', '<path d="M36 6 H64 L60 26 Q92 44 84 76 Q78 96 50 96 Q22 96 16 76 Q8 44 40 26 Z"/>',
        )
    )  # fmt: skip
    key, turn, step = f"c{rng.randrange(1 << 30)}", rng.uniform(-40, 40), rng.uniform(13, 21)
    drawn = [
        f'<defs><clipPath id="{key}">{shape}</clipPath></defs><g clip-path="url(#{key})"><rect width="100" height="100" fill="{ground}"/><g transform="rotate({turn:.1f} 50 50)">'
    ]
    places = [-60 + step * number for number in range(int(220 / step))]
    if value == "striped":
        drawn += [rect(-60, y, 220, step * 0.46, ink) for y in places]
    elif value == "checked":
        drawn += [
            rect(x, y, step, step, ink) for i, x in enumerate(places) for j, y in enumerate(places) if (i + j) % 2
        ]
    elif value == "dotted":
        drawn += [
            ellipse(x + (step / 2 if j % 2 else 0), y, step * 0.27, step * 0.27, ink)
            for x in places
            for j, y in enumerate(places)
        ]
    shade = ellipse(62, 66, 60, 60, "none", 'stroke="#000000" stroke-width="34" opacity="0.13"')
    outline = shape.replace("/>", f' fill="none" stroke="{mix(ground, "#000000", 0.45)}" stroke-width="1.6"/>')
    return [*drawn, "</g>", shade, "</g>", outline]  # fmt: skip


def _bright(shade: str) -> float:
    red, green, blue = bytes.fromhex(shade.removeprefix("#"))
    return 0.3 * red + 0.59 * green + 0.11 * blue


def layers(rng: random.Random, value: Value) -> Fragments:
    """A round and a square piece of card that overlap; the value is which lies on top."""
    first, second = colour(rng), colour(rng)
    if abs(_bright(first) - _bright(second)) < 25:
        second = mix(second, "#ffffff", 0.5) if _bright(first) < 150 else mix(second, "#000000", 0.5)
    x, y = rng.choice((-1, 1)) * rng.uniform(12, 18), rng.choice((-1, 1)) * rng.uniform(8, 14)
    size, turn = rng.uniform(27, 31), rng.uniform(-25, 25)

    def pieces(shadow: float, fill: str, *, round_: bool) -> str:
        cx, cy = (50 + x + shadow, 50 + y + shadow) if round_ else (50 - x + shadow, 50 - y + shadow)
        if round_:
            return ellipse(cx, cy, size, size, fill, 'stroke="#00000055" stroke-width="1"')
        return rect(
            cx - size,
            cy - size,
            2 * size,
            2 * size,
            fill,
            2,
            f'stroke="#00000055" transform="rotate({turn:.1f} {cx:.1f} {cy:.1f})"',
        )

    order = (False, True) if value == "round on square" else (True, False)
    shades = {True: first, False: second}
    return [part for kind in order for part in (pieces(2.5, "#00000038", round_=kind), pieces(0, shades[kind], round_=kind))]  # fmt: skip


def ball(rng: random.Random, value: Value) -> Fragments:
    """A ball and two blocks: left of both, between them, right of both, or partly hidden behind one."""
    ground, first, second, third = colour(rng, (0.55, 0.85), (0.1, 0.5)), colour(rng), colour(rng), colour(rng)
    middles = {"left": (16, 47, 80), "between": (50, 18, 82), "right": (84, 20, 53), "behind": (50, 30, 74)}[str(value)]
    x, *blocks = (place + rng.uniform(-2, 2) for place in middles)
    size, radius = rng.uniform(21, 26), rng.uniform(11, 14)
    drawn = [ellipse(50, 86, 49, 12, ground)]
    bodies = []
    for number, (at, shade) in enumerate(zip(blocks, (second, third), strict=True)):
        tall = size * rng.uniform(1.0, 1.9)
        bodies.append(
            rect(
                at - size / 2,
                90 - tall,
                size,
                tall,
                shade,
                rng.choice((0, 3, 9)),
                f'stroke="{mix(shade, "#000000", 0.4)}" stroke-width="1.4"',
            )
        )
        if number == 0 and value == "behind":
            x, radius = at + rng.choice((-1, 1)) * size * 0.5, 13.0
    round_ = [
        ellipse(x, 84 - radius + 2, radius, radius, first, f'stroke="{mix(first, "#000000", 0.4)}" stroke-width="1.4"'),
        ellipse(x - radius * 0.3, 82 - radius * 1.3, radius * 0.25, radius * 0.2, "#ffffff", 'opacity="0.7"'),
    ]
    return [*drawn, *(round_ + bodies if value == "behind" else bodies + round_)]  # fmt: skip


_SHAPES = ("circle", "square", "triangle", "star", "heart")


def shape(kind: str, x: float, y: float, size: float, fill: str, *, turn: float = 0, more: str = "") -> str:
    """One of a few shapes about a point."""
    if kind == "circle":
        return ellipse(x, y, size, size, fill, more)
    around = f'transform="rotate({turn:.1f} {x:.1f} {y:.1f})" {more}'
    if kind == "square":
        return rect(x - size * 0.88, y - size * 0.88, size * 1.76, size * 1.76, fill, 0, around)
    if kind == "heart":
        d = f"M{x:.1f} {y + size:.1f} C{x - 2 * size:.1f} {y - size * 0.4:.1f} {x - size * 0.7:.1f} {y - size * 1.5:.1f} {x:.1f} {y - size * 0.45:.1f} C{x + size * 0.7:.1f} {y - size * 1.5:.1f} {x + 2 * size:.1f} {y - size * 0.4:.1f} {x:.1f} {y + size:.1f} Z"
        return path(d, fill, around)
    count, inner = (3, 0.0) if kind == "triangle" else (5, 0.46)
    points = []
    for number in range(count * (2 if inner else 1)):
        angle = -math.pi / 2 + math.tau * number / (count * (2 if inner else 1))
        reach = size * 1.2 * (inner if inner and number % 2 else 1)
        points.append((x + reach * math.cos(angle), y + reach * math.sin(angle)))
    return polygon(points, fill, around)


_POSTS = ((20, 34), (50, 19), (80, 34))


def hand(rng: random.Random, value: Value) -> Fragments:
    """A hand from below whose finger points at one of three shapes in any order."""
    skin, sleeve = rng.choice(("#f2c9a4", "#c98f62", "#8a5a3b", "#f6dcc0", "#5f3f2b")), colour(rng, (0.25, 0.7))
    target, others = str(value), [kind for kind in _SHAPES if kind != value]
    kinds = [target, *rng.sample(others, 2)]
    rng.shuffle(kinds)
    drawn = card(rng)
    for kind, (x, y) in zip(kinds, _POSTS, strict=True):
        drawn.append(
            shape(
                kind,
                x + rng.uniform(-2, 2),
                y + rng.uniform(-2, 2),
                11,
                colour(rng, (0.3, 0.6)),
                turn=rng.uniform(-12, 12),
            )
        )
    x, y = _POSTS[kinds.index(target)]
    start = (50 + rng.uniform(-5, 5), 80.0)
    far = math.dist(start, (x, y)) - 17
    angle = math.degrees(math.atan2(x - start[0], start[1] - y))
    edge = f'stroke="{mix(skin, "#000000", 0.45)}" stroke-width="1.3"'
    palm = [
        rect(-9, 4, 18, 22, sleeve, 2), rect(-4.2, -far, 7.4, far + 2, skin, 3.6, edge), rect(-10, -11, 20, 19, skin, 6, edge),
        line(-1, -6, -1, 3, mix(skin, "#000000", 0.35), 1), line(4, -6, 4, 3, mix(skin, "#000000", 0.35), 1),
    ]  # fmt: skip
    return [
        *drawn,
        f'<g transform="translate({start[0]:.1f} {start[1] - 8:.1f}) rotate({angle:.1f})">{"".join(palm)}</g>',
    ]


def face(rng: random.Random, value: Value) -> Fragments:
    """A face in the middle that looks at one of three shapes."""
    skin = rng.choice(("#f2c9a4", "#c98f62", "#8a5a3b", "#ffd84d", "#b9c7d6"))
    target, others = str(value), [kind for kind in _SHAPES if kind != value]
    kinds = [target, *rng.sample(others, 2)]
    rng.shuffle(kinds)
    drawn = card(rng)
    posts = rng.choice((((15, 80), (85, 80), (50, 15)), ((15, 20), (85, 20), (50, 87)), ((14, 52), (86, 52), (50, 14))))
    for kind, (x, y) in zip(kinds, posts, strict=True):
        drawn.append(shape(kind, x, y, 9, colour(rng, (0.3, 0.6)), turn=rng.uniform(-12, 12)))
    x, y = posts[kinds.index(target)]
    drawn.append(ellipse(50, 52, 25, 25, skin, f'stroke="{mix(skin, "#000000", 0.45)}" stroke-width="1.4"'))
    away = math.dist((50, 50), (x, y))
    for eye in (-10, 10):
        drawn += [
            ellipse(50 + eye, 48, 8.4, 8.4, "#ffffff", 'stroke="#444444" stroke-width="1"'),
            ellipse(50 + eye + 4.6 * (x - 50) / away, 48 + 4.6 * (y - 50) / away, 3.6, 3.6, "#1d1a18"),
        ]
    return [*drawn, path("M42 65 q8 5 16 0", more='stroke="#5a2a22" stroke-width="2.2"')]  # fmt: skip


def group(rng: random.Random, value: Value) -> Fragments:
    """Six shapes on a card, all alike, or one of them turned, larger, hollow or another."""
    kind, fill, size = rng.choice(("triangle", "star", "heart")), colour(rng, (0.28, 0.6)), rng.uniform(8.5, 10)
    turn, odd = rng.choice((0, 30, -30)), rng.randrange(6)
    how = rng.choice(("turned", "larger", "hollow", "another")) if value == "one differs" else ""
    drawn = card(rng)
    for number in range(6):
        x, y = 21 + 29 * (number % 3) + rng.uniform(-3, 3), 30 + 39 * (number // 3) + rng.uniform(-3, 3)
        mine = how if number == odd else ""
        other = rng.choice([another for another in _SHAPES if another != kind])
        more = f'fill-opacity="0" stroke="{fill}" stroke-width="2.6"' if mine == "hollow" else ""
        drawn.append(
            shape(
                other if mine == "another" else kind, x, y, size * (1.55 if mine == "larger" else 1), fill,
                turn=turn + (180 if mine == "turned" else 0), more=more,
            )
        )  # fmt: skip
    return drawn


def tag(rng: random.Random, value: Value) -> Fragments:
    """A number by hand on a tag: one that was corrected stands above or beside the one that was struck out."""
    now, before = (int(part) for part in str(value).split("/"))
    ink, paper = rng.choice(("#1d3f8f", "#22262e", "#7a1d2a", "#1d5a3a")), pale(rng)
    drawn = [
        polygon(
            [(18, 6), (82, 6), (97, 24), (97, 96), (3, 96), (3, 24)],
            paper,
            f'stroke="{mix(paper, "#000000", 0.4)}" stroke-width="1.4"',
        ),
        ellipse(50, 17, 4.6, 4.6, "#5c5548"),
    ]
    style = 'font-family="&apos;Caveat&apos;" font-weight="600" text-anchor="middle"'
    if not before:
        return [*drawn, f'<text x="50" y="78" font-size="62" fill="{ink}" {style}>{now}</text>']
    above = rng.random() < 0.5
    old, new = ((50, 90), (52, 52)) if above else ((50, 52), (50, 91))
    drawn += [
        f'<text x="{old[0]}" y="{old[1]}" font-size="44" fill="{ink}" {style}>{before}</text>',
        f'<text x="{new[0]}" y="{new[1]}" font-size="46" fill="{rng.choice((ink, "#22262e", "#a3262f"))}" {style}>{now}</text>',
    ]
    for _ in range(rng.randint(1, 3)):
        drawn.append(
            line(24, old[1] - rng.uniform(8, 18), 77, old[1] - rng.uniform(8, 18), ink, 3.4, 'stroke-linecap="round"')
        )
    return drawn  # fmt: skip


_KINDS = {
    "a bird": ("owl", "parrot", "swan", "flamingo", "penguin", "eagle", "duck", "peacock", "rooster", "goose", "dodo", "turkey"),
    "an insect": ("ant", "bee", "beetle", "butterfly", "cricket", "fly", "ladybug", "mosquito"),
    "a musical instrument": ("accordion", "banjo", "drum", "guitar", "saxophone", "trumpet", "violin", "piano"),
    "an animal of the sea": ("octopus", "dolphin", "whale", "crab", "jellyfish", "lobster", "seal", "squid", "shark"),
    "a tool": ("hammer", "wrench", "saw", "screwdriver", "pick", "axe", "scissors", "clamp"),
    "something that flies": ("airplane", "helicopter", "balloon", "kite", "rocket", "satellite", "dart", "boomerang"),
}  # fmt: skip
"""Pictures on a card that only their looks tell, by what they are."""


def _numbers() -> list[Cue]:
    found = []
    for limit, said in ((50, "fifty"), (40, "forty"), (60, "sixty")):
        high, low = range(limit + 6, 99, 3), range(11, limit - 5, 3)
        for word, one, other in (("above", high, low), ("below", low, high)):

            def told(good: range, bad: range) -> tuple[str, ...]:
                corrected = (f"{now}/{was}" for now, was in zip(good, reversed(bad), strict=False))
                again = (f"{now}/{was}" for now, was in zip(good, good[3:], strict=False))
                return (*corrected, *corrected_twice(good, bad), *again, *(f"{now}/0" for now in good[::4]))

            found.append(
                Cue(
                    name=f"tag {word} {limit}",
                    skill="handwriting",
                    phrase=f"a tag with a number {word} {said}, as corrected",
                    holds=told(one, other),
                    fails=told(other, one),
                    draw=tag,
                    measure="reading",
                )
            )
    return found  # fmt: skip


def corrected_twice(good: range, bad: range) -> tuple[str, ...]:
    """Numbers of one kind that replace one of the other."""
    return tuple(f"{now}/{was}" for now in good[1::2] for was in bad[::4])


def _cues() -> list[Cue]:
    found = [
        Cue(
            name=f"cloth {pattern}", skill="surface", phrase=f"something {pattern}" if pattern != "plain" else "something in one plain colour, without a pattern,",
            holds=(pattern,), fails=tuple(other for other in _PATTERNS if other != pattern), draw=cloth, measure="kind",
        )
        for pattern in _PATTERNS[:3]
    ]  # fmt: skip
    for value, other, phrase in (
        ("round on square", "square on round", "a round card lying on a square one"),
        ("square on round", "round on square", "a square card lying on a round one"),
    ):
        found.append(
            Cue(
                name=f"layers {value}",
                skill="overlap",
                phrase=phrase,
                holds=(value,),
                fails=(other,),
                draw=layers,
                measure="relation",
            )
        )
    places = ("left", "between", "right", "behind")
    for value, phrase in (
        ("between", "a ball between two blocks"), ("left", "a ball to the left of both its blocks"),
        ("right", "a ball to the right of both its blocks"), ("behind", "a ball half hidden behind a block"),
    ):  # fmt: skip
        found.append(
            Cue(
                name=f"ball {value}",
                skill="relation",
                phrase=phrase,
                holds=(value,),
                fails=tuple(p for p in places if p != value),
                draw=ball,
                measure="relation",
            )
        )
    for kind in _SHAPES:
        rest = tuple(other for other in _SHAPES if other != kind)
        for name, draw, said in (("hand", hand, "a hand that points at"), ("face", face, "a face that looks at")):
            found.append(
                Cue(
                    name=f"{name} {kind}",
                    skill="pointing",
                    phrase=f"{said} a {kind}",
                    holds=(kind,),
                    fails=rest,
                    draw=draw,
                    measure="relation",
                )
            )
    for value, other, phrase in (
        ("one differs", "all alike", "a card on which one shape is unlike the others"), ("all alike", "one differs", "a card on which all shapes are alike"),
    ):  # fmt: skip
        found.append(
            Cue(
                name=f"group {value}",
                skill="odd_one_out",
                phrase=phrase,
                holds=(value,),
                fails=(other,),
                draw=group,
                measure="state",
            )
        )
    for kind, members in _KINDS.items():
        rest = tuple(
            member
            for other, names in _KINDS.items()
            if other != kind
            for member in names
            if {kind, other} != {"a bird", "something that flies"}
            and {kind, other} != {"an insect", "something that flies"}
        )
        found.append(
            Cue(
                name=f"picture of {kind}",
                skill="recognition",
                phrase=f"a picture of {kind}",
                holds=members,
                fails=rest,
                measure="kind",
            )
        )
    return [*found, *_numbers()]  # fmt: skip


CUES = tuple(_cues())

"""Cues of amount: how many there are, what a dial says, and charts without numbers."""

import math
import random
from collections.abc import Callable

from m3bench.tasks.render.cues.cue import Cue, Fragments, Value, card, colour, dark, pale
from m3bench.tasks.render.shapes import ellipse, line, mix, path, polygon, rect

_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}


def pencils(rng: random.Random, value: Value) -> Fragments:
    """Pencils in a pot, of many lengths and colours."""
    count, pot = int(value), colour(rng, (0.3, 0.75))
    drawn = []
    for number in range(count):
        x = 50 + (number - (count - 1) / 2) * 10.5 + rng.uniform(-1, 1)
        lean, top, wood = (x - 50) * rng.uniform(0.25, 0.5), rng.uniform(8, 32), colour(rng)
        tip = [(x + lean - 3.4, top + 10), (x + lean + 3.4, top + 10), (x + lean * 1.15, top)]
        drawn += [
            polygon(
                [tip[0], tip[1], (x + 3.4, 70), (x - 3.4, 70)],
                wood,
                f'stroke="{mix(wood, "#000000", 0.5)}" stroke-width="1"',
            ),
            polygon(tip, "#e8cfa0"),
            polygon(
                [((tip[0][0] + tip[2][0]) / 2, top + 5), ((tip[1][0] + tip[2][0]) / 2, top + 5), tip[2]], "#2b2622"
            ),
        ]
    wide = max(24, count * 6)
    return [*drawn, polygon([(50 - wide, 56), (50 + wide, 56), (50 + wide * 0.85, 97), (50 - wide * 0.85, 97)], pot), line(50 - wide, 66, 50 + wide * 0.97, 66, mix(pot, "#ffffff", 0.5), 4)]  # fmt: skip


def cups(rng: random.Random, value: Value) -> Fragments:
    """Six cups on a tray from above; some have coffee in them, and the rest a glaze of any colour."""
    full, tray, china = int(value), colour(rng, (0.3, 0.75)), pale(rng)
    glaze = rng.choice((china, mix(china, "#8fb3c9", 0.5), mix(china, "#d3b48c", 0.4)))
    filled = set(rng.sample(range(6), full))
    drawn = [
        rect(2, 14, 96, 72, tray, rng.choice((4, 14, 30)), f'stroke="{mix(tray, "#000000", 0.4)}" stroke-width="2"')
    ]
    for number in range(6):
        x, y = 19 + 31 * (number % 3) + rng.uniform(-2, 2), 33 + 34 * (number // 3) + rng.uniform(-2, 2)
        angle = rng.uniform(0, math.tau)
        drawn += [
            line(x, y, x + 17 * math.cos(angle), y + 17 * math.sin(angle), china, 5, 'stroke-linecap="round"'),
            ellipse(x, y, 12.5, 12.5, china, 'stroke="#4b4b4b" stroke-width="0.8"'),
            ellipse(x, y, 9.6, 9.6, mix(glaze, "#000000", 0.14)),
            ellipse(x, y + 0.8, 9, 9, rng.choice(("#3b2418", "#5a3822", "#7c5534")) if number in filled else glaze),
        ]
        if number not in filled:
            drawn.append(ellipse(x - 2, y + 3, 4.6, 3.4, mix(glaze, "#ffffff", 0.5)))
    return drawn


def dice(rng: random.Random, value: Value) -> Fragments:
    """Two dice; what they show together is the value."""
    total = int(value)
    one = rng.randint(max(1, total - 6), min(6, total - 1))
    drawn = []
    for number, pips in enumerate((one, total - one)):
        body = pale(rng) if rng.random() < 0.6 else colour(rng, (0.3, 0.5))
        ink = dark(rng) if int(body[1:3], 16) > 180 else "#f7f3e6"
        x, y, turn = (
            (26, rng.uniform(30, 70), rng.uniform(-32, 32))
            if not number
            else (73, rng.uniform(30, 70), rng.uniform(-32, 32))
        )
        spots = {1: "4", 2: "08", 3: "048", 4: "0268", 5: "02468", 6: "035268"}[pips]
        dots = "".join(ellipse(-11 + 11 * (int(at) % 3), -11 + 11 * (int(at) // 3), 3.6, 3.6, ink) for at in spots)
        faces = rect(-18, -18, 40, 40, "#00000044", 6) + rect(-20, -20, 40, 40, body, 6, 'stroke="#00000066"')
        drawn.append(f'<g transform="translate({x} {y:.1f}) rotate({turn:.1f})">{faces}{dots}</g>')
    return drawn  # fmt: skip


def bouquet(rng: random.Random, value: Value) -> Fragments:
    """A vase with five stems; some have blossoms, the rest buds."""
    open_ones, vase, petal = int(value), colour(rng), colour(rng, (0.5, 0.85), (0.5, 0.95))
    blooming = set(rng.sample(range(5), open_ones))
    drawn = []
    for number in range(5):
        x, y = 14 + 18 * number + rng.uniform(-2, 2), rng.uniform(12, 30) + abs(number - 2) * 6
        drawn.append(
            path(f"M50 70 Q{(x + 50) / 2:.1f} {y + 20:.1f} {x:.1f} {y:.1f}", more='stroke="#5d8a45" stroke-width="2.4"')
        )
        if number in blooming:
            drawn += [
                ellipse(x + 6 * math.cos(a), y + 6 * math.sin(a), 5.2, 5.2, petal) for a in (0.3, 1.55, 2.8, 4.05, 5.3)
            ]
            drawn.append(ellipse(x, y, 4, 4, mix(petal, "#46330c", 0.55)))
        else:
            drawn += [ellipse(x, y, 3.4, 6.2, mix(petal, "#5d8a45", 0.45)), ellipse(x, y + 3.4, 3.6, 3.4, "#5d8a45")]
    return [*drawn, path("M36 64 H64 L70 84 Q70 97 50 97 Q30 97 30 84 Z", vase, f'stroke="{mix(vase, "#000000", 0.4)}" stroke-width="1.5"')]  # fmt: skip


def clock(rng: random.Random, value: Value) -> Fragments:
    """A round or square clock with its twelve above, with figures, strokes or neither."""
    hours, face, ink = float(value), pale(rng), dark(rng)
    square, marks = rng.random() < 0.35, rng.choice(("figures", "strokes", "four"))
    frame = f'stroke="{colour(rng, (0.2, 0.6))}" stroke-width="{rng.uniform(4, 8):.1f}"'
    drawn = [rect(6, 6, 88, 88, face, 12, frame) if square else ellipse(50, 50, 45, 45, face, frame)]
    for hour in range(12):
        angle = math.radians(30 * hour - 90)
        near, far = (33, 39) if hour % 3 else (30, 39)
        if marks == "four" and hour % 3:
            continue
        drawn.append(
            line(
                50 + near * math.cos(angle),
                50 + near * math.sin(angle),
                50 + far * math.cos(angle),
                50 + far * math.sin(angle),
                ink,
                2.4 if hour % 3 else 4,
            )
        )
    drawn.append(polygon([(46, 16), (54, 16), (50, 22)], ink))
    for angle, reach, wide in ((30 * hours, 20, 5.6), (360 * (hours % 1), 33, 3.4)):
        turned = math.radians(angle - 90)
        drawn.append(
            line(
                50 - 5 * math.cos(turned),
                50 - 5 * math.sin(turned),
                50 + reach * math.cos(turned),
                50 + reach * math.sin(turned),
                ink,
                wide,
                'stroke-linecap="round"',
            )
        )
    return [*drawn, ellipse(50, 50, 4, 4, ink)]  # fmt: skip


def thermometer(rng: random.Random, value: Value) -> Fragments:
    """A column beside a scale from 0 to 40 with figures at 0, 20 and 40."""
    degrees, back, fluid = float(value), pale(rng), rng.choice(("#c8202f", "#2456b8", "#1d2430", "#2e8b4f", "#b3367f"))
    ink, x = dark(rng), rng.choice((38.0, 62.0))
    drawn = [rect(20, 1, 60, 98, back, rng.choice((4, 14)), f'stroke="{mix(back, "#000000", 0.4)}" stroke-width="1.4"')]
    side = 1 if x < 50 else -1
    for mark in range(0, 45, 5):
        y = 76 - mark * 1.62
        drawn.append(
            line(x + side * 6, y, x + side * (14 if mark % 20 == 0 else 10), y, ink, 2.6 if mark % 20 == 0 else 1.3)
        )
    level = 76 - degrees * 1.62
    drawn += [
        rect(x - 4, 7, 8, 76, mix(back, "#ffffff", 0.6), 4, f'stroke="{ink}" stroke-width="1"'),
        rect(x - 2.7, level, 5.4, 86 - level, fluid, 2),
        ellipse(x, 87, 8.5, 8.5, fluid),
    ]
    for mark, y in ((0, 76), (20, 43.6), (40, 11.2)):
        drawn.append(
            f'<text x="{x + side * 24:.1f}" y="{y + 4.5:.1f}" font-family="&apos;Source Sans 3&apos;" font-weight="700" font-size="14" fill="{ink}" text-anchor="middle">{mark}</text>'
        )
    return drawn  # fmt: skip


def gauge(rng: random.Random, value: Value) -> Fragments:
    """A gauge whose needle goes from empty on the left over the top to full on the right."""
    share, face, ink = float(value), pale(rng), dark(rng)
    rim = f'stroke="{colour(rng, (0.25, 0.6))}" stroke-width="6"'
    drawn = [ellipse(50, 50, 44, 44, face, rim)]
    for number in range(11):
        angle = math.radians(-210 + 24 * number)
        near = 29 if number % 5 == 0 else 33
        drawn.append(
            line(
                50 + near * math.cos(angle),
                50 + near * math.sin(angle),
                50 + 38 * math.cos(angle),
                50 + 38 * math.sin(angle),
                ink,
                4 if number % 5 == 0 else 2,
            )
        )
    turned, needle = math.radians(-210 + 240 * share), rng.choice((ink, "#c22b2b", "#2a5bb8"))
    drawn.append(
        line(
            50 - 9 * math.cos(turned),
            50 - 9 * math.sin(turned),
            50 + 31 * math.cos(turned),
            50 + 31 * math.sin(turned),
            needle,
            4.4,
            'stroke-linecap="round"',
        )
    )
    return [*drawn, ellipse(50, 50, 6, 6, needle), *(rect(40 + 12 * n, 74, 8, 6, mix(face, ink, 0.3)) for n in range(2))]  # fmt: skip


def bars(rng: random.Random, value: Value) -> Fragments:
    """Four bars on a card; the value says which is the tallest."""
    tallest, plain = int(value), rng.random() < 0.4
    heights = rng.sample((22, 28, 34, 40, 46, 52), 4)
    heights[tallest - 1] = max(heights) + rng.randint(11, 18)
    fill, drawn = colour(rng, (0.3, 0.65)), card(rng)
    for number, height in enumerate(heights):
        shade = fill if plain else colour(rng, (0.3, 0.65))
        drawn.append(rect(13 + 19 * number, 88 - height, 14, height, shade))
    return [*drawn, line(9, 88, 90, 88, "#3a3a3a", 2)]


_CURVES = {
    "rises": (0.15, 0.4, 0.6, 0.9), "falls": (0.9, 0.65, 0.38, 0.12), "rises, then falls": (0.15, 0.85, 0.8, 0.15),
    "falls, then rises": (0.88, 0.2, 0.18, 0.85),
}  # fmt: skip


def curve(rng: random.Random, value: Value) -> Fragments:
    """A line over a card, more or less bent."""
    points = [(12 + 25.5 * n, 86 - 72 * (y + rng.uniform(-0.08, 0.08))) for n, y in enumerate(_CURVES[str(value)])]
    (a, b, c, d), ink = points, colour(rng, (0.2, 0.5))
    drawn = [*card(rng), line(9, 90, 91, 90, "#3a3a3a", 2), line(9, 8, 9, 90, "#3a3a3a", 2)]
    if rng.random() < 0.5:
        d_ = f"M{a[0]} {a[1]:.1f} L{b[0]} {b[1]:.1f} L{c[0]} {c[1]:.1f} L{d[0]} {d[1]:.1f}"
    else:
        d_ = f"M{a[0]} {a[1]:.1f} C{b[0]} {b[1]:.1f} {c[0]} {c[1]:.1f} {d[0]} {d[1]:.1f}"
    return [*drawn, path(d_, more=f'stroke="{ink}" stroke-width="{rng.uniform(3, 5):.1f}" stroke-linejoin="round"')]


def _counted(
    name: str,
    phrase: str,
    draw: Callable[[random.Random, Value], Fragments],
    most: int,
    wanted: tuple[int, ...],
    least: int = 1,
) -> list[Cue]:
    return [
        Cue(
            name=f"{name} {count}", skill="counting", phrase=phrase.format(_WORDS[count]), holds=(count,),
            fails=tuple(other for other in range(least, most + 1) if other != count), draw=draw, measure="count",
        )
        for count in wanted
    ]  # fmt: skip


def _dials() -> list[Cue]:
    found = []
    quarters = [number / 4 for number in range(4, 45)]
    for hour in (4, 5, 7, 8):
        later = tuple(time for time in quarters if time >= hour + 0.75)
        earlier = tuple(time for time in quarters if time <= hour - 0.75)
        for word, holds, fails in (("after", later, earlier), ("before", earlier, later)):
            phrase = f"a clock that shows a time {word} {_WORDS[hour]} o'clock"
            found.append(
                Cue(
                    name=f"clock {word} {hour}",
                    skill="dial",
                    phrase=phrase,
                    holds=holds,
                    fails=fails,
                    draw=clock,
                    measure="reading",
                )
            )
    warm, cold = tuple(range(25, 39)), tuple(range(3, 16))
    full, low = tuple(n / 100 for n in range(60, 96, 3)), tuple(n / 100 for n in range(5, 41, 3))
    for word, holds, fails in (("above", warm, cold), ("below", cold, warm)):
        found.append(
            Cue(
                name=f"thermometer {word} 20",
                skill="dial",
                phrase=f"a thermometer {word} twenty degrees",
                holds=holds,
                fails=fails,
                draw=thermometer,
                measure="reading",
            )
        )
    for word, holds, fails in (("more", full, low), ("less", low, full)):
        found.append(
            Cue(
                name=f"gauge {word} than half",
                skill="dial",
                phrase=f"a gauge that stands at {word} than half",
                holds=holds,
                fails=fails,
                draw=gauge,
                measure="reading",
            )
        )
    return found  # fmt: skip


def _charts() -> list[Cue]:
    found = []
    for number, word in enumerate(("first", "second", "third", "last"), 1):
        phrase = f"a bar chart in which the {word} bar from the left is the tallest".replace(
            "last bar from the left", "bar on the far right"
        )
        found.append(
            Cue(
                name=f"bars {number}",
                skill="chart",
                phrase=phrase,
                holds=(number,),
                fails=tuple(n for n in range(1, 5) if n != number),
                draw=bars,
                measure="kind",
            )
        )
    for shape in _CURVES:
        said = {"rises": "only rises", "falls": "only falls"}.get(shape, shape.replace(", then", " first and then"))
        found.append(
            Cue(
                name=f"curve {shape}",
                skill="chart",
                phrase=f"a curve that {said}",
                holds=(shape,),
                fails=tuple(other for other in _CURVES if other != shape),
                draw=curve,
                measure="kind",
            )
        )
    return found  # fmt: skip


CUES = (
    *_counted("pencils", "exactly {} pencils in a pot", pencils, 6, (3, 4, 5), 2),
    *_counted("cups", "a tray with exactly {} full cups", cups, 5, (2, 3, 4)),
    *_counted("dice", "two dice that show {} together", dice, 9, (5, 6, 7), 3),
    *_counted("bouquet", "a vase with exactly {} open blossoms", bouquet, 4, (2, 3)),
    *_dials(),
    *_charts(),
)

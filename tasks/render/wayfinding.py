"""Names of cities as travellers see them: departure boards, signposts and travel posters."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, on, polygon, rect
from m3bench.tasks.scene import Box

Lines = Sequence[tuple[str, str]]
"""Cities with their countries."""

_POSTERS = (
    ("#1f4e79", "#f2a65a"),
    ("#7a2e3a", "#f4c989"),
    ("#20574f", "#f1d9a7"),
    ("#3b2f63", "#ef8f6b"),
    ("#84462a", "#f6d6a8"),
    ("#23406b", "#9fd3dc"),
)
_ARMS = ("#2f6f4f", "#1f5fa8", "#8a3b2a", "#6c3f8f", "#a8701f", "#16807f")


def departures(canvas: Canvas, rng: random.Random, cities: Lines) -> list[Box]:
    """A board in a hall of departures; returns where each city stands."""
    backdrops.room(canvas, rng, floor=0.9)
    left, top, width, row = 90.0, 40.0, canvas.width - 180.0, 92.0
    height = 112 + row * len(cities)
    canvas.draw(
        *(rect(x, 0, 10, top, "#59626b") for x in (left + 160, left + width - 170)), rect(left + 8, top + 12, width, height, "#00000040", 12),
        rect(left, top, width, height, "#12161c", 12), rect(left, top, width, 76, "#f2c230", 12), rect(left, top + 50, width, 26, "#f2c230"),
    )  # fmt: skip
    canvas.text("DEPARTURES", left + 40, top + 56, 50, face="sans black", fill="#12161c")
    hour, minute = rng.randint(6, 14), rng.randrange(0, 60, 5)
    boxes: list[Box] = []
    for number, (city, country) in enumerate(cities):
        y = top + 92 + number * row
        canvas.draw(rect(left + 20, y, width - 40, row - 8, "#1d232b", 8))
        canvas.text(f"{hour:02}:{minute:02}", left + 46, y + 56, 40, face="mono bold", fill="#f2c230")
        boxes.append(
            canvas.text(f"{city}, {country}", left + 230, y + 56, 40, face="sans bold", fill="#f7f8f9", width=640)
        )
        canvas.text(
            f"Gate {rng.choice('ABCDE')}{rng.randint(1, 48)}",
            left + width - 56,
            y + 56,
            38,
            face="sans bold",
            fill="#7fd6a2",
            anchor="end",
        )
        minute += rng.randrange(5, 55, 5)
        hour, minute = hour + minute // 60, minute % 60
    return boxes


def signpost(canvas: Canvas, rng: random.Random, cities: Lines) -> list[Box]:
    """A post out of doors with an arm for each city, two on a level; returns where the arms are."""
    horizon = backdrops.outdoors(canvas, rng, rng.choice(("meadow", "forest", "sand", "savanna")), horizon=0.7)
    middle, foot = canvas.width / 2, canvas.height - 50.0
    wood = rng.choice(("#7a5636", "#8d633f", "#5c5f66"))
    for name, x in zip(
        rng.sample(("tree", "evergreen", "bicycle", "backpack", "dog", "sheep"), 3), (140, 410, 1160), strict=True
    ):
        canvas.place(name, x + rng.uniform(-30, 30), horizon + rng.uniform(222, 260), rng.uniform(110, 140))
    canvas.draw(
        ellipse(middle, foot, 90, 16, "#00000040"), fade("post", mix(wood, "#ffffff", 0.2), mix(wood, "#000000", 0.25), across=True),
        rect(middle - 20, 40, 40, foot - 36, "url(#post)", 8), polygon([(middle - 26, 42), (middle, 14), (middle + 26, 42)], mix(wood, "#000000", 0.3)),
    )  # fmt: skip
    boxes: list[Box] = []
    for number, (city, country) in enumerate(cities):
        side, colour = 1 if number % 2 else -1, rng.choice(_ARMS)
        y, tall = 66 + number // 2 * 176 + rng.uniform(-6, 6), 118.0
        back, tip = middle + side * 32, middle + side * (canvas.width / 2 - 120)
        point = tip + side * 60
        canvas.draw(
            polygon([(back + 5, y + 8), (tip + 5, y + 8), (point + 5, y + tall / 2 + 8), (tip + 5, y + tall + 8), (back + 5, y + tall + 8)], "#00000038"),
            polygon([(back, y), (tip, y), (point, y + tall / 2), (tip, y + tall), (back, y + tall)], colour, f'stroke="{mix(colour, "#ffffff", 0.6)}" stroke-width="5"'),
        )  # fmt: skip
        centre, wide = (back + tip) / 2 + side * 10, abs(tip - back) - 30
        canvas.text(city, centre, y + 60, 52, face="sans black", fill=on(colour), anchor="middle", width=wide)
        canvas.text(country, centre, y + 100, 32, face="sans bold", fill=on(colour), anchor="middle", width=wide)
        boxes.append((round(min(back, point)), round(y), round(max(back, point)), round(y + tall)))
    return boxes


def posters(canvas: Canvas, rng: random.Random, cities: Lines) -> list[Box]:
    """Travel posters with a skyline, in two rows on a wall; returns their boxes."""
    backdrops.room(canvas, rng, floor=0.96)
    columns = (len(cities) + 1) // 2
    slot, height = canvas.width / columns, canvas.height * 0.4
    width = slot - 78
    boxes: list[Box] = []
    for number, (city, country) in enumerate(cities):
        row, column = divmod(number, columns)
        dark, light = rng.choice(_POSTERS)
        left = slot * column + 39 + rng.uniform(-7, 7)
        top = 46 + row * (height + 62) + rng.uniform(-4, 4)
        canvas.draw(
            rect(left + 8, top + 12, width, height, "#00000038", 3), rect(left, top, width, height, "#fbf6ea", 3)
        )
        x, y, wide, tall = left + 12, top + 12, width - 24, height - 24
        key = f"poster{number}"
        canvas.draw(
            fade(key, light, mix(light, "#ffffff", 0.6)),
            rect(x, y, wide, tall, f"url(#{key})"),
            ellipse(x + wide * rng.uniform(0.25, 0.75), y + 76, 40, 40, mix(light, "#ffffff", 0.75)),
        )
        level = y + tall * 0.62
        for layer, share in enumerate((0.45, 0.2, 0.0)):
            _skyline(canvas, rng, x, level - 14 * (2 - layer), wide, 138 - 34 * layer, mix(dark, light, share))
        canvas.draw(rect(x, level - 2, wide, y + tall - level + 2, dark))
        canvas.text(
            city, x + wide / 2, level + 58, 50, face="narrow bold", fill="#fdf8ec", anchor="middle", width=wide - 24
        )
        canvas.draw(line(x + wide * 0.3, level + 74, x + wide * 0.7, level + 74, light, 3))
        canvas.text(
            country, x + wide / 2, level + 110, 30, face="sans bold", fill="#fdf8ec", anchor="middle", width=wide - 24
        )
        boxes.append((round(left), round(top), round(left + width), round(top + height)))
    return boxes


def _skyline(
    canvas: Canvas, rng: random.Random, left: float, foot: float, width: float, tall: float, colour: str
) -> None:
    x = left
    while x < left + width - 4:
        wide = min(rng.uniform(22, 52), left + width - x)
        high = tall * rng.uniform(0.3, 1.0)
        canvas.draw(rect(x, foot - high, wide + 0.5, high + 40, colour))
        if wide > 30 and rng.random() < 0.35:
            canvas.draw(
                polygon([(x + 6, foot - high), (x + wide / 2, foot - high - 34), (x + wide - 6, foot - high)], colour)
            )
        x += wide

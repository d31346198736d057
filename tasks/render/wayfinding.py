"""Names of cities as travellers see them: departure boards, signposts and travel posters."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, on, polygon, rect

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


def departures(canvas: Canvas, rng: random.Random, cities: Lines) -> None:
    """A board in a hall of departures."""
    floor = backdrops.room(canvas, rng, floor=0.8)
    left, top, width, row = 90.0, 84.0, canvas.width - 180.0, 118.0
    height = 150 + row * len(cities)
    canvas.draw(
        *(rect(x, 0, 10, top, "#59626b") for x in (left + 160, left + width - 170)), rect(left + 8, top + 12, width, height, "#00000040", 12),
        rect(left, top, width, height, "#12161c", 12), rect(left, top, width, 92, "#f2c230", 12), rect(left, top + 60, width, 32, "#f2c230"),
    )  # fmt: skip
    canvas.text("DEPARTURES", left + 40, top + 66, 56, face="sans black", fill="#12161c")
    hour, minute = rng.randint(6, 18), rng.randrange(0, 60, 5)
    for number, (city, country) in enumerate(cities):
        y = top + 120 + number * row
        canvas.draw(rect(left + 20, y, width - 40, row - 16, "#1d232b", 8))
        canvas.text(f"{hour:02}:{minute:02}", left + 46, y + 66, 44, face="mono bold", fill="#f2c230")
        canvas.text(f"{city}, {country}", left + 220, y + 66, 44, face="sans bold", fill="#f7f8f9", width=590)
        canvas.text(
            f"Gate {rng.choice('ABCDE')}{rng.randint(1, 48)}",
            left + width - 56,
            y + 66,
            40,
            face="sans bold",
            fill="#7fd6a2",
            anchor="end",
        )
        minute += rng.randrange(5, 55, 5)
        hour, minute = hour + minute // 60, minute % 60
    for number, name in enumerate(rng.sample(("luggage", "backpack", "potted plant", "shopping bags", "chair"), 3)):
        x = canvas.width * (0.2 + 0.3 * number) + rng.uniform(-60, 60)
        canvas.place(name, x, floor + 146, rng.uniform(130, 170))


def signpost(canvas: Canvas, rng: random.Random, cities: Lines) -> None:
    """A post with an arm for each city, out of doors."""
    horizon = backdrops.outdoors(canvas, rng, rng.choice(("meadow", "forest", "sand", "savanna")), horizon=0.62)
    middle = canvas.width / 2 + rng.uniform(-30, 30)
    wood = rng.choice(("#7a5636", "#8d633f", "#5c5f66"))
    canvas.draw(
        ellipse(middle, 806, 90, 16, "#00000040"), fade("post", mix(wood, "#ffffff", 0.2), mix(wood, "#000000", 0.25), across=True),
        rect(middle - 20, 60, 40, 750, "url(#post)", 8), polygon([(middle - 26, 62), (middle, 34), (middle + 26, 62)], mix(wood, "#000000", 0.3)),
    )  # fmt: skip
    colours = rng.sample(_ARMS, len(cities))
    for number, ((city, country), colour) in enumerate(zip(cities, colours, strict=True)):
        side = 1 if (number + (middle > canvas.width / 2)) % 2 else -1
        y, long, tall = 110 + number * 165, 520.0, 124.0
        back, tip = middle - side * 110, middle + side * (long - 40)
        canvas.draw(
            polygon([(back + 5, y + 8), (tip + 5, y + 8), (tip + side * 60 + 5, y + tall / 2 + 8), (tip + 5, y + tall + 8), (back + 5, y + tall + 8)], "#00000038"),
            polygon([(back, y), (tip, y), (tip + side * 60, y + tall / 2), (tip, y + tall), (back, y + tall)], colour, f'stroke="{mix(colour, "#ffffff", 0.6)}" stroke-width="5"'),
        )  # fmt: skip
        centre = (back + tip) / 2 + side * 10
        canvas.text(city, centre, y + 62, 54, face="sans black", fill=on(colour), anchor="middle", width=500)
        canvas.text(country, centre, y + 104, 34, face="sans bold", fill=on(colour), anchor="middle", width=500)
    for name, x in zip(
        rng.sample(("tree", "evergreen", "bicycle", "backpack", "dog", "sheep"), 3), (140, 410, 1120), strict=True
    ):
        canvas.place(name, x + rng.uniform(-30, 30), min(830, horizon + rng.uniform(200, 280)), rng.uniform(120, 170))


def posters(canvas: Canvas, rng: random.Random, cities: Lines) -> None:
    """Travel posters with a skyline, side by side on a wall."""
    backdrops.room(canvas, rng, floor=0.9)
    gap = 46.0
    width = min(400.0, (canvas.width - gap * (len(cities) + 1)) / len(cities))
    start = (canvas.width - width * len(cities) - gap * (len(cities) - 1)) / 2
    for number, ((city, country), (dark, light)) in enumerate(
        zip(cities, rng.sample(_POSTERS, len(cities)), strict=True)
    ):
        left, top, height = start + number * (width + gap), 70 + rng.uniform(-14, 14), 620.0
        canvas.draw(
            rect(left + 8, top + 12, width, height, "#00000038", 3), rect(left, top, width, height, "#fbf6ea", 3)
        )
        x, y, wide, tall = left + 18, top + 18, width - 36, height - 36
        key = f"poster{number}"
        canvas.draw(
            fade(key, light, mix(light, "#ffffff", 0.6)),
            rect(x, y, wide, tall, f"url(#{key})"),
            ellipse(x + wide * rng.uniform(0.25, 0.75), y + 150, 74, 74, mix(light, "#ffffff", 0.75)),
        )
        for layer, share in enumerate((0.45, 0.2, 0.0)):
            _skyline(canvas, rng, x, y + 390 - 26 * (2 - layer), wide, 250 - 60 * layer, mix(dark, light, share))
        canvas.draw(rect(x, y + 388, wide, tall - 388, dark))
        canvas.text(
            city, x + wide / 2, y + 474, 66, face="narrow bold", fill="#fdf8ec", anchor="middle", width=wide - 30
        )
        canvas.draw(line(x + wide * 0.3, y + 500, x + wide * 0.7, y + 500, light, 3))
        canvas.text(
            country, x + wide / 2, y + 548, 38, face="sans bold", fill="#fdf8ec", anchor="middle", width=wide - 30
        )
    for name, place in zip(
        rng.sample(("potted plant", "chair", "luggage", "globe"), 2), (90, canvas.width - 90), strict=True
    ):
        canvas.place(name, place, canvas.height - 14, 120)


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

"""What hangs in a frame: portraits, landscapes, scenes, still lifes, prints and cloths, in broad strokes."""

import random

from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect

_PAINTS = ("#b65a4a", "#4f7a8c", "#d9a441", "#6c8f5c", "#83618f", "#3f5573", "#c98a6b", "#8b3f4f")
_SKIN = "#deb696"


def painting(rng: random.Random, kind: str, left: float, top: float, wide: float, tall: float) -> list[str]:
    """A picture of a kind that fills a box; what is none of the named kinds is a landscape."""
    one, two, three = rng.sample(_PAINTS, 3)
    right, foot, x = left + wide, top + tall, left + wide / 2
    key = f"w{round(left)}"
    if kind == "photograph":
        one, two, three = "#8a8780", "#5d5a55", "#b9b6ae"
    if kind == "portrait":
        head = tall * 0.15
        return [
            fade(key, mix(one, "#101010", 0.55), mix(one, "#101010", 0.25)), rect(left, top, wide, tall, f"url(#{key})"),
            path(f"M{x - wide * 0.38:.0f} {foot:.0f} Q{x - wide * 0.34:.0f} {foot - tall * 0.4:.0f} {x:.0f} {foot - tall * 0.42:.0f} Q{x + wide * 0.34:.0f} {foot - tall * 0.4:.0f} {x + wide * 0.38:.0f} {foot:.0f} Z", two),
            rect(x - head * 0.35, foot - tall * 0.52, head * 0.7, tall * 0.14, mix(_SKIN, "#8a5a3a", 0.25), 8),
            ellipse(x, foot - tall * 0.64, head * 0.98, head * 1.22, mix(three, "#20140c", 0.7)),
            ellipse(x, foot - tall * 0.61, head * 0.8, head * 1.05, _SKIN),
            ellipse(x - head * 0.3, foot - tall * 0.63, 4, 3, "#2b211b"), ellipse(x + head * 0.3, foot - tall * 0.63, 4, 3, "#2b211b"),
            line(x - head * 0.2, foot - tall * 0.545, x + head * 0.2, foot - tall * 0.545, "#a45a50", 3),
        ]  # fmt: skip
    if kind == "still life":
        apples = [
            ellipse(
                x + wide * 0.1 * number,
                foot - tall * 0.22,
                wide * 0.065,
                wide * 0.065,
                rng.choice((one, two, "#c94f3d")),
            )
            for number in range(-2, 4)
        ]
        leaves = [
            ellipse(
                x - wide * 0.2 + wide * 0.08 * number,
                top + tall * (0.26 + 0.06 * (number % 2)),
                wide * 0.07,
                wide * 0.05,
                rng.choice(("#5c8a4c", "#7fa35a", two)),
            )
            for number in range(6)
        ]
        return [
            rect(left, top, wide, tall, mix(one, "#ffffff", 0.35)), rect(left, foot - tall * 0.32, wide, tall * 0.32, mix(three, "#2a1a10", 0.4)),
            *leaves, path(f"M{x - wide * 0.16:.0f} {top + tall * 0.38:.0f} h{wide * 0.3:.0f} l{-wide * 0.05:.0f} {tall * 0.32:.0f} h{-wide * 0.2:.0f} Z", "#e3ddd0"), *apples,
        ]  # fmt: skip
    if kind == "textile":
        rows = [
            rect(left, top + tall * number / 7, wide, tall / 7 + 1, (one, "#efe3c8", two)[number % 3])
            for number in range(7)
        ]
        gems = [
            polygon(
                [
                    (left + wide * (n + 0.5) / 5, top + tall * 0.5 - 26),
                    (left + wide * (n + 0.5) / 5 + 22, top + tall * 0.5),
                    (left + wide * (n + 0.5) / 5, top + tall * 0.5 + 26),
                    (left + wide * (n + 0.5) / 5 - 22, top + tall * 0.5),
                ],
                three,
            )
            for n in range(5)
        ]
        return [*rows, *gems]
    sky = (
        ("#efe6cf", "#e3d6b6")
        if kind in ("print", "scroll")
        else (mix(two, "#ffffff", 0.6), mix(three, "#ffffff", 0.75))
    )
    hills = [
        path(
            f"M{left:.0f} {foot:.0f} V{top + tall * (0.42 + 0.15 * n) + rng.uniform(-12, 12):.0f} Q{left + wide * rng.uniform(0.2, 0.45):.0f} {top + tall * (0.2 + 0.17 * n):.0f} {x:.0f} {top + tall * (0.46 + 0.14 * n):.0f} T{right:.0f} {top + tall * (0.4 + 0.16 * n):.0f} V{foot:.0f} Z",
            mix((one, three, two)[n], "#26331f" if kind != "print" else "#22406a", 0.12 + 0.18 * n),
        )
        for n in range(3)
    ]
    ground = [
        fade(key, *sky),
        rect(left, top, wide, tall, f"url(#{key})"),
        ellipse(left + wide * rng.uniform(0.2, 0.8), top + tall * 0.2, 20, 20, "#fbeec2"),
    ]
    if kind != "scene":
        return [*ground, *hills]
    people = []
    for n in range(4):
        px, py, coat = left + wide * (0.16 + 0.22 * n), foot - tall * rng.uniform(0.08, 0.16), rng.choice(_PAINTS)
        people += [
            polygon([(px - wide * 0.07, py), (px - wide * 0.03, py - tall * 0.34), (px + wide * 0.03, py - tall * 0.34), (px + wide * 0.07, py)], mix(coat, "#ffffff", 0.1)),
            ellipse(px, py - tall * 0.39, wide * 0.032, wide * 0.04, _SKIN),
        ]  # fmt: skip
    return [*ground, hills[0], hills[2], *people]

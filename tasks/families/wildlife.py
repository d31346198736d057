"""Animals in the open: the scenery that several families share."""

import random

from m3bench.tasks.families.base import Composition
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.stage import Stage

SAVANNA = ("elephant", "giraffe", "lion", "rhinoceros", "zebra")
FARM = ("cow", "duck", "goat", "horse", "rabbit", "sheep")
FOREST = ("bear", "deer", "fox", "owl", "rabbit")

HEIGHTS = {"elephant": 250, "giraffe": 320, "rhinoceros": 190, "horse": 230, "cow": 210, "deer": 240, "bear": 190}
"""Pixels; animals not named here are smaller."""

_PLACES = {
    "savanna": (SAVANNA, (126, 190, 232), (206, 178, 104), (178, 152, 92)),
    "meadow": (FARM, (140, 200, 240), (126, 184, 92), (96, 158, 84)),
    "forest edge": (FOREST, (168, 206, 220), (120, 152, 84), (76, 118, 78)),
}


def compose(rng: random.Random, art: Art, count: int, walkers: int = 0) -> Composition:
    """A place with some animals, each of another kind, and some people passing by."""
    place = rng.choice(sorted(_PLACES))
    kinds, sky, ground, hills = _PLACES[place]
    stage = Stage(1280, 800, sky, ground, horizon=rng.uniform(0.36, 0.44))
    stage.hills(rng, hills, 0.42, 0.14)
    chosen = rng.sample(kinds, count)
    actors = [*chosen, *(["walker", "cyclist", "runner"][:walkers])]
    rng.shuffle(actors)
    slot = stage.width / len(actors)
    for number, kind in enumerate(actors):
        height = 230 if kind in ("walker", "cyclist", "runner") else HEIGHTS.get(kind, 140)
        height = round(height * rng.uniform(0.92, 1.12))
        x = round(slot * (number + 0.5) + rng.uniform(-0.06, 0.06) * slot)
        y = rng.randint(round(stage.height * 0.68), round(stage.height * 0.94))
        person = kind in ("walker", "cyclist", "runner")
        label = "person" if person else kind
        aliases = (kind, "pedestrian") if person else ("animal",)
        side = (
            "on the left"
            if number < len(actors) / 3
            else "on the right"
            if number >= 2 * len(actors) / 3
            else "in the middle"
        )
        stage.place(
            art.object(kind), label, x, y, height, flip=rng.random() < 0.5,
            score=round(rng.uniform(0.86, 0.97), 2), description=f"A {kind} {side} of the {place}.", aliases=aliases,
        )  # fmt: skip
    picture = stage.png()
    return Composition(picture=picture, scene=stage.scene(picture), facts={"animals": chosen, "place": place})

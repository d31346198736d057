"""Things that stand together in a picture: each has a size, and the small ones are not as large as furniture."""

import tomllib
from pathlib import Path

from m3bench.tasks.families import registry
from m3bench.tasks.render.proportions import share, turn

TEXTS = Path(registry.__file__).parent.parent / "data" / "families"


def things() -> set[str]:
    bought, wished = (
        tomllib.loads((TEXTS / f"{family}.toml").read_text("utf-8"))["tables"]
        for family in ("crypto_purchase", "class_demand")
    )
    return {*bought["things"], *(wish["art"] for kind in ("cheap", "dear", "others") for wish in wished[kind])}


def test_everything_that_a_picture_may_show_has_a_size() -> None:
    assert all(0.3 < share(thing) < 1.2 for thing in things())


def test_what_fits_into_a_hand_is_less_than_half_as_tall_as_furniture() -> None:
    small = max(map(share, ("camera", "game controller", "alarm clock", "scissors")))
    assert 2 * small < min(map(share, ("bed", "couch", "chair", "ladder", "file cabinet")))


def test_a_thing_that_lies_lies_when_it_is_mirrored_too() -> None:
    assert turn("pencil", False) == -turn("pencil", True) != 0
    assert turn("chair", True) == 0

"""What a detector has words for: everyday things, and nothing of names, prices or judgement.

These are the objects of the art and a few that are drawn. A picture's author cannot note anything else, so the detector
cannot tell it.
"""

from functools import cache

from m3bench.tasks.render.art import names

_DRAWN = (
    *("armor", "bag", "barrier", "bell", "book", "bottle", "box", "building", "cable", "can", "car", "clock"),
    *(
        "fish",
        "food",
        "gas cylinder",
        "item",
        "jar",
        "jewelry",
        "ladder",
        "leaf",
        "mask",
        "musical instrument",
        "observatory",
        "person",
    ),
    *("picture frame", "pit", "plank", "plate", "postcard", "sculpture", "shield", "sign", "spill", "stack of pipes"),
    *("stone", "tent", "traffic cone", "tree", "tube", "vase", "wheelbarrow", "worker"),
)


@cache
def vocabulary() -> frozenset[str]:
    """Every label that an object of a picture may have."""
    return frozenset((*names(), *_DRAWN))

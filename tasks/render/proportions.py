"""How large things are beside each other, and which of them lie, for pictures in which they stand together.

A share of 1 is a large thing such as an armchair. Small things are drawn larger than they are, so that they are still
recognised, and none as large as furniture.
"""

_SHARES = {
    1.15: ("bed", "couch", "file cabinet", "ladder"),
    1.0: ("bathtub", "chair", "guitar", "mirror", "scooter", "telescope"),
    0.84: ("banjo", "kite", "luggage", "television", "umbrella"),
    0.72: ("accordion", "backpack", "potted plant", "printer", "saxophone", "violin"),
    0.62: ("basket", "drum", "globe", "microscope", "skateboard", "teddy bear"),
    0.54: (
        "basketball",
        "football",
        "headphones",
        "helmet",
        "laptop",
        "notebook",
        "radio",
        "robot",
        "toolbox",
        "trumpet",
    ),
    0.5: ("crayon", "fountain pen", "pencil", "ruler"),
    0.46: ("alarm clock", "palette", "scissors", "trophy"),
    0.38: ("camera", "game controller"),
}
_OF = {name: share for share, names in _SHARES.items() for name in names}
_TURNS = {"crayon": -45, "fountain pen": -42, "pencil": -45, "ruler": 45, "scissors": 90, "skateboard": -45}
"""By how many degrees, counter-clockwise, the art must be turned to show a thing as it lies."""


def share(name: str) -> float:
    """How tall a thing of the art is, as a share of a large one."""
    return _OF[name]


def turn(name: str, flip: bool) -> int:
    """By how many degrees to turn a thing of the art, mirrored or not, so that it lies if it cannot stand."""
    return _TURNS.get(name, 0) * (-1 if flip else 1)

"""Several observers are told the same things as one, in order."""

from typing import Any

from m3bench.server.runs.observer import Observers

TOLD = {
    "opened": ("store",),
    "seats_changed": (),
    "run_changed": ("run",),
    "received": (1, "request", "run", "math/sum"),
    "answered": (1, "answer"),
    "withheld": (None,),
}


class Notes:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.told.append((name, given))


def test_everybody_is_told_everything() -> None:
    first, second = Notes(), Notes()
    both: Any = Observers(first, second)
    for name, given in TOLD.items():
        getattr(both, name)(*given)
    assert first.told == second.told == list(TOLD.items())

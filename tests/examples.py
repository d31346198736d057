"""How many examples a property is tried on: a fifth in `make test`, all of them at night."""

import os

NIGHT = os.environ.get("M3BENCH_EXAMPLES") == "all"


def examples(count: int) -> int:
    """How many of so many examples to try."""
    return count if NIGHT else max(count // 5, 3)

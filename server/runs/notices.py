"""What the person in front of the machine is told, on standard error."""

import sys
from functools import cache


@cache
def say_once(notice: str) -> None:
    """Tell what sandboxes lack, each thing once."""
    print(f"m3bench: {notice}", file=sys.stderr, flush=True)

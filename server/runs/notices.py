"""What the person in front of the machine is told, on standard error."""

from functools import cache

from m3bench.proxy.logs import tell


@cache
def say_once(notice: str) -> None:
    """Tell what sandboxes lack, each thing once."""
    tell(f"m3bench: {notice}")

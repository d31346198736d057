"""How this server reports failures: plain text `Error (<CODE>): <message>` in an ordinary result."""

import re

from m3bench.tasks.errors import Failure, SoftError

_OPTION = re.compile(r"[\w<>*-]+(\.[\w<>*\"@/:+-]+)*")


def failure(
    message: str,
    code: str = "ERROR",
    *,
    outcome: Failure = "not_found",
) -> SoftError:
    """The error to raise, with the text the client reads."""
    return SoftError(f"Error ({code}): {message}", outcome=outcome)


def absent_option(name: str) -> Failure:
    """How it ends when an option is not held: a gap of the world, unless no option can have that name."""
    return "gap" if _OPTION.fullmatch(name.strip()) else "not_found"


def check_limit(limit: int, most: int, message: str) -> None:
    """Refuse a number of results outside 1 … most."""
    if not 1 <= limit <= most:
        raise failure(message, outcome="invalid_arguments")

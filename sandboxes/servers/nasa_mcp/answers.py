"""The server object, and what its parts share: days, rules between entries, errors as the public API words them."""

import re
from collections.abc import Mapping
from datetime import date

from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.errors import SoftError

server = ToolServer("nasa-mcp")

RULE = "-" * 40

_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")


def day_of(text: str, field: str) -> date:
    """The day an argument names; refuses what is no date."""
    match = _DAY.fullmatch(text.strip())
    if match is not None:
        try:
            return date(*map(int, match.groups()))
        except ValueError:
            pass
    raise api_error(400, f"{field} {text!r} is not a date: expected YYYY-MM-DD")


def api_error(status: int, details: str | Mapping[str, object], *, possible: bool = False) -> SoftError:
    """The error to raise when the public API would refuse the request; what may be `possible` is a gap of the world."""
    text = f"API Error: HTTP error: {status} - Details: {details}"
    return SoftError(text, outcome="gap" if possible else "not_found" if status == 404 else "invalid_arguments")


def refusal(text: str) -> SoftError:
    """The error to raise when the server itself refuses the arguments."""
    return SoftError(text, outcome="invalid_arguments")

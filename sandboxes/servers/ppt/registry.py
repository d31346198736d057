"""The `ppt` server and the door every call to it comes through.

The public server reports all failures as `{"error": …}` without `isError`; so does this one, whatever part of
m3bench refused. What no presentation can hold is refused here once for all tools: numbers that are not finite,
texts beyond reason, characters that XML forbids.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from pptx.exc import PythonPptxError

from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.errors import Failure, SoftError, ToolError

MAX_TEXT = 50_000
"""Characters of one text: some twenty pages, far beyond what a slide shows."""

MAX_NUMBER = 2**53
"""Beyond it doubles skip integers; nothing on a slide is that large."""

UNCHECKED = ("image_source",)
"""Base64 data: bounded by the file limits of the workspace instead."""

server = ToolServer("ppt")

Function = TypeVar("Function", bound=Callable[..., object])

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What XML cannot hold."""


def failure(message: str, *, outcome: Failure = "not_found", **more: object) -> SoftError:
    """A failure in the form of the public server."""
    return SoftError({"error": message, **more}, outcome=outcome)


def refusal(parameter: str, problem: str) -> SoftError:
    """The failure of a parameter that makes no sense."""
    return failure(f"Parameter '{parameter}': {problem}", outcome="invalid_arguments")


def message_of(error: ToolError) -> str:
    """What a failure says, whichever part of m3bench it came from."""
    payload = error.payload if isinstance(error, SoftError) else None
    return str(payload["error"]) if isinstance(payload, dict) else str(error)


@contextmanager
def reworded(prefix: str) -> Iterator[None]:
    """Failures inside the block start with what was tried."""
    try:
        yield
    except ToolError as error:
        payload = error.payload if isinstance(error, SoftError) and isinstance(error.payload, dict) else {}
        raise SoftError({**payload, "error": f"{prefix}: {message_of(error)}"}, outcome=error.outcome) from error


def tool(function: Function) -> Function:
    """Register a tool whose arguments are checked and whose failures take the public form."""
    whole = {name for name, entry in inspect.signature(function).parameters.items() if _is_whole(entry.annotation)}

    @wraps(function)
    def run(**arguments: Any) -> object:
        try:
            for name, value in arguments.items():
                if name not in ("context", *UNCHECKED):
                    _check(name, value)
                if name in whole and value is not None:
                    arguments[name] = int(value)
            return function(**arguments)
        except SoftError:
            raise
        except ToolError as error:
            raise failure(str(error), outcome=error.outcome) from error
        except PythonPptxError as error:
            raise failure(f"The presentation is damaged: {error}", outcome="invalid_arguments") from error

    server.tool(run)
    return function


def _is_whole(annotation: object) -> bool:
    return annotation is int or annotation == (int | None)


def _check(name: str, value: object) -> None:
    for item in _leaves(value):
        if isinstance(item, str):
            _check_text(name, item)
        elif isinstance(item, int | float) and not (math.isfinite(item) and abs(item) <= MAX_NUMBER):
            raise refusal(name, f"must be an ordinary finite number, not {str(item)[:40]}")


def _check_text(name: str, text: str) -> None:
    if len(text) > MAX_TEXT:
        raise refusal(name, f"has {len(text)} characters, more than the {MAX_TEXT} allowed for one text")
    found = _ILLEGAL.search(text)
    if found is not None:
        code = f"U+{ord(found[0]):04X}"
        raise refusal(name, f"contains the character {code} at position {found.start()}, which no slide can hold")


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value

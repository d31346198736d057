"""Reads a JSON file strictly, and turns every failure into a one-line message.

Strict means UTF-8, no NaN or infinity, no number beyond a float. A repeated key is not decided here: the object
remembers it, and the caller decides whether that is a warning or an error. What the data means is up to the caller.
"""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from m3bench.tasks.errors import InputFileError

MAX_BYTES = 1 << 29
"""Largest file that is read."""


def read_json(path: Path) -> Any:
    """The parsed file; objects with a repeated key remember it in `repeated`.

    Raises:
        InputFileError: The file cannot be read or is not strict JSON in UTF-8.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputFileError(path, "there is no such file") from None
    except IsADirectoryError:
        raise InputFileError(path, "is a folder, not a file") from None
    except PermissionError:
        problem = "is a folder, not a file" if path.is_dir() else "may not be read (permission denied)"
        raise InputFileError(path, problem) from None
    except (OSError, ValueError) as error:
        raise InputFileError(path, f"cannot be read ({error})") from None
    if len(raw) > MAX_BYTES:
        raise InputFileError(path, f"is larger than {MAX_BYTES >> 20} MB")
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputFileError(path, "is UTF-16; save it as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputFileError(path, f"is not UTF-8 (byte {error.start} is {raw[error.start]:#04x})") from None
    del raw
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_refuse_constant, parse_float=_finite_float)
    except json.JSONDecodeError as error:
        problem = "is empty" if not text.strip() else f"line {error.lineno} column {error.colno}: {error.msg}"
        raise InputFileError(path, f"is not JSON ({problem})") from None
    except RecursionError:
        raise InputFileError(path, "is nested too deeply") from None
    except ValueError as error:
        raise InputFileError(path, f"is not strict JSON ({error})") from None


class _Repeated(dict[str, object]):
    """An object in which a key occurred more than once; the last value counts."""

    repeated: tuple[str, ...] = ()


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    marked = _Repeated(plain)
    marked.repeated = tuple(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
    return marked


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number

"""The `pyzbar-mcp` server: bar codes and QR codes in a picture, named and reported as pyzbar does.

Failures are ordinary results with an `error` field. As with pyzbar, UPC-A and UPC-E come as EAN13 with their
leading zero. Unlike the public server, which calls every EAN13 a book's, only numbers of books get an `isbn`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

import anyio
import anyio.to_thread

from m3bench.sandboxes.content import compact
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import flat, open_picture
from m3bench.sandboxes.programs import OutOfBudgetError, run_program
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import LimitError, SoftError, ToolCrashError, ToolError

server = ToolServer("pyzbar-mcp", layout=compact)

CPU_SECONDS = 8.0
"""How long a processor may search one picture."""
AT_ONCE = 2
"""Searches at the same time in one sandbox; the rest wait."""

_MAX_SHOWN = 200
_PROGRAM = Path(__file__).with_name("program.py")
_NAMES = (
    ("DataBarExp", "DATABAR_EXP"),
    ("DataBar", "DATABAR"),
    ("QRCode", "QRCODE"),
    ("Code39", "CODE39"),
    ("PDF417", "PDF417"),
    ("Aztec", "AZTEC"),
    ("UPC", "EAN13"),
    ("ISBN", "EAN13"),
    ("ITF", "I25"),
)
"""How the decoder's names begin and what pyzbar calls these codes; the other names differ in capitals only."""


class _Code(TypedDict):
    """A code as the program prints it."""

    format: str
    text: str
    corners: list[tuple[float, float]]


class _Rectangle(TypedDict):
    x: int
    y: int
    width: int
    height: int


class _Result(TypedDict):
    """A code as the tool reports it."""

    type: str
    data: str
    rect: _Rectangle
    isbn: NotRequired[str]


class Raster(NamedTuple):
    """A grey picture, one byte a pixel."""

    width: int
    height: int
    pixels: bytes


@server.tool
async def scan_barcode(context: Context, image_paths: list[str] | str) -> dict[str, object]:
    paths = [image_paths] if isinstance(image_paths, str) else image_paths
    if not paths:
        raise _failure("image_paths is empty: give the path of a picture")
    async with context.memory.setdefault("pyzbar.turns", anyio.CapacityLimiter(AT_ONCE)):
        raster = await anyio.to_thread.run_sync(_raster, context.workspace, paths[0])
        results = [_result(code, raster) for code in await _search(raster)]
    results.sort(key=lambda result: (result["rect"]["y"], result["rect"]["x"], result["data"]))
    return {"message": _message(results), "metadata": {"results": results}}


def _raster(workspace: Workspace, path: str) -> Raster:
    try:
        image = flat(open_picture(workspace, path)).convert("L")
    except LimitError as error:
        raise _failure(str(error)) from error
    except ToolError as error:
        shown = path if len(path) <= _MAX_SHOWN else f"{path[:_MAX_SHOWN]}…"
        raise SoftError({"error": f"Unable to read image file: {shown}"}) from error
    return Raster(image.width, image.height, image.tobytes())


async def _search(raster: Raster) -> list[_Code]:
    command = [sys.executable, "-P", str(_PROGRAM), str(raster.width), str(raster.height)]
    try:
        code, output = await run_program(command, raster.pixels, cpu_seconds=CPU_SECONDS)
    except OutOfBudgetError as error:
        code, output = None, error.output
    # The last line is the fullest; an unfinished one is what was being written when the time was up.
    lines = [line for line in output.splitlines(keepends=True) if line.endswith(b"\n")]
    if lines:
        found: list[_Code] = json.loads(lines[-1])
        return found
    if code is None:
        raise _failure("searching the picture for codes takes too long: crop it to the code")
    if code != 0:
        raise ToolCrashError(f"The search for codes ended with {code}.")
    return []


def _result(code: _Code, raster: Raster) -> _Result:
    kind, data = _name(code["format"]), code["text"]
    across = [min(max(round(x), 0), raster.width) for x, _ in code["corners"]]
    down = [min(max(round(y), 0), raster.height) for _, y in code["corners"]]
    result: _Result = {
        "type": kind,
        "data": data,
        "rect": {
            "x": min(across),
            "y": min(down),
            "width": max(across) - min(across),
            "height": max(down) - min(down),
        },
    }
    if kind == "EAN13" and _is_book(data):
        result["isbn"] = data
    return result


def _name(decoder_name: str) -> str:
    return next((name for start, name in _NAMES if decoder_name.startswith(start)), decoder_name.upper())


def _is_book(number: str) -> bool:
    # 979-0 is printed music.
    return number.startswith(("978", "979")) and not number.startswith("9790")


def _message(results: list[_Result]) -> str:
    isbns = list(_isbns(results))
    if isbns:
        return f"Found the ISBN {', '.join(isbns)}: look the book up by this number."
    if results:
        return f"Found {len(results)} code{'s' if len(results) > 1 else ''}: the content is in the field data."
    return "Found no bar code and no QR code in the picture."


def _isbns(results: list[_Result]) -> Iterator[str]:
    return (result["isbn"] for result in results if "isbn" in result)


def _failure(problem: str) -> SoftError:
    return SoftError({"error": f"Execution error: {problem}"}, outcome="invalid_arguments")

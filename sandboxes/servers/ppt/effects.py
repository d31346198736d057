"""Picture effects as PowerPoint stores them: shadow, reflection, glow, soft edges, bevel, transparency, rotation.

`filter` alone changes pixels: the picture's file inside the deck is replaced by a filtered one. Each effect has
parameters with defaults; lengths are points, angles degrees, shares 0 to 1.
"""

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any

from PIL import ImageOps
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.shapes.picture import Picture
from pptx.util import Pt

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import decode_picture
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.arguments import between, choice, number, rgb, shape_at, slide_at
from m3bench.sandboxes.servers.ppt.images import FILTERS, encoded, pixel_filter
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool
from m3bench.sandboxes.workspace import Limits
from m3bench.tasks.drawing.pixels import blended

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
    effects: dict[str, dict[str, Any]],
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

    def word(self, parameter: str, options: Any) -> str:
        value = self._values[parameter]
        if not isinstance(value, str):
            raise refusal(self._name(parameter), f"must be one of {', '.join(options)}")
        return choice(self._name(parameter), value, options)

    def colour(self) -> str:
        """The colour with its opacity, as XML."""
        opacity = round((1 - self.share("transparency")) * 100_000)
        value = rgb(self._name("color"), self._values["color"])
        return f'<a:srgbClr val="{value}"><a:alpha val="{opacity}"/></a:srgbClr>'


def _shadow(picture: Picture, values: _Values, limits: Limits) -> None:
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


def _reflection(picture: Picture, values: _Values, limits: Limits) -> None:
    strength = round((1 - values.share("transparency")) * 100_000)
    _add_effect(
        picture,
        f'<a:reflection {nsdecls("a")} blurRad="{values.length("blur")}" stA="{strength}" '
        f'endPos="{round(values.share("size") * 100_000)}" dist="{values.length("distance")}" dir="5400000" '
        'sy="-100000" algn="bl" rotWithShape="0"/>',
    )


def _glow(picture: Picture, values: _Values, limits: Limits) -> None:
    _add_effect(picture, f'<a:glow {nsdecls("a")} rad="{values.length("size")}">{values.colour()}</a:glow>')


def _soft_edges(picture: Picture, values: _Values, limits: Limits) -> None:
    _add_effect(picture, f'<a:softEdge {nsdecls("a")} rad="{values.length("radius")}"/>')


def _rotation(picture: Picture, values: _Values, limits: Limits) -> None:
    picture.rotation = values.number("rotation", -3600, 3600) % 360


def _transparency(picture: Picture, values: _Values, limits: Limits) -> None:
    blip = picture._element.xpath(".//a:blip")[0]
    for old in blip.findall(qn("a:alphaModFix")):
        blip.remove(old)
    amount = round((1 - values.share("transparency")) * 100_000)
    blip.insert(0, parse_xml(f'<a:alphaModFix {nsdecls("a")} amt="{amount}"/>'))


def _bevel(picture: Picture, values: _Values, limits: Limits) -> None:
    preset = BEVELS[values.word("bevel_type", BEVELS)]
    properties: Any = picture._element.spPr
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


def _filter(picture: Picture, values: _Values, limits: Limits) -> None:
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
    properties: Any = picture._element.spPr
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


_APPLY: dict[str, Callable[[Picture, _Values, Limits], None]] = {
    "shadow": _shadow,
    "reflection": _reflection,
    "glow": _glow,
    "soft_edges": _soft_edges,
    "rotation": _rotation,
    "transparency": _transparency,
    "bevel": _bevel,
    "filter": _filter,
}

"""Slide transitions, really written into the slide (the public server only says it would).

A transition stands twice in the file, as PowerPoint writes it: once with its duration in milliseconds for
programs that know it, once with one of three speeds for those that do not.
"""

from typing import Any

from lxml import etree
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn
from pptx.slide import Slide

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.arguments import SLIDE_OUT_OF_RANGE, between, choice, slide_at
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.registry import refusal, tool

WRONG_OPERATION = "Unsupported operation: {value}. Use 'set', 'remove', or 'get'"
MAX_SECONDS = 59.0

KINDS = {
    "blinds": 'blinds dir="vert"',
    "checkerboard": 'checker dir="horz"',
    "circle": "circle",
    "comb": 'comb dir="horz"',
    "cover": 'cover dir="l"',
    "cut": "cut",
    "diamond": "diamond",
    "dissolve": "dissolve",
    "fade": "fade",
    "newsflash": "newsflash",
    "plus": "plus",
    "push": 'push dir="l"',
    "random": "random",
    "random_bars": 'randomBar dir="vert"',
    "split": 'split orient="vert" dir="out"',
    "strips": 'strips dir="ld"',
    "uncover": 'pull dir="l"',
    "wedge": "wedge",
    "wheel": 'wheel spokes="4"',
    "wipe": 'wipe dir="l"',
    "zoom": 'zoom dir="in"',
}
"""Names and the element that stands for them."""

_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_P14 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_SPEEDS = {"fast": 0.5, "med": 0.75, "slow": 1.0}
"""What the three speeds mean in seconds."""


@tool
def manage_slide_transitions(
    context: Context,
    slide_index: int,
    operation: str,
    transition_type: str | None = None,
    duration: float = 1.0,
    presentation_id: str | None = None,
) -> dict[str, object]:
    wanted = known_operation(operation, ("set", "remove", "get"), WRONG_OPERATION)
    if wanted == "get":
        deck = decks.reading(context, presentation_id, decks.NOT_FOUND)
        kind, seconds = _read(slide_at(deck.presentation, slide_index, SLIDE_OUT_OF_RANGE))
        return {
            "message": f"Transition of slide {slide_index}: {kind or 'none'}",
            "slide_index": slide_index,
            "note": "Read from the slide",
            "transition_type": kind,
            "duration": seconds,
        }
    between("duration", duration, 0.01, MAX_SECONDS)
    with decks.editing(context, presentation_id, decks.NOT_FOUND) as deck:
        slide = slide_at(deck.presentation, slide_index, SLIDE_OUT_OF_RANGE)
        if wanted == "remove" or (transition_type or "").lower() == "none":
            removed = _remove(slide)
            return {
                "message": f"Removed transition from slide {slide_index}",
                "slide_index": slide_index,
                "note": "The slide appears without a transition" if removed else "The slide had no transition",
            }
        if not transition_type:
            raise refusal("transition_type", f"is required for set. Use one of: {', '.join(KINDS)}")
        kind = choice("transition_type", transition_type.replace(" ", "_"), KINDS)
        _remove(slide)
        _write(slide, KINDS[kind], duration)
    return {
        "message": f"Set {kind} transition on slide {slide_index}",
        "slide_index": slide_index,
        "note": "Written into the slide; it shows in the slide show",
        "transition_type": kind,
        "duration": duration,
    }


def _read(slide: Slide) -> tuple[str | None, float | None]:
    found = slide._element.xpath(".//p:transition")
    if not found:
        return None, None
    transition = found[0]
    exact = transition.get(f"{{{_P14}}}dur")
    seconds = int(exact) / 1000 if exact else _SPEEDS.get(transition.get("spd", "fast"), _SPEEDS["fast"])
    names = {tag.partition(" ")[0]: name for name, tag in KINDS.items()}
    inner = [etree.QName(child).localname for child in transition if isinstance(child.tag, str)]
    kinds = [names.get(name, name) for name in inner if name not in ("sndAc", "extLst")]
    return (kinds[0] if kinds else "cut"), seconds


def _remove(slide: Slide) -> bool:
    tree: Any = slide._element
    holders = (qn("p:transition"), f"{{{_MC}}}AlternateContent")
    found = [child for child in tree if child.tag in holders and next(child.iter(qn("p:transition")), None) is not None]
    for element in found:
        tree.remove(element)
    return bool(found)


def _write(slide: Slide, kind: str, seconds: float) -> None:
    speed = next((name for name, limit in _SPEEDS.items() if seconds <= limit), "slow")
    element = parse_xml(
        f'<mc:AlternateContent xmlns:mc="{_MC}" xmlns:p="{_P}">'
        f'<mc:Choice xmlns:p14="{_P14}" Requires="p14">'
        f'<p:transition spd="{speed}" p14:dur="{round(seconds * 1000)}"><p:{kind}/></p:transition></mc:Choice>'
        f'<mc:Fallback><p:transition spd="{speed}"><p:{kind}/></p:transition></mc:Fallback></mc:AlternateContent>'
    )
    slide._element.insert_element_before(element, "p:timing", "p:hf", "p:extLst")

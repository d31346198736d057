"""A colour scheme as the theme of a presentation: what is coloured by role changes with it.

The theme's colours are replaced in place. Slides that shall keep their looks get an override with the colours
of before, as PowerPoint writes it when a slide of another design is pasted.
"""

from typing import Any

from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml.ns import qn
from pptx.presentation import Presentation
from pptx.slide import Slide

from m3bench.sandboxes.servers.ppt.colours import Scheme, blend

_OVERRIDE_TYPE = "application/vnd.openxmlformats-officedocument.themeOverride+xml"
_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)


def set_theme(presentation: Presentation, scheme: Scheme, *, keep_slides: bool) -> None:
    """Make a scheme the theme's colours; slides that exist look as before when they are to be kept."""
    old: dict[str, Any] = {}
    for master in presentation.slide_masters:
        part = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
        theme = etree.fromstring(part.blob, _PARSER)
        colours = theme.find(f".//{qn('a:clrScheme')}")
        if colours is None:
            continue
        old[str(master.part.partname)] = etree.fromstring(etree.tostring(theme), _PARSER)
        _recolour(colours, scheme)
        part.blob = etree.tostring(theme, xml_declaration=True, encoding="UTF-8", standalone=True)
        _colour_titles(master)
    if keep_slides:
        for number, slide in enumerate(presentation.slides, 1):
            theme = old.get(str(slide.slide_layout.slide_master.part.partname))
            if theme is not None:
                _override(slide, theme, number)


def _recolour(colours: Any, scheme: Scheme) -> None:
    wanted = {
        "dk1": scheme.text,
        "lt1": scheme.colour("white"),
        "dk2": scheme.primary,
        "lt2": scheme.light,
        "accent1": scheme.primary,
        "accent2": scheme.accent1,
        "accent3": scheme.secondary,
        "accent4": scheme.accent2,
        "accent5": blend(scheme.primary, scheme.colour("white"), 0.4),
        "accent6": blend(scheme.accent1, scheme.colour("white"), 0.4),
        "hlink": scheme.secondary,
        "folHlink": scheme.accent2,
    }
    colours.set("name", scheme.name)
    for name, colour in wanted.items():
        slot = colours.find(qn(f"a:{name}"))
        if slot is not None:
            for child in list(slot):
                slot.remove(child)
            etree.SubElement(slot, qn("a:srgbClr"), val=str(colour))


def _colour_titles(master: Any) -> None:
    """Let titles take the theme's dark colour."""
    for colour in master._element.xpath("p:txStyles/p:titleStyle/a:lvl1pPr/a:defRPr/a:solidFill/a:schemeClr"):
        colour.set("val", "tx2")


def _override(slide: Slide, theme: Any, number: int) -> None:
    if any(item.reltype == RELATIONSHIP_TYPE.THEME_OVERRIDE for item in slide.part.rels.values()):
        return
    root = etree.Element(qn("a:themeOverride"), nsmap={"a": "http://schemas.openxmlformats.org/drawingml/2006/main"})
    elements = theme.find(qn("a:themeElements"))
    for tag in ("a:clrScheme", "a:fontScheme", "a:fmtScheme"):
        root.append(elements.find(qn(tag)))
    blob = etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
    package = slide.part.package
    name = PackURI(f"/ppt/theme/themeOverride{number}.xml")
    slide.part.relate_to(Part(name, _OVERRIDE_TYPE, package, blob), RELATIONSHIP_TYPE.THEME_OVERRIDE)

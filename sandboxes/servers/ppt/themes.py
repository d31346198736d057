"""A colour scheme as the theme of a presentation: what is coloured by role changes with it.

The theme's colours are replaced in place. When the slides that exist shall keep their looks they move to a copy
of their master, as PowerPoint does when a design is applied to some slides only; layout numbers stay the same.
"""

import re
from typing import Any

from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn
from pptx.presentation import Presentation
from pptx.slide import SlideMaster

from m3bench.sandboxes.servers.ppt.colours import Scheme, blend

_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)
_FIRST_ID = 2147483648
"""Masters and layouts are numbered from here on."""


def set_theme(presentation: Presentation, scheme: Scheme, *, keep_slides: bool) -> None:
    """Make a scheme the theme's colours; slides that exist look as before when they are to be kept."""
    masters = list(presentation.slide_masters)
    if keep_slides:
        # New slides are made on the first master: the others belong to slides that are to be kept.
        masters = masters[:1]
        _move_slides(presentation, masters[0])
    for master in masters:
        part = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
        theme = etree.fromstring(part.blob, _PARSER)
        colours = theme.find(f".//{qn('a:clrScheme')}")
        if colours is not None:
            _recolour(colours, scheme)
            part.blob = etree.tostring(theme, xml_declaration=True, encoding="UTF-8", standalone=True)
            _colour_titles(master)


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


def _colour_titles(master: SlideMaster) -> None:
    """Let titles take the theme's dark colour."""
    for colour in master._element.xpath("p:txStyles/p:titleStyle/a:lvl1pPr/a:defRPr/a:solidFill/a:schemeClr"):
        colour.set("val", "tx2")


def _move_slides(presentation: Presentation, master: SlideMaster) -> None:
    """Put the slides of a master onto a copy of it."""
    slides = [slide for slide in presentation.slides if slide.slide_layout.slide_master.part is master.part]
    if not slides:
        return
    originals: list[Any] = [master.part, master.part.part_related_by(RELATIONSHIP_TYPE.THEME)]
    originals += [layout.part for layout in master.slide_layouts]
    parts: dict[PackURI, Part] = {part.partname: part for part in master.part.package.iter_parts()}
    copies: list[Any] = []
    for original in originals:
        name = _free_name(original.partname, {*parts, *(copy.partname for copy in copies)})
        copies.append(type(original).load(name, original.content_type, original.package, original.blob))
    parts.update({original.partname: copy for original, copy in zip(originals, copies, strict=True)})
    for original, copy in zip(originals, copies, strict=True):
        _relate(copy, original, parts)
    _enlist(presentation, copies[0])
    for slide in slides:
        _relate(slide.part, slide.part, parts)


def _free_name(name: PackURI, taken: set[PackURI]) -> PackURI:
    stem = re.sub(r"\d*\.xml$", "", str(name))
    return next(free for number in range(1, 10_000) if (free := PackURI(f"{stem}{number}.xml")) not in taken)


def _relate(part: Any, original: Any, parts: dict[PackURI, Part]) -> None:
    """Give a part the relationships of another, to the parts that now have those names."""
    part.rels.load_from_xml(original.partname.baseURI, parse_xml(original.rels.xml), parts)


def _enlist(presentation: Presentation, master: Any) -> None:
    """Make a master known to the presentation, with numbers of its own for itself and its layouts."""
    entries: Any = presentation.part._element.get_or_add_sldMasterIdLst()
    trees = [entries, *(item._element for item in presentation.slide_masters)]
    used = [int(value) for tree in trees for value in tree.xpath(".//p:sldMasterId/@id|.//p:sldLayoutId/@id")]
    following = max([_FIRST_ID, *used]) + 1
    entry = entries._add_sldMasterId(rId=presentation.part.relate_to(master, RELATIONSHIP_TYPE.SLIDE_MASTER))
    for number, element in enumerate([entry, *master._element.xpath("p:sldLayoutIdLst/p:sldLayoutId")], following):
        element.set("id", str(number))

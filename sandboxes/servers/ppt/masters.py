"""What slide masters and their layouts offer; nothing is changed."""

from typing import Any

from pptx.slide import SlideLayout, SlideMaster

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.registry import failure, tool

WRONG_OPERATION = "Unsupported operation: {value}. Use 'list', 'get_layouts', or 'get_info'"


@tool
def manage_slide_masters(
    context: Context,
    operation: str,
    master_index: int = 0,
    layout_index: int | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    wanted = known_operation(operation, ("list", "get_layouts", "get_info"), WRONG_OPERATION)
    masters = list(decks.reading(context, presentation_id, decks.NOT_FOUND).presentation.slide_masters)
    if wanted == "list":
        return {
            "message": f"Found {len(masters)} slide masters",
            "masters": [
                {"index": index, "layout_count": len(master.slide_layouts), "name": _name(master, index)}
                for index, master in enumerate(masters)
            ],
            "total_masters": len(masters),
        }
    if not 0 <= master_index < len(masters):
        raise failure(f"Master index {master_index} out of range. Available masters: 0-{len(masters) - 1}")
    master = masters[master_index]
    layouts = list(master.slide_layouts)
    if wanted == "get_layouts":
        return {
            "message": f"Master {master_index} has {len(layouts)} layouts",
            "master_index": master_index,
            "layouts": [
                {"index": index, "name": layout.name, "placeholder_count": len(layout.placeholders)}
                for index, layout in enumerate(layouts)
            ],
        }
    if layout_index is None:
        return {
            "message": f"Master {master_index} information",
            "master_index": master_index,
            "layout_count": len(layouts),
            "name": _name(master, master_index),
        }
    if not 0 <= layout_index < len(layouts):
        raise failure(f"Layout index {layout_index} out of range. Available layouts: 0-{len(layouts) - 1}")
    return {
        "message": f"Layout info for master {master_index}, layout {layout_index}",
        "master_index": master_index,
        "layout_index": layout_index,
        "layout_name": layouts[layout_index].name,
        "placeholders": _placeholders(layouts[layout_index]),
    }


def _name(master: SlideMaster, index: int) -> str:
    return master.name or f"Master {index}"


def _placeholders(layout: SlideLayout) -> list[dict[str, object]]:
    found: Any = layout.placeholders
    return [
        {"idx": item.placeholder_format.idx, "type": str(item.placeholder_format.type), "name": item.name}
        for item in found
    ]

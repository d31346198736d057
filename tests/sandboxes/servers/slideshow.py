"""Helpers for the tests of the `ppt` server: calls that answer in JSON, and python-pptx as the second reader."""

import json
from collections.abc import Mapping
from typing import Any

from PIL import Image
from pptx import Presentation
from pptx.presentation import Presentation as Deck

from tests.pictures import encoded
from tests.sandboxes.servers.conftest import Bench


def call(bench: Bench, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a call that must succeed."""
    found = json.loads(bench.text(f"ppt/{tool}", arguments))
    assert isinstance(found, dict)
    return found


def refused(bench: Bench, tool: str, **arguments: Any) -> str:
    """What a call says that must fail the way the public server fails: an `error`, without `isError`."""
    reply = bench.reply(f"ppt/{tool}", arguments)
    assert reply.outcome != "success", reply
    assert reply.result["isError"] is False, reply
    found = json.loads(reply.result["content"][0]["text"])
    assert isinstance(found["error"], str)
    return found["error"]


def saved(bench: Bench, id: str | None = None) -> Deck:
    """The deck, saved to a file and read back."""
    arguments = {"file_path": "check.pptx"} | ({"presentation_id": id} if id else {})
    path = call(bench, "save_presentation", **arguments)["file_path"]
    return Presentation(str(bench.workspace.resolve(path)))


def restarted(bench: Bench) -> Bench:
    """The same workspace with a host that knows nothing of what was before."""
    return Bench(bench.folder)


def picture(bench: Bench, path: str = "media/photo.png", size: tuple[int, int] = (60, 40), kind: str = "PNG") -> bytes:
    """Put a small picture into the workspace."""
    image = Image.new("RGB", size, (200, 60, 60))
    image.paste((40, 90, 200), (0, 0, size[0] // 2, size[1]))
    content = encoded(image, kind)
    target = bench.folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return content


def deck_with(bench: Bench, *layouts: int, **first: Any) -> Bench:
    """A new deck with slides of these layouts; `first` are more arguments for the first slide."""
    call(bench, "create_presentation", id="deck")
    for number, layout in enumerate(layouts):
        call(bench, "add_slide", layout_index=layout, **(first if number == 0 else {}))
    return bench


def xml(shape: Any) -> Any:
    """The element of a shape or slide."""
    return shape._element


def box(shape: Any) -> tuple[float, float, float, float]:
    """Left, top, width and height in inches."""
    left, top, width, height = (round(side / 914400, 3) for side in (shape.left, shape.top, shape.width, shape.height))
    return left, top, width, height


def titles(deck: Deck) -> list[str]:
    """The titles of all slides."""
    return [slide.shapes.title.text_frame.text if slide.shapes.title is not None else "" for slide in deck.slides]


def without(entry: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """An object without some of its keys."""
    return {key: value for key, value in entry.items() if key not in keys}

"""The `metmuseum-mcp` server: departments, searches for object numbers, and one object with a picture.

Facts and numbers of the objects are the museum's; the picture is a drawing of the kind of thing, so there is no
address of a photograph. Objects whose pictures the museum may not show have none here either. Pictures need no
resource list: every call that asks for one draws it again. Works of which the museum's number is not known have one
of our own, above all real ones, and no picture.
"""

from collections.abc import Mapping
from functools import cache

from m3bench.sandboxes.content import ImageBlock
from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.metmuseum_mcp import drawing
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import SearchIndex
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import ToolError

server = ToolServer("metmuseum-mcp", error="{message}")

Thing = Record

_NOTHING = "No objects found"
_OWN_NUMBERS = 90_000_000
_MISSING = "the museum's number of this work, its credit line, its dimensions and a picture"


@server.tool
async def list_departments() -> str:
    return "\n".join(f"Department ID: {number}, Display Name: {name}" for number, name in _departments().items())


@server.tool
async def search_museum_objects(
    q: str, hasImages: bool = False, title: bool = False, departmentId: float | None = None
) -> str:
    def kept(thing: Thing) -> bool:
        return (not hasImages or "kind" in thing) and departmentId in (None, thing["met_department_id"])

    if q.strip():
        index = _titles() if title and not hasImages else _everything()
        found = [thing for _, thing in index.search(q, len(_objects()), keep=kept)]
    else:
        found = [thing for thing in _objects().values() if kept(thing)]
    if not found:
        return covered(_NOTHING, departmentId is not None and departmentId not in _departments(), q)
    return f"Total objects found: {len(found)}\nObject IDs: {', '.join(str(thing['id']) for thing in found)}"


@server.tool
async def get_museum_object(objectId: float, returnImage: bool = True) -> list[object]:
    thing = _objects().get(objectId)
    if thing is None:
        shown = int(objectId) if objectId == objectId // 1 else objectId
        possible = objectId > 0 and isinstance(shown, int)
        raise ToolError(
            f"Error getting museum object id {shown}: Error: HTTP error! status: 404",
            outcome="gap" if possible else "not_found",
        )
    facts = {
        "Title": thing["title"],
        "Artist": thing.get("artist"),
        "Artist Bio": thing.get("bio"),
        "Department": _departments()[thing["met_department_id"]],
        "Credit Line": thing.get("credit"),
        "Medium": thing.get("medium"),
        "Dimensions": thing.get("dimensions"),
        "Tags": ", ".join(thing["tags"]),
        "Not covered": _MISSING if thing["id"] >= _OWN_NUMBERS else None,
    }
    text = "\n".join(f"{name}: {value}" for name, value in facts.items() if value)
    return [text, ImageBlock(_picture(thing["id"]), "image/jpeg")] if returnImage and "kind" in thing else [text]


@cache
def _departments() -> Mapping[int, str]:
    return {department["id"]: department["name"] for department in tables.load("met_departments")}


@cache
def _objects() -> Mapping[float, Thing]:
    return {thing["id"]: thing for thing in (*tables.load("met_objects"), *tables.load("more_met_objects"))}


@cache
def _titles() -> SearchIndex[Thing]:
    return SearchIndex(_objects().values(), {"title": 1.0})


@cache
def _everything() -> SearchIndex[Thing]:
    named = [
        {**thing, "department": _departments()[thing["met_department_id"]], "from": _adjectives(thing)}
        for thing in _objects().values()
    ]
    fields = {"title": 3.0, "artist": 2.8, "tags": 2.0, "culture": 2.0, "department": 1.5, "medium": 1.5, "date": 1.0}
    return SearchIndex(named, fields | {"from": 2.0})


_ADJECTIVES = {
    "China": "Chinese", "Egypt": "Egyptian", "France": "French", "Germany": "German", "Greece": "Greek",
    "India": "Indian", "Iran": "Iranian Persian", "Italy": "Italian", "Japan": "Japanese", "Korea": "Korean",
    "Mexico": "Mexican", "Nepal": "Nepalese", "Nigeria": "Nigerian", "Spain": "Spanish", "Tibet": "Tibetan",
    "Turkey": "Turkish",
}  # fmt: skip


def _adjectives(thing: Thing) -> list[str]:
    """How people call what comes from the country that stands as its culture."""
    return [word for country, word in _ADJECTIVES.items() if country in thing.get("culture", "")]


@cache
def _picture(number: int) -> bytes:
    return drawing.draw(_objects()[number])

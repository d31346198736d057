"""The `linkimage-mcp` server: saves the picture of a page of a photo site into the workspace.

Nothing is fetched: the page is looked up among those the run brought with it and then among those of the
world, whose pictures are our own illustrations. An address that is nothing but an id works too; on the public
server it does not.
"""

from pathlib import Path

from m3bench.sandboxes.content import one_line
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import decode_picture, save_picture
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.workspace import Workspace
from m3bench.sandboxes.world import links
from m3bench.tasks.errors import SoftError, ToolError

server = ToolServer("linkimage-mcp", layout=one_line)

_SHORTEST_ID = 5
"""What stands after the last dash of an id may be short, since ids have dashes themselves; shorter is a slip."""
_JPEG = b"\xff\xd8\xff"


@server.tool
def fetch_unsplash_image(url: str, context: Context) -> dict[str, str]:
    name = links.page_id(url)
    if name is None:
        problem = "the address has no photo id: it should end in a dash and an id, such as …-8Rk1DqL_Lkc"
        raise SoftError({"error": f"Exception occurred: {problem}"}, outcome="invalid_arguments")
    picture = _picture(name, context)
    if picture is None:
        raise SoftError(
            {"error": f"Failed to fetch photo metadata. HTTP 404: no page has the id {name!r}, check the URL"},
            outcome="gap" if len(name) >= _SHORTEST_ID else "not_found",
        )
    try:
        saved = _save(context.workspace, picture, f"images/{name}.jpg")
    except ToolError as error:
        raise SoftError({"error": f"Exception occurred: {error}"}, outcome=error.outcome) from error
    return {
        "message": "Image downloaded successfully",
        "image_url": f"{links.SITE}{name}/download",
        "author": "m3bench",
        "saved_path": context.workspace.show(saved),
    }


def _picture(name: str, context: Context) -> bytes | None:
    for address, picture in context.links.items():
        if links.page_id(address) == name:
            return picture
    page = links.pages().get(name)
    return None if page is None else links.picture(page)


def _save(workspace: Workspace, picture: bytes, path: str) -> Path:
    """Write a picture file as it is when it is a JPEG, made into one otherwise."""
    if picture.startswith(_JPEG):
        with workspace.writing(path) as draft:
            draft.write_bytes(picture)
    else:
        save_picture(workspace, decode_picture(picture, workspace.limits, "the picture"), path)
    return workspace.resolve(path)

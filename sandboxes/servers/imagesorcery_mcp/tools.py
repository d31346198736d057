"""The tools of `imagesorcery-mcp`: cuts, blurs, recolours and draws on pictures.

Every tool writes a new file and answers with its path as it was given or derived. The source is never
replaced; pictures are worked on upright, as their EXIF data asks, and keep their transparency. Deviations
from the public server: corners given in the wrong order are put right, letters beyond ASCII are drawn.
"""

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any, Literal

from PIL import Image, ImageChops

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import open_picture, save_picture, writable
from m3bench.sandboxes.servers.imagesorcery_mcp.drawing import FARTHEST, MAX_WORK, PART_COST, Item, Markup, items
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.drawing.pixels import blurred, recoloured
from m3bench.tasks.drawing.sheet import Sheet
from m3bench.tasks.errors import LimitError, ToolError

server = ToolServer("imagesorcery-mcp")

_BOX = ("x1", "y1", "x2", "y2")
_MAX_CORNERS = 10_000
_SEPIA = ((393, 769, 189), (349, 686, 168), (272, 534, 131))
"""Red, green and blue as thousandths of what they were."""


@server.tool
def crop(
    context: Context, input_path: str, x1: int, y1: int, x2: int, y2: int, output_path: str | None = None
) -> dict[str, list[str]]:
    left, top, right, bottom = (int(place) for place in (x1, y1, x2, y2))

    def cut(image: Image.Image) -> Image.Image:
        if not (0 <= left < right <= image.width and 0 <= top < bottom <= image.height):
            corners = f"({left},{top})→({right},{bottom})"
            raise ToolError(
                f"Invalid crop coordinates: {corners} for image size {image.width}x{image.height}",
                outcome="invalid_arguments",
            )
        return image.crop((left, top, right, bottom))

    return _edit(context.workspace, input_path, output_path, "cropped", cut)


@server.tool
def blur(
    context: Context,
    input_path: str,
    areas: list[dict[str, Any]],
    invert_areas: bool = False,
    output_path: str | None = None,
) -> dict[str, list[str]]:
    def soften(image: Image.Image) -> Image.Image:
        mask = _mask(image.size, items("areas", areas))
        if invert_areas:
            mask = ImageChops.invert(mask)
        return Image.composite(_blurred(image, _kernel(areas)), image, mask)

    return _edit(context.workspace, input_path, output_path, "blurred", soften)


@server.tool
def draw_arrows(
    context: Context, input_path: str, arrows: list[dict[str, Any]], output_path: str | None = None
) -> dict[str, list[str]]:
    return _draw(context, input_path, output_path, "with_arrows", Markup.arrow, items("arrows", arrows))


@server.tool
def change_color(
    context: Context, input_path: str, palette: Literal["grayscale", "sepia"], output_path: str | None = None
) -> dict[str, list[str]]:
    def recolour(image: Image.Image) -> Image.Image:
        colours = image.convert("RGB")
        changed = colours.convert("L").convert("RGB") if palette == "grayscale" else recoloured(colours, _SEPIA)
        if image.mode == "RGBA":
            changed.putalpha(image.getchannel("A"))
        return changed

    return _edit(context.workspace, input_path, output_path, palette, recolour)


@server.tool
def draw_circles(
    context: Context, input_path: str, circles: list[dict[str, Any]], output_path: str | None = None
) -> dict[str, list[str]]:
    return _draw(context, input_path, output_path, "with_circles", Markup.circle, items("circles", circles))


@server.tool
def draw_lines(
    context: Context, input_path: str, lines: list[dict[str, Any]], output_path: str | None = None
) -> dict[str, list[str]]:
    return _draw(context, input_path, output_path, "with_lines", Markup.line, items("lines", lines))


@server.tool
def draw_texts(
    context: Context, input_path: str, texts: list[dict[str, Any]], output_path: str | None = None
) -> dict[str, list[str]]:
    return _draw(context, input_path, output_path, "with_text", Markup.text, items("texts", texts))


def _draw(
    context: Context,
    input_path: str,
    output_path: str | None,
    ending: str,
    shape: Callable[[Markup, Item], None],
    drawn: list[Item],
) -> dict[str, list[str]]:
    def draw(image: Image.Image) -> Image.Image:
        markup = Markup(image)
        for item in drawn:
            shape(markup, item)
        return markup.image

    return _edit(context.workspace, input_path, output_path, ending, draw)


def _edit(
    workspace: Workspace,
    input_path: str,
    output_path: str | None,
    ending: str,
    change: Callable[[Image.Image], Image.Image],
) -> dict[str, list[str]]:
    """Read, change and save a picture; what cannot be written is refused before any work."""
    source = workspace.resolve(input_path)
    if not source.exists():
        raise ToolError(f"Input file not found: {input_path}")
    target = output_path or _derived(input_path, ending)
    writable(target)
    if workspace.resolve(target) == source:
        raise ToolError(
            f"output_path {target!r} is the source itself, which stays as it is: choose another name",
            outcome="invalid_arguments",
        )
    image = open_picture(workspace, input_path)
    changed = change(image)
    changed.info = dict(image.info)
    save_picture(workspace, changed, target)
    return {"images": [target]}


def _derived(path: str, ending: str) -> str:
    suffix = PurePosixPath(path).suffix
    return f"{path.removesuffix(suffix)}_{ending}{suffix}"


def _mask(size: tuple[int, int], areas: list[Item]) -> Image.Image:
    """White where any of the areas lies; an area that is neither a box nor a polygon is passed over."""
    mask = Image.new("L", size)
    sheet = Sheet(mask)
    polygons = {area.place: _corners(area) for area in areas if "polygon" in area.fields}
    edges = sum(map(len, polygons.values()))
    if len(polygons) * size[0] * size[1] + edges * PART_COST // 8 > MAX_WORK:
        raise LimitError("the polygons cover too many pixels together: blur fewer areas in one call")
    for area in areas:
        if area.place in polygons:
            sheet.polygon(polygons[area.place], 255)
        elif all(name in area.fields for name in _BOX):
            x1, y1, x2, y2 = (area.coordinate(name) for name in _BOX)
            mask.paste(255, _inside((min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)), size))
    return mask


def _inside(box: tuple[int, int, int, int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The part of a box that lies in a picture."""
    left, top, right, bottom = (min(max(place, 0), most) for place, most in zip(box, size * 2, strict=True))
    return left, top, right, bottom


def _corners(area: Item) -> list[tuple[int, int]]:
    given = area.fields["polygon"]
    if not isinstance(given, list) or not 3 <= len(given) <= _MAX_CORNERS:
        raise _bad_polygon(area, f"expected a list of 3 to {_MAX_CORNERS} points")
    corners = []
    for point in given:
        if not isinstance(point, list) or len(point) != 2 or not all(_is_place(place) for place in point):
            raise _bad_polygon(area, "expected points such as [120, 80]")
        corners.append((round(point[0]), round(point[1])))
    return corners


def _bad_polygon(area: Item, expected: str) -> ToolError:
    return ToolError(f"'polygon' in {area.place} cannot be used ({expected})", outcome="invalid_arguments")


def _is_place(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= FARTHEST


def _kernel(areas: list[dict[str, Any]]) -> int:
    """The width of the blur in pixels, always odd; that of the first area holds for all."""
    first = Item("areas[0]", areas[0]) if areas else Item("areas", {})
    strength = round(first.number("blur_strength", 15, 1, FARTHEST))
    return strength if strength % 2 else strength + 1


def _blurred(image: Image.Image, kernel: int) -> Image.Image:
    # As OpenCV derives it from the width of the kernel. A wider blur than the picture changes nothing more.
    sigma = 0.3 * ((min(kernel, 2 * max(image.size)) - 1) * 0.5 - 1) + 0.8
    if image.mode != "RGBA":
        return blurred(image, sigma)
    # With colours multiplied by alpha, what is transparent does not bleed into what is not.
    return blurred(image.convert("RGBa"), sigma).convert("RGBA")

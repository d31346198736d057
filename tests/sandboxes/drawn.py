"""The hashes of drawn results, which x86-64 and arm64 must both meet.

    python -m tests.sandboxes.drawn

writes `drawn_hashes.json` anew; look at the change before it is committed. A result has the hash of its pixels, and
that of its file where the bytes are promised too.
"""

import json
import zlib
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image

from m3bench.sandboxes.servers import dinox_mcp as detections
from m3bench.sandboxes.servers import imagesorcery_mcp as imagesorcery
from m3bench.sandboxes.servers.google_air import heatmap_tile
from m3bench.sandboxes.servers.google_maps import details
from m3bench.sandboxes.servers.google_maps import static_maps as maps
from m3bench.sandboxes.servers.imagesorcery_mcp import Markup, items
from m3bench.sandboxes.servers.metmuseum_mcp import drawing as museum
from m3bench.sandboxes.servers.ppt.images import FILTERS, Enhancement
from m3bench.sandboxes.world import links, places, tables
from m3bench.sandboxes.world.geo import Point
from m3bench.server.clients.probe_notes import picture as probe_picture
from m3bench.tasks.drawing.files import jpeg, png
from m3bench.tasks.drawing.pixels import blurred, recoloured
from m3bench.tasks.library import Library
from tests.pictures import pixel_hash

FILE = Path(__file__).with_name("drawn_hashes.json")

_POINTS = ((48.8584, 2.2945, 14), (40.7128, -74.006, 11), (35.36, 138.73, 9), (0.0, 0.0, 2), (-33.86, 151.2, 13))
_TILES = ((0, 0, 0), (2, 1, 1), (4, 8, 5), (7, 66, 45))


def drawn() -> Iterator[tuple[str, bytes | Image.Image]]:
    """Every result by name: a file where its bytes are promised, pixels where they alone are."""
    for make in (_links, _museum, _maps, _photos, _tiles, _markup, _detections, _effects, _clients, _committed):
        for name, result in make():
            yield f"{make.__name__[1:]} {name}", result


def hashes(result: bytes | Image.Image) -> dict[str, str]:
    """What is stored of a result."""
    if isinstance(result, Image.Image):
        return {"pixels": pixel_hash(result)}
    with Image.open(BytesIO(result)) as image:
        return {"pixels": pixel_hash(image), "bytes": sha256(result).hexdigest()[:32]}


def has_usual_zlib() -> bool:
    """Whether Python packs as it did for the stored bytes; another library packs the same pixels differently."""
    return "ng" not in zlib.ZLIB_RUNTIME_VERSION


def _links() -> Iterator[tuple[str, bytes]]:
    for page in list(links.pages().values())[::4]:
        yield page.id, links.picture(page)


def _museum() -> Iterator[tuple[str, bytes]]:
    things = [thing for thing in tables.load("met_objects") if "kind" in thing]
    for thing in {thing["kind"]: thing for thing in reversed(things)}.values():
        yield f"{thing['kind']} {thing['id']}", museum.draw(thing)


def _maps() -> Iterator[tuple[str, bytes]]:
    for lat, lng, zoom in _POINTS:
        pins = [maps.Marker(Point(lat, lng), label="A"), maps.Marker(Point(lat + 0.01, lng + 0.01))]
        path = maps.Path((Point(lat, lng), Point(lat + 0.02, lng + 0.01), Point(lat - 0.01, lng + 0.03)))
        for style in ("roadmap", "terrain", "satellite", "hybrid"):
            yield f"{style} {lat},{lng} {zoom}", maps.draw_map(Point(lat, lng), zoom, (240, 200), style, pins, path)


def _photos() -> Iterator[tuple[str, bytes]]:
    for number, place in enumerate(places.places()[:: len(places.places()) // 40]):
        yield str(number), details.draw_photo(place, f"photo {number}", 200, 150)


def _tiles() -> Iterator[tuple[str, bytes]]:
    for kind in ("UNIVERSAL_AQI", "US_AQI", "UAQI_INDIGO_PERSIAN"):
        for z, x, y in _TILES:
            yield f"{kind} {z}/{x}/{y}", heatmap_tile(z, x, y, kind).data


@cache
def _photo() -> Image.Image:
    """Something with many shades: a committed picture, smaller."""
    name = next(name for task in Library().tasks.values() for name in task.pictures)
    with Image.open(BytesIO(Library().picture(name))) as image:
        return image.convert("RGB").reduce(4)


def _markup() -> Iterator[tuple[str, bytes | Image.Image]]:
    dice = Random(7)
    wide, high = _photo().size
    for number in range(12):
        ends = {
            "x1": dice.randint(-40, wide),
            "y1": dice.randint(-40, high),
            "x2": dice.randint(0, wide + 40),
            "y2": 40,
        }
        style = {"thickness": dice.randint(1, 12), "color": [dice.randint(0, 255) for _ in range(3)]}
        circle = {"center_x": ends["x1"], "center_y": 60, "radius": dice.randint(1, 90), **style}
        words = {"text": "Grüße, 42 °C", "x": 10, "y": 80, "font_scale": dice.uniform(0.4, 2), **style}
        for kind, item in (("line", ends | style), ("arrow", ends | style), ("circle", circle), ("text", words)):
            markup = Markup(_photo())
            getattr(markup, kind)(*items(kind, [item]))
            yield f"{kind} {number}", png(markup.image)
        corners = [[dice.randint(-20, wide + 20), dice.randint(-20, high + 20)] for _ in range(dice.randint(3, 8))]
        yield f"polygon {number}", png(imagesorcery._mask(_photo().size, items("areas", [{"polygon": corners}])))
    for sigma in (0.8, 1.1, 2.6, 5.0, 12.3):
        yield f"blur {sigma}", blurred(_photo(), sigma)
    yield "sepia", recoloured(_photo(), imagesorcery._SEPIA)


def _detections() -> Iterator[tuple[str, Image.Image]]:
    found = [detections.Detection("hard hat", (12, 30, 90, 120)), detections.Detection("giraffe", (60, 8, 170, 140))]
    for size, thickness in ((None, 1), (11, 2), (16, 4), (28, 3)):
        image = _photo().copy()
        detections.draw(image, found, font_size=size, thickness=thickness)
        yield f"{size} {thickness}", image


def _effects() -> Iterator[tuple[str, Image.Image]]:
    for name in FILTERS:
        yield name, Enhancement(filter=name).apply(_photo())
    for name in ("brightness", "contrast", "saturation", "sharpness"):
        for factor in (0.3, 1.05, 1.7, 4.0):
            change: dict[str, Any] = {name: factor}
            yield f"{name} {factor}", Enhancement(**change).apply(_photo())


def _clients() -> Iterator[tuple[str, bytes]]:
    yield "probe", probe_picture("MARKER")
    yield "photo", jpeg(_photo(), 85)


def _committed() -> Iterator[tuple[str, bytes]]:
    """One picture of each family, as a client gets it."""
    library = Library()
    for task in {task.family: task for task in reversed(library.tasks.values())}.values():
        yield task.pictures[0], library.picture(task.pictures[0])


def main() -> None:
    """Write the hashes anew."""
    stored = {name: hashes(result) for name, result in drawn()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in stored.items())
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print(f"{len(stored)} results in {FILE.name}")


if __name__ == "__main__":
    main()

"""Paints a poster from its recipe.

A recipe names a palette and lists elements from back to front, each with its parameters; the elements are the
functions of the neighbouring modules.
"""

from collections.abc import Callable, Mapping, Sequence

from m3bench.sandboxes.world.posters import buildings, land, monuments, towers
from m3bench.sandboxes.world.posters.poster import PosterCanvas
from m3bench.tasks.drawing.files import jpeg

ELEMENTS: Mapping[str, Callable[..., None]] = {
    name: function
    for module in (land, buildings, towers, monuments)
    for name, function in vars(module).items()
    if callable(function) and getattr(function, "__module__", "") == module.__name__ and not name.startswith("_")
}
"""Name to painter."""


def paint(
    palette: str, elements: Sequence[tuple[str, Mapping[str, object]]], *, title: str, subtitle: str, seed: str
) -> bytes:
    """The poster as a JPEG file of 1200 by 800 pixels."""
    poster = PosterCanvas(palette, seed)
    for name, parameters in elements:
        ELEMENTS[name](poster, **parameters)
    return jpeg(poster.finish(title, subtitle), 88, optimize=True)

"""Objects and fonts for pictures, by name, from the packages in a folder.

The objects are the 3-D emoji of @lobehub/fluent-emoji-3d (MIT): clean alpha, so boxes are exact. `data/art.json`
says which file has which name. The fonts are under the OFL.
"""

import io
import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from PIL import Image, ImageFont

from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.render import packages
from m3bench.tasks.render.packages import ArtPackage

_NAMES = Path(__file__).parent.parent / "data" / "art.json"

VISIBLE = 32
"""Alpha above which a pixel belongs to an object."""


@dataclass(frozen=True)
class Face:
    """A font file, and what SVG calls it."""

    package: ArtPackage
    member: str
    family: str
    weight: int


def _face(package: ArtPackage, stem: str, style: str, family: str) -> Face:
    return Face(package, f"{style}/{stem}_{style}.ttf", family, int(style[:3]))


FACES = {
    "sans": _face(packages.SANS, "SourceSans3", "400Regular", "Source Sans 3"),
    "sans bold": _face(packages.SANS, "SourceSans3", "700Bold", "Source Sans 3"),
    "sans black": _face(packages.SANS, "SourceSans3", "900Black", "Source Sans 3"),
    "serif": _face(packages.SERIF, "SourceSerif4", "400Regular", "Source Serif 4"),
    "serif bold": _face(packages.SERIF, "SourceSerif4", "700Bold", "Source Serif 4"),
    "round": _face(packages.ROUND, "Fredoka", "600SemiBold", "Fredoka"),
    "narrow": _face(packages.NARROW, "Oswald", "500Medium", "Oswald"),
    "narrow bold": _face(packages.NARROW, "Oswald", "700Bold", "Oswald"),
    "script": _face(packages.SCRIPT, "Lobster", "400Regular", "Lobster"),
    "hand": _face(packages.HAND, "Caveat", "600SemiBold", "Caveat"),
    "mono": _face(packages.MONO, "JetBrainsMono", "400Regular", "JetBrains Mono"),
    "mono bold": _face(packages.MONO, "JetBrainsMono", "700Bold", "JetBrains Mono"),
}


class Art:
    """What pictures are made of.

    Args:
        folder: Holds the packages; see `packages.fetch`.
    """

    drawn = True
    """Whether there is anything to draw with; without, pictures are only laid out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def object(self, name: str) -> Image.Image:
        """An object, cut to what is visible of it."""
        picture = Image.open(io.BytesIO(self._objects[names()[name]]), formats=READABLE).convert("RGBA")
        return picture.crop(visible(picture))

    @cached_property
    def _objects(self) -> dict[str, bytes]:
        files = {f"assets/{code}.webp": code for code in names().values()}
        return {files[name]: data for name, data in packages.members(self.folder, packages.EMOJI, files).items()}

    @cached_property
    def fonts(self) -> dict[str, Path]:
        """The font file of each face; resvg reads fonts from files, so they are unpacked beside the packages."""
        place = self.folder / "fonts"
        place.mkdir(parents=True, exist_ok=True)
        found = {}
        for name, face in FACES.items():
            path = place / Path(face.member).name
            data = packages.members(self.folder, face.package, [face.member])[face.member]
            if not path.is_file() or path.read_bytes() != data:
                # Another process may be drawing with it.
                write_atomically(path, data)
            found[name] = path
        return found

    @cache  # noqa: B019 - an Art lives as long as the program
    def font(self, face: str, size: int) -> ImageFont.FreeTypeFont:
        """A face in a size, to measure with."""
        return ImageFont.truetype(str(self.fonts[face]), size, layout_engine=ImageFont.Layout.BASIC)

    def width(self, text: str, size: float, face: str = "sans") -> float:
        """How wide a line of text is."""
        return self.font(face, 200).getlength(text) * size / 200


@cache
def names() -> dict[str, str]:
    """The objects there are, each with the name of its file."""
    found: dict[str, str] = json.loads(_NAMES.read_bytes())
    return found


def visible(picture: Image.Image) -> tuple[int, int, int, int]:
    """The box of what can be seen of a picture with alpha."""
    box = picture.getchannel("A").point(lambda value: 255 if value > VISIBLE else 0).getbbox()
    return box or (0, 0, *picture.size)

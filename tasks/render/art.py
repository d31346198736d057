"""Objects for pictures, from the package @lobehub/fluent-emoji-3d (MIT): clean alpha, so boxes are exact.

The package is needed to draw pictures, not to use them; its file is checked by hash and never carried.
"""

import io
import tarfile
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from PIL import Image

from m3bench.tasks.errors import InputFileError

SHA256 = "c1bb7eee7de090205a232518a9ab4adb3df458bfbe8a1f78232991194c8b2e58"
"""Of version 1.1.0, as `npm pack` gives it."""

CODES = {
    "bear": "1f43b",
    "cow": "1f404",
    "deer": "1f98c",
    "duck": "1f986",
    "elephant": "1f418",
    "flamingo": "1f9a9",
    "fox": "1f98a",
    "giraffe": "1f992",
    "goat": "1f410",
    "horse": "1f40e",
    "lion": "1f981",
    "owl": "1f989",
    "penguin": "1f427",
    "rabbit": "1f407",
    "rhinoceros": "1f98f",
    "sheep": "1f411",
    "tiger": "1f42f",
    "turtle": "1f422",
    "zebra": "1f993",
    "barrel": "1f6e2-fe0f",
    "barrier": "1f6a7",
    "bricks": "1f9f1",
    "cyclist": "1f6b4",
    "fire": "1f525",
    "fire extinguisher": "1f9ef",
    "herb": "1f33f",
    "ladder": "1fa9c",
    "lightning": "26a1",
    "plug": "1f50c",
    "runner": "1f3c3",
    "tree": "1f333",
    "walker": "1f6b6",
    "warning sign": "26a0-fe0f",
    "water": "1f4a7",
    "worker": "1f477",
}


class Art:
    """The package's pictures by name.

    Args:
        path: The package as a tarball.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _files(self) -> dict[str, bytes]:
        try:
            data = self._path.read_bytes()
        except OSError as error:
            raise InputFileError(
                self._path, f"cannot be read ({error.strerror}): npm pack @lobehub/fluent-emoji-3d@1.1.0"
            ) from error
        if sha256(data).hexdigest() != SHA256:
            raise InputFileError(self._path, "is not version 1.1.0 of @lobehub/fluent-emoji-3d")
        found = {}
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            wanted = {f"package/assets/{code}.webp": name for name, code in CODES.items()}
            for member in archive:
                if member.name in wanted:
                    file = archive.extractfile(member)
                    assert file is not None
                    found[wanted[member.name]] = file.read()
        return found

    def object(self, name: str) -> Image.Image:
        """An object, cut to what is visible of it."""
        picture = Image.open(io.BytesIO(self._files[name])).convert("RGBA")
        box = picture.getchannel("A").point(lambda value: 255 if value > 32 else 0).getbbox()
        return picture.crop(box)

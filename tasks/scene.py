"""What there is to see in a picture: written by whoever draws it, read by the detector.

A scene belongs to one picture by content hash. Its thumbnail lets copies, re-encodings and crops of the
picture be recognised, so that boxes can be carried over. Scenes are handed to a sandbox when it starts and
never lie in a workspace, where a client could read them.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import compress, decompress

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels; right and bottom are exclusive."""

Keypoint = tuple[float, float, float]
"""x, y in pixels and visibility from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class SceneObject:
    """One thing in a picture."""

    label: str
    """What a detector would call it, in the singular: `giraffe`, `hard hat`."""
    box: Box
    score: float = 0.9
    """The confidence a detector would report."""
    description: str = ""
    """A few words on this very object: colour, pose, place."""
    aliases: tuple[str, ...] = ()
    """Other words that mean it, beyond plurals and common synonyms."""
    keypoints: tuple[Keypoint, ...] = ()
    """For people: 17 points in COCO order, nose first; empty for everything else."""


@dataclass(frozen=True, kw_only=True)
class SceneText:
    """A line of writing in a picture."""

    text: str
    box: Box


@dataclass(frozen=True, kw_only=True)
class Thumbnail:
    """A small grey copy of a picture: one byte a pixel, row by row."""

    width: int
    height: int
    pixels: bytes

    def to_json(self) -> dict[str, Any]:
        """The thumbnail as JSON data."""
        return {
            "width": self.width,
            "height": self.height,
            "zlib": b64encode(compress(self.pixels, 9)).decode(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Thumbnail":
        """The thumbnail written by `to_json`."""
        return cls(width=data["width"], height=data["height"], pixels=decompress(b64decode(data["zlib"])))


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The annotations of one picture."""

    sha256: str
    """Of the picture's file."""
    width: int
    height: int
    thumbnail: Thumbnail
    objects: tuple[SceneObject, ...] = ()
    texts: tuple[SceneText, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The scene as JSON data; what is empty is left out."""
        return {
            "sha256": self.sha256,
            "width": self.width,
            "height": self.height,
            "thumbnail": self.thumbnail.to_json(),
            "objects": [_without_blanks(vars(item)) for item in self.objects],
            "texts": [{"text": item.text, "box": list(item.box)} for item in self.texts],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Scene":
        """The scene written by `to_json`."""
        return cls(
            sha256=data["sha256"],
            width=data["width"],
            height=data["height"],
            thumbnail=Thumbnail.from_json(data["thumbnail"]),
            objects=tuple(_object(item) for item in data.get("objects", ())),
            texts=tuple(SceneText(text=item["text"], box=_box(item["box"])) for item in data.get("texts", ())),
        )


def _object(data: Mapping[str, Any]) -> SceneObject:
    return SceneObject(
        label=data["label"],
        box=_box(data["box"]),
        score=data["score"],
        description=data.get("description", ""),
        aliases=tuple(data.get("aliases", ())),
        keypoints=tuple((x, y, seen) for x, y, seen in data.get("keypoints", ())),
    )


def _box(data: Any) -> Box:
    left, top, right, bottom = data
    return (left, top, right, bottom)


def _without_blanks(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: [list(item) if isinstance(item, tuple) else item for item in value] if isinstance(value, tuple) else value
        for key, value in data.items()
        if value not in ("", ())
    }

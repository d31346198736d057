"""What can be seen in a picture: written by the code that draws it, read by the detector.

A scene belongs to one picture by content hash. Its thumbnail lets copies, re-encodings and crops of the
picture be recognised, so that boxes can be carried over. `Scene.of` makes both from the picture's file.
Scenes are passed to a sandbox when it starts and are never in a workspace, where a client could read them. The scene of
a task with a person to be asked brings that person too, and that of a task with drafts to be revised brings the
drafts: artefacts as they are before anybody has looked at them, in no workspace before a tool hands them out.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING

from m3bench.tasks.desk import Desk
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.json_types import Record
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from PIL import Image
else:
    Image = LazyModule("PIL.Image")

THUMBNAIL_SIDE = 320
"""Pixels of a thumbnail's longer side: what finds the smallest crops at 12 KB a scene."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels; right and bottom are exclusive."""

APART = 2000
"""Pixels between the tops of pictures that are laid below each other; none is as high."""

Keypoint = tuple[float, float, float]
"""x, y in pixels and visibility from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An artefact that is to be revised."""

    name: str
    """Of the file, with its ending."""
    title: str
    """What it is, in a few words."""
    data: bytes
    """The file."""

    def to_json(self) -> dict[str, str]:
        """The draft as JSON data: text where it is text."""
        try:
            content = {"text": self.data.decode()}
        except UnicodeDecodeError:
            content = {"base64": b64encode(self.data).decode()}
        return {"name": self.name, "title": self.title, **content}

    @classmethod
    def from_json(cls, data: Record) -> "Draft":
        """The draft written by `to_json`."""
        content = data["text"].encode() if "text" in data else b64decode(data["base64"])
        return cls(name=data["name"], title=data["title"], data=content)


@dataclass(frozen=True, kw_only=True)
class SceneObject:
    """One thing in a picture."""

    label: str
    """What a detector would call it, in the singular: `giraffe`, `hard hat`. Never a name, a price or a judgement."""
    box: Box
    score: float = 0.9
    """The confidence a detector would report."""
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
class Scene:
    """The annotations of one picture."""

    sha256: str
    """Hash of the picture's file."""
    width: int
    height: int
    thumbnail: bytes
    """A small grey copy of the picture: a JPEG file made by `make_thumbnail`."""
    objects: tuple[SceneObject, ...] = ()
    texts: tuple[SceneText, ...] = ()
    desk: Desk | None = None
    """Who can be asked about the task, and the documents that bind it; seen by no detector."""
    drafts: tuple[Draft, ...] = ()
    """What is to be revised; handed out by the studio."""

    @classmethod
    def of(cls, picture: bytes, objects: Iterable[SceneObject] = (), texts: Iterable[SceneText] = ()) -> "Scene":
        """The scene of a picture file; boxes are in the pixels of that file."""
        with Image.open(BytesIO(picture), formats=READABLE) as image:
            return cls(
                sha256=sha256(picture).hexdigest(),
                width=image.width,
                height=image.height,
                thumbnail=make_thumbnail(image),
                objects=tuple(objects),
                texts=tuple(texts),
            )

    def to_json(self) -> dict[str, object]:
        """The scene as JSON data; what is empty is left out."""
        return {
            "sha256": self.sha256,
            "width": self.width,
            "height": self.height,
            "thumbnail": b64encode(self.thumbnail).decode(),
            "objects": [_without_blanks(vars(item)) for item in self.objects],
            "texts": [{"text": item.text, "box": list(item.box)} for item in self.texts],
            **({"desk": self.desk.to_json()} if self.desk is not None else {}),
            **({"drafts": [draft.to_json() for draft in self.drafts]} if self.drafts else {}),
        }

    @classmethod
    def from_json(cls, data: Record) -> "Scene":
        """The scene written by `to_json`."""
        return cls(
            sha256=data["sha256"],
            width=data["width"],
            height=data["height"],
            thumbnail=b64decode(data["thumbnail"]),
            objects=tuple(_object(item) for item in data.get("objects", ())),
            texts=tuple(SceneText(text=item["text"], box=_box(item["box"])) for item in data.get("texts", ())),
            desk=Desk.from_json(data["desk"]) if "desk" in data else None,
            drafts=tuple(Draft.from_json(item) for item in data.get("drafts", ())),
        )


def stacked(scenes: Sequence[Scene]) -> Scene:
    """Several pictures of a task as one scene without a file, each below the one before it."""
    return Scene(
        sha256="",
        width=max(scene.width for scene in scenes),
        height=APART * (len(scenes) - 1) + scenes[-1].height,
        thumbnail=b"",
        objects=tuple(
            replace(item, box=lowered(item.box, number)) for number, one in enumerate(scenes) for item in one.objects
        ),
        texts=tuple(
            replace(item, box=lowered(item.box, number)) for number, one in enumerate(scenes) for item in one.texts
        ),
    )


def lowered(box: Box, number: int) -> Box:
    """A box of the picture with this number, from 0 on, where `stacked` puts it."""
    left, top, right, bottom = box
    return left, top + APART * number, right, bottom + APART * number


def make_thumbnail(image: "Image.Image", side: int = THUMBNAIL_SIDE) -> bytes:
    """A small grey JPEG of a picture; a picture that is already small keeps its size."""
    factor = min(1.0, side / max(image.size))
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    file = BytesIO()
    grey(image).resize(size, Image.Resampling.BILINEAR).save(file, "JPEG", quality=80, optimize=True)
    return file.getvalue()


def grey(image: "Image.Image") -> "Image.Image":
    """The brightness of a picture; what is transparent is white."""
    if not image.has_transparency_data:
        return image.convert("L")
    layer = image.convert("RGBA")
    ground = Image.new("L", image.size, 255)
    ground.paste(layer.convert("L"), mask=layer.getchannel("A"))
    return ground


def _object(data: Record) -> SceneObject:
    return SceneObject(
        label=data["label"],
        box=_box(data["box"]),
        score=data["score"],
        aliases=tuple(data.get("aliases", ())),
        keypoints=tuple((x, y, seen) for x, y, seen in data.get("keypoints", ())),
    )


def _box(data: Iterable[float]) -> Box:
    left, top, right, bottom = data
    return (left, top, right, bottom)


def _without_blanks(data: Mapping[str, object]) -> dict[str, object]:
    return {
        key: [list(item) if isinstance(item, tuple) else item for item in value] if isinstance(value, tuple) else value
        for key, value in data.items()
        if value not in ("", ())
    }

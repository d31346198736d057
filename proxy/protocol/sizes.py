"""Brings what a client is sent to the size that it takes: pictures are made smaller, texts are cut.

A picture that can be read is never left out: it is encoded again, with as many pixels as fit. Sound and other files
cannot be made smaller, so that a sentence takes their place. What was done is said at the end of the result.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

from m3bench.proxy.protocol.messages import Json, dump
from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.tasks.errors import RunError
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from PIL import Image, ImageOps
else:
    Image = LazyModule("PIL.Image")
    ImageOps = LazyModule("PIL.ImageOps")

_MARGIN = 2_000
"""Room for the note and for what goes around a result on its way."""

_QUALITY = 88

_MOST_PIXELS = 80_000_000
"""More than this is not unpacked."""

_FEWEST = 16
"""Pixels on the longer side: a picture that does not fit with so few is not worth looking at."""

_NAMED = 3
"""Pictures whose sizes the note gives."""


def fitted(result: bytes, where: str, most: int = MAX_RESULT_BYTES) -> bytes:
    """A result that a client takes, made of one that is too large.

    Args:
        result: The raw JSON of a `CallToolResult`.
        where: Says where the whole of it is.
        most: Bytes that the client takes.
    """
    data = json.loads(result)
    blocks = data.get("content")
    blocks = blocks if isinstance(blocks, list) else []
    rest, done = _without_extras(data, most // 2)
    room = most - _MARGIN - len(dump(rest))
    kept = _Fitting(blocks, room, done)
    note = f"[The result has {len(result)} bytes, and at most {most} are sent: {kept.summary}; {where}]"
    return dump({**rest, "content": [*kept.blocks, {"type": "text", "text": note}]})


def fitted_resource(resource: Json, most: int = MAX_RESULT_BYTES) -> Json:
    """A resource that a client takes; only pictures can be made smaller.

    Raises:
        RunError: It does not fit.
    """
    size = len(dump(resource))
    contents = resource.get("contents")
    if size <= most or not isinstance(contents, list):
        return resource
    kept = _Fitting(contents, most - _MARGIN, [], only_pictures=True)
    note = f"The resource has {size} bytes, and at most {most} are sent: {kept.summary}."
    about = {"uri": contents[0]["uri"], "mimeType": "text/plain", "text": note}
    smaller = {**resource, "contents": [*kept.blocks, about]}
    if len(dump(smaller)) > most:
        raise RunError(
            f"The resource has {size} bytes, and a client is sent at most {most}. Files in a run's workspace "
            "can be read there with the tools."
        )
    return smaller


def smaller(picture: bytes, room: int) -> tuple[bytes, str] | None:
    """A picture as a JPEG file of at most so many bytes, and what was done; None when it cannot be had."""
    try:
        with Image.open(BytesIO(picture), formats=READABLE) as image:
            if image.width * image.height > _MOST_PIXELS:
                return None
            before = f"{image.width} × {image.height}"
            whole = _opaque(ImageOps.exif_transpose(image))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None
    scale = 1.0
    while True:
        size = (max(1, round(whole.width * scale)), max(1, round(whole.height * scale)))
        drawn = whole if scale == 1 else whole.resize(size, Image.Resampling.LANCZOS)
        file = BytesIO()
        drawn.save(file, "JPEG", quality=_QUALITY)
        if file.tell() <= room:
            said = f"{before} pixels, as JPEG" if scale == 1 else f"{before} to {size[0]} × {size[1]} pixels"
            return file.getvalue(), said
        if max(size) <= _FEWEST:
            return None
        scale *= max(0.4, min(0.92, (max(room, 1) / file.tell()) ** 0.5))


def _opaque(image: "Image.Image") -> "Image.Image":
    """In three colours; what can be seen through is white."""
    if "A" not in image.getbands() and "transparency" not in image.info:
        return image.convert("RGB")
    clear = image.convert("RGBA")
    sheet = Image.new("RGB", clear.size, "white")
    sheet.paste(clear, mask=clear.getchannel("A"))
    return sheet


@dataclass
class _Fitting:
    """Blocks of a result, or contents of a resource, brought to fit into some room.

    Pictures get what the others leave, at least half of the room where they need it, and share it.
    """

    given: Sequence[object]
    room: int
    done: list[str]
    only_pictures: bool = False
    blocks: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        sizes = [len(dump(block)) for block in self.given]
        shown = [place for place, block in enumerate(self.given) if _picture(block) is not None]
        need = sum(sizes[place] for place in shown)
        for_pictures = min(need, max(self.room - (sum(sizes) - need), self.room // 2))
        shares = _shares({place: sizes[place] for place in shown}, for_pictures)
        left, scaled = self.room - for_pictures, []
        for place, (block, size) in enumerate(zip(self.given, sizes, strict=True)):
            if place in shares:
                made, said = _smaller_block(block, size, shares[place])
                self.blocks.append(made)
                scaled += [said] if said else []
                continue
            taken = block if size <= left or self.only_pictures else self._short(block, size, left)
            left -= min(size, max(left, 0))
            self.blocks.append(taken)
        if scaled:
            several = "1 picture was" if len(scaled) == 1 else f"{len(scaled)} pictures were"
            more = ", …" if len(scaled) > _NAMED else ""
            self.done.append(f"{several} made smaller ({', '.join(scaled[:_NAMED])}{more})")

    @property
    def summary(self) -> str:
        """What was done."""
        return ", ".join(dict.fromkeys(self.done)) or "nothing could be made smaller"

    def _short(self, block: object, size: int, left: int) -> object:
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, dict) and kind == "text" and isinstance(block.get("text"), str):
            self.done.append("a text was cut")
            # A character takes at most six bytes as JSON, when it is escaped.
            return {**block, "text": block["text"][: max(left, 0) // 6]}
        self.done.append("a file was left out")
        return {"type": "text", "text": f"[{kind} of {size} bytes left out]"}


def _without_extras(data: Json, most: int) -> tuple[Json, list[str]]:
    """A result without its blocks and, where that is large, without what is for programs."""
    rest, done = {key: value for key, value in data.items() if key != "content"}, []
    for extra in ("structuredContent", "_meta"):
        if extra in rest and len(dump(rest)) > most:
            del rest[extra]
            done.append(f"{extra} was left out")
    return rest, done


def _picture(block: object) -> str | None:
    """The file of a picture in a block or in a resource's contents, in base64; None when it is something else."""
    if not isinstance(block, dict):
        return None
    if isinstance(inner := block.get("resource"), dict):
        block = inner
    data, kind = block.get("data", block.get("blob")), block.get("mimeType")
    is_image = block.get("type") == "image" or (isinstance(kind, str) and kind.startswith("image/"))
    return data if is_image and isinstance(data, str) else None


def _shares(sizes: Mapping[int, int], room: int) -> dict[int, int]:
    """How much of the room each picture gets: none more than it needs, and the large ones the same."""
    shares: dict[int, int] = {}
    for count, (place, size) in enumerate(sorted(sizes.items(), key=lambda item: item[1])):
        shares[place] = min(size, room // (len(sizes) - count))
        room -= shares[place]
    return shares


def _smaller_block(block: object, size: int, share: int) -> tuple[object, str]:
    """A block whose picture is made smaller where it must be, and what was done."""
    encoded = _picture(block)
    if size <= share or encoded is None or not isinstance(block, dict):
        return block, ""
    try:
        made = smaller(b64decode(encoded), (share - (size - len(encoded)) - 16) * 3 // 4)
    except ValueError:
        made = None
    if made is None:
        return {"type": "text", "text": f"[A picture of {size} bytes that cannot be made smaller is left out]"}, ""
    drawn = {"mimeType": "image/jpeg"}
    file = b64encode(made[0]).decode()
    if isinstance(inner := block.get("resource"), dict):
        return {**block, "resource": {**inner, **drawn, "blob": file}}, made[1]
    return {**block, **drawn, "data" if "data" in block else "blob": file}, made[1]

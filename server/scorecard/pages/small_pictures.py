"""Pictures of tasks made small, for pages of which there are many and for pages that travel through a chat."""

from io import BytesIO
from typing import TYPE_CHECKING

from m3bench.server.scorecard.pages.run import TaskShown
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.task import picture_type

# A server's start does not wait for it.
if TYPE_CHECKING:
    from PIL import Image
else:
    Image = LazyModule("PIL.Image")


def with_small_pictures(at_hand: TaskShown, most: int) -> TaskShown:
    """The same task with pictures of at most so many pixels each way."""
    small = ((f"{name}.jpg", kept) for name, data in at_hand.pictures if (kept := shrunk(name, data, most)))
    return TaskShown(task=at_hand.task, pictures=tuple(small))


def shrunk(name: str, data: bytes, most: int) -> bytes | None:
    """A picture of at most this many pixels each way; None for anything but a picture."""
    if not picture_type(name).startswith("image/"):
        return None
    try:
        with Image.open(BytesIO(data), formats=READABLE) as picture:
            small = picture.convert("RGB")
    except (OSError, ValueError):
        return None
    small.thumbnail((most, most))
    kept = BytesIO()
    small.save(kept, "JPEG", quality=76)
    return kept.getvalue()

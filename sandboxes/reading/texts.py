"""The text in a picture, for the servers that read: prepared, read by the engine there is, and remembered."""

from collections.abc import Callable, Sequence
from hashlib import sha256

import anyio
import anyio.to_thread
from PIL import Image

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.reading.engines import Engine, find_engine
from m3bench.sandboxes.reading.preparation import prepare

AT_ONCE = 2
"""Pictures read at the same time in one sandbox; the rest wait."""

MOST_TEXTS = 64
"""Texts that are remembered."""

_TEXTS: dict[tuple[object, ...], str] = {}
"""What was read, by everything that decides it."""


async def engine_of(context: Context) -> Engine:
    """The engine of a sandbox, looked for once."""
    if "ocr.engine" not in context.memory:
        context.memory["ocr.engine"] = await anyio.to_thread.run_sync(find_engine)
    engine: Engine = context.memory["ocr.engine"]
    return engine


async def text_in(context: Context, picture: Callable[[], Image.Image], language: str, options: Sequence[str]) -> str:
    """The text in a picture; reading takes a second, so what was read before is not read again.

    Args:
        context: The sandbox.
        picture: Opens the picture, when it is its turn.
        language: Codes of languages that the engine has.
        options: Tesseract's, already checked.
    """
    engine = await engine_of(context)
    async with context.memory.setdefault("ocr.turns", anyio.CapacityLimiter(AT_ONCE)):
        opened, pixels = await anyio.to_thread.run_sync(_hashed, picture)
        key = (engine, opened.mode, opened.size, pixels, language, *options)
        if key not in _TEXTS:
            prepared = await anyio.to_thread.run_sync(prepare, opened)
            text = (await engine.read(prepared, language, options)).strip()
            if len(_TEXTS) >= MOST_TEXTS:
                del _TEXTS[next(iter(_TEXTS))]
            _TEXTS[key] = text
        return _TEXTS[key]


def _hashed(picture: Callable[[], Image.Image]) -> tuple[Image.Image, str]:
    opened = picture()
    return opened, sha256(opened.tobytes()).hexdigest()

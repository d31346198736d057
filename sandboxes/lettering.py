"""The font that tools write into pictures with: Source Sans Pro (OFL), from a package of its own.

It is checked by hash before use, so that the same call draws the same pixels everywhere.
"""

from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from PIL import ImageFont

from m3bench.tasks.errors import SandboxError

SHA256 = "b77f3a700edd0fc0dec73258f882d5c3926c77f5caf6800a201d2166568d2309"

CAP_HEIGHT = 0.66
"""Height of a capital letter, for size 1."""


@lru_cache(maxsize=16)
def font(size: float) -> ImageFont.FreeTypeFont:
    """The font in a size, in pixels."""
    # The basic layout gives the same letters in the same places on every platform.
    return ImageFont.truetype(BytesIO(_data()), size, layout_engine=ImageFont.Layout.BASIC)


@cache
def _data() -> bytes:
    spec = find_spec("font_source_sans_pro")
    if spec is None or spec.origin is None:
        raise SandboxError("The package font-source-sans-pro is missing: pip install font-source-sans-pro.")
    data = (Path(spec.origin).parent / "files" / "SourceSansPro-Regular.ttf").read_bytes()
    if sha256(data).hexdigest() != SHA256:
        raise SandboxError("The package font-source-sans-pro does not hold the known font: install version 0.0.1.")
    return data

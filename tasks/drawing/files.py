"""Pictures as files whose bytes do not depend on the machine.

PNG files are packed by Python's own zlib with one filter for all rows, because the zlib inside Pillow chooses
differently on different processors. JPEG comes from the encoder inside Pillow, whose default transform gives the
same numbers with and without a processor's vector instructions.
"""

import struct
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

from PIL import Image

from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

_KINDS = {"L": 0, "RGB": 2, "RGBA": 6}
_BAND_BYTES = 4_000_000
_UP = b"\x02"
"""The filter that stores each row as its difference from the one above."""


def png(image: Image.Image, level: int = 6) -> bytes:
    """The picture as PNG: shades of grey, RGB or RGBA, with its colour profile where it has one."""
    channels = len(image.getbands())
    packer, packed = zlib.compressobj(level), []
    above = np.zeros((1, image.width * channels), np.uint8)
    rows = max(1, _BAND_BYTES // max(1, above.size))
    for top in range(0, image.height, rows):
        band = image.crop((0, top, image.width, min(image.height, top + rows)))
        values = np.frombuffer(band.tobytes(), np.uint8).reshape(band.height, -1)
        steps = values - np.concatenate((above, values[:-1]))
        packed.append(packer.compress(b"".join(_UP + row.tobytes() for row in steps)))
        above = values[-1:]
    packed.append(packer.flush())
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, _KINDS[image.mode], 0, 0, 0)
    profile = image.info.get("icc_profile")
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"iCCP", b"ICC profile\0\0" + zlib.compress(profile, level)) if profile else b"",
            _chunk(b"IDAT", b"".join(packed)),
            _chunk(b"IEND", b""),
        )
    )


def jpeg(image: Image.Image, quality: int, *, optimize: bool = False) -> bytes:
    """The picture as JPEG."""
    file = BytesIO()
    image.save(file, "JPEG", quality=quality, optimize=optimize)
    return file.getvalue()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

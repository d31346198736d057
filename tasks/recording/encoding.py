"""Writes sound as MP3 and pictures as MP4, the same bytes every time on one machine.

MP3 and MP4 are what most clients and models take. Both are written by one thread and without dates.
"""

import io
from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

from m3bench.tasks.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    Samples = NDArray[np.float64]

RATE = 16_000
"""Samples a second."""
_BITS = 40_000
"""A second of sound, which leaves speech as clear as it was."""
_EXACT = {"fflags": "+bitexact"}


def mp3(samples: "Samples") -> bytes:
    """Sound, given as numbers from -1 to 1, as an MP3 file.

    Raises:
        UserError: PyAV is not installed.
    """
    import numpy as np

    av = _library()
    file = io.BytesIO()
    with av.open(file, "w", format="mp3", options={**_EXACT, "write_xing": "0", "id3v2_version": "0"}) as container:
        stream = container.add_stream("mp3", rate=RATE, layout="mono")
        stream.bit_rate = _BITS
        stream.codec_context.options = {"flags": "+bitexact"}
        level = np.clip(np.rint(samples * 32767), -32768, 32767).astype(np.int16)
        whole = av.AudioFrame.from_ndarray(level[None, :], format="s16", layout="mono")
        whole.sample_rate = RATE
        stream.codec_context.open()
        parts = av.AudioResampler(
            format=stream.codec_context.format, layout="mono", rate=RATE, frame_size=stream.codec_context.frame_size
        )
        for part in (*parts.resample(whole), *parts.resample(None), None):
            for packet in stream.encode(part):
                container.mux(packet)
    return file.getvalue()


def mp4(pictures: "Iterable[Image]", per_second: int) -> bytes:
    """Pictures as a silent film in an MP4 file.

    Args:
        pictures: All of one size, with even sides.
        per_second: How many are shown in a second.

    Raises:
        UserError: PyAV is not installed.
    """
    av = _library()
    file = io.BytesIO()
    with av.open(file, "w", format="mp4", options=_EXACT) as container:
        stream: Any = None
        for number, picture in enumerate(pictures):
            if stream is None:
                stream = container.add_stream("libx264", rate=per_second)
                stream.width, stream.height = picture.size
                stream.pix_fmt = "yuv420p"
                stream.codec_context.time_base = Fraction(1, per_second)
                stream.codec_context.thread_count = 1
                stream.codec_context.options = {
                    "crf": "26", "preset": "medium", "tune": "stillimage", "flags": "+bitexact",
                    "x264-params": "threads=1",
                }  # fmt: skip
            frame = av.VideoFrame.from_image(picture)
            frame.pts, frame.time_base = number, Fraction(1, per_second)
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode(None):
            container.mux(packet)
    return file.getvalue()


def made_with() -> dict[str, str]:
    """The version of what writes files.

    Raises:
        UserError: PyAV is not installed.
    """
    return {"av": str(_library().__version__)}


def _library() -> Any:
    try:
        return import_module("av")
    except ImportError as error:
        raise UserError("Sound and film are written with PyAV: run pip install 'm3bench[sound]'.") from error

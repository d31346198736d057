"""Sound and film of the workspace: read with PyAV, and sound written as WAV files.

Sound is always 16 kHz and mono when it comes out of here, as numbers from -1 to 1. A recording is measured by its
header before anything is decoded.
"""

import io
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import LimitError, SandboxError, ToolError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float64]

RATE = 16_000
"""Samples a second of all sound that tools work on."""
MAX_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the header of a recording says."""

    kind: str
    """`sound` or `film`."""
    seconds: float
    sample_rate: int | None
    channels: int | None
    width: int | None
    height: int | None
    frames_per_second: float | None


def library(name: str) -> Any:
    """A library of the extra.

    Raises:
        SandboxError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise SandboxError(
            f"Sound and film need {name}, which is not installed here: run pip install 'm3bench[sound]' or, for "
            "containers, m3bench image build --sound."
        ) from error


@contextmanager
def opened(workspace: Workspace, path: str) -> Iterator[Any]:
    """The recording at a path argument.

    Raises:
        PathError: The path leaves the workspace or names no file.
        LimitError: The file or the recording is too large.
        ToolError: The file is no recording, or broken.
    """
    av = library("av")
    data = workspace.existing(path).read_bytes()
    try:
        with av.open(io.BytesIO(data)) as container:
            if not container.streams.audio and not container.streams.video:
                raise ToolError(f"{path} has neither sound nor pictures")
            seconds = _seconds(container)
            if seconds > MAX_SECONDS:
                raise LimitError(f"{path} lasts {seconds:.0f} s, more than the {MAX_SECONDS:.0f} s allowed")
            yield container
    except av.FFmpegError as error:
        raise ToolError(
            f"{path} is not a sound or film that can be read: give an MP3, WAV, FLAC or MP4 file"
        ) from error


def facts(workspace: Workspace, path: str) -> Facts:
    """What a recording is; raises as `opened` does."""
    with opened(workspace, path) as container:
        sound = next(iter(container.streams.audio), None)
        # A cover in a sound file counts as pictures for the library.
        film = next((one for one in container.streams.video if one.average_rate), None)
        return Facts(
            kind="film" if film is not None else "sound",
            seconds=round(_seconds(container), 2),
            sample_rate=sound.rate if sound is not None else None,
            channels=sound.channels if sound is not None else None,
            width=film.width if film is not None else None,
            height=film.height if film is not None else None,
            frames_per_second=round(float(film.average_rate), 2) if film is not None else None,
        )


def sound(workspace: Workspace, path: str, start: float | None = None, end: float | None = None) -> "Samples":
    """The sound of a recording, or a passage of it.

    Args:
        workspace: Where it lies.
        path: Its path.
        start: Where the passage begins, in seconds; at the beginning when left out.
        end: Where it ends; at the end when left out.

    Raises:
        ToolError: There is no sound in it, or no such passage; and as `opened` does.
    """
    import numpy as np

    av = library("av")
    with opened(workspace, path) as container:
        if not container.streams.audio:
            raise ToolError(f"{path} has no sound: it is a silent film", outcome="invalid_arguments")
        plain = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        parts = [part.to_ndarray()[0] for frame in container.decode(audio=0) for part in plain.resample(frame)]
        parts += [part.to_ndarray()[0] for part in plain.resample(None)]
    whole = np.concatenate(parts).astype(np.float64) / 32768
    first, last = passage(len(whole) / RATE, start, end)
    return whole[round(first * RATE) : round(last * RATE)]


def passage(seconds: float, start: float | None, end: float | None) -> tuple[float, float]:
    """Where a passage begins and ends.

    Raises:
        ToolError: There is none between the two.
    """
    first, last = max(0.0, start or 0.0), min(seconds, seconds if end is None else end)
    if not first < last:
        raise ToolError(
            f"There is nothing from {first:g} s to {last:g} s: the recording lasts {seconds:.2f} s",
            outcome="invalid_arguments",
        )
    return first, last


def wav(samples: "Samples") -> bytes:
    """Sound as a WAV file of 16 bits."""
    import numpy as np

    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(RATE)
        written.writeframes(np.clip(np.rint(samples * 32767), -32768, 32767).astype("<i2").tobytes())
    return file.getvalue()


def save(workspace: Workspace, samples: "Samples", path: str) -> None:
    """Write sound into the workspace.

    Raises:
        PathError: The path leaves the workspace or cannot be written.
        ToolError: Its name does not end in .wav.
    """
    if not path.lower().endswith(".wav"):
        raise ToolError(f"{path!r} cannot be written: end it in .wav", outcome="invalid_arguments")
    with workspace.writing(path) as draft:
        draft.write_bytes(wav(samples))


def _seconds(container: Any) -> float:
    if container.duration is not None:
        return float(container.duration) / 1_000_000
    return max((float(one.duration * one.time_base) for one in container.streams if one.duration), default=0.0)

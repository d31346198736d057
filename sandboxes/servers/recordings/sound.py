"""Recordings of the workspace as numbers: read with PyAV, analysed, and written as WAV files.

Sound is always 16 kHz and mono when it comes out of here, as numbers from -1 to 1. A recording is measured by its
header before anything is decoded. The analysis knows loudness, passages between pauses, tones, and noise that can be
removed.
"""

import io
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import LimitError, SandboxError, ToolError

Samples: TypeAlias = NDArray[np.float64]
"""Sound as numbers from -1 to 1."""


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
        film = next((stream for stream in container.streams.video if stream.average_rate), None)
        return Facts(
            kind="film" if film is not None else "sound",
            seconds=round(_seconds(container), 2),
            sample_rate=sound.rate if sound is not None else None,
            channels=sound.channels if sound is not None else None,
            width=film.width if film is not None else None,
            height=film.height if film is not None else None,
            frames_per_second=round(float(film.average_rate), 2) if film is not None else None,
        )


def sound(workspace: Workspace, path: str, start: float | None = None, end: float | None = None) -> Samples:
    """The sound of a recording, or a passage of it.

    Args:
        workspace: Where it lies.
        path: Its path.
        start: Where the passage begins, in seconds; at the beginning when left out.
        end: Where it ends; at the end when left out.

    Raises:
        ToolError: There is no sound in it, or no such passage; and as `opened` does.
    """
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


def wav(samples: Samples) -> bytes:
    """Sound as a WAV file of 16 bits."""
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(RATE)
        written.writeframes(np.clip(np.rint(samples * 32767), -32768, 32767).astype("<i2").tobytes())
    return file.getvalue()


def save(workspace: Workspace, samples: Samples, path: str) -> None:
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
    return max(
        (float(stream.duration * stream.time_base) for stream in container.streams if stream.duration), default=0.0
    )


NOTES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")

_FRAME = RATE // 50
"""Samples of which the loudness is taken: 20 ms."""
_PAUSE = 9
"""Frames without sound that make a pause."""
_SHORTEST = 3
"""Frames that a passage has at least."""
_WINDOW = 1024
_LOWEST, _HIGHEST = 60.0, 4000.0
"""Hertz between which tones are looked for."""


@dataclass(frozen=True, kw_only=True)
class Tone:
    """A tone of some length."""

    note: str
    hertz: float
    start: float
    seconds: float


def decibels(samples: Samples) -> tuple[float, float]:
    """The peak and the mean level, with 0 for the loudest that a file can hold."""
    levels = float(np.abs(samples).max()), float(np.sqrt((samples**2).mean()))
    peak, mean = (round(20 * float(np.log10(max(level, 1e-6))), 1) for level in levels)
    return peak, mean


def passages(samples: Samples) -> list[tuple[int, int]]:
    """Where something is heard between pauses: the first sample of each passage, and the one after its last."""
    count = len(samples) // _FRAME
    if count == 0:
        return []
    loudness = np.sqrt((samples[: count * _FRAME].reshape(count, _FRAME) ** 2).mean(axis=1))
    floor = max(0.06 * float(loudness.max()), 2.0 * float(np.percentile(loudness, 10)))
    found: list[tuple[int, int]] = []
    begun, quiet = -1, 0
    for frame, loud in enumerate([*(loudness > floor), *[False] * _PAUSE]):
        if loud:
            begun, quiet = (frame if begun < 0 else begun), 0
        elif begun >= 0:
            quiet += 1
            if quiet == _PAUSE:
                found.append((begun, frame - quiet + 1))
                begun, quiet = -1, 0
    return [(first * _FRAME, last * _FRAME) for first, last in found if last - first >= _SHORTEST]


def tones(samples: Samples) -> Iterator[Tone]:
    """The tones between pauses, one a passage: the strongest pitch in it."""
    for first, last in passages(samples):
        part = samples[first:last]
        size = max(1 << 16, len(part))
        strength = np.abs(np.fft.rfft(part * np.hanning(len(part)), size))
        pitch = np.fft.rfftfreq(size, 1 / RATE)
        heard = (pitch >= _LOWEST) & (pitch <= _HIGHEST)
        hertz = float(pitch[heard][int(np.argmax(strength[heard]))])
        start, seconds = round(first / RATE, 2), round((last - first) / RATE, 2)
        yield Tone(note=note(hertz), hertz=round(hertz, 1), start=start, seconds=seconds)


def note(hertz: float) -> str:
    """The nearest note, with A4 at 440 Hz."""
    number = round(69 + 12 * float(np.log2(hertz / 440)))
    return f"{NOTES[number % 12]}{number // 12 - 1}"


def cleaned(samples: Samples) -> Samples:
    """The sound without steady noise, by spectral gating: each frequency is lowered by what it has in quiet parts."""
    # Here and not above: scipy.signal takes half a second, and only this function needs it.
    from scipy.signal import istft, stft

    _, _, bands = stft(samples, RATE, nperseg=_WINDOW)
    strength = np.abs(bands)
    steady = np.percentile(strength, 20, axis=1, keepdims=True)
    kept = np.clip(1 - 2.0 * steady / np.maximum(strength, 1e-9), 0.05, 1.0)
    _, result = istft(bands * kept, RATE, nperseg=_WINDOW)
    return np.asarray(result[: len(samples)], np.float64)


def amplified(samples: Samples, gain: float) -> Samples:
    """The sound made louder by some decibels, and no louder than a file can hold."""
    return np.clip(samples * 10 ** (gain / 20), -1.0, 1.0)

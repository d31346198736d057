"""What is in a sound as such: loudness, passages between pauses, tones, and noise that can be taken out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3bench.sandboxes.servers.recordings.files import RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float64]

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


def decibels(samples: "Samples") -> tuple[float, float]:
    """The peak and the mean level, with 0 for the loudest that a file can hold."""
    import numpy as np

    levels = float(np.abs(samples).max()), float(np.sqrt((samples**2).mean()))
    peak, mean = (round(20 * float(np.log10(max(level, 1e-6))), 1) for level in levels)
    return peak, mean


def passages(samples: "Samples") -> list[tuple[int, int]]:
    """Where something is heard between pauses: the first sample of each passage, and the one after its last."""
    import numpy as np

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


def tones(samples: "Samples") -> Iterator[Tone]:
    """The tones between pauses, one a passage: the strongest pitch in it."""
    import numpy as np

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
    import numpy as np

    number = round(69 + 12 * float(np.log2(hertz / 440)))
    return f"{NOTES[number % 12]}{number // 12 - 1}"


def cleaned(samples: "Samples") -> "Samples":
    """The sound without what is there all the time: each pitch is lowered by about as much as it has in quiet parts."""
    import numpy as np
    from scipy.signal import istft, stft

    _, _, bands = stft(samples, RATE, nperseg=_WINDOW)
    strength = np.abs(bands)
    steady = np.percentile(strength, 20, axis=1, keepdims=True)
    kept = np.clip(1 - 2.0 * steady / np.maximum(strength, 1e-9), 0.05, 1.0)
    _, result = istft(bands * kept, RATE, nperseg=_WINDOW)
    return np.asarray(result[: len(samples)], np.float64)


def amplified(samples: "Samples", gain: float) -> "Samples":
    """The sound made louder by some decibels, and no louder than a file can hold."""
    import numpy as np

    return np.clip(samples * 10 ** (gain / 20), -1.0, 1.0)

"""A melody: tones one after the other, each with overtones, and pauses between them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3bench.tasks.recording import encoding
from m3bench.tasks.recording.encoding import RATE, mp3

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float64]

NOTES = ("C", "D", "E", "F", "G", "A", "B")
_STEPS = {"C": -9, "D": -7, "E": -5, "F": -4, "G": -2, "A": 0, "B": 2}
"""Half tones above A in the same octave."""
_OVERTONES = ((1, 1.0), (2, 0.3), (3, 0.12))
_EDGE = 0.02
"""Seconds in which a tone comes and goes."""


@dataclass(frozen=True, kw_only=True)
class Melody:
    """Notes such as `C4` and `A5`, played on something like a chime."""

    notes: tuple[str, ...]
    seconds: float = 0.45
    """How long each is heard."""
    pause: float = 0.3
    suffix: str = ".mp3"

    def file(self) -> bytes:
        """The sound as an MP3 file.

        Raises:
            UserError: PyAV is not there.
        """
        return mp3(self.samples())

    def made_with(self) -> dict[str, str]:
        """The version of what writes the file."""
        return encoding.made_with()

    def samples(self) -> "Samples":
        """The sound."""
        import numpy as np

        quiet = np.zeros(round(self.pause * RATE))
        return np.concatenate([quiet, *(part for note in self.notes for part in (self._tone(note), quiet))])

    def _tone(self, note: str) -> "Samples":
        import numpy as np

        time = np.arange(round(self.seconds * RATE)) / RATE
        wave = sum(share * np.sin(2 * np.pi * hertz(note) * times * time) for times, share in _OVERTONES)
        edge = np.minimum(1.0, np.minimum(time, time[::-1]) / _EDGE)
        return np.asarray(0.4 * wave * edge * np.exp(-1.5 * time), np.float64)


def hertz(note: str) -> float:
    """The pitch of a note, with A4 at 440 Hz."""
    return float(440 * 2 ** ((_STEPS[note[0]] + 12 * (int(note[1:]) - 4)) / 12))

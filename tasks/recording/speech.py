"""Speech: lines that espeak-ng says, with pauses between them, over noise where there is some.

espeak-ng is a program of its own and only needed where sets are made; the sound of a set travels with it.
"""

import io
import shutil
import subprocess
import wave
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3bench.tasks.errors import UserError
from m3bench.tasks.recording import encoding
from m3bench.tasks.recording.encoding import RATE, mp3

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float64]

PROGRAM = "espeak-ng"
VOICES = ("en-us", "en-us+f2")
"""Those that are understood best."""
_TAIL = 0.4
"""Seconds before the first line and after the last."""
_LEVEL = 0.7
"""The peak of speech."""


@dataclass(frozen=True, kw_only=True)
class Speech:
    """What somebody says."""

    lines: tuple[str, ...]
    """Said one after the other, with a pause after each."""
    voice: str = VOICES[0]
    words_a_minute: int = 130
    pitch: int = 50
    pause: float = 0.45
    """Seconds."""
    noise: float = 0.0
    """The loudness of the noise behind it, as a share of that of the speech."""
    seed: int = 0
    """Of the noise."""
    suffix: str = ".mp3"

    def file(self) -> bytes:
        """The sound as an MP3 file.

        Raises:
            UserError: espeak-ng or PyAV is not there.
        """
        return mp3(self.samples())

    def made_with(self) -> dict[str, str]:
        """The versions of what speaks and of what writes the file.

        Raises:
            UserError: espeak-ng or PyAV is not there.
        """
        return {PROGRAM: version(), **encoding.made_with()}

    def samples(self) -> "Samples":
        """The sound.

        Raises:
            UserError: espeak-ng is not there.
        """
        import numpy as np

        quiet = np.zeros(round(self.pause * RATE))
        parts = [np.zeros(round(_TAIL * RATE))]
        for line in self.lines:
            parts += [_spoken(line, self.voice, self.words_a_minute, self.pitch), quiet]
        whole = np.concatenate([*parts, np.zeros(round(_TAIL * RATE))])
        whole *= _LEVEL / max(float(np.abs(whole).max()), 1e-6)
        dice = np.random.default_rng(self.seed)
        level = self.noise * float(np.sqrt((whole[np.abs(whole) > 0.02] ** 2).mean()))
        return whole + _NOISES[bool(self.noise)](dice, len(whole)) * max(level, 0.001)


def version() -> str:
    """What espeak-ng calls its version.

    Raises:
        UserError: It is not there.
    """
    said = _run("--version").decode()
    return said.split("text-to-speech: ")[-1].split()[0]


def _spoken(line: str, voice: str, words_a_minute: int, pitch: int) -> "Samples":
    """A line as espeak-ng says it, without the silence around it."""
    import numpy as np
    from scipy.signal import resample_poly

    said = _run("-v", voice, "-s", str(words_a_minute), "-p", str(pitch), "--stdout", line)
    with wave.open(io.BytesIO(said)) as file:
        rate, raw = file.getframerate(), file.readframes(file.getnframes())
    samples = resample_poly(np.frombuffer(raw, "<i2").astype(np.float64) / 32768, RATE, rate)
    heard = np.flatnonzero(np.abs(samples) > 0.005)
    return np.asarray(samples[heard[0] : heard[-1] + 1] if len(heard) else samples[:0], np.float64)


def _run(*arguments: str) -> bytes:
    program = shutil.which(PROGRAM)
    if program is None:
        raise UserError(f"Speech is made by {PROGRAM}, which is not installed here: apt-get install {PROGRAM}.")
    return subprocess.run([program, *arguments], capture_output=True, check=True).stdout


def _hiss(dice: "np.random.Generator", count: int) -> "Samples":
    """What a microphone adds."""
    return dice.normal(0, 1, count)


def _hall(dice: "np.random.Generator", count: int) -> "Samples":
    """The steady roar of a hall, deeper than hiss, with a hum in it."""
    import numpy as np
    from scipy.signal import lfilter

    roar = lfilter([1.0], [1.0, -0.9], dice.normal(0, 1, count))
    roar /= roar.std()
    hum = np.sin(2 * np.pi * 100 * np.arange(count) / RATE)
    mixed = roar + 0.5 * hum
    return np.asarray(mixed / mixed.std(), np.float64)


_NOISES: "dict[bool, Callable[[np.random.Generator, int], Samples]]" = {False: _hiss, True: _hall}

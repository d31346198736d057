"""Sound and film of tasks: speech, tones and short films, made from a description when a set is generated.

espeak-ng, numpy and Pillow make what a family describes, and PyAV writes it as MP3 or MP4, which most clients and
models take: by one thread and without dates, so that one machine writes the same bytes every time. espeak-ng is a
program of its own, needed only where sets are made. Nothing here listens or watches: the `recordings` server does.
"""

import io
import random
import shutil
import subprocess
import wave
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from scipy import signal
else:
    signal = LazyModule("scipy.signal")

Samples = NDArray[np.float64]

RATE = 16_000
"""Samples a second."""
_BITS = 40_000
"""A second of sound, which leaves speech as clear as it was."""
_EXACT = {"fflags": "+bitexact"}


def mp3(samples: Samples) -> bytes:
    """Sound, given as numbers from -1 to 1, as an MP3 file.

    Raises:
        UserError: PyAV is not installed.
    """
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


def mp4(pictures: Iterable[Image.Image], per_second: int) -> bytes:
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


SIZE = (640, 360)
PER_SECOND = 10
_HORIZON = 250
_PLATES = ("#1b4f9c", "#1e7a3c", "#8a1f1f", "#5b2a86", "#222222", "#8a5a00")
_SKIES = ("#f2f7fb", "#fbf6f0", "#f1f8f3", "#f5f4fb")


class FilmSign(NamedTuple):
    """Something written, shown from one picture up to another."""

    text: str
    first: int
    last: int
    """The first picture without it."""


@dataclass(frozen=True, kw_only=True)
class SilentFilm:
    """A film of one street."""

    signs: tuple[FilmSign, ...]
    pictures: int
    """How many there are, ten a second."""
    seed: int = 0
    """Of colours and places."""
    suffix: str = ".mp4"

    def file(self) -> bytes:
        """The film as an MP4 file.

        Raises:
            UserError: PyAV is not there.
        """
        return mp4(self.frames(), PER_SECOND)

    def made_with(self) -> dict[str, str]:
        """The version of what writes the file."""
        return made_with()

    def frames(self) -> Iterator[Image.Image]:
        """The pictures in order."""
        dice = random.Random(self.seed)
        sky, heading = dice.choice(_SKIES), dice.choice((1, -1))
        plates = dice.sample(_PLATES, len(_PLATES))
        places = [(dice.randrange(-60, 61), dice.randrange(-24, 25)) for _ in self.signs]
        for number in range(self.pictures):
            share = number / max(1, self.pictures - 1)
            picture = _street(sky, share if heading > 0 else 1 - share)
            for at, sign in enumerate(self.signs):
                if sign.first <= number < sign.last:
                    _plate(picture, sign.text, plates[at % len(plates)], places[at])
            yield picture


def _street(sky: str, share: float) -> Image.Image:
    picture = Image.new("RGB", SIZE, sky)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, _HORIZON, *SIZE), fill="#7d8a6a")
    pen.rectangle((0, _HORIZON + 30, SIZE[0], SIZE[1] - 10), fill="#55585c")
    left = round(share * (SIZE[0] - 70))
    pen.rounded_rectangle((left, _HORIZON + 48, left + 70, _HORIZON + 72), 8, fill="#c23b22")
    pen.rounded_rectangle((left + 14, _HORIZON + 34, left + 52, _HORIZON + 52), 6, fill="#c23b22")
    for wheel in (left + 10, left + 46):
        pen.ellipse((wheel, _HORIZON + 64, wheel + 16, _HORIZON + 80), fill="#111111")
    return picture


def _plate(picture: Image.Image, text: str, colour: str, place: tuple[int, int]) -> None:
    pen = ImageDraw.Draw(picture)
    size = 54.0
    while (font := ImageFont.load_default(size)).getlength(text) > SIZE[0] - 180:
        size -= 2
    middle, height = SIZE[0] // 2 + place[0], 120 + place[1]
    half = font.getlength(text) / 2 + 28
    # No edge and hardly a shade: writing in a box is harder to read for programs.
    pen.rounded_rectangle((middle - half, height - 48, middle + half, height + 48), 12, fill="white")
    pen.text((middle, height), text, fill=colour, font=font, anchor="mm", stroke_width=1, stroke_fill=colour)


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
        return made_with()

    def samples(self) -> Samples:
        """The sound."""
        quiet = np.zeros(round(self.pause * RATE))
        return np.concatenate([quiet, *(part for note in self.notes for part in (self._tone(note), quiet))])

    def _tone(self, note: str) -> Samples:
        time = np.arange(round(self.seconds * RATE)) / RATE
        wave = sum(share * np.sin(2 * np.pi * hertz(note) * times * time) for times, share in _OVERTONES)
        edge = np.minimum(1.0, np.minimum(time, time[::-1]) / _EDGE)
        return np.asarray(0.4 * wave * edge * np.exp(-1.5 * time), np.float64)


def hertz(note: str) -> float:
    """The pitch of a note, with A4 at 440 Hz."""
    return float(440 * 2 ** ((_STEPS[note[0]] + 12 * (int(note[1:]) - 4)) / 12))


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
        return {PROGRAM: version(), **made_with()}

    def samples(self) -> Samples:
        """The sound.

        Raises:
            UserError: espeak-ng is not there.
        """
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


def _spoken(line: str, voice: str, words_a_minute: int, pitch: int) -> Samples:
    """A line as espeak-ng says it, without the silence around it."""
    said = _run("-v", voice, "-s", str(words_a_minute), "-p", str(pitch), "--stdout", line)
    with wave.open(io.BytesIO(said)) as file:
        rate, raw = file.getframerate(), file.readframes(file.getnframes())
    samples = signal.resample_poly(np.frombuffer(raw, "<i2").astype(np.float64) / 32768, RATE, rate)
    heard = np.flatnonzero(np.abs(samples) > 0.005)
    return np.asarray(samples[heard[0] : heard[-1] + 1] if len(heard) else samples[:0], np.float64)


def _run(*arguments: str) -> bytes:
    program = shutil.which(PROGRAM)
    if program is None:
        raise UserError(f"Speech is made by {PROGRAM}, which is not installed here: apt-get install {PROGRAM}.")
    return subprocess.run([program, *arguments], capture_output=True, check=True).stdout


def _hiss(dice: np.random.Generator, count: int) -> Samples:
    """What a microphone adds."""
    return dice.normal(0, 1, count)


def _hall(dice: np.random.Generator, count: int) -> Samples:
    """The steady roar of a hall, deeper than hiss, with a hum in it."""
    roar = signal.lfilter([1.0], [1.0, -0.9], dice.normal(0, 1, count))
    roar /= roar.std()
    hum = np.sin(2 * np.pi * 100 * np.arange(count) / RATE)
    mixed = roar + 0.5 * hum
    return np.asarray(mixed / mixed.std(), np.float64)


_NOISES: dict[bool, Callable[[np.random.Generator, int], Samples]] = {False: _hiss, True: _hall}

"""The `recordings` server: sound and film are described, cut, cleaned, written down, measured and shown as pictures.

It is offered only with tasks that need it. What it hears and sees, it hears and sees in the files themselves: nothing
is known of a recording beforehand. Its libraries come with the extra `sound`. A recording is measured by its header
before anything is decoded; sound is then always 16 kHz and mono, as numbers from -1 to 1.

Speech is transcribed by PocketSphinx with the English model that it brings, an old engine that makes mistakes. Told
which words may occur, it makes few: then each passage between two pauses is heard as one or more of them.
"""

import io
import re
import wave
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from m3bench.sandboxes.content import AudioBlock
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.ocr import text_in
from m3bench.sandboxes.pictures import save_picture
from m3bench.sandboxes.toolserver import ToolServer
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


MAX_FRAMES = 20_000
_SMALL = (64, 36)
_CHANGE = 0.012
"""The share of a small copy of the picture that differs where something appears or goes; what drives past is less."""
_SHADES = 24
"""By how much a dot differs, of 255."""


def frame(workspace: Workspace, path: str, moment: float) -> tuple[float, Image.Image]:
    """The picture that a film shows at a moment, and since when it does.

    Raises:
        ToolError: The recording has no pictures, or ends before; and as `opened` does.
    """
    known = facts(workspace, path)
    if not 0 <= moment <= known.seconds:
        raise ToolError(
            f"There is no picture at {moment:g} s: the film lasts {known.seconds:.2f} s", outcome="invalid_arguments"
        )
    shown = None
    for at, one in _frames(workspace, path):
        if shown is not None and at > moment + 1e-6:
            break
        shown = (at, one)
    assert shown is not None
    return shown[0], shown[1].to_image()


def changes(workspace: Workspace, path: str) -> list[float]:
    """Shot change detection: the moments at which the picture is clearly another; the beginning is one of them.

    Raises:
        ToolError: The recording has no pictures; and as `opened` does.
    """
    found: list[float] = []
    before = None
    for at, one in _frames(workspace, path):
        small = one.reformat(*_SMALL, format="gray").to_ndarray().astype(np.float64)
        if before is None or float((np.abs(small - before) > _SHADES).mean()) > _CHANGE:
            found.append(round(at, 2))
        before = small
    return found


def _frames(workspace: Workspace, path: str) -> Iterator[tuple[float, Any]]:
    with opened(workspace, path) as container:
        if not container.streams.video:
            raise ToolError(f"{path} has no pictures: it is sound alone", outcome="invalid_arguments")
        for number, one in enumerate(container.decode(video=0)):
            if number >= MAX_FRAMES:
                return
            yield float(one.time or 0.0), one


_MARGIN = RATE // 10
"""Samples around a passage that are heard with it."""
_GRAMMAR = "words"
_WEIGHTS = {"lw": 1.0, "wip": 1e-10, "silprob": 0.3}
"""Make silence likely and a word more than is needed unlikely: else breath is heard as `eight`."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What was heard between two pauses."""

    start: float
    end: float
    text: str


def transcribed(samples: Samples, words: Sequence[str]) -> tuple[list[Said], list[str]]:
    """What is said, and those of the words that the engine has no sound for.

    Args:
        samples: The sound.
        words: Words and phrases that may occur; any when empty.
    """
    # A new engine each time: it adapts to what it heard before, and a call must not depend on earlier ones.
    if not words:
        return list(_heard(library("pocketsphinx").Decoder(samprate=RATE, loglevel="FATAL"), samples)), []
    engine = library("pocketsphinx").Decoder(samprate=RATE, loglevel="FATAL", lm=None, **_WEIGHTS)
    wanted = list(dict.fromkeys(" ".join(re.findall(r"[a-z']+", word.lower())) for word in words))
    known = [word for word in wanted if word and all(engine.lookup_word(part) for part in word.split())]
    unknown = [word for word in wanted if word and word not in known]
    if not known:
        return [], unknown
    engine.add_jsgf_string(_GRAMMAR, f"#JSGF V1.0; grammar g; public <g> = ( {' | '.join(known)} )+ ;")
    engine.activate_search(_GRAMMAR)
    return list(_heard(engine, samples)), unknown


def _heard(engine: Any, samples: Samples) -> Iterator[Said]:
    # Perfect silence, which no microphone makes, confuses the engine.
    hiss = np.random.default_rng(0).normal(0, 0.001, len(samples))
    peak = max(float(np.abs(samples).max()), 1e-6)
    level = np.clip((samples * 0.7 / peak + hiss) * 32767, -32768, 32767).astype("<i2")
    for first, last in passages(samples):
        engine.start_utt()
        engine.process_raw(level[max(0, first - _MARGIN) : last + _MARGIN].tobytes(), full_utt=True)
        engine.end_utt()
        found = engine.hyp()
        if found is not None and found.hypstr:
            yield Said(start=round(first / RATE, 2), end=round(last / RATE, 2), text=found.hypstr)


server = ToolServer("recordings")

MAX_WORDS = 400
LOUDEST = 40.0
"""Decibels that a sound is made louder or quieter at most."""
MAX_PLAYED = 30.0
"""Seconds of sound in a result."""
MAX_READ = 12
"""Pictures of a film that are read in a call."""
_ANYWHERE = ("--oem", "3", "--psm", "11")
"""Tesseract's options for writing anywhere in a picture."""


@server.tool
def describe_recording(context: Context, path: str) -> dict[str, object]:
    known = facts(context.workspace, path)
    found = {name: value for name, value in asdict(known).items() if value is not None}
    if known.sample_rate is not None:
        found["peak_db"], found["mean_db"] = decibels(sound(context.workspace, path))
    return found


@server.tool
def play_recording(context: Context, path: str, start: float | None = None, end: float | None = None) -> list[object]:
    samples = sound(context.workspace, path, start, end)
    seconds = len(samples) / RATE
    if seconds > MAX_PLAYED:
        raise ToolError(
            f"That is {seconds:.0f} s of sound, at most {MAX_PLAYED:.0f} s are played at a time: give start and end",
            outcome="invalid_arguments",
        )
    return [f"{seconds:.2f} s of sound from {path}", AudioBlock(wav(samples))]


@server.tool
def cut_recording(
    context: Context, path: str, output_path: str, start: float | None = None, end: float | None = None
) -> str:
    samples = sound(context.workspace, path, start, end)
    save(context.workspace, samples, output_path)
    return f"{len(samples) / RATE:.2f} s of sound are in {output_path}"


@server.tool
def clean_recording(
    context: Context, path: str, output_path: str, reduce_noise: bool = True, gain_db: float = 0.0
) -> str:
    if abs(gain_db) > LOUDEST:
        raise ToolError(f"gain_db must be between {-LOUDEST:g} and {LOUDEST:g}", outcome="invalid_arguments")
    samples = sound(context.workspace, path)
    if reduce_noise:
        samples = cleaned(samples)
    samples = amplified(samples, gain_db)
    save(context.workspace, samples, output_path)
    peak, mean = decibels(samples)
    return f"Written to {output_path}: {len(samples) / RATE:.2f} s, peak {peak} dB, mean {mean} dB"


@server.tool
def transcribe(
    context: Context,
    path: str,
    words: list[str] | None = None,
    start: float | None = None,
    end: float | None = None,
    reduce_noise: bool = False,
) -> dict[str, object]:
    if words is not None and len(words) > MAX_WORDS:
        raise ToolError(f"At most {MAX_WORDS} words can be listened for at a time", outcome="invalid_arguments")
    samples = sound(context.workspace, path, start, end)
    if reduce_noise:
        samples = cleaned(samples)
    said, unknown = transcribed(samples, words or ())
    offset = max(0.0, start or 0.0)
    found: dict[str, object] = {
        "text": ", ".join(passage.text for passage in said),
        "passages": [
            {"start": round(passage.start + offset, 2), "end": round(passage.end + offset, 2), "text": passage.text}
            for passage in said
        ],
    }
    return found | ({"words_without_a_pronunciation": unknown} if unknown else {})


@server.tool
def find_tones(context: Context, path: str, start: float | None = None, end: float | None = None) -> dict[str, object]:
    samples = sound(context.workspace, path, start, end)
    offset = max(0.0, start or 0.0)
    found = [asdict(tone) for tone in tones(samples)]
    return {"tones": [{**tone, "start": round(tone["start"] + offset, 2)} for tone in found]}


@server.tool
def find_changes(context: Context, path: str) -> dict[str, object]:
    return {"changes": changes(context.workspace, path)}


@server.tool
def extract_frame(context: Context, path: str, time: float, output_path: str) -> str:
    since, image = frame(context.workspace, path, time)
    save_picture(context.workspace, image, output_path)
    return f"The picture at {time:g} s (shown since {since:.2f} s, {image.width}x{image.height}) is in {output_path}"


@server.tool
async def read_frames(context: Context, path: str, times: list[float]) -> dict[str, object]:
    if not 1 <= len(times) <= MAX_READ:
        raise ToolError(f"Between 1 and {MAX_READ} moments can be read at a time", outcome="invalid_arguments")
    found = []
    for time in times:
        picture = partial(_picture, context, path, time)
        found.append({"time": time, "text": await text_in(context, picture, "eng", _ANYWHERE)})
    return {"frames": found}


def _picture(context: Context, path: str, time: float) -> Image.Image:
    return frame(context.workspace, path, time)[1]

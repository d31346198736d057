"""The tools of the `recordings` server, with the frames of films and the transcription of speech.

Speech is transcribed by PocketSphinx with the English model that it brings, an old engine that makes mistakes. Told
which words may occur, it makes few: then each passage between two pauses is heard as one or more of them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from m3bench.sandboxes.content import AudioBlock
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.ocr import text_in
from m3bench.sandboxes.pictures import save_picture
from m3bench.sandboxes.servers.recordings import sound
from m3bench.sandboxes.servers.recordings.sound import RATE, Samples, facts, library, opened, passages
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import ToolError

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
    known = sound.facts(context.workspace, path)
    found = {name: value for name, value in asdict(known).items() if value is not None}
    if known.sample_rate is not None:
        found["peak_db"], found["mean_db"] = sound.decibels(sound.sound(context.workspace, path))
    return found


@server.tool
def play_recording(context: Context, path: str, start: float | None = None, end: float | None = None) -> list[object]:
    samples = sound.sound(context.workspace, path, start, end)
    seconds = len(samples) / sound.RATE
    if seconds > MAX_PLAYED:
        raise ToolError(
            f"That is {seconds:.0f} s of sound, at most {MAX_PLAYED:.0f} s are played at a time: give start and end",
            outcome="invalid_arguments",
        )
    return [f"{seconds:.2f} s of sound from {path}", AudioBlock(sound.wav(samples))]


@server.tool
def cut_recording(
    context: Context, path: str, output_path: str, start: float | None = None, end: float | None = None
) -> str:
    samples = sound.sound(context.workspace, path, start, end)
    sound.save(context.workspace, samples, output_path)
    return f"{len(samples) / sound.RATE:.2f} s of sound are in {output_path}"


@server.tool
def clean_recording(
    context: Context, path: str, output_path: str, reduce_noise: bool = True, gain_db: float = 0.0
) -> str:
    if abs(gain_db) > LOUDEST:
        raise ToolError(f"gain_db must be between {-LOUDEST:g} and {LOUDEST:g}", outcome="invalid_arguments")
    samples = sound.sound(context.workspace, path)
    if reduce_noise:
        samples = sound.cleaned(samples)
    samples = sound.amplified(samples, gain_db)
    sound.save(context.workspace, samples, output_path)
    peak, mean = sound.decibels(samples)
    return f"Written to {output_path}: {len(samples) / sound.RATE:.2f} s, peak {peak} dB, mean {mean} dB"


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
    samples = sound.sound(context.workspace, path, start, end)
    if reduce_noise:
        samples = sound.cleaned(samples)
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
    samples = sound.sound(context.workspace, path, start, end)
    offset = max(0.0, start or 0.0)
    found = [asdict(tone) for tone in sound.tones(samples)]
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

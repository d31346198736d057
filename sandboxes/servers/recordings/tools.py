"""The tools of the `recordings` server."""

from dataclasses import asdict
from functools import partial
from typing import Any

from PIL import Image

from m3bench.sandboxes.content import Audio
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.pictures import save_picture
from m3bench.sandboxes.reading.texts import text_in
from m3bench.sandboxes.servers.recordings import files, film, tones
from m3bench.sandboxes.servers.recordings.speech import transcribed
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.errors import ToolError

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
def describe_recording(context: Context, path: str) -> dict[str, Any]:
    known = files.facts(context.workspace, path)
    found = {name: value for name, value in asdict(known).items() if value is not None}
    if known.sample_rate is not None:
        found["peak_db"], found["mean_db"] = tones.decibels(files.sound(context.workspace, path))
    return found


@server.tool
def play_recording(context: Context, path: str, start: float | None = None, end: float | None = None) -> list[Any]:
    samples = files.sound(context.workspace, path, start, end)
    seconds = len(samples) / files.RATE
    if seconds > MAX_PLAYED:
        raise ToolError(
            f"That is {seconds:.0f} s of sound, at most {MAX_PLAYED:.0f} s are played at a time: give start and end",
            outcome="invalid_arguments",
        )
    return [f"{seconds:.2f} s of sound from {path}", Audio(files.wav(samples))]


@server.tool
def cut_recording(
    context: Context, path: str, output_path: str, start: float | None = None, end: float | None = None
) -> str:
    samples = files.sound(context.workspace, path, start, end)
    files.save(context.workspace, samples, output_path)
    return f"{len(samples) / files.RATE:.2f} s of sound are in {output_path}"


@server.tool
def clean_recording(
    context: Context, path: str, output_path: str, reduce_noise: bool = True, gain_db: float = 0.0
) -> str:
    if abs(gain_db) > LOUDEST:
        raise ToolError(f"gain_db must be between {-LOUDEST:g} and {LOUDEST:g}", outcome="invalid_arguments")
    samples = files.sound(context.workspace, path)
    if reduce_noise:
        samples = tones.cleaned(samples)
    samples = tones.amplified(samples, gain_db)
    files.save(context.workspace, samples, output_path)
    peak, mean = tones.decibels(samples)
    return f"Written to {output_path}: {len(samples) / files.RATE:.2f} s, peak {peak} dB, mean {mean} dB"


@server.tool
def transcribe(
    context: Context,
    path: str,
    words: list[str] | None = None,
    start: float | None = None,
    end: float | None = None,
    reduce_noise: bool = False,
) -> dict[str, Any]:
    if words is not None and len(words) > MAX_WORDS:
        raise ToolError(f"At most {MAX_WORDS} words can be listened for at a time", outcome="invalid_arguments")
    samples = files.sound(context.workspace, path, start, end)
    if reduce_noise:
        samples = tones.cleaned(samples)
    said, unknown = transcribed(samples, words or ())
    offset = max(0.0, start or 0.0)
    found: dict[str, Any] = {
        "text": ", ".join(one.text for one in said),
        "passages": [
            {"start": round(one.start + offset, 2), "end": round(one.end + offset, 2), "text": one.text} for one in said
        ],
    }
    return found | ({"words_without_a_pronunciation": unknown} if unknown else {})


@server.tool
def find_tones(context: Context, path: str, start: float | None = None, end: float | None = None) -> dict[str, Any]:
    samples = files.sound(context.workspace, path, start, end)
    offset = max(0.0, start or 0.0)
    found = [asdict(tone) for tone in tones.tones(samples)]
    return {"tones": [{**tone, "start": round(tone["start"] + offset, 2)} for tone in found]}


@server.tool
def find_changes(context: Context, path: str) -> dict[str, Any]:
    return {"changes": film.changes(context.workspace, path)}


@server.tool
def extract_frame(context: Context, path: str, time: float, output_path: str) -> str:
    since, image = film.frame(context.workspace, path, time)
    save_picture(context.workspace, image, output_path)
    return f"The picture at {time:g} s (shown since {since:.2f} s, {image.width}x{image.height}) is in {output_path}"


@server.tool
async def read_frames(context: Context, path: str, times: list[float]) -> dict[str, Any]:
    if not 1 <= len(times) <= MAX_READ:
        raise ToolError(f"Between 1 and {MAX_READ} moments can be read at a time", outcome="invalid_arguments")
    found = []
    for time in times:
        picture = partial(_picture, context, path, time)
        found.append({"time": time, "text": await text_in(context, picture, "eng", _ANYWHERE)})
    return {"frames": found}


def _picture(context: Context, path: str, time: float) -> Image.Image:
    return film.frame(context.workspace, path, time)[1]

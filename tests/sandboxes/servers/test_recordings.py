"""Sound and film: what the tools hear and see is in the files, and a call never depends on an earlier one."""

import io
import json
import wave
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from m3bench.sandboxes.servers import recordings
from m3bench.sandboxes.servers.recordings import server
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.examples import load_examples
from m3bench.tasks.library import RECORDINGS, Library
from m3bench.tasks.sound_and_film import FilmSign, Melody, SilentFilm, hertz
from tests.sandboxes.servers.conftest import Bench

MELODY = Melody(notes=("C4", "E4", "G4", "A5", "B3"))
FILM = SilentFilm(signs=(FilmSign("Oslo", 5, 15), FilmSign("Lima", 20, 23)), pictures=40)
FRUIT = ["apple", "banana", "pear", "mango"]


@pytest.fixture
def studio(tmp_path: Path) -> Bench:
    """A workspace with a melody, a film and a note that is no recording."""
    bench = Bench(tmp_path / "workspace")
    (bench.folder / "media").mkdir()
    (bench.folder / "media" / "melody.mp3").write_bytes(MELODY.file())
    (bench.folder / "media" / "street.mp4").write_bytes(FILM.file())
    (bench.folder / "media" / "note.txt").write_bytes(b"neither heard nor seen")
    return bench


def note(bench: Bench) -> dict[str, object]:
    """Puts a spoken note of the set into the workspace."""
    data = Library(RECORDINGS).recording("dictation-1.mp3")
    (bench.folder / "media" / "note.mp3").write_bytes(data)
    return {"path": "./media/note.mp3"}


def test_the_server_has_a_function_and_an_example_for_each_of_its_tools() -> None:
    tools = load_catalog().ready.select({"recordings"}).tools
    assert {tool.name for tool in tools} == set(server.handlers) == set(load_examples("recordings").calls)


@pytest.mark.slow
def test_every_example_works_and_gives_the_same_twice(prepared) -> None:
    for name, arguments in load_examples("recordings").calls.items():
        one, other = (prepared("recordings").reply(f"recordings/{name}", arguments) for _ in range(2))
        assert one.outcome == "success", one
        assert one == other


def test_the_header_of_a_recording_is_told(studio: Bench) -> None:
    sound = json.loads(studio.text("recordings/describe_recording", path="./media/melody.mp3"))
    assert (sound["kind"], sound["sample_rate"], sound["channels"]) == ("sound", 16000, 1)
    assert sound["seconds"] == pytest.approx(len(MELODY.samples()) / 16000, abs=0.2)
    assert -12 < sound["peak_db"] < 0
    film = json.loads(studio.text("recordings/describe_recording", path="./media/street.mp4"))
    assert film == {"kind": "film", "seconds": 4.0, "width": 640, "height": 360, "frames_per_second": 10.0}


def test_tones_are_told_by_note_pitch_and_place(studio: Bench) -> None:
    found = json.loads(studio.text("recordings/find_tones", path="./media/melody.mp3"))["tones"]
    assert tuple(tone["note"] for tone in found) == MELODY.notes
    for number, tone in enumerate(found):
        assert tone["hertz"] == pytest.approx(hertz(tone["note"]), rel=0.01)
        assert tone["start"] == pytest.approx(0.3 + number * 0.75, abs=0.1)
    later = json.loads(studio.text("recordings/find_tones", path="./media/melody.mp3", start=1.7))["tones"]
    assert [tone["note"] for tone in later] == ["G4", "A5", "B3"]
    assert later[0]["start"] == pytest.approx(found[2]["start"], abs=0.05)


def test_a_passage_is_played_as_sound_and_cut_to_a_file(studio: Bench) -> None:
    reply = studio.reply("recordings/play_recording", path="./media/melody.mp3", start=0.2, end=1.2)
    text, sound = reply.result["content"]
    assert text["text"].startswith("1.00 s of sound")
    assert (sound["type"], sound["mimeType"]) == ("audio", "audio/wav")
    with wave.open(io.BytesIO(b64decode(sound["data"]))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (16000, 1, 16000)
    studio.text("recordings/cut_recording", path="./media/melody.mp3", output_path="./media/a.wav", start=0.2, end=0.9)
    assert [
        tone["note"] for tone in json.loads(studio.text("recordings/find_tones", path="./media/a.wav"))["tones"]
    ] == ["C4"]


def test_steady_noise_is_taken_out_and_quiet_sound_made_louder(studio: Bench) -> None:
    noisy = MELODY.samples() * 0.2 + np.random.default_rng(1).normal(0, 0.02, len(MELODY.samples()))
    (studio.folder / "media" / "noisy.wav").write_bytes(recordings.wav(noisy))
    studio.text("recordings/clean_recording", path="./media/noisy.wav", output_path="./media/clean.wav", gain_db=12)
    clean = recordings.sound(Workspace(studio.folder), "./media/clean.wav")
    quiet = slice(0, 3000)
    before = recordings.decibels(noisy[quiet])[1] - recordings.decibels(noisy)[1]
    after = recordings.decibels(clean[quiet])[1] - recordings.decibels(clean)[1]
    assert after < before - 8
    assert recordings.decibels(clean)[0] > recordings.decibels(noisy)[0] + 6


@pytest.mark.slow
def test_what_is_said_is_written_down_from_the_words_that_may_occur(studio: Bench) -> None:
    path, fruits = note(studio), Library(RECORDINGS).task("dictation-1").fields[0].value.given()
    assert isinstance(fruits, list)
    heard = json.loads(studio.text("recordings/transcribe", **path, words=["qwertzu", *fruits, "grams"]))
    assert heard["words_without_a_pronunciation"] == ["qwertzu"]
    spoken = heard["text"].replace(",", "").split()
    assert [word for word in fruits if word in spoken] == fruits
    assert heard["passages"][0]["start"] < heard["passages"][0]["end"] < heard["passages"][1]["start"]


def test_no_word_that_has_a_sound_means_that_nothing_is_heard(studio: Bench) -> None:
    heard = json.loads(studio.text("recordings/transcribe", **note(studio), words=["qwertzu"]))
    assert heard == {"text": "", "passages": [], "words_without_a_pronunciation": ["qwertzu"]}


@pytest.mark.slow
def test_what_was_heard_before_changes_nothing(studio: Bench) -> None:
    path = note(studio)
    first = studio.text("recordings/transcribe", **path, words=FRUIT, end=6)
    studio.text("recordings/transcribe", path="./media/melody.mp3", words=FRUIT)
    assert studio.text("recordings/transcribe", **path, words=FRUIT, end=6) == first


@pytest.mark.slow
def test_changes_of_a_film_are_found_and_pictures_taken_out(studio: Bench) -> None:
    changes = json.loads(studio.text("recordings/find_changes", path="./media/street.mp4"))["changes"]
    assert changes == [0.0, 0.5, 1.5, 2.0, 2.3]
    arguments = {"path": "./media/street.mp4", "output_path": "./media/sign.png"}
    studio.text("recordings/extract_frame", **arguments, time=2.1)
    assert "Lima" in studio.text("ocr/perform_ocr", input_data="./media/sign.png", config="--oem 3 --psm 11")
    studio.text("recordings/extract_frame", **arguments, time=1.7)
    seen = studio.reply("ocr/perform_ocr", input_data="./media/sign.png", config="--oem 3 --psm 11")
    assert "Lima" not in str(seen.result)
    with Image.open(studio.folder / "media" / "sign.png") as picture:
        assert picture.size == (640, 360)


@pytest.mark.slow
def test_the_writing_of_a_film_is_read_at_several_moments_at_once(studio: Bench) -> None:
    found = json.loads(studio.text("recordings/read_frames", path="./media/street.mp4", times=[2.1, 1.7, 1]))
    assert found == {"frames": [{"time": 2.1, "text": "Lima"}, {"time": 1.7, "text": ""}, {"time": 1, "text": "Oslo"}]}


@pytest.mark.slow
def test_an_announcement_in_a_noisy_hall_is_written_down_when_the_noise_is_taken_out(studio: Bench) -> None:
    task = Library(RECORDINGS).task("announcement-1")
    (studio.folder / "media" / "hall.mp3").write_bytes(Library(RECORDINGS).recording("announcement-1.mp3"))
    words = task.references[1].steps[0][0].arguments["words"]
    noisy, clean = (
        studio.text("recordings/transcribe", path="./media/hall.mp3", words=words, reduce_noise=reduced)
        for reduced in (False, True)
    )
    given = task.fields[0].value.given()
    assert isinstance(given, list)
    parks = [name.removesuffix(" National Park").lower() for name in given]
    assert [name for name in parks if name in clean] == parks
    assert clean != noisy


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("describe_recording", {"path": "./media/note.txt"}, "is not a sound or film that can be read"),
        ("describe_recording", {"path": "./media/none.mp3"}, "File not found"),
        ("describe_recording", {"path": "../../etc/passwd"}, "leaves the workspace"),
        ("find_tones", {"path": "./media/street.mp4"}, "has no sound"),
        ("find_changes", {"path": "./media/melody.mp3"}, "has no pictures"),
        ("play_recording", {"path": "./media/melody.mp3", "start": 60}, "The recording lasts"),
        ("cut_recording", {"path": "./media/melody.mp3", "output_path": "a.mp3"}, "end it in .wav"),
        ("extract_frame", {"path": "./media/street.mp4", "time": 9, "output_path": "a.png"}, "the film lasts 4.00 s"),
        ("transcribe", {"path": "./media/melody.mp3", "words": ["a"] * 500}, "At most 400 words"),
        ("read_frames", {"path": "./media/street.mp4", "times": [9]}, "the film lasts 4.00 s"),
        ("read_frames", {"path": "./media/street.mp4", "times": [1.0] * 13}, "12"),
        ("read_frames", {"path": "./media/melody.mp3", "times": [0.5]}, "has no pictures"),
    ],
)
def test_what_cannot_be_done_is_said(studio: Bench, tool: str, arguments: dict[str, object], said: str) -> None:
    assert said.lower() in studio.error(f"recordings/{tool}", arguments).lower()


def test_a_missing_library_is_named_with_what_to_install() -> None:
    with pytest.raises(SandboxError, match=r"pip install 'm3bench\[sound\]'"):
        recordings.library("no_such_library_of_sound")

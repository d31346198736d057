"""Tasks from own photographs: proved, silent about what is to be seen, and plain about what cannot be made."""

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from m3bench.server.commands.program import app
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library

FACTS = """
name: mine
photos:
  paris at noon.jpg: {place: Eiffel Tower, town: "Paris, France", also: [La Tour Eiffel]}
  rome.jpg: {place: Colosseum, town: "Rome, Italy"}
  bowl.jpg: {food: banana, count: 4}
  mugs.jpg: {thing: coffee mug, count: 3, objects: [{label: cup, box: [1200, 600, 2400, 1800]}]}
  oil.png: {thing: olive oil, count: 2}
  cover.jpg: {isbn: "9780141439518"}
  odd.jpg: {place: Tower of Nowhere, town: "Erewhon, Utopia"}
"""
NAMES = ("paris at noon.jpg", "rome.jpg", "bowl.jpg", "mugs.jpg", "oil.png", "cover.jpg", "odd.jpg")
SHOWN = ("eiffel", "paris", "colosseum", "rome", "banana", "mug", "cup", "olive", "9780141439518", "pride")


def photo(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["tasks", "photo", *map(str, arguments)])


def refused(*arguments: object) -> str:
    """What is said when nothing is made."""
    result = photo(*arguments)
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with photographs and facts."""
    return take_pictures(tmp_path / "pictures")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The set of all of them, and what was said."""
    place = tmp_path_factory.mktemp("photos")
    result = photo(take_pictures(place / "pictures"), "-o", place / "set", "--json")
    assert result.exit_code == 0, result.output
    return place / "set", result


def take_pictures(folder: Path) -> Path:
    """Photographs as a phone writes them: large, lying on their side, with a position in them."""
    folder.mkdir()
    for number, name in enumerate(NAMES):
        exif = Image.Exif()
        exif[0x0112] = 6  # to be turned by a quarter
        exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 30.0), 3: "E", 4: (2.0, 17.0, 40.0)})
        Image.new("RGB", (1800, 2400), (30 * number, 200 - 20 * number, 120)).save(folder / name, exif=exif)
    (folder / "photos.yaml").write_text(FACTS)
    return folder


@pytest.mark.slow
def test_every_kind_of_task_is_made_and_proved_and_what_the_world_does_not_know_is_said(
    made: tuple[Path, Result],
) -> None:
    folder, said = made[0], json.loads(made[1].stdout)
    assert sorted(said["tasks"]) == ["air-1", "higher-1", "meal-1", "reading-1", "shopping-1"]
    assert {tuple(one["photos"]) for one in said["left_out"]} >= {("odd.jpg", "rome.jpg")}
    assert all("does not know Tower of Nowhere" in one["why"] for one in said["left_out"])
    verified = CliRunner().invoke(app, ["tasks", "verify", "--tasks", str(folder), "--sandbox", "inprocess"])
    assert verified.exit_code == 0, verified.output
    assert CliRunner().invoke(app, ["tasks", "lint", "--tasks", str(folder)]).exit_code == 0
    library = Library(folder)
    told = " ".join(task.question + " ".join(map(str, task.pictures)) for task in library.tasks.values()).casefold()
    assert not [word for word in SHOWN if word in told], "the words alone must not say what the pictures show"
    assert len(library.tasks["higher-1"].pictures) == 2
    assert library.tasks["meal-1"].references[0].steps[0][0].arguments["query"].endswith("g banana")


@pytest.mark.slow
def test_a_photograph_lies_upright_in_the_set_and_tells_nothing_beside_what_it_shows(made: tuple[Path, Result]) -> None:
    library = Library(made[0])
    for path in sorted((made[0] / "pictures").iterdir()):
        with Image.open(path) as kept:
            assert kept.size == (1600, 1200)
            assert not kept.getexif(), "no position"
    (task,) = (task for task in library.tasks.values() if task.family == "shopping")
    (box,) = (one.box for scene in library.scenes(task) for one in scene.objects)
    assert box == (800, 400, 1600, 1200), "boxes are of the photograph as it is shown"


@pytest.mark.slow
def test_the_same_photographs_give_the_same_bytes(pictures: Path, tmp_path: Path) -> None:
    (pictures / "photos.yaml").write_text(
        'photos: {bowl.jpg: {food: banana, count: 4}, cover.jpg: {isbn: "9780141439518"}}'
    )
    for name in ("one", "other"):
        assert photo(pictures, "-o", tmp_path / name).exit_code == 0
    assert Library(tmp_path / "one").hash == Library(tmp_path / "other").hash


def test_a_file_to_fill_in_names_every_photograph_and_is_never_overwritten(pictures: Path) -> None:
    assert "already exists" in refused(pictures, "--init")
    (pictures / "photos.yaml").unlink()
    assert photo(pictures, "--init").exit_code == 0
    assert all(name in (pictures / "photos.yaml").read_text() for name in NAMES)
    assert "say what it shows" in refused(pictures, "-o", pictures / "set")


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ("photos: {rome.jpg: {plaice: Colosseum}}", "place"),
        ("photos: {rome.jpg: {place: Colosseum}}", "needs town"),
        ("photos: {bowl.jpg: {food: banana}}", "needs count"),
        ("photos: {bowl.jpg: {food: banana, thing: mug, count: 2}}", "name one of them"),
        ("photos: {rom.jpg: {place: Colosseum, town: Rome}}", "rome.jpg"),
        ("photos: {mugs.jpg: {thing: mug, count: 2, objects: [{label: cup, box: [9, 9, 5, 5]}]}}", "left, top"),
        ("photos: {mugs.jpg: {thing: mug, count: 2, objects: [{label: cup, box: [9, 9, 9000, 90]}]}}", "beyond"),
        ("photos: {}", "photos"),
        ("- a", "photos.yaml"),
        ("{", "is not YAML"),
    ],
)
def test_what_is_wrong_with_the_facts_is_said_before_anything_is_played(pictures: Path, facts: str, said: str) -> None:
    (pictures / "photos.yaml").write_text(facts)
    assert said in refused(pictures, "-o", pictures / "set")
    assert not (pictures / "set").exists()


def test_a_broken_photograph_a_missing_folder_and_facts_that_make_no_task(pictures: Path, tmp_path: Path) -> None:
    (pictures / "photos.yaml").write_text("photos: {odd.jpg: {place: Tower of Nowhere, town: Erewhon}}")
    alone = photo(pictures, "-o", tmp_path / "set")
    assert alone.exit_code == 1
    assert "odd.jpg is in no task" in alone.output
    (pictures / "odd.jpg").write_bytes(b"no picture")
    assert "not a photograph that can be read" in refused(pictures, "-o", tmp_path / "set")
    assert "is not a folder" in refused(tmp_path / "nothing", "-o", tmp_path / "set")
    assert "Name a folder for the set" in refused(pictures)
    assert not (tmp_path / "set").exists()

"""Tables, times, codes and names as people write them in a hurry: read for what they say, and no further."""

import pytest

from m3bench.tasks.answers.base import AnswerContext
from m3bench.tasks.answers.codes import Code, Version
from m3bench.tasks.answers.dates import Time
from m3bench.tasks.answers.groups import Table
from m3bench.tasks.answers.names import Choice, Name
from m3bench.tasks.answers.quantity import Integer

SHELLS = Table(
    columns=("package", "version"),
    rows=(
        (Name(value="fish", others=("zsh",)), Version(value="4.0.2")),
        (Name(value="zsh", others=("fish",)), Version(value="5.9")),
    ),
)
FLARES = Table(
    columns=("day", "class", "flares"),
    rows=(
        (Name(value="Monday"), Code(value="X2.1"), Integer(value=6)),
        (Name(value="Friday"), Code(value="X1.8"), Integer(value=7)),
    ),
)
SIDES = Table(
    columns=("hazard", "half"),
    rows=tuple(
        (Name(value=name), Choice(options=("left", "right"), value=side))
        for name, side in (("pit", "left"), ("ladder", "left"), ("fire", "right"))
    ),
)


@pytest.mark.parametrize(
    ("table", "given"),
    [
        (SHELLS, "fish 4.0.2, zsh 5.9"),
        (SHELLS, "fish (4.0.2) and zsh (v5.9)"),
        (SHELLS, ["fish 4.0.2", "zsh: 5.9"]),
        (SHELLS, "- `fish` 4.0.2\n- `zsh` 5.9"),
        (SHELLS, [{"package": "fish", "found": "4.0.2"}, {"package": "zsh", "found": "5.9"}]),
        (FLARES, "Monday: X2.1 (6)\nFriday: X1.8 (7)"),
        (FLARES, "Monday: X2.1 with 6 flares; Friday: X1.8 with 7 flares"),
        (FLARES, "- Friday (X1.8, 7 flares)\n- Monday (X2.1, 6 flares)"),
        (SIDES, {"left": ["pit", "ladder"], "right": ["fire"]}),
        (SIDES, "Left: ladder and pit\nRight: fire"),
    ],
)
def test_a_table_is_read_from_loose_lines(table, given):
    assert table.problem(given, AnswerContext()) is None


@pytest.mark.parametrize(
    ("table", "given"),
    [
        (SHELLS, "fish 5.9, zsh 4.0.2"),
        (SHELLS, "fish 4.0.2, zsh 5.9, bash 5.2"),
        (SHELLS, "fish, zsh 4.0.2, 5.9"),
        (SHELLS, ["fish 4.0.2 or 5.9", "zsh 5.9"]),
        (SHELLS, [{"package": "fish", "found": "5.9"}, {"package": "zsh", "found": "4.0.2"}]),
        (FLARES, "Monday: X1.8 (6)\nFriday: X2.1 (7)"),
        (FLARES, "- Friday (X1.8, 6 flares)\n- Monday (X2.1, 7 flares)"),
        (SIDES, {"left": ["pit", "fire"], "right": ["ladder"]}),
        (SIDES, {"left": ["pit", "ladder", "fire"], "right": ["fire"]}),
        (SHELLS, ", " * 100_000),
        (SHELLS, [[["fish"], "4.0.2"], [{"a": 1}, "5.9"]]),
    ],
)
def test_a_loose_table_is_still_compared_cell_by_cell(table, given):
    assert table.problem(given, AnswerContext())


def test_noon_midnight_and_the_hours_of_soldiers_are_times():
    for right, said in (("00:00", "midnight"), ("00:00", "12 midnight"), ("00:00", "24:00"), ("12:00", "noon UTC")):
        assert Time(zone="UTC", value=right).problem(said, AnswerContext()) is None
        assert Time(zone="UTC", value="11:00").problem(said, AnswerContext())
    assert Time(value="19:13").problem("1913 hours", AnswerContext()) is None
    assert Time(value="20:24").problem("June 2024", AnswerContext())


def test_a_commit_may_be_called_one():
    commit = Code(form="commit", value="748cc6c81a10")
    for said in ("commit 748cc6c81a10", "github:NixOS/nixpkgs/748cc6c81a10"):
        assert commit.problem(said, AnswerContext()) is None
    assert commit.problem("commit 748cc6c81a11", AnswerContext())


def test_how_far_away_it_is_may_stand_behind_a_name_unless_names_have_lengths():
    assert (
        Name(value="Gemini South", others=("Subaru",)).problem("Gemini South (about 410 m away)", AnswerContext())
        is None
    )
    assert Name(value="Rope, 10 m", others=("Rope, 20 m",)).problem("Rope, 20 m", AnswerContext())
    assert Name(value="Subaru", others=("Gemini South",)).problem("Gemini South, 0.4 km", AnswerContext())

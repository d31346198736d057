"""The texts and tables of the families are data, and all of them can be read."""

import pytest

from m3bench.tasks.families.base import FOLDER, questions, words
from m3bench.tasks.families.movies import Movies
from m3bench.tasks.families.registry import EVERY


def test_every_file_belongs_to_a_family():
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.toml" for name in EVERY}


@pytest.mark.parametrize("name", EVERY)
def test_questions_are_single_lines_and_tables_have_what_the_family_declares(name):
    assert not [text for texts in questions(name).values() for text in texts if "\n" in text or "  " in text]
    family = EVERY[name]
    assert all(getattr(family, table) for table in family.read_tables())


def test_a_table_that_nobody_declared_is_refused():
    class Other(Movies):
        lights = words()

    with pytest.raises(ValueError, match=r"movies declares .*lights.* and its file has"):
        assert Other().lights

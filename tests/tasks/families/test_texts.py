"""The texts and tables of the families are data, and all of them can be read."""

import importlib

import pytest
from pydantic import ValidationError

from m3bench.tasks.families.registry import EVERY
from m3bench.tasks.families.texts import FOLDER, Tables, questions, tables


def test_every_file_belongs_to_a_family():
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.toml" for name in EVERY}


@pytest.mark.parametrize("name", EVERY)
def test_questions_are_single_lines_and_tables_have_what_the_family_declares(name):
    assert not [text for texts in questions(name).values() for text in texts if "\n" in text or "  " in text]
    module = importlib.import_module(type(EVERY[name]).__module__)
    declared = module._tables() if hasattr(module, "_tables") else tables(name, Tables)()
    assert all(value for _, value in declared)


def test_a_table_that_nobody_declared_is_refused():
    class Other(Tables):
        movies: tuple[str, ...]

    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        tables("movies", Other)()

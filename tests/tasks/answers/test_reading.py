"""Fields are read where they are labelled, and nowhere else."""

import pytest

from m3bench.tasks.answers.base import AnswerContext
from m3bench.tasks.answers.fields import Field, File, Integer, Items, Money, Name, Table
from m3bench.tasks.answers.reading import absent, as_object, read, unknown

FIELDS = (
    Field(name="older_film", meaning="the film that came out first", value=Name(value="Heat")),
    Field(name="total_price", meaning="what both cost", value=Money(value=3.5, unit="USD")),
)


@pytest.mark.parametrize(
    "prose",
    [
        "older_film: Heat\ntotal_price: $3.50",
        "I looked them up.\n\n- **Older film:** Heat\n- **Total price**: $3.50\n\nEnjoy!",
        'Here you are:\n```json\n{"older_film": "Heat", "total_price": "$3.50"}\n```',
        '{"answer": "done", "fields": {"older_film": "Heat", "totalPrice": "$3.50"}}',
        "| field | value |\n|---|---|\n| older film | Heat |\n| total price | $3.50 |",
        "1. Older Film = Heat\n2. TOTAL_PRICE = $3.50",
        "### Older film: Heat\n### Total price: $3.50",
        "`older_film`: Heat\n`total_price`: $3.50",
        "Older film – Heat\nTotal price — $3.50",
        "older_film:\n  Heat\ntotal_price:\n  $3.50",
        "Of the two, the older film is Heat; the total price is $3.50.",
        "The Older Film was Heat. Together, their total price: $3.50.",
    ],
)
def test_labelled_prose_is_read(prose):
    assert read(FIELDS, prose, None) == {"older_film": ["Heat"], "total_price": ["$3.50"]}


@pytest.mark.parametrize(
    ("prose", "read_as"),
    [
        (
            "The older film: Heat\nTotal price for both: $3.50",
            {"older_film": ["Heat"], "total_price": ["$3.50"]},
        ),
        (
            "## Older film that came out first\nHeat\n\nTotal price: $3.50",
            {"older_film": ["Heat"], "total_price": ["$3.50"]},
        ),
        ("Older film: Heat\nThe older film that came out first: Ronin", {"older_film": ["Heat"]}),
        ("Older film of De Niro: Ronin", {}),
        ("Price: $2", {}),
    ],
)
def test_a_label_may_have_more_words_of_what_its_field_means(prose, read_as):
    assert read(FIELDS, prose, None) == read_as


def test_a_list_below_its_label_is_read_as_one():
    fields = (Field(name="packages", meaning="those that exist", value=Items(items=(Name(value="fish"),))), *FIELDS)
    found = read(fields, "Packages:\n- fish\n- htop\n\nOlder film: Heat", None)
    assert found == {"packages": ["- fish\n- htop"], "older_film": ["Heat"]}


def test_a_heading_labels_what_stands_below_it():
    assert read(FIELDS, "## Older film\n\nHeat\n\n**Total price**\n$3.50\n\nBye", None) == {
        "older_film": ["Heat"],
        "total_price": ["$3.50"],
    }
    assert read(FIELDS, "**Heat** came first.", None) == {}


def test_a_table_whose_head_names_the_columns_needs_no_label():
    rows = ((Name(value="Heat"), Integer(value=1995)), (Name(value="Ronin"), Integer(value=1998)))
    films = Field(name="films", meaning="both", value=Table(columns=("title", "year"), rows=rows))
    said = "Here:\n\n| # | **Title** | Year |\n|---|:--|---|\n| 1 | Heat | 1995 |\n| 2 | Ronin | 1998 |\n\nBye"
    (given,) = read((films,), said, None)["films"]
    assert films.value.problem(given, AnswerContext()) is None
    assert films.value.problem([*given[:1], {**given[1], "Year": "1995"}], AnswerContext())
    assert read((films,), "| film | price |\n|---|---|\n| Heat | 3 |", None) == {}


def test_nothing_is_guessed_from_free_text():
    assert read(FIELDS, "Heat came first, and both together cost $3.50.", None) == {}


def test_the_only_field_of_a_task_takes_a_short_answer_as_it_is():
    assert read(FIELDS[:1], "Heat", None) == {"older_film": ["Heat"]}
    assert read(FIELDS[:1], "Heat\nRonin", None) == {}


def test_what_is_given_as_a_field_goes_before_prose_and_two_values_are_both_kept():
    assert read(FIELDS, "older_film: Ronin", {"Older Film": "Heat"}) == {"older_film": ["Heat"]}
    assert read(FIELDS, "older_film: Heat\nolder_film: Ronin", None) == {"older_film": ["Heat", "Ronin"]}
    assert unknown(FIELDS, {"older-film": 1, "newer": 2}) == ["newer"]


def test_what_is_missing_is_named_and_a_file_may_go_unnamed():
    book = Field(name="workbook", meaning="the table", value=File(form="xlsx", value="./a.xlsx", holds=()))
    assert [one.name for one in absent((*FIELDS, book), {"older_film": ["Heat"]})] == ["total_price"]


@pytest.mark.parametrize(
    ("sent", "meant"), [('{"a": 1}', {"a": 1}), ({"a": 1}, {"a": 1}), ("a", None), (None, None), ({}, None)]
)
def test_fields_that_come_as_text_are_an_object(sent, meant):
    assert as_object(sent) == meant


@pytest.mark.parametrize("name", ["Older", "a-b", "", "1st", "a__b"])
def test_a_fields_name_is_plain(name):
    with pytest.raises(ValueError, match="name"):
        Field(name=name, meaning="x", value=Integer(value=1))

"""Each type of value accepts what is right, however it is written, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.tasks.answers.base import JSON, AnswerContext, Value
from m3bench.tasks.answers.fields import (
    Choice,
    Code,
    Coordinate,
    Date,
    Integer,
    Items,
    Money,
    Name,
    Number,
    NumberPair,
    Phone,
    Table,
    Text,
    Time,
    Version,
    YesNo,
)
from tests.examples import examples

ISBN = Code(value="9780306406157", form="ISBN")
PACKAGES = Items(items=(Name(value="starship"), Name(value="obs-studio"), Name(value="fish")))
PAGES = Table(
    columns=("isbn", "pages"),
    rows=((ISBN, Integer(value=320)), (Code(value="9783161484100", form="ISBN"), Integer(value=200))),
)
TEMPLE = Name(value="Sensō-ji", aliases=("Asakusa Kannon",), others=("Meiji Shrine", "Tokyo Tower"))
FILM = Name(value="Heat", others=("The Insider",), context=("1995",))
MARKDOWN = "| isbn | pages |\n|---|---|\n| 9780306406157 | 320 |\n| 9783161484100 | 200 |"

CASES: list[tuple[Value, list[JSON], list[JSON]]] = [
    (
        Number(value=3721.6, unit="km"),
        ["3 722 km", "3,722", "3722", "3.722 km", "about 3,721.6 km", "2312.5 miles", "3722 km (2312.5 mi)", 3721.6,
         "three thousand seven hundred and twenty-two kilometres", "≈ 3 722 km", "The distance is 3,722 km.",
         "3 722 km"],
        ["3700", "3722 m", "3700-3750", "3722 or 3800", "not 3722", "more than 3722", "0, 1, 2, 3722", "3722 miles",
         {"a": 1, "b": 2}, [3722, 3800], "maybe 3722", "3722?", True, None, "", "unknown", float("nan")],
    ),
    (
        Integer(value=12, unit="pages"),
        ["12", "twelve", "12 pages", "Twelve pages in total", 12, 12.0, "a dozen", "12.", "**12**"],
        ["13", "12 or 13", "between 10 and 12", "12-14", "1. one 2. two 12", [12, 13], "at least 12", "120", "12.5"],
    ),
    (
        Money(value=1234.5, unit="USD"),
        ["$1,234.50", "1.234,50 $", "1234.5 dollars", "USD 1,234.50", "1 234,50", 1234.5, "$1234.50 USD",
         "11 × 112.23 = $1,234.50",
         {"amount": 1234.5, "currency": "USD"}],
        ["€1,234.50", "1234.5 EUR", "$1,234", "1234.55", "$1,234.50 or $1,300", {"amount": 1234.5, "currency": "EUR"}],
    ),
    (Money(value=43320, unit="BRL"), ["R$ 43,320", "R$ 43.320,00", "43.320", "BRL 43320"], ["$43,320", "R$ 43,32"]),
    (Money(value=0.9512211, unit="BTC", decimals=5, within=0.0076), ["₿0.9512", "0,95"], ["0.95122 ADA", "1.2 BTC"]),
    (Number(value=-5, unit="°C"), ["-5", "−5 °C", "minus five degrees", "23 °F"], ["5", "5 °C", "-5 °F"]),
    (
        Number(value=-16_830_000_000, unit="USD"),
        ["-$16.83 billion", "−$16.83bn", "$-16.83 billion", "minus 16.83 billion dollars", "(a loss) -$16,830,000,000"],
        ["$16.83 billion", "$1-$16.83 billion", "-$16.83 million"],
    ),
    (Number(value=12.5, unit="%"), ["12.5%", "12,5 %", "12.5 percent", "12.5"], ["0.125%", "12.5 km", "12%"]),
    (Number(value=7.8), ["7.8/10", "7.8 out of 10", "7.8", "7,8"], ["8", "7.9", "between 7 and 8"]),
    (Number(value=130, unit="min"), ["2 h 10 min", "2 hours and 10 minutes", "130 minutes"], ["2 h", "130 h"]),
    (
        Date(value="2019-05-30"),
        ["2019-05-30", "30 May 2019", "May 30, 2019", "May 30th, 2019", "30.05.2019", "05/30/2019", "30/5/2019",
         "20190530",
         "Thursday, 30 May 2019", "2019-05-30T00:00:00Z", "30th of May 2019"],
        ["2019", "May 2019", "2019-05-31", "Friday, 30 May 2019", "30 May 2019 or 31 May 2019", "around May 2019"],
    ),
    (
        Date(value="2019-05-30", precision="year"),
        ["2019", 2019, "May 2019", "2019-05-30", "in 2019"],
        ["2018", "2019-06-30", "2018 or 2019", "1999-2019"],
    ),
    (
        Time(value="14:30", zone="UTC"),
        ["14:30", "2:30 pm", "2.30 p.m.", "14:30 UTC", "16:30+02:00", "14h30", "14:30:00Z"],
        ["2:30", "14:30+02:00", "14:31", "14:30 or 15:30"],
    ),
    (Time(value="09:00"), ["9am", "9:00", "09:00", "9 a.m.", "9:00 AM"], ["9pm", "21:00", "9"]),
    (
        Version(value="1.23.0"),
        ["v1.23.0", "1.23.0", "1.23", "version 1.23.0", "starship 1.23.0", "V 1.23.0"],
        ["1.23.1", "1.2", "1.23.0 or 1.24.0", "2.23.0", "1.23.0, 1.24.0"],
    ),
    (
        Phone(value="+1 212-555-0100"),
        ["+1 212-555-0100", "(212) 555-0100", "212.555.0100", "001 212 555 0100", "2125550100", "tel: +12125550100"],
        ["212-555-0101", "555-0100 or 212", "+44 212 555 0100", "0100"],
    ),
    (Phone(value="+45 51 51 51 44"), ["+45 51515144", "51 51 51 44", "0045 51515144"], ["51515145"]),
    (ISBN, ["978-0-306-40615-7", "ISBN 0-306-40615-2", "0306406152"], ["9780306406158", "0306406153"]),
    (
        NumberPair(value=(272, 483)),
        ["(272,483)", "272, 483", "272/483", "x=272, y=483", [272, 483], {"x": 272, "y": 483}, "272 483", "[272, 483]"],
        ["(483,272)", "272", "272, 484", [1, 2, 3]],
    ),
    (
        NumberPair(value=(279, 215), parts=("width", "height"), unit="px", within=4),
        ["279x215", "279 × 215 px", "279 by 215", "280x214 pixels", "width 279, height 215", "279 px x 215 px"],
        ["215x279", "279", "300x215", "279x215 or 280x300"],
    ),
    (
        Coordinate(latitude=35.7148, longitude=139.7967),
        ["35.7148, 139.7967", "35.7148° N, 139.7967° E", "35°42'53\"N 139°47'48\"E", {"lat": 35.7148, "lng": 139.7967}],
        ["139.7967, 35.7148", "35.7, 140.7", "35.7148"],
    ),
    (
        TEMPLE,
        ["Sensō-ji", "Senso-ji", "senso ji", "Sensoji", "Sensō‑ji Temple", "the Sensō-ji", "It is Sensō-ji.",
         "**Sensō-ji**"],
        ["Meiji Shrine", "Sensō-ji or Meiji Shrine", "maybe Sensō-ji", "not Sensō-ji", "Sensō-ji, Meiji Shrine",
         "Kinkaku-ji"],
    ),
    (
        FILM,
        ["Heat", "Heat (1995)", "“Heat”", "The older film is Heat"],
        ["The Insider", "Heat and The Insider", "In the Heat of the Night", "Body Heat", "Heat?", "either Heat",
         "Heat 2"],
    ),
    (Name(value="Ziegfeld Theatre"), ["Ziegfeld Theater", "the Ziegfeld"], ["Apollo Theater", "Theatre"]),
    (
        Name(value="Obelisco de Buenos Aires", aliases=("Obelisk",), others=("Casa Rosada",)),
        ["Obelisco (Buenos Aires)", "Obelisk (Obelisco de Buenos Aires)"],
        ["Buenos Aires", "Obelisk (Casa Rosada)", "Obelisco de Luxor"],
    ),
    (Name(value="Moscow Kremlin"), ["Kremlin (Moscow)", "Kremlin, Moscow"], ["Kremlin Moscow Atlantis", "Moscow"]),
    (Name(value="La La Land"), ["la la land"], ["Land"]),
    (Name(value="Rock 'n' Roll"), ["Rock ’n’ Roll", "rock n roll"], ["Rock"]),
    (Name(value="209 W Houston St"), ["209 West Houston Street"], ["210 W Houston St", "209 E Houston St"]),
    (Choice(options=("Köln", "San José", "Zürich"), value="Köln"), ["Koeln", "koln"], ["Zürich", "Köln and Zürich"]),
    (
        Name(value="spaghetti", aliases=("pasta",), others=("rice",)),
        ["Pasta (spaghetti)", "the spaghetti"],
        ["rice", "pasta, rice", "no pasta"],
    ),
    (YesNo(value=True), ["Yes, it is.", True, "true"], ["no", "yes and no", "maybe", False, "Yes, but not really"]),
    (
        YesNo(value=False),
        ["no", "No, they are not", False, "They don't"],
        ["yes", True, "maybe not", "I do not know", "no idea"],
    ),
    (
        Text(value="Bound blank pages.", mentions=(("blank", "empty"), ("pages",)), words=20),
        ["A notebook is bound, empty pages.", "blank pages"],
        ["A kind of tree", "blank", "pages " * 100 + "blank"],
    ),
    (
        PACKAGES,
        [["fish", "starship", "obs-studio"], "starship, obs-studio and fish", "- starship\n- fish\n- obs-studio",
         "1. starship 2. fish 3. obs-studio", "starship; fish; obs-studio"],
        [["fish", "starship"], ["fish", "starship", "obs-studio", "htop"], "starship, fish", []],
    ),
    (
        Items(ordered=True, items=(Integer(value=1), Integer(value=5), Integer(value=3))),
        [[1, 5, 3], "1, 5, 3", "1; 5; 3"],
        [[1, 3, 5], "1,5", [1, 5, 3, 3]],
    ),
    (Items(items=()), [[], None, "none"], [["fish"]]),
    (
        PAGES,
        [[{"isbn": "978-0-306-40615-7", "pages": 320}, {"isbn": "9783161484100", "pages": 200}],
         {"9780306406157": 320, "9783161484100": 200}, [["9780306406157", 320], ["9783161484100", "200 pages"]],
         "9780306406157: 320\n9783161484100: 200", MARKDOWN, "9783161484100: 200 pages; 9780306406157: 320 pages"],
        [{"9780306406157": 200, "9783161484100": 320}, {"9780306406157": 320}, "9780306406157: 320", [],
         {"9780306406157": 320, "9783161484100": 200, "1": 1}],
    ),
]  # fmt: skip

ASKED = AnswerContext(words="older_film the title of the film that came out first")


@pytest.mark.parametrize(("value", "right", "wrong"), CASES)
def test_a_value_is_right_in_every_spelling_and_nothing_else_is(value, right, wrong):
    refused = {repr(given): value.problem(given, ASKED) for given in right if value.problem(given, ASKED)}
    accepted = [given for given in wrong if value.problem(given, ASKED) is None]
    assert (refused, accepted) == ({}, [])


@pytest.mark.parametrize(("value", "right", "wrong"), CASES)
def test_what_a_value_says_of_itself_is_right_and_what_it_shows_tells_nothing(value, right, wrong):
    assert value.problem(value.given(), ASKED) is None
    assert value.problem(value.said(), ASKED) is None
    assert not {"value", "items", "rows", "aliases", "others", "context", "within"} & value.shown().keys()


@pytest.mark.parametrize(("value", "right", "wrong"), CASES)
def test_every_number_and_everything_at_once_is_wrong(value, right, wrong):
    everything = ", ".join(map(str, range(501)))
    assert value.problem(everything, ASKED)
    assert value.problem(list(range(501)), ASKED)
    if not isinstance(value, Items | Text):
        assert value.problem(f"{right[0]} or {wrong[0]}", ASKED)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        max_leaves=8,
    )
)
@settings(max_examples=examples(40))
def test_no_value_makes_a_comparison_raise(given):
    for value, _, _ in CASES:
        value.problem(given, ASKED)


TITLES = st.lists(
    st.sampled_from(["Frost", "so the street came", "not Oslo", "but Bergen", "because", "Correction", "61 kg", "one"]),
    min_size=1,
    max_size=5,
)


@given(TITLES, st.sampled_from([", ", ". ", ": ", " - ", " (", "; "]))
def test_a_name_names_itself_whatever_it_reads_like(parts, between):
    title = between.join(parts)
    assert Name(value=title).problem(title, ASKED) is None
    assert Name(value=title).problem(title.upper(), ASKED) is None


@given(st.floats(min_value=0.001, max_value=1e9), st.sampled_from(["{:,.3f}", "{:.3f}"]), st.booleans())
def test_a_number_is_read_in_both_traditions(number, form, german):
    text = form.format(number)
    text = text.translate(str.maketrans(".,", ",.")) if german else text
    assert Number(value=round(number, 3)).problem(text, ASKED) is None

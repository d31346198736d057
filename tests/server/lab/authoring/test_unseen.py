"""What a call was read, worked out or chosen from is found although no value of a result shows it."""

from m3bench.server.lab.authoring.planning import derive
from m3bench.tasks.checks import LoggedCall
from m3bench.tasks.plan import Plan


def call(tool: str, text: str = "done", **arguments: object) -> LoggedCall:
    return LoggedCall(tool=tool, arguments=arguments, outcome="success", text=text)


LOOK = call("ocr/perform_ocr", "J0KFR at the Odeon", input_data="./media/poster.png")
FILM = call("tmdb/search_movies", '{"title": "Joker", "vote_average": 8.1}', query="Joker")
CITIES = [
    call("google-maps/geocode", f'{{"lat": {lat}, "lng": {lng}}}', address=name)
    for name, lat, lng in (("Vienna", 48.2082, 16.3738), ("Lima", -12.0464, -77.0428))
]
AIR = [
    call("google-air/current_conditions", f'{{"aqi": {aqi}}}', latitude=lat, longitude=lng)
    for lat, lng, aqi in ((48.2082, 16.3738, 71), (-12.0464, -77.0428, 48))
]
NEARBY = call(
    "google-maps/places_nearby_search", '{"places": []}', location={"latitude": 48.2082, "longitude": 16.3738},
)  # fmt: skip


def plan(*steps: list[LoggedCall], question: str = "", in_order: bool = False) -> Plan:
    return derive(question, "", steps, in_order=in_order)


def needs(*steps: list[LoggedCall], question: str = "") -> list[tuple[int, ...]]:
    return [call.needs for call in plan(*steps, question=question).calls]


def test_what_no_result_says_was_read_off_the_picture() -> None:
    assert needs([LOOK], [FILM]) == [(), (0,)]


def test_what_the_question_says_was_not() -> None:
    assert needs([LOOK], [FILM], question="Is Joker any good?") == [(), ()]


def test_a_name_that_is_made_of_words_of_the_question_was_not_either() -> None:
    candles = call("okx/get_candlesticks", "[]", instrument="BCH-USDT")
    assert needs([LOOK], [candles], question="How restless is Bitcoin Cash (BCH)?") == [(), ()]
    assert needs([LOOK], [candles], question="How restless is the coin?") == [(), (0,)]


def test_a_number_that_stands_nowhere_was_worked_out_from_the_step_before() -> None:
    sum_of = call("math/multiply", "16.2", firstNumber=16.2, SecondNumber=3)
    assert needs([FILM], [sum_of]) == [(), (0,)]
    assert needs([FILM], [call("math/sum", "3", numbers=[1, 2])]) == [(), (0,)]


def test_a_choice_needs_all_that_was_compared() -> None:
    assert needs(CITIES, AIR, [NEARBY]) == [(), (), (0,), (1,), (2, 3)]


def test_where_each_is_followed_up_nothing_was_chosen() -> None:
    pages = [call("wiki/summary", "…", title=title) for title in ("Coffee", "Cocoa")]
    found = plan(CITIES, pages, question="Coffee or cocoa, Vienna or Lima?", in_order=True).calls
    assert [one.needs for one in found] == [()] * 4
    assert [one.waits for one in found] == [(), (), (0, 1), (0, 1)]


def test_independent_calls_that_somebody_wrote_in_a_row_may_go_together() -> None:
    steps = [[one] for one in CITIES]
    question = "How far is it from Vienna to Lima?"
    assert plan(*steps, question=question).fewest_steps(range(2)) == 1
    assert plan(*steps, question=question, in_order=True).fewest_steps(range(2)) == 2, "a generator had its reason"


def test_an_empty_file_may_be_opened_at_any_time() -> None:
    opened = call("excel/create_workbook", filepath="./a.xlsx")
    filled = call("excel/write_data_to_excel", filepath="./a.xlsx", sheet_name="Films", data=[["Joker", 8.1]])
    found = plan([LOOK], [FILM, opened], [filled], in_order=True)
    assert [one.needs for one in found.calls] == [(), (0,), (), (1, 2)]
    assert not found.calls[2].waits
    alone = plan([LOOK], [FILM], [opened], [filled], in_order=True)
    assert alone.calls[2].waits == (1,), "its author opened it in a step of its own"
    assert alone.fewest_steps(range(4)) == 4
    assert alone.shown.fewest_steps(range(4)) == 3


def test_a_word_that_a_call_only_repeats_is_not_taken_from_it() -> None:
    pages = call("wiki/summary", "Joker is a card.", title="Joker")
    assert needs([FILM], [pages]) == [(), ()]

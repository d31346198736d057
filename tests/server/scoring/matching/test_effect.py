"""Calls are equal when their effect is: routes, what was not needed, and structure from dependencies."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.server.scoring import EFFECT, metrics
from m3bench.server.scoring.alignment import CallAlignment, CallMatch
from m3bench.server.scoring.matching.agreement import MadeCall
from m3bench.server.scoring.matching.effect import align, compare
from m3bench.server.scoring.reasons import miss_note
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.plan import Plan, PlannedCall, digest, unplayed
from m3bench.tasks.trajectory import JSON, Call, Step, Trajectory

SIGNATURES = catalog_signatures(load_catalog())

OCR = Call(tool="ocr/perform_ocr", arguments={"input_data": "./media/poster.png"})
JOKER = Call(tool="tmdb/search_movies", arguments={"query": "Joker"})
LOVE = Call(tool="tmdb/search_movies", arguments={"query": "In the Mood for Love"})
ADD = Call(tool="math/sum", arguments={"numbers": [8.1, 7.9]})
RESULTS = {
    "ocr": "JOKER\nIn the Mood for Love",
    "joker": '{"title": "Joker", "release_date": "2019-10-04", "vote_average": 8.1}',
    "love": '{"title": "In the Mood for Love", "release_date": "2000-09-29", "vote_average": 7.9}',
    "add": "16.0",
}
FILMS = Trajectory(steps=(Step(calls=(OCR,)), Step(calls=(JOKER, LOVE)), Step(calls=(ADD,))))
PLAN = Plan(
    calls=(
        PlannedCall(gives=("joker", "in the mood for love"), new=2),
        PlannedCall(gives=("2019-10-04", 8.1, "joker"), new=2, needs=(0,), result=digest(RESULTS["joker"])),
        PlannedCall(gives=("2000-09-29", 7.9, "in the mood for love"), new=2, needs=(0,)),
        PlannedCall(gives=(16.0,), new=1, needs=(1, 2)),
    )
)


def made(*steps):
    """Actual calls from steps of (call, result)."""
    return [
        MadeCall(call=call, step=number, result=result) for number, step in enumerate(steps) for call, result in step
    ]


PERFECT = made([(OCR, RESULTS["ocr"])], [(JOKER, RESULTS["joker"]), (LOVE, RESULTS["love"])], [(ADD, RESULTS["add"])])


def answers(actual, said="", reference=FILMS, plan=PLAN):
    return align(reference, plan, actual, said=said, pictures=frozenset({"poster.png"}), signatures=SIGNATURES)


def measure(found):
    return EFFECT.measure(found).values


def rounded(actual, **options):
    return {name: round(value, 3) for name, value in measure(answers(actual, **options)).items()}


def test_perfect_play_gets_one_on_everything():
    assert set(measure(answers(PERFECT)).values()) == {1.0}


def test_serial_play_loses_coherence_alone():
    serial = made(*[[(one.call, one.result)] for one in PERFECT])
    found = rounded(serial)
    assert found.pop("step_coherence") == 0.75
    assert found.pop("average") < 1
    assert set(found.values()) == {1.0}


def test_another_film_is_another_call():
    wrong = Call(tool="tmdb/search_movies", arguments={"query": "Titanic"})
    found = answers(made([(OCR, RESULTS["ocr"])], [(wrong, '{"title": "Titanic", "vote_average": 8.1}')]))
    assert set(found.matches) == {0}
    assert miss_note(found.nearest[1].agreement) == "another query: Joker wanted, Titanic asked"


def test_other_words_with_the_same_effect_are_the_same_call():
    words = Call(tool="tmdb/search_movies", arguments={"query": "that film with the joker"})
    found = answers(made([(OCR, RESULTS["ocr"])], [(words, RESULTS["joker"])]))
    assert found.matches[1].way == "same effect"


def test_one_call_of_another_tool_answers_several_on_another_route():
    both = Call(tool="elsewhere/all_films", arguments={})
    found = answers(made([(OCR, RESULTS["ocr"])], [(both, RESULTS["joker"] + RESULTS["love"])]))
    assert {place: (answer.way, answer.actual) for place, answer in found.matches.items() if place} == {
        1: ("another route", (1,)),
        2: ("another route", (1,)),
    }


def test_what_an_earlier_picture_showed_is_no_other_route():
    plan = Plan(calls=(PLAN.calls[0], PlannedCall(gives=("joker brothers",), new=0, needs=(0,))))
    reference = Trajectory(steps=(*FILMS.steps[:1], Step(calls=(JOKER,))))
    found = answers(made([(OCR, "Joker Brothers\nIn the Mood for Love")]), reference=reference, plan=plan)
    assert set(found.matches) == {0}


def test_a_search_that_tells_all_that_the_details_would_answers_for_them():
    search = Call(tool="google-maps/places_text_search", arguments={"query": "cinema near Central Park"})
    details = Call(tool="google-maps/place_details", arguments={"place_id": "ChIJk5w1"})
    plan = Plan(
        calls=(
            PlannedCall(gives=("165 w 65th st", "chijk5w1"), new=2),
            PlannedCall(gives=("165 w 65th st",), new=0, needs=(0,)),
        )
    )
    reference = Trajectory(steps=(Step(calls=(search,)), Step(calls=(details,))))
    told = "Walter Reade Theater, 165 W 65th St, ChIJk5w1"
    assert set(answers(made([(search, told)]), reference=reference, plan=plan).matches) == {0, 1}
    assert not answers(made([(JOKER, told.replace("165", "99"))]), reference=reference, plan=plan).matches


def test_the_same_thing_found_by_another_tool_with_the_same_words_is_another_route():
    find = Call(tool="google-maps/geocode", arguments={"address": "Sensō-ji, Tokyo"})
    search = Call(tool="google-maps/places_text_search", arguments={"query": "Sensō-ji, Tokyo"})
    plan = Plan(calls=(PlannedCall(gives=(35.71477, 139.79666, "senso-ji", "point of"), new=4),))
    reference = Trajectory(steps=(Step(calls=(find,)),))
    told = answers(made([(search, "Sensō-ji at 35.71477, 139.79666")]), reference=reference, plan=plan)
    assert told.matches[0].way == "another route"
    elsewhere = made([(search, "Sensō-ji at 35.1, 139.2")])
    assert not answers(elsewhere, reference=reference, plan=plan).matches


def test_whoever_opens_the_article_at_once_has_found_it():
    find = Call(tool="wiki/search", arguments={"query": "Ancient Greece"})
    read = Call(tool="wiki/summary", arguments={"title": "Ancient Greece"})
    plan = Plan(
        calls=(
            PlannedCall(gives=("ancient greece",), new=1),
            PlannedCall(gives=("the city-states gave europe democracy",), new=1, needs=(0,)),
        )
    )
    reference = Trajectory(steps=(Step(calls=(find,)), Step(calls=(read,))))
    text = "Ancient Greece: the city-states gave Europe democracy"
    assert set(answers(made([(read, text)]), reference=reference, plan=plan).matches) == {0, 1}
    other = Call(tool="wiki/summary", arguments={"title": "Rome"})
    assert not answers(made([(other, "Rome learnt from Ancient Greece")]), reference=reference, plan=plan).matches


def test_another_way_to_work_out_the_same_number_is_another_route():
    add = Call(tool="math/add", arguments={"firstNumber": 8.1, "secondNumber": 7.9})
    found = answers([*PERFECT[:3], MadeCall(call=add, step=2, result="16.0")])
    assert found.matches[3].way == "another route"
    wrong = answers([*PERFECT[:3], MadeCall(call=add, step=2, result="16.5")])
    assert 3 not in wrong.matches


def test_a_code_that_is_typed_by_hand_need_not_wait_for_the_scanner():
    scan = Call(tool="pyzbar-mcp/scan_barcode", arguments={"image_paths": "./media/poster.png"})
    book = Call(tool="openlibrary_mcp/get_book_info", arguments={"isbn": "9780141439518"})
    plan = Plan(
        calls=(PlannedCall(gives=(9780141439518.0,), new=1), PlannedCall(gives=("pride and prejudice",), needs=(0,)))
    )
    reference = Trajectory(steps=(Step(calls=(scan,)), Step(calls=(book,))))
    told = (scan, "EAN13: 9780141439518"), (book, "Pride and Prejudice")
    for actual in (made(told), made(told[:1], told[1:]), made(told[1:], told[:1]), made(told[1:])):
        found = measure(answers(actual, reference=reference, plan=plan))
        assert (found["order_consistency"], found["merge_purity"]) == (1, 1)
    assert set(measure(answers(made(told[1:]), reference=reference, plan=plan)).values()) == {1.0}


ROUTE = "google-maps/compute_route"
WAY = Trajectory(
    steps=(
        Step(calls=(Call(tool="google-maps/geocode", arguments={"address": "Echo Park Lodge, Los Angeles"}),)),
        Step(calls=(Call(tool=ROUTE, arguments={"origin": "34.076103,-118.257229", "destination": "Hollywood"}),)),
    )
)
WAY_PLAN = Plan(
    calls=(PlannedCall(gives=(34.076103, -118.257229), new=2), PlannedCall(gives=(5589.0,), new=1, needs=(0,)))
)


@pytest.mark.parametrize(
    ("origin", "purity"),
    [("Echo Park Lodge, Los Angeles", 1), ("34.076103,-118.257229", 0)],
    ids=["a name from the question", "a position that only the look-up tells"],
)
def test_a_way_between_names_need_not_wait_for_their_positions(origin, purity):
    """What the question says is at hand; what only knowledge tells has to be asked first."""
    find, way = WAY.calls
    asked = replace(way, arguments={"origin": origin, "destination": "Hollywood"})
    actual = made([(find, "34.076103, -118.257229"), (asked, "Echo Park Lodge, Los Angeles: 5589 m, drive")])
    plan = Plan(calls=(WAY_PLAN.calls[0], PlannedCall(gives=(5589.0, "drive"), new=2, needs=(0,))))
    found = answers(actual, reference=WAY, plan=plan)
    assert set(found.matches) == {0, 1}
    assert measure(found)["merge_purity"] == purity


def test_what_was_worked_out_in_the_head_still_needs_what_went_into_it():
    search, write = Call(tool="tmdb/search_movies", arguments={"query": "Joker"}), "excel/write_data_to_excel"
    fill = Call(tool=write, arguments={"filepath": "./a.xlsx", "data": [["total", 16.0]]})
    plan = Plan(
        calls=(
            PlannedCall(gives=(8.1,), new=1),
            PlannedCall(gives=(16.0,), new=1, needs=(0,)),
            PlannedCall(needs=(1,)),
        )
    )
    reference = Trajectory(steps=(Step(calls=(search,)), Step(calls=(ADD,)), Step(calls=(fill,))))
    together = made([(search, RESULTS["joker"]), (fill, "written")])
    assert measure(answers(together, reference=reference, plan=plan))["merge_purity"] == 0


def test_what_keeps_a_copy_is_not_answered_by_what_only_tells():
    read = Call(tool="paper_search/read_arxiv_paper", arguments={"paper_id": "2510.96462v1", "save_path": "./papers"})
    search = Call(tool="paper_search/search_arxiv", arguments={"query": "bees"})
    plan = Plan(calls=(PlannedCall(gives=("dance floor dynamics",), new=1),))
    found = made([(search, "2510.96462v1 Dance Floor Dynamics")])
    assert not answers(found, reference=Trajectory(steps=(Step(calls=(read,)),)), plan=plan).matches


def flares(start, end):
    return Call(tool="nasa-mcp/get_solar_flare", arguments={"start_date": start, "end_date": end})


def test_one_range_answers_for_the_days_in_it():
    days = ("2024-10-24", "2024-10-26")
    reference = Trajectory(steps=(Step(calls=tuple(flares(day, day) for day in days)),))
    plan = Plan(calls=(PlannedCall(gives=("x3.3",)), PlannedCall(gives=("x1.8",))))

    def answered(start, end, result="X3.3, X1.8"):
        return set(answers(made([(flares(start, end), result)]), reference=reference, plan=plan).matches)

    assert answered("2024-10-20", "2024-10-31") == {0, 1}
    assert answered("2024-10-25", "2024-10-31") == {1}
    assert answered("2024-10-27", "2024-10-31") == set()


def test_what_every_day_is_told_does_not_show_which_day_it_was():
    reference = Trajectory(
        steps=(Step(calls=(flares("2024-10-24", "2024-10-24"), flares("2024-10-26", "2024-10-26"))),)
    )
    plan = Plan(calls=(PlannedCall(gives=("solar flares", 24.0), new=2), PlannedCall(gives=("solar flares",), new=1)))
    other = made([(flares("2023-01-24", "2023-01-24"), "Solar flares: none"), (JOKER, "24")])
    assert not answers(other, reference=reference, plan=plan).matches


def test_a_table_of_distances_answers_for_the_ways_in_it():
    def way(origin, mode="WALK"):
        ends = {"origin": {"address": origin}, "destination": {"location": {"latLng": {"latitude": 1, "longitude": 2}}}}
        return Call(tool="google-maps/compute_route", arguments={**ends, "travelMode": mode})

    def table(*origins, mode="walking"):
        ends = {"origins": list(origins), "destinations": ["1,2"]}
        return Call(tool="google-maps/distance_matrix", arguments={**ends, "mode": mode})

    reference = Trajectory(steps=(Step(calls=(way("Hoboken, NJ"), way("Omaha, NE"))),))
    plan = Plan(calls=(PlannedCall(gives=(920.0,)), PlannedCall()))

    def answered(call):
        return set(answers(made([(call, "920 s, 800 s")]), reference=reference, plan=plan).matches)

    assert answered(table("Omaha, NE", "Hoboken, NJ")) == {0, 1}
    assert answered(table("Hoboken, NJ")) == {0}
    assert answered(table("Omaha, NE", "Hoboken, NJ", mode="driving")) == set()


def test_a_position_in_the_place_of_a_name_is_the_same_where_the_result_says_the_name():
    wanted = Call(tool="weather/get_weather", arguments={"location": "Bath, United Kingdom"})
    asked = Call(tool=wanted.tool, arguments={"location": "51.38,-2.36"})

    def way(result):
        return compare(wanted, PlannedCall(gives=(57.9,)), MadeCall(call=asked, step=0, result=result)).similarity

    assert way("Weather in Bath: 57.9 °F") == 1
    assert way("Weather in Bristol: 57.9 °F") == 0


def test_a_result_that_only_repeats_what_was_asked_shows_no_other_route():
    asked = Call(tool="healthcare-mcp/pubmed_search", arguments={"query": "Simvastatin"})
    plan = Plan(calls=(PlannedCall(gives=("simvastatin",), new=1),))
    other = Call(tool=asked.tool, arguments={"query": "Statins"})
    found = answers(
        made([(JOKER, "Simvastatin for jokers")]), reference=Trajectory(steps=(Step(calls=(asked,)),)), plan=plan
    )
    assert not found.matches
    assert (
        compare(asked, plan.calls[0], MadeCall(call=other, step=0, result="Simvastatin in trials")).way == "same effect"
    )


def test_read_by_eye_and_added_in_the_head_costs_nothing():
    eyes = made([(JOKER, RESULTS["joker"]), (LOVE, RESULTS["love"])])
    found = answers(eyes, said="Together 16.0")
    assert found.not_needed == {0, 3}
    assert set(measure(found).values()) == {1.0}


@pytest.mark.parametrize(
    ("said", "dropped"), [("9.56 each", {0}), ("9.563 each", {0}), ("9.57 each", set()), ("10", set())]
)
def test_what_was_worked_out_in_the_head_may_be_rounded(said, dropped):
    share = Call(tool="math/division", arguments={"numerator": 28.69, "denominator": 3})
    reference, plan = Trajectory(steps=(Step(calls=(share,)),)), Plan(calls=(PlannedCall(gives=(9.56333333,), new=1),))
    assert answers([], said=said, reference=reference, plan=plan).not_needed == dropped


@pytest.mark.parametrize(("said", "dropped"), [("24 months", {0, 1}), ("25 months", set())])
def test_whoever_knows_what_a_computation_led_to_had_what_went_into_it(said, dropped):
    months = Call(tool="math/division", arguments={"numerator": 18780, "denominator": 800})
    whole = Call(tool="math/ceiling", arguments={"number": 23.475})
    reference = Trajectory(steps=(Step(calls=(months,)), Step(calls=(whole,))))
    plan = Plan(calls=(PlannedCall(gives=(23.475,), new=1), PlannedCall(gives=(24.0,), new=1, needs=(0,))))
    assert answers([], said=said, reference=reference, plan=plan).not_needed == dropped


def test_what_was_not_shown_to_be_known_is_missed():
    assert answers(made([(JOKER, RESULTS["joker"]), (LOVE, RESULTS["love"])])).not_needed == {0}
    assert answers(made([(JOKER, RESULTS["joker"])])).not_needed == set()


def test_knowledge_never_drops_out():
    found = answers(made([(OCR, RESULTS["ocr"])]), said="Joker 2019-10-04 8.1, In the Mood for Love 2000-09-29 7.9")
    assert found.not_needed == set()


def test_failed_calls_answer_nothing_and_cost_precision():
    failed = Call(tool=JOKER.tool, arguments=JOKER.arguments, failed=True)
    found = answers([*PERFECT, MadeCall(call=failed, step=3, result="timeout")])
    assert measure(found)["precision"] == 0.8
    assert measure(found)["recall"] == 1


def test_everything_at_once_is_impure_where_one_needs_the_other():
    found = rounded(made([(one.call, one.result) for one in PERFECT]))
    assert (found["merge_purity"], found["order_consistency"], found["step_coherence"]) == (0, 1, 1)


def test_backwards_is_out_of_order():
    assert rounded(made(*[[(one.call, one.result)] for one in reversed(PERFECT)]))["order_consistency"] == 0


def test_without_results_the_arguments_decide():
    bare = [MadeCall(call=one.call, step=one.step, result=None) for one in PERFECT]
    assert set(measure(answers(bare)).values()) == {1.0}
    other = MadeCall(call=Call(tool=LOVE.tool, arguments={"query": "Titanic"}), step=1, result=None)
    assert measure(answers([bare[0], other]))["recall"] == 0.25


@pytest.mark.parametrize(
    ("reference", "actual", "value"),
    [(Trajectory(), [], 1.0), (FILMS, [], 0.0), (Trajectory(), PERFECT, 0.0)],
    ids=["nothing to do, nothing done", "nothing done", "nothing to do"],
)
def test_degenerate_cases_have_stated_values(reference, actual, value):
    plan = PLAN if reference.calls else Plan(calls=())
    assert set(measure(answers(actual, reference=reference, plan=plan)).values()) == {value}


def test_a_run_in_which_nothing_was_needed_is_undefined():
    plan, reference = Plan(calls=PLAN.calls[:1]), Trajectory(steps=FILMS.steps[:1])
    found = answers(made([(JOKER, "")]), said="Joker, In the Mood for Love", reference=reference, plan=plan)
    assert set(measure(found).values()) == {None}


def test_the_number_of_answers_does_not_depend_on_the_order_within_a_step():
    swapped = made([(OCR, RESULTS["ocr"])], [(LOVE, RESULTS["love"]), (JOKER, RESULTS["joker"])], [(ADD, "16.0")])
    assert set(measure(answers(swapped)).values()) == {1.0}


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5))
def test_serial_play_has_the_coherence_of_the_published_formula(sizes):
    """For a plan with one possible schedule: every call of a step needs all of the step before."""
    calls = [
        [Call(tool="math/floor", arguments={"number": 10 * step + n}) for n in range(size)]
        for step, size in enumerate(sizes)
    ]
    reference = Trajectory(steps=tuple(Step(calls=tuple(step)) for step in calls))
    serial = [MadeCall(call=call, step=number, result=None) for number, call in enumerate(reference.calls)]
    steps = [number for number, step in enumerate(calls) for _ in step]
    published = CallAlignment(
        matches={place: CallMatch(actual=(place,), similarity=1.0) for place in range(len(steps))},
        reference_sizes=tuple(sizes),
        actual_steps=tuple(range(len(steps))),
    )
    found = measure(answers(serial, reference=reference, plan=unplayed(reference)))
    assert found["step_coherence"] == pytest.approx(metrics.step_coherence(published))
    perfect = made(*([(call, None) for call in step] for step in calls))
    as_published = replace(published, actual_steps=tuple(steps))
    found = measure(answers(perfect, reference=reference, plan=unplayed(reference)))
    assert found["step_coherence"] == metrics.step_coherence(as_published) == 1


NUMBERS = [Call(tool="metmuseum-mcp/get-museum-object", arguments={"objectId": place + 1}) for place in range(4)]
"""Calls that have nothing to do with each other."""


def structure(steps, plan):
    """Coherence, order and purity of playing numbered calls in steps."""
    reference = Trajectory(steps=tuple(Step(calls=(NUMBERS[place],)) for place in range(len(plan.calls))))
    actual = made(*([(NUMBERS[place], None) for place in step] for step in steps))
    found = measure(answers(actual, reference=reference, plan=plan))
    return tuple(round(found[name], 3) for name in ("step_coherence", "order_consistency", "merge_purity"))


INDEPENDENT = Plan(calls=(PlannedCall(),) * 4)
CHAIN = Plan(calls=(PlannedCall(), PlannedCall(needs=(0,)), PlannedCall(), PlannedCall(needs=(1, 2))))
WAITING = Plan(calls=(PlannedCall(), PlannedCall(waits=(0,)), PlannedCall(needs=(1,)), PlannedCall(needs=(1,))))


@pytest.mark.parametrize(
    ("steps", "plan", "value"),
    [
        ([[0, 1, 2, 3]], INDEPENDENT, (1, 1, 1)),
        ([[0], [1], [2], [3]], INDEPENDENT, (0.25, 1, 1)),
        ([[0, 2], [1], [3]], CHAIN, (1, 1, 1)),
        ([[0], [1, 2], [3]], CHAIN, (1, 1, 1)),
        ([[0], [1], [2], [3]], CHAIN, (0.75, 1, 1)),
        ([[0, 1], [2], [3]], CHAIN, (1, 1, 0.75)),
        ([[1], [0], [2], [3]], CHAIN, (0.75, 0.75, 1)),
        ([[0], [2]], CHAIN, (0.5, 1, 1)),
        ([[0], [3]], CHAIN, (1, 1, 1)),
        ([[0], [1], [2, 3]], WAITING, (1, 1, 1)),
        ([[0, 1], [2, 3]], WAITING, (1, 1, 1)),
        ([[0], [1], [2], [3]], WAITING, (0.75, 1, 1)),
    ],
    ids=[
        "independent calls together, though written in a row", "independent calls in a row",
        "as early as needs allow", "as late as needs allow", "a call alone that could go with another",
        "sent with what it needs", "sent before what it needs", "two of the calls, apart", "two of a chain",
        "as its author made it", "without waiting", "the last two apart",
    ],
)  # fmt: skip
def test_structure_follows_from_what_calls_need(steps, plan, value):
    assert structure(steps, plan) == value


@given(st.permutations(range(4)), st.lists(st.booleans(), min_size=4, max_size=4), st.integers(0, 4))
def test_every_metric_is_a_share(order, together, kept):
    step, actual = 0, []
    for place, joined in list(zip(order, together, strict=True))[:kept]:
        step += not joined
        actual.append(MadeCall(call=PERFECT[place].call, step=step, result=PERFECT[place].result))
    assert all(value is None or 0 <= value <= 1 for value in measure(answers(actual)).values())


def test_a_longer_reach_that_finds_the_same_is_as_good():
    reference = Call(
        tool="google-maps/places_nearby_search",
        arguments={"location": {"latitude": 1, "longitude": 2}, "radiusMeters": 500},
    )
    wider = Call(tool=reference.tool, arguments={**reference.arguments, "radiusMeters": 900})
    planned = PlannedCall(gives=("walter reade theater",), new=1)
    assert (
        compare(reference, planned, MadeCall(call=wider, step=0, result="Walter Reade Theater, AMC")).way
        == "same effect"
    )
    assert compare(reference, planned, MadeCall(call=wider, step=0, result="AMC Empire")).similarity == 0


def test_an_empty_file_that_is_opened_and_saved_counts_only_with_what_is_put_in():
    create = Call(tool="excel/create_workbook", arguments={"filepath": "a.xlsx"})
    fill = Call(
        tool="excel/write_data_to_excel", arguments={"filepath": "a.xlsx", "sheet_name": "s", "data": [["Pear", 2.5]]}
    )
    other = Call(tool=fill.tool, arguments={**fill.arguments, "data": [["Plum", 9.75]]})
    reference = Trajectory(steps=(Step(calls=(create,)), Step(calls=(fill,))))
    plan = Plan(calls=(PlannedCall(), PlannedCall(needs=(0,))))
    full = answers(made([(create, "ok")], [(fill, "ok")]), reference=reference, plan=plan)
    assert set(full.matches) == {0, 1}
    wrong = answers(made([(create, "ok")], [(other, "ok")]), reference=reference, plan=plan)
    assert not wrong.matches


def test_one_table_may_be_written_in_parts():
    sheet = {"filepath": "a.xlsx", "sheet_name": "s"}
    rows: list[list[JSON]] = [["Pear", 2.5], ["Plum", 9.75], ["Fig", 4.25]]
    fill = Call(tool="excel/write_data_to_excel", arguments={**sheet, "data": [["Fruit", "Price"], *rows]})
    parts = [Call(tool=fill.tool, arguments={**sheet, "data": [row]}) for row in rows]
    reference, plan = Trajectory(steps=(Step(calls=(fill,)),)), Plan(calls=(PlannedCall(),))
    found = answers(made(*[[(part, "ok")] for part in parts]), reference=reference, plan=plan)
    assert found.matches[0].actual == (0, 1, 2)
    assert found.matches[0].similarity == 1
    assert not answers(made([(parts[0], "ok")]), reference=reference, plan=plan).matches


def test_a_picture_that_was_cut_from_the_wrong_place_is_not_saved_by_what_is_done_to_it():
    def cut(x, name):
        box = {"x1": x, "y1": 10, "x2": x + 90, "y2": 100}
        return Call(
            tool="imagesorcery-mcp/crop",
            arguments={"input_path": "./media/poster.png", **box, "output_path": f"./media/{name}.png"},
        )

    def grey(name):
        paths = {"input_path": f"./media/{name}.png", "output_path": f"./media/{name}-grey.png"}
        return Call(tool="imagesorcery-mcp/change_color", arguments={**paths, "palette": "grayscale"})

    reference = Trajectory(steps=(Step(calls=(cut(10, "seal"),)), Step(calls=(grey("seal"),))))
    plan = Plan(calls=(PlannedCall(), PlannedCall(needs=(0,))))
    right = answers(made([(cut(10, "one"), "ok")], [(grey("one"), "ok")]), reference=reference, plan=plan)
    assert set(right.matches) == {0, 1}
    assert not answers(made([(cut(500, "one"), "ok")], [(grey("one"), "ok")]), reference=reference, plan=plan).matches


WEIGHTS = Call(tool="google-maps/elevation_by_locations", arguments={"locations": ["1.5,2.5", "3.5,4.5"]})


def alone(wanted: Call, planned: PlannedCall, *actual: MadeCall, said: str = "") -> CallAlignment:
    reference = Trajectory(steps=(Step(calls=(wanted,)),))
    return align(reference, Plan(calls=(planned,)), actual, said=said, signatures=SIGNATURES)


def single(call: Call, result: str | None = "") -> MadeCall:
    return MadeCall(call=call, step=0, result=result)


def test_several_calls_for_parts_of_a_list_are_another_route_and_only_for_all_of_it():
    parts = [single(replace(WEIGHTS, arguments={"locations": [point]}), "7.5") for point in ("3.5,4.5", "1.5,2.5")]
    other = single(replace(WEIGHTS, arguments={"locations": ["5.5,6.5"]}), "7.5")
    assert alone(WEIGHTS, PlannedCall(gives=(2.7,)), *parts, other).matches[0].actual == (0, 1)
    assert not alone(WEIGHTS, PlannedCall(gives=(2.7,)), parts[0], other).matches


def test_a_small_sum_of_other_numbers_counts_only_where_it_was_used():
    median = Call(tool="math/median", arguments={"numbers": [10, 13, 5, 17, 10, 29]})
    other = single(Call(tool="math/median", arguments={"numbers": [12, 15, 11, 9, 11, 26]}), "11.5")
    planned = PlannedCall(gives=(11.5,), new=1, result=digest("11.5"))
    assert not alone(median, planned, other).matches
    assert alone(median, planned, other, said="The median is 11.5.").matches
    fewer = single(Call(tool="math/median", arguments={"numbers": [10, 13, 10, 29]}), "11.5")
    assert alone(median, planned, fewer).matches


@pytest.mark.parametrize("numbers", [[3, 4, 5], [1, 2, 5], [1, 1], [2]])
def test_more_or_fewer_numbers_come_to_something_else(numbers):
    wanted = Call(tool="math/sum", arguments={"numbers": [1, 2]})
    asked = single(Call(tool="math/sum", arguments={"numbers": numbers}), str(sum(numbers)))
    assert not alone(wanted, PlannedCall(gives=(3.0,), new=1), asked).matches


def test_a_list_without_the_wanted_entry_is_about_another_thing():
    gout = Call(tool="healthcare-mcp/lookup_icd_code", arguments={"code": "M10.9"})
    planned = PlannedCall(gives=("m10.9", "gout, unspecified"), new=2, about=("m10.9",))
    listed = '{"codes": [{"code": "M10.00", "description": "Idiopathic gout, unspecified site"}]}'
    asked = Call(tool="healthcare-mcp/lookup_icd_code", arguments={"code": "M10"})
    assert not alone(gout, planned, single(asked, listed)).matches


FIND = Call(tool="recordings/find_changes", arguments={"path": "./media/film.mp4"})
FRAMES = Call(tool="recordings/read_frames", arguments={"path": "./media/film.mp4", "times": [1.2, 3.4]})


def test_a_look_that_says_where_to_look_counts_with_the_looks_it_led_to():
    reference = Trajectory(steps=(Step(calls=(FIND,)), Step(calls=(FRAMES,))))
    plan = Plan(calls=(PlannedCall(gives=(1.2, 3.4), new=2), PlannedCall(gives=("nvda, amd",), new=1, needs=(0,))))
    elsewhere = replace(FRAMES, arguments={"path": "./media/film.mp4", "times": [5.6]})
    only = made([(FIND, "[1.2, 3.4]")], [(elsewhere, "nothing")])
    assert not answers(only, reference=reference, plan=plan).matches
    both = made([(FIND, "[1.2, 3.4]")], [(FRAMES, "NVDA, AMD")])
    assert set(answers(both, reference=reference, plan=plan).matches) == {0, 1}


TITANIC = Call(tool="tmdb/search_movies", arguments={"query": "Titanic"})
SHIP = '{"results": [{"id": 597, "title": "Titanic"}]}'


def test_one_slip_costs_what_a_missing_call_costs():
    slipped = made([(OCR, RESULTS["ocr"])], [(JOKER, RESULTS["joker"]), (TITANIC, SHIP)], [(ADD, "16.0")])
    missing = [call for call in slipped if call.call is not TITANIC]
    about = Plan(
        calls=tuple(one.model_copy(update={"about": ("1",)}) if at == 2 else one for at, one in enumerate(PLAN.calls))
    )
    one, other = (answers(actual, plan=about) for actual in (slipped, missing))
    assert one.slips == {2}
    assert measure(one) == measure(other)
    assert measure(one)["precision"] == 1


def test_many_slips_are_no_slips():
    slipped = made([(OCR, RESULTS["ocr"])], [(TITANIC, SHIP)])
    about = Plan(
        calls=tuple(
            one.model_copy(update={"about": ("1",)}) if at in (1, 2) else one for at, one in enumerate(PLAN.calls)
        )
    )
    found = answers(slipped, plan=about)
    assert len(found.slips) == 1
    assert measure(found)["precision"] == 0.5

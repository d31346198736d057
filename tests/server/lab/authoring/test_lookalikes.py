"""The nearest other thing for each kind of argument, and that calls about it do not match."""

from functools import partial
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.lab.authoring.lookalikes import lookalikes
from m3bench.server.lab.authoring.replay import play_call
from m3bench.server.scoring.matching.agreement import MadeCall
from m3bench.server.scoring.matching.effect import align
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.plan import Plan, PlannedCall, digest
from m3bench.tasks.things import thing_of
from m3bench.tasks.trajectory import JSON, Call, Step, Trajectory

SIGNATURES = catalog_signatures(load_catalog())
NUTRITION, SHOP, WEATHER = "food_nutrition_mcp/get_nutrition", "amazon/search_products", "weather/get_weather"
PARKS, PLACES = "nationalparks/findParks", "google-maps/geocode"


@pytest.mark.parametrize(
    ("tool", "arguments", "other"),
    [
        (NUTRITION, {"query": "360 g pear"}, {"query": "1360 g pear"}),
        (NUTRITION, {"query": "360 g pear"}, {"query": "3600 g pear"}),
        (NUTRITION, {"query": "360 g pear"}, {"query": "396 g pear"}),
        (WEATHER, {"location": "Durham, NC"}, {"location": "Durham, United Kingdom"}),
        (PARKS, {"q": "Glacier National Park"}, {"q": "Glacier Bay National Park & Preserve"}),
        ("paper_search/search_arxiv", {"query": "Quantum Machine Learning"}, {"query": "Machine Learning"}),
        ("nasa-mcp/get_solar_flare", {"start_date": "2024-10-07"}, {"start_date": "2024-10-08"}),
        ("math/floor", {"number": 12}, {"number": 120}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_nearest_is_fixed_for_each_kind_of_argument(
    tool: str, arguments: dict[str, JSON], other: dict[str, JSON]
) -> None:
    found = [look.call.arguments for look in lookalikes(Call(tool=tool, arguments=arguments))]
    assert other in found, found


def test_a_question_to_a_person_in_fewer_words_is_no_look_alike() -> None:
    call = Call(tool="desk/ask_user", arguments={"question": "Who is going to eat that?"})
    assert list(lookalikes(call)) == []


def answered(wanted: Call, asked: Call, folder: Path) -> bool:
    """Whether one call on a real server answers the other."""

    async def play() -> tuple[str, str]:
        sandbox = await InProcessBackend().open(SandboxSpec(workspace=folder))
        told = []
        for call in (wanted, asked):
            outcome, _, text = await play_call(call.tool, call.arguments, sandbox, load_catalog().ready)
            assert outcome == "success", text
            told.append(text)
        await sandbox.aclose()
        return told[0], told[1]

    first, second = anyio.run(partial(play))
    planned = PlannedCall(result=digest(first), about=thing_of(wanted.tool, first))
    reference = Trajectory(steps=(Step(calls=(wanted,)),))
    made = [MadeCall(call=asked, step=0, result=second)]
    return bool(align(reference, Plan(calls=(planned,)), made, signatures=SIGNATURES).matches)


@pytest.mark.parametrize(
    ("tool", "wanted", "asked", "same"),
    [
        (NUTRITION, {"query": "360 g pear"}, {"query": "0.36 kg pear"}, True),
        (NUTRITION, {"query": "360 g pear"}, {"query": "1360 g pear"}, False),
        (NUTRITION, {"query": "350 g banana"}, {"query": "3500 g banana"}, False),
        (WEATHER, {"location": "Durham"}, {"location": "Durham, England"}, False),
        (WEATHER, {"location": "Bristol", "units": "us"}, {"location": "Bristol", "units": "metric"}, True),
        (PARKS, {"q": "Glacier"}, {"q": "Glacier National Park"}, True),
        (PARKS, {"q": "Glacier"}, {"q": "Glacier Bay"}, False),
        (SHOP, {"keywords": "laptop"}, {"keywords": "laptop stand", "n": 5}, False),
        (PLACES, {"address": "Lagos, Portugal"}, {"address": "Lagos, Nigeria"}, False),
        (PLACES, {"address": "Chicago, IL"}, {"address": "Chicago Heights, IL"}, False),
        ("paper_search/search_arxiv", {"query": "Quantum Machine Learning"}, {"query": "Machine Learning"}, False),
        ("openlibrary_mcp/get_book_info", {"isbn": "9780141439518"}, {"isbn": "0141439513"}, True),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_call_matches_when_it_is_about_the_same_thing(
    tool: str, wanted: dict[str, JSON], asked: dict[str, JSON], same: bool, tmp_path: Path
) -> None:
    one, other = (Call(tool=tool, arguments=arguments) for arguments in (wanted, asked))
    assert answered(one, other, tmp_path) is same


STOCK, BOOK, FILM = "yahoo-finance/get_stock_info", "openlibrary_mcp/get_book_info", "tmdb/search_movies"
WAY, CODE, DRUG = "google-maps/compute_route", "healthcare-mcp/lookup_icd_code", "healthcare-mcp/fda_drug_lookup"
TOWER, LOUVRE = (48.85837, 2.29448), (48.86061, 2.33764)


def at(latitude: float, longitude: float) -> JSON:
    return {"location": {"latLng": {"latitude": latitude, "longitude": longitude}}}


WALK: dict[str, JSON] = {"origin": at(*TOWER), "destination": at(*LOUVRE), "travelMode": "WALK"}
NAMED: dict[str, JSON] = {
    "origin": {"address": "Eiffel Tower"}, "destination": {"address": "Louvre"}, "travelMode": "WALK",
}  # fmt: skip
SAME: list[tuple[str, dict[str, JSON], dict[str, JSON]]] = [
    (NUTRITION, {"query": "360 g pear"}, {"query": "12.7 oz pear"}),
    (NUTRITION, {"query": "360 g pear"}, {"query": "pear 360g"}),
    (NUTRITION, {"query": "1 kg potato"}, {"query": "1000 g potatoes"}),
    (PLACES, {"address": "Lagos, Portugal"}, {"address": "Lagos, Faro, Portugal"}),
    (PLACES, {"address": "Munich"}, {"address": "München"}),
    (PLACES, {"address": "Eiffel Tower, Paris"}, {"address": "48.85837,2.294481"}),
    (WEATHER, {"location": "Munich"}, {"location": "München"}),
    (STOCK, {"ticker": "AAPL"}, {"ticker": "aapl"}),
    (BOOK, {"isbn": "9780141439518"}, {"title": "Pride and Prejudice", "author": "Jane Austen"}),
    (BOOK, {"isbn": "9780141439518"}, {"isbn": "978-0-14-143951-8"}),
    (FILM, {"query": "Amélie"}, {"query": "Amelie"}),
    (FILM, {"query": "The Godfather"}, {"query": "godfather"}),
    (WAY, WALK, NAMED),
    (CODE, {"code": "M10.9"}, {"code": "m109"}),
    (CODE, {"code": "M10.9"}, {"description": "gout, unspecified"}),
    ("car-price/search_brand_model_price", {"brand_name": "Volkswagen", "model_keyword": "Gol"},
     {"brand_name": "VW", "model_keyword": "gol"}),
]  # fmt: skip
OTHER: list[tuple[str, dict[str, JSON], dict[str, JSON]]] = [
    (NUTRITION, {"query": "250 g apple"}, {"query": "250 g apple juice"}),
    (PLACES, {"address": "Paris, France"}, {"address": "Paris, Texas"}),
    (PLACES, {"address": "Springfield, IL"}, {"address": "Springfield, MA"}),
    (PLACES, {"address": "Portland, OR"}, {"address": "Portland, Maine"}),
    (WEATHER, {"location": "Birmingham, AL"}, {"location": "Birmingham, UK"}),
    (STOCK, {"ticker": "GOOGL"}, {"ticker": "GOOG"}),
    (BOOK, {"isbn": "9780141439518"}, {"isbn": "9780141439600"}),
    (FILM, {"query": "Toy Story"}, {"query": "Toy Story 2"}),
    (FILM, {"query": "Alien"}, {"query": "Aliens"}),
    (FILM, {"query": "The Godfather"}, {"query": "The Godfather Part II"}),
    ("wiki/summary", {"title": "Eiffel Tower"}, {"title": "Tokyo Tower"}),
    (WAY, WALK, {**NAMED, "travelMode": "DRIVE"}),
    (WAY, WALK, {**NAMED, "origin": NAMED["destination"], "destination": NAMED["origin"]}),
    (PARKS, {"q": "Zion National Park"}, {"q": "Bryce Canyon National Park"}),
    (SHOP, {"keywords": "laptop"}, {"keywords": "laptop bag"}),
    (SHOP, {"keywords": "accordion"}, {"keywords": "accordion file folder"}),
    (DRUG, {"drug_name": "prednisone", "search_type": "label"}, {"drug_name": "prednisolone", "search_type": "label"}),
    (CODE, {"code": "M10.9"}, {"code": "M10"}),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("tool", "wanted", "asked"), SAME, ids=lambda value: str(value)[:40])
def test_the_same_thing_in_another_form_matches(
    tool: str, wanted: dict[str, JSON], asked: dict[str, JSON], tmp_path: Path
) -> None:
    assert answered(Call(tool=tool, arguments=wanted), Call(tool=tool, arguments=asked), tmp_path)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("tool", "wanted", "asked"), OTHER, ids=lambda value: str(value)[:40])
def test_another_thing_of_nearly_the_same_name_does_not_match(
    tool: str, wanted: dict[str, JSON], asked: dict[str, JSON], tmp_path: Path
) -> None:
    assert not answered(Call(tool=tool, arguments=wanted), Call(tool=tool, arguments=asked), tmp_path)


def test_a_time_becomes_the_next_one_of_the_same_length() -> None:
    given: dict[str, JSON] = {"start_date": "2024-10-05", "end_date": "2024-10-18"}
    found = [look.call.arguments for look in lookalikes(Call(tool="nasa-mcp/get_solar_flare", arguments=given))]
    assert found == [{"start_date": "2024-10-19", "end_date": "2024-11-01"}]


def test_the_same_name_and_more_is_no_nearest_name() -> None:
    found = [*lookalikes(Call(tool="hugeicons-mcp/search_icons", arguments={"query": "moon"}))]
    assert [look.how for look in found] == ["nearest name"] * 2
    assert not [look for look in found if "moon" in str(look.call.arguments["query"])]

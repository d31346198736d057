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

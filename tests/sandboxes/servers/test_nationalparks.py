"""The `nationalparks` server knows its parks, finds them by any spelling and says plainly what is wrong."""

import json
from typing import Any

import pytest

from m3bench.sandboxes.world import geo, tables
from m3bench.sandboxes.world.clock import NOW
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.world.search_quality import Entry, measure, queries

TODAY = NOW.date().isoformat()
LISTS = [
    ("findParks", "parks", "parks"),
    ("getAlerts", "alerts", "park_alerts"),
    ("getVisitorCenters", "visitorCenters", "park_visitor_centers"),
    ("getCampgrounds", "campgrounds", "park_campgrounds"),
    ("getEvents", "events", "park_events"),
]


def ask(bench: Bench, tool: str, **arguments: Any) -> Any:
    return json.loads(bench.text(f"nationalparks/{tool}", arguments))


def refused(bench: Bench, tool: str, **arguments: Any) -> Any:
    reply = bench.reply(f"nationalparks/{tool}", arguments)
    assert reply.outcome != "success"
    assert reply.result["isError"] is False
    return json.loads(reply.result["content"][0]["text"])


@pytest.mark.parametrize("code", ["arch", "brca", "glac", "grca", "grsm", "romo", "yell", "yose", "zion"])
def test_a_famous_park_has_campgrounds_centers_alerts_and_events(bench: Bench, code: str) -> None:
    for tool, name, _ in LISTS[1:]:
        answer = ask(bench, tool, parkCode=code)
        assert answer["total"] >= 1
        assert answer[name]
        assert answer[f"{name}ByPark"] == {code: answer[name]}


@pytest.mark.parametrize(("tool", "name", "table"), LISTS)
def test_pages_go_through_everything_once(bench: Bench, tool: str, name: str, table: str) -> None:
    total = len(tables.load(table)) + (len(tables.load("park_units")) if table == "parks" else 0)
    assert len(ask(bench, tool)[name]) == 10
    seen: list[Any] = []
    while len(seen) < total:
        answer = ask(bench, tool, limit=17, start=len(seen))
        assert (answer["total"], answer["limit"], answer["start"]) == (total, 17, len(seen))
        seen += answer[name]
    assert len({json.dumps(item) for item in seen}) == total
    assert ask(bench, tool, start=total)[name] == []


@pytest.mark.parametrize(("tool", "name", "table"), LISTS)
def test_words_in_any_spelling_find_their_record_and_nonsense_finds_nothing(
    bench: Bench, tool: str, name: str, table: str
) -> None:
    key = "title" if "title" in tables.load(table)[0] else "name"
    titles = [record[key] for record in tables.load(table)]
    entries = [Entry(key=title, title=title, foreign=(title.replace("e", "é"),)) for title in titles]

    def search(text: str) -> list[str]:
        return [item[key] for item in ask(bench, tool, q=text)[name]]

    measure(queries(entries, f"nationalparks/{tool}"), search).check()


def test_parks_are_found_by_state_and_activity(bench: Bench) -> None:
    codes = [park["code"] for park in ask(bench, "findParks", stateCode="ut", limit=50)["parks"]]
    assert set(codes[:5]) == {"arch", "brca", "cany", "care", "zion"}
    assert {"dino", "gosp", "nabr"} <= set(codes)
    for park in ask(bench, "findParks", stateCode="WY, co", activities="climbing,camping", limit=50)["parks"]:
        assert {"WY", "CO"} & set(park["states"])
        assert {"Climbing", "Camping"} <= set(park["activities"])
    assert ask(bench, "findParks", activities="Sky Surfing")["total"] == 0


@pytest.mark.parametrize(
    ("state", "some"),
    [
        ("NY", {"stli"}),
        ("PA", {"gett", "inde", "vafo"}),
        ("DC", {"linc"}),
        ("FL", {"ever", "bisc", "drto"}),
    ],
)
def test_the_units_of_a_state_are_all_listed(bench: Bench, state: str, some: set[str]) -> None:
    records = [*tables.load("parks"), *tables.load("park_units")]
    held = {record["id"] for record in records if state in record["states"]}
    answer = ask(bench, "findParks", stateCode=state, limit=100)
    assert {park["code"] for park in answer["parks"]} == held
    assert answer["total"] == len(held)
    assert some <= held


def test_an_unknown_state_is_refused_with_the_known_ones(bench: Bench) -> None:
    answer = refused(bench, "findParks", stateCode="UT,ZZ")
    assert answer["error"] == "Invalid state code(s): ZZ"
    assert "UT" in answer["validStateCodes"]


def test_details_are_those_of_the_list(bench: Bench) -> None:
    for park in ask(bench, "findParks", limit=100)["parks"]:
        details = ask(bench, "getParkDetails", parkCode=park["code"].upper())
        assert details["name"] == park["name"]
        assert details["location"]["latitude"] == park["location"]["latitude"]
        assert all(fee["cost"].startswith("$") for fee in details["entranceFees"])
        if details["operatingHours"]:
            assert details["operatingHours"][0]["standardHours"][0] == "Monday: All Day"
    assert details["code"] == park["code"]


@pytest.mark.parametrize("code", ["", "zzzz", "yose,zion", "../etc"])
def test_an_unknown_park_is_said_to_be_unknown(bench: Bench, code: str) -> None:
    assert refused(bench, "getParkDetails", parkCode=code) == {
        "error": "Park not found",
        "message": f"No park found with park code: {code}",
    }
    assert ask(bench, "getAlerts", parkCode="zzzz")["alerts"] == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("findParks", {"limit": -1}),
        ("getAlerts", {"start": -3}),
        ("getCampgrounds", {"limit": 2.5}),
        ("getEvents", {"dateStart": "tomorrow"}),
        ("getEvents", {"dateEnd": "2025-02-30"}),
    ],
)
def test_values_without_sense_are_validation_errors(bench: Bench, tool: str, arguments: dict[str, Any]) -> None:
    answer = refused(bench, tool, **arguments)
    assert answer["error"] == "Validation error"
    assert answer["details"][0]["path"] == list(arguments)


def test_several_parks_come_together(bench: Bench) -> None:
    answer = ask(bench, "getCampgrounds", parkCode="brca, ARCH", limit=50)
    assert set(answer["campgroundsByPark"]) == {"brca", "arch"}
    assert answer["total"] == 3


def test_events_lie_between_the_days_asked_for(bench: Bench) -> None:
    events = ask(bench, "getEvents", dateStart="2025-12-01", dateEnd="2025-12-14", limit=100)["events"]
    assert events
    for event in events:
        assert any("2025-12-01" <= day <= "2025-12-14" for day in event["dateTime"]["dates"])
    assert ask(bench, "getEvents", dateStart="2031-01-01")["total"] == 0


def test_alerts_are_past_events_are_to_come_and_numbers_add_up() -> None:
    assert all(alert["date"] <= TODAY for alert in tables.load("park_alerts"))
    for event in tables.load("park_events"):
        assert event["dates"] == sorted(event["dates"])
        assert event["dates"][0] > TODAY
    for campground in tables.load("park_campgrounds"):
        assert campground["sites"] == campground["reservable"] + campground["first_come"], campground["id"]


def test_alerts_carry_long_types_and_american_dates(bench: Bench) -> None:
    first = ask(bench, "getAlerts", parkCode="yell")["alerts"][0]
    assert first["type"] == "Park Closure (area inaccessible)"
    assert first["lastUpdated"] == "10/31/2025"


@pytest.mark.parametrize("table", ["park_campgrounds", "park_visitor_centers"])
def test_what_belongs_to_a_park_lies_near_it(table: str) -> None:
    parks = {park["id"]: geo.Point(park["lat"], park["lng"]) for park in tables.load("parks")}
    for record in tables.load(table):
        away = geo.distance(parks[record["park_id"]], geo.Point(record["lat"], record["lng"]))
        assert away < 130_000, (record["id"], away)


def test_positions_agree_with_the_rest_of_the_world() -> None:
    peaks = {peak["name"]: peak for peak in tables.load("peaks")}
    campgrounds = {campground["id"]: campground for campground in tables.load("park_campgrounds")}
    for name, key in [
        ("Upper Pines Campground, Yosemite", "yose-upper-pines"),
        ("Mather Campground, Grand Canyon", "grca-mather-campground"),
        ("Watchman Campground, Zion", "zion-watchman-campground"),
        ("Apgar Campground, Glacier", "glac-apgar-campground"),
        ("Elkmont Campground, Great Smoky Mountains", "grsm-elkmont-campground"),
    ]:
        assert (peaks[name]["lat"], peaks[name]["lng"]) == (campgrounds[key]["lat"], campgrounds[key]["lng"])


@pytest.mark.parametrize(
    ("query", "code"),
    [("statue of liberty", "stli"), ("gettysburg", "gett"), ("mount rushmore", "moru"), ("independence hall", "inde")],
)
def test_units_beside_the_parks_are_found_by_name_and_told_by_code(bench: Bench, query: str, code: str) -> None:
    found = json.loads(bench.text("nationalparks/findParks", q=query))
    assert found["parks"][0]["code"] == code
    told = json.loads(bench.text("nationalparks/getParkDetails", parkCode=code.upper()))
    assert told["name"] == found["parks"][0]["name"]
    assert (told["entranceFees"], told["activities"]) == ([], [])


def test_no_unit_is_a_park_as_well() -> None:
    units = tables.load("park_units")
    assert len(units) >= 150
    assert not {unit["id"] for unit in units} & {park["id"] for park in tables.load("parks")}

"""The record of the Sun is coherent: effects have causes, messages tell of events that happened."""

from datetime import UTC, datetime
from itertools import chain

from m3bench.sandboxes.world import clock, tables
from m3bench.sandboxes.world.sun import (
    Ejection,
    Flare,
    SolarEvent,
    Storm,
    is_facing,
    moment,
    place,
    position,
    record,
    speed_class,
)
from m3bench.sandboxes.world.sun_messages import messages, runs

EVENTS: list[SolarEvent] = list(chain.from_iterable(record().kinds.values()))


def flares() -> list[Flare]:
    return [flare for flare in record().kinds["FLR"] if isinstance(flare, Flare)]


def ejections() -> list[Ejection]:
    return [ejection for ejection in record().kinds["CME"] if isinstance(ejection, Ejection)]


def test_ids_are_unique_and_events_lie_before_the_clock_in_order() -> None:
    assert len({event.id for event in EVENTS}) == len(EVENTS)
    assert all(datetime(2024, 1, 1, tzinfo=UTC) <= event.start < clock.NOW for event in EVENTS)
    for events in record().kinds.values():
        assert [event.start for event in events] == sorted(event.start for event in events)


def test_links_go_both_ways_and_stay_in_the_record() -> None:
    known = {event.id for event in EVENTS}
    for event in EVENTS:
        assert set(event.related) <= known
        for other in event.links:
            assert event in other.links


def test_the_well_known_flares_are_there() -> None:
    found = {(f"{flare.peak:%Y-%m-%dT%H:%MZ}", flare.size) for flare in flares()}
    assert {("2025-01-03T11:39Z", "X1.2"), ("2025-01-03T22:41Z", "X1.1"), ("2025-01-04T12:48Z", "X1.8")} <= found
    assert {(known["peak"], known["class"]) for known in tables.load("solar_flares")} <= found


def test_no_great_flare_is_invented() -> None:
    known = {moment(record["peak"]) for record in tables.load("solar_flares")}
    assert all(flare.strength < 50 or flare.peak in known for flare in flares())


def test_a_flare_rises_peaks_and_decays_on_the_visible_disk() -> None:
    for flare in flares():
        assert flare.start < flare.peak < flare.end
        lat, lng = position(flare.location)
        assert abs(lat) < 45
        assert abs(lng) < 105
        assert place(lat, lng) == flare.location


def test_an_ejection_follows_its_flare_and_names_it() -> None:
    linked = [(ejection, flare) for ejection in ejections() for flare in ejection.links if isinstance(flare, Flare)]
    assert len(linked) > 300
    for ejection, flare in linked:
        assert 0 <= (ejection.start - flare.peak).total_seconds() < 3600
        assert ejection.location == flare.location
        assert f"{flare.size} flare" in ejection.note


def test_rates_are_those_of_an_active_sun() -> None:
    year = [flare for flare in flares() if flare.start.year == 2024]
    assert 700 < len(year) < 1400
    assert sum(flare.size[0] == "X" for flare in year) > 45
    daily = len(ejections()) / 670
    assert 2.5 < daily < 6
    assert 300 < sorted(ejection.speed for ejection in ejections())[len(ejections()) // 2] < 600


def test_every_effect_has_a_cause_before_it() -> None:
    for kind in ("SEP", "IPS", "GST", "MPC", "RBE"):
        for event in record().kinds[kind]:
            assert any(other.start <= event.start for other in event.links), event.id


def test_known_storms_have_their_strength_and_shock() -> None:
    storms = {storm.start: storm for storm in record().kinds["GST"] if isinstance(storm, Storm)}
    for known in tables.load("geomagnetic_storms"):
        storm = storms[moment(known["start"])]
        assert list(storm.kp) == known["kp"]
        if "ejection_km_s" in known:
            assert {"CME", "IPS"} <= {event.kind for event in storm.links}
        else:
            assert "HSS" in {event.kind for event in storm.links}


def test_speed_classes_are_the_published_ones() -> None:
    assert [speed_class(speed) for speed in (499, 500, 999, 1000, 1999, 2000, 3000)] == [*"SCCOOR", "ER"]


def test_messages_tell_of_events_that_happened_before_them() -> None:
    by_id = {event.id: event for event in EVENTS}
    assert len({message.id for message in messages()}) == len(messages())
    for message in messages():
        for name in message.about:
            assert by_id[name].start < message.issued < clock.NOW
    told = {name for message in messages() if message.kind == "FLR" for name in message.about}
    assert told == {flare.id for flare in flares() if flare.strength >= 50}


def test_model_runs_expect_facing_ejections_at_the_earth() -> None:
    for run in runs():
        assert run.ejection.start < run.completed < clock.NOW
        at_earth = [impact for impact in run.impacts if impact.location == "Earth"]
        assert bool(at_earth) == is_facing(run.ejection)
        assert all(impact.arrival > run.ejection.start for impact in run.impacts)

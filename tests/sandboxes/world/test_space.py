"""Sky, pictures, asteroids, satellites and rovers follow from dates and orbits."""

from datetime import UTC, date, datetime, timedelta

import pytest

from m3bench.sandboxes.world import apod, asteroids, clock, epic, landsat, mars, sky, tables
from m3bench.sandboxes.world.geo import Point, distance


@pytest.mark.parametrize("day", ["2025-01-13", "2025-04-13", "2024-04-23", "2025-09-07", "1999-12-22", "2025-11-05"])
def test_full_moons_fall_on_their_days(day: str) -> None:
    full = date.fromisoformat(day)
    assert sky.next_full_moon(full - timedelta(days=9)) == full
    assert sky.phase(datetime.combine(full, datetime.min.time(), UTC) + timedelta(hours=12)).name == "full Moon"


def test_eclipses_happen_at_new_moon() -> None:
    assert sky.phase(datetime(2024, 4, 8, 18, 20, tzinfo=UTC)).lit < 0.001
    assert sky.phase(datetime(1999, 8, 11, 11, tzinfo=UTC)).lit < 0.001


def test_the_sun_stands_over_the_tropics_at_the_solstices() -> None:
    assert sky.subsolar(datetime(2025, 6, 21, 2, 42, tzinfo=UTC)).lat == pytest.approx(23.44, abs=0.02)
    assert sky.subsolar(datetime(2025, 3, 20, 9, 1, tzinfo=UTC)).lat == pytest.approx(0, abs=0.02)
    assert sky.subsolar(datetime(2025, 4, 15, 12, tzinfo=UTC)).lng == pytest.approx(0, abs=0.3)


@pytest.mark.slow
def test_every_day_since_1995_has_a_picture_and_no_two_texts_are_alike() -> None:
    days = [apod.FIRST_DAY + timedelta(days=number) for number in range((apod.LAST_DAY - apod.FIRST_DAY).days + 1)]
    assert len({apod.picture(day).explanation for day in days}) == len(days) == 11_097


def test_no_picture_knows_the_future() -> None:
    since = {
        fact["text"]: fact["since"]
        for subject in tables.load("astronomy_pictures")
        for fact in subject["facts"]
        if "since" in fact
    }
    for year in range(1996, 2026):
        day = date(year, 3, 1)
        explanation = apod.picture(day).explanation
        assert all(known <= day.isoformat() for text, known in since.items() if text in explanation)


def test_subjects_of_pictures_are_many_and_each_has_facts_of_its_own() -> None:
    subjects = tables.load("astronomy_pictures")
    facts = [fact["text"] for subject in subjects for fact in subject["facts"]]
    assert len(subjects) >= 60
    assert len(facts) == len(set(facts))
    assert all(len(subject["facts"]) >= 5 for subject in subjects)


def test_an_asteroid_that_passes_can_be_found_by_its_id() -> None:
    for day in (date(2025, 1, 3), date(2029, 4, 13), date(1987, 7, 7)):
        for asteroid, passage in asteroids.passing(day):
            found = asteroids.find(asteroid.id)
            assert found is not None
            assert found == asteroid
            assert passage in found.passages
            assert passage.time.date() == day


def test_small_asteroids_of_a_month_have_names_of_their_own() -> None:
    days = [date(2025, 1, 1) + timedelta(days=number) for number in range(31)]
    names = [asteroid.name for day in days for asteroid, _ in asteroids.passing(day)]
    assert len(names) == len(set(names))
    assert 5 <= len(names) / 31 <= 15


def test_the_passage_of_apophis_is_the_real_one() -> None:
    apophis = asteroids.find("2099942")
    assert apophis is not None
    passage = next(passage for passage in apophis.passages if passage.time.date() == date(2029, 4, 13))
    assert 31_000 < passage.distance_km < 39_000
    assert apophis.period_days == pytest.approx(323.6, abs=1)


def test_diameters_follow_from_brightness() -> None:
    eros = asteroids.find("2000433")
    assert eros is not None
    smallest, largest = eros.diameters_km
    assert smallest == pytest.approx(22.3, abs=0.2)
    assert largest == pytest.approx(smallest * 5**0.5)


@pytest.mark.parametrize("id_", ["", "abc", "99", "54000015", "²", "9" * 30, "-5"])
def test_no_asteroid_answers_to_a_wrong_id(id_: str) -> None:
    found = asteroids.find(id_)
    assert found is None or id_ == "54000015"


@pytest.mark.parametrize(
    ("point", "path", "row"),
    [
        (Point(37.48, -122.21), 44, 34),
        (Point(48.86, 2.35), 199, 26),
        (Point(30.31, 31.2), 176, 39),
        (Point(36.04, 139.9), 107, 35),
        (Point(-34.6, 151.2), 89, 84),
    ],
)
def test_a_place_lies_on_its_landsat_path_and_row(point: Point, path: int, row: int) -> None:
    scene = landsat.nearest(point, date(2014, 3, 18))
    assert scene is not None
    assert (scene.path, scene.row) == (path, row)
    assert abs(scene.taken - date(2014, 3, 18)) <= timedelta(days=8)


def test_a_known_scene_was_taken_on_its_day() -> None:
    for day in (date(2014, 3, 18), date(2017, 6, 14)):
        scene = landsat.nearest(Point(37.48, -122.21), day)
        assert scene is not None
        assert scene.taken == day


def test_open_sea_and_poles_have_no_scene() -> None:
    assert landsat.nearest(Point(0, -150), date(2020, 1, 1)) is None
    assert landsat.nearest(Point(-89, 0), date(2020, 1, 1)) is None


def test_the_middle_of_an_epic_picture_lies_under_the_sun() -> None:
    for shot in epic.shots(date(2024, 4, 8)):
        assert distance(shot.centre, sky.subsolar(shot.time)) < 1000
    assert len(epic.shots(date(2024, 7, 8))) == 22
    assert epic.shots(date(2019, 12, 1)) == []
    assert all(epic.shots(day) for day in epic.days()[::100])


@pytest.mark.parametrize(
    ("rover", "sol", "day"),
    [
        ("curiosity", 0, "2012-08-06"),
        ("curiosity", 1000, "2015-05-30"),
        ("opportunity", 5111, "2018-06-11"),
        ("spirit", 2208, "2010-03-21"),
    ],
)
def test_sols_fall_on_their_days(rover: str, sol: int, day: str) -> None:
    found = mars.rovers()[rover]
    assert found.day(sol).isoformat() == day
    assert found.sol(date.fromisoformat(day)) == sol


def test_photos_have_ids_of_their_own_and_cameras_of_their_rover() -> None:
    for rover in mars.rovers().values():
        photos = [photo for sol in range(900, 960) for photo in rover.photos(sol)]
        assert len({photo.id for photo in photos}) == len(photos) > 500
        assert {photo.camera for photo in photos} <= set(rover.cameras)
        assert len({photo.address for photo in photos}) == len(photos)
        assert rover.photos(rover.last_sol + 1) == []
        assert rover.day(rover.last_sol) <= clock.NOW.date()


def test_exoplanets_have_their_facts() -> None:
    planets = {planet["name"]: planet for planet in tables.load("exoplanets")}
    assert len(planets) >= 120
    assert planets["51 Peg b"]["year"] == 1995
    assert planets["Proxima Cen b"]["period_days"] == pytest.approx(11.187, abs=0.01)
    for planet in planets.values():
        assert planet["name"] == f"{planet['host']} {planet['letter']}"
        assert 1989 <= planet["year"] <= 2025
        if {"axis_au", "star_suns", "period_days"} <= set(planet):
            # Kepler's third law; planets of double stars go round more mass than the one star's.
            expected = (planet["star_suns"] * (planet["period_days"] / 365.25) ** 2) ** (1 / 3)
            assert planet["axis_au"] == pytest.approx(expected, rel=0.1), planet["name"]

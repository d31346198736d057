"""What has a drawing of its own looks like itself: no two sights, works, parks or posters share one."""

from collections import Counter

import pytest

from m3bench.sandboxes.world.tables import load
from m3bench.tasks.families import movies, museum
from m3bench.tasks.render.art import names
from m3bench.tasks.render.drawings import sheet
from m3bench.tasks.render.exhibits import PIECES
from m3bench.tasks.render.landmarks import sight


def test_no_two_sights_of_a_city_look_alike():
    sights = [landmark for landmark in load("landmarks") if landmark.get("city_id")]
    assert len({"".join(sight(landmark)) for landmark in sights}) == len(sights)


def test_every_work_that_the_museum_shows_is_drawn():
    objects, artists = load("met_objects"), museum.Museum.artists
    made = Counter(museum.subject(work) for work in objects)
    pool = [work for work in objects if museum.eligible(work) and len(work["title"]) <= 48]
    known = [work for work in pool if museum.maker(work) in artists and made[museum.maker(work)] > 1]
    pieces = [work for work in pool if work["kind"] in PIECES]
    drawn = {*sheet("paintings"), *sheet("pieces")}
    assert [work["title"] for work in (*known, *pieces) if f"met-{work['id']}" not in drawn] == []


@pytest.mark.parametrize("name", ["fish", "landmarks", "paintings", "parks", "pieces"])
def test_a_drawing_can_lie_in_a_picture_beside_any_other(name):
    """Names inside a drawing, such as those of gradients, would be taken for those of another."""
    for key, drawing in sheet(name).items():
        assert not any(" id=" in fragment for fragment in drawing.fragments), key


def test_no_two_films_have_the_same_poster():
    motifs = movies.Movies.motifs
    assert len(set(motifs.values())) == len(motifs) > 200
    assert {thing for pair in motifs.values() for thing in pair} <= names().keys()

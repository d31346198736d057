"""Every registered family keeps the rules of families."""

import itertools
import random
import re

import pytest
from PIL import Image, ImageChops

from m3bench.sandboxes.world.tables import load
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.families.base import Kit
from m3bench.tasks.families.base import questions as phrasings
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.scene import Box
from tests.art import art
from tests.tasks.render.test_canvas import overlap

every_family = pytest.mark.parametrize("name", FAMILIES)


@every_family
def test_a_family_can_be_asked_in_ten_ways_that_share_at_most_two_thirds_of_their_words(name):
    questions = [text for texts in phrasings(name).values() for text in texts]
    assert len(questions) >= 10
    for one, other in itertools.combinations(questions, 2):
        first, second = (set(re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.casefold())) for text in (one, other))
        shared = first & second
        assert len(shared) <= min(len(first), len(second)) * 2 / 3, (one, other)


@every_family
def test_a_familys_servers_are_served(name):
    assert set(FAMILIES[name].servers) <= {tool.server for tool in load_catalog().ready.tools}


@pytest.mark.all_sample(3)
@pytest.mark.seeds
@every_family
def test_boxes_fit_what_can_be_seen_of_the_objects(name, monkeypatch):
    """The visible part of an object is what it changed in the picture and nothing later changed again."""
    drawn: list[tuple[Box, Image.Image, Image.Image]] = []
    canvases: list[Canvas] = []

    def watched(method):
        def put(self, *args, **kwargs):
            if not canvases or canvases[-1] is not self:
                canvases.append(self)
            self._settle()
            noted, before = len(self._objects), self._image.copy()
            box = method(self, *args, **kwargs)
            if len(self._objects) > noted:
                drawn.append((box, before, self._image.copy()))
            return box

        return put

    monkeypatch.setattr(Canvas, "place", watched(Canvas.place))
    monkeypatch.setattr(Canvas, "thing", watched(Canvas.thing))
    monkeypatch.setattr(Canvas, "_shade", lambda self, box: None)
    monkeypatch.setattr(Canvas, "light", lambda self, rng, strength=1.0: None)
    monkeypatch.setattr(pen, "_stroke", lambda canvas, points, colour, width: None)
    FAMILIES[name].compose(random.Random(f"picture boxes {name}"), Kit(art(), load))
    for box, before, after in drawn:
        changed = ImageChops.difference(before.convert("RGB"), after.convert("RGB")).convert("L")
        covered = ImageChops.difference(after.convert("RGB"), canvases[-1]._image.convert("RGB")).convert("L")
        visible = ImageChops.subtract(
            changed.point(lambda v: 255 * (v > 8)), covered.point(lambda v: 255 * (v > 8))
        ).getbbox()
        assert visible is not None
        assert overlap(box, visible) >= 0.9, box

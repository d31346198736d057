"""A scene keeps its annotations through JSON and stays small."""

import json
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from random import Random

from PIL import Image

from m3bench.tasks.scene import APART, Scene, SceneText, grey, make_thumbnail, stacked
from tests.desks import LUNCH
from tests.pictures import encoded
from tests.scenes import building_site, objects_of, scene_of


def test_a_scene_survives_json() -> None:
    file, scene = scene_of(2)
    scene = Scene.of(file, scene.objects, [SceneText(text="NO ENTRY", box=(1, 2, 3.5, 4))])
    assert Scene.from_json(json.loads(json.dumps(scene.to_json()))) == scene


def test_a_scene_is_made_from_the_pictures_file() -> None:
    file, scene = scene_of(2)
    assert (scene.sha256, scene.width, scene.height) == (sha256(file).hexdigest(), 960, 640)
    assert scene.objects == tuple(objects_of(2))
    with Image.open(BytesIO(scene.thumbnail)) as thumbnail:
        assert (thumbnail.format, thumbnail.mode, thumbnail.size) == ("JPEG", "L", (320, 213))


def test_a_scene_stays_small_even_when_its_picture_is_all_noise() -> None:
    noise = Image.frombytes("RGB", (1600, 1000), Random(1).randbytes(1600 * 1000 * 3))
    scene = Scene.of(encoded(noise, "PNG"), objects_of(2))
    assert len(json.dumps(scene.to_json())) < 60_000


def test_a_small_picture_is_its_own_thumbnail() -> None:
    with Image.open(BytesIO(make_thumbnail(building_site(2).resize((200, 100))))) as thumbnail:
        assert thumbnail.size == (200, 100)


def test_what_is_transparent_is_white() -> None:
    picture = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    assert grey(picture).getextrema() == (255, 255)


def test_a_desk_travels_with_its_scene_and_a_scene_without_one_is_written_as_before() -> None:
    bare = Scene(sha256="0" * 64, width=4, height=3, thumbnail=b"")
    assert "desk" not in bare.to_json()
    with_desk = replace(bare, desk=LUNCH)
    assert Scene.from_json(json.loads(json.dumps(with_desk.to_json()))) == with_desk


def test_pictures_of_a_task_are_stacked_so_that_nothing_of_one_lies_in_another() -> None:
    (_, first), (_, second) = scene_of(2), scene_of(3)
    both = stacked([first, second])
    assert len(both.objects) == len(first.objects) + len(second.objects)
    assert both.objects[: len(first.objects)] == first.objects
    assert all(one.box[1] >= APART for one in both.objects[len(first.objects) :])
    assert both.height == APART + second.height

"""Known pictures are found again after what people do to pictures, and others are not."""

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from m3bench.sandboxes.pictures import decode_picture
from m3bench.sandboxes.recognition import Recogniser, Sighting, area, clip
from m3bench.sandboxes.workspace import WorkspaceLimits
from m3bench.tasks.scene import Box, Scene, SceneObject
from tests.examples import examples
from tests.pictures import encoded
from tests.scenes import building_site, objects_of, scene_of

SITES = (2, 3, 5, 9)
SEPIA = (0.393, 0.769, 0.189, 0, 0.349, 0.686, 0.168, 0, 0.272, 0.534, 0.131, 0)

Change = Callable[[Image.Image], Image.Image]

RECOGNISER = Recogniser([scene_of(site)[1] for site in SITES])


def seen(image: Image.Image) -> Sighting | None:
    """What the recogniser says of a picture in a file that it does not know."""
    return RECOGNISER.recognise(image.tobytes(), image)


def saved(image: Image.Image, kind: str, **options: object) -> Image.Image:
    """The picture as it comes back from a file."""
    return decode_picture(encoded(image, kind, **options), WorkspaceLimits(), "picture")


def overlap(one: Box, other: Box) -> float:
    part = (max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3]))
    if part[0] >= part[2] or part[1] >= part[3]:
        return 0.0
    return area(part) / (area(one) + area(other) - area(part))


def assert_seen(sighting: Sighting | None, site: int, expected: list[SceneObject]) -> None:
    """The sighting is of that site and has exactly those objects, with boxes that fit."""
    assert sighting is not None
    assert sighting.scene.sha256 == scene_of(site)[1].sha256
    assert [item.label for item in sighting.objects] == [item.label for item in expected]
    for found, wanted in zip(sighting.objects, expected, strict=True):
        assert overlap(found.box, wanted.box) >= 0.9, (found, wanted)


def carried(
    objects: list[SceneObject], corner: tuple[int, int], scale: tuple[float, float], size: tuple[int, int]
) -> list[SceneObject]:
    """The objects at least half visible in a crop that was resized, with boxes clipped to it."""
    found = []
    for item in objects:
        left, top, right, bottom = item.box
        box = (
            (left - corner[0]) * scale[0],
            (top - corner[1]) * scale[1],
            (right - corner[0]) * scale[0],
            (bottom - corner[1]) * scale[1],
        )
        part = clip(box, size)
        if part is not None and area(part) >= 0.5 * area(box):
            found.append(SceneObject(label=item.label, box=part))
    return found


@pytest.mark.parametrize("site", SITES)
def test_the_same_file_is_seen_as_it_was_annotated(site: int) -> None:
    file, scene = scene_of(site)
    sighting = RECOGNISER.recognise(file, Image.new("RGB", (1, 1)))
    assert sighting is not None
    assert sighting.objects == scene.objects


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("kind", "options"),
    [("JPEG", {"quality": 30}), ("JPEG", {"quality": 95}), ("WEBP", {"quality": 40}), ("BMP", {}), ("GIF", {})],
)
@pytest.mark.parametrize("site", SITES)
def test_saved_in_another_format_a_picture_keeps_its_boxes(site: int, kind: str, options: dict[str, int]) -> None:
    sighting = seen(saved(building_site(site), kind, **options))
    assert sighting is not None
    assert sighting.objects == tuple(objects_of(site))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(ImageOps.grayscale, id="grey"),
        pytest.param(lambda image: image.convert("RGB", SEPIA), id="sepia"),
        pytest.param(lambda image: image.point(lambda value: value * 0.8 + 20), id="paler"),
        pytest.param(lambda image: image.filter(ImageFilter.GaussianBlur(3)), id="soft"),
    ],
)
@pytest.mark.parametrize("site", SITES)
def test_recoloured_a_picture_keeps_its_boxes(site: int, change: Change) -> None:
    sighting = seen(change(building_site(site)))
    assert sighting is not None
    assert sighting.objects == tuple(objects_of(site))


@settings(max_examples=examples(16), deadline=None, derandomize=True)
@given(site=st.sampled_from(SITES), across=st.floats(0.25, 4), stretch=st.sampled_from([1, 1, 0.7, 1.3]))
def test_resized_a_picture_has_its_boxes_scaled(site: int, across: float, stretch: float) -> None:
    picture = building_site(site)
    size = (round(picture.width * across), round(picture.height * across * stretch))
    scale = (size[0] / picture.width, size[1] / picture.height)
    expected = carried(objects_of(site), (0, 0), scale, size)
    assert_seen(seen(picture.resize(size, Image.Resampling.BICUBIC)), site, expected)


def crops(smallest: float) -> st.SearchStrategy[tuple[int, int, int, int]]:
    """Boxes in a picture with at least a share of its area."""
    width, height = 960, 640

    def placed(size: tuple[int, int]) -> st.SearchStrategy[tuple[int, int, int, int]]:
        return st.tuples(st.integers(0, width - size[0]), st.integers(0, height - size[1])).map(
            lambda corner: (*corner, corner[0] + size[0], corner[1] + size[1])
        )

    sizes = st.tuples(st.integers(120, width), st.integers(120, height))
    return sizes.filter(lambda size: size[0] * size[1] >= smallest * width * height).flatmap(placed)


@settings(
    max_examples=examples(16), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much]
)
@given(site=st.sampled_from(SITES), box=crops(0.15), quality=st.sampled_from([None, 40]))
def test_a_crop_has_the_original_boxes_shifted_and_clipped(
    site: int, box: tuple[int, int, int, int], quality: int | None
) -> None:
    crop = building_site(site).crop(box)
    expected = carried(objects_of(site), box[:2], (1, 1), crop.size)
    assume(expected)
    assert_seen(seen(crop if quality is None else saved(crop, "JPEG", quality=quality)), site, expected)


@pytest.mark.slow
@settings(max_examples=examples(15), deadline=None, derandomize=True)
@given(site=st.sampled_from(SITES), cut=st.tuples(*[st.integers(0, 30)] * 4), scale=st.sampled_from([1, 1.25]))
def test_a_picture_with_its_edges_cut_off_is_no_resized_copy(
    site: int, cut: tuple[int, int, int, int], scale: float
) -> None:
    crop = building_site(site).crop((cut[0], cut[1], 960 - cut[2], 640 - cut[3]))
    size = (round(crop.width * scale), round(crop.height * scale))
    expected = carried(objects_of(site), cut[:2], (size[0] / crop.width, size[1] / crop.height), size)
    assert_seen(seen(crop.resize(size, Image.Resampling.BICUBIC)), site, expected)


@pytest.mark.slow
@settings(
    max_examples=examples(10), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much]
)
@given(site=st.sampled_from(SITES), box=crops(0.2), scale=st.floats(0.5, 2.5))
def test_a_crop_that_was_resized_has_its_boxes_shifted_and_scaled(
    site: int, box: tuple[int, int, int, int], scale: float
) -> None:
    crop = building_site(site).crop(box)
    size = (round(crop.width * scale), round(crop.height * scale))
    expected = carried(objects_of(site), box[:2], (size[0] / crop.width, size[1] / crop.height), size)
    assume(expected)
    assert_seen(seen(crop.resize(size, Image.Resampling.LANCZOS)), site, expected)


@pytest.mark.slow
@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("scale", [1, 2])
def test_each_single_object_cut_out_is_recognised(site: int, scale: int) -> None:
    for item in objects_of(site):
        left, top, right, bottom = (round(edge) for edge in item.box)
        crop = building_site(site).crop((left - 8, top - 8, right + 8, bottom + 8))
        sighting = seen(crop.resize((crop.width * scale, crop.height * scale), Image.Resampling.BICUBIC))
        assert sighting is not None, item
        assert item.label in [found.label for found in sighting.objects]


@pytest.mark.sample(2)
@pytest.mark.parametrize("site", SITES)
def test_boxes_and_words_drawn_over_a_picture_hide_nothing(site: int) -> None:
    picture = building_site(site).copy()
    pen = ImageDraw.Draw(picture)
    for item in objects_of(site):
        pen.rectangle(item.box, outline="red", width=5)
        pen.text(item.box[:2], item.label, fill="red", font_size=28)
    assert_seen(seen(picture), site, objects_of(site))


@pytest.mark.sample(1)
@pytest.mark.parametrize("site", SITES)
def test_blurring_some_objects_hides_nothing(site: int) -> None:
    picture = building_site(site).copy()
    for item in objects_of(site)[::2]:
        left, top = round(item.box[0]), round(item.box[1])
        picture.paste(picture.crop(item.box).filter(ImageFilter.GaussianBlur(9)), (left, top))
    assert_seen(seen(picture), site, objects_of(site))


@pytest.mark.sample(2)
@pytest.mark.parametrize("site", SITES)
def test_an_object_that_was_painted_over_is_not_seen(site: int) -> None:
    picture = building_site(site).copy()
    hidden, *rest = objects_of(site)
    ImageDraw.Draw(picture).rectangle(hidden.box, fill="black")
    assert_seen(seen(picture), site, rest)


def turned(box: Box, size: tuple[int, int], degrees: float, grown: tuple[int, int]) -> Box:
    """The box around a box of a picture that was turned about its middle."""
    angle = math.radians(degrees)
    corners = [(x - size[0] / 2, y - size[1] / 2) for x in (box[0], box[2]) for y in (box[1], box[3])]
    across = [grown[0] / 2 + x * math.cos(angle) + y * math.sin(angle) for x, y in corners]
    down = [grown[1] / 2 - x * math.sin(angle) + y * math.cos(angle) for x, y in corners]
    return (min(across), min(down), max(across), max(down))


def test_a_mirrored_picture_has_its_boxes_mirrored() -> None:
    picture, objects = building_site(2), objects_of(2)
    sighting = seen(ImageOps.mirror(picture))
    mirrored = [
        replace(item, box=(picture.width - item.box[2], item.box[1], picture.width - item.box[0], item.box[3]))
        for item in objects
    ]
    assert_boxes(sighting, mirrored)


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(("degrees", "expand"), [(5, False), (-3, True)])
def test_a_picture_that_was_turned_a_little_has_its_boxes_turned(degrees: int, expand: bool) -> None:
    picture = building_site(2)
    copy = picture.rotate(degrees, Image.Resampling.BICUBIC, expand=expand)
    boxes = [replace(item, box=turned(item.box, picture.size, degrees, copy.size)) for item in objects_of(2)]
    inside = [item for item in boxes if clip(item.box, copy.size) == item.box]
    assert_boxes(seen(saved(copy, "JPEG", quality=80)), inside)


def test_a_framed_picture_has_its_boxes_moved() -> None:
    framed = ImageOps.expand(building_site(2), 40, "#d8c9a8")
    moved = [replace(item, box=tuple(place + 40 for place in item.box)) for item in objects_of(2)]  # type: ignore[arg-type]
    assert_boxes(seen(saved(framed, "JPEG", quality=85)), moved)


def assert_boxes(sighting: Sighting | None, expected: list[SceneObject]) -> None:
    """Every object is where it is expected, give or take what turning a box costs."""
    assert sighting is not None
    for item in expected:
        best = max((overlap(item.box, one.box) for one in sighting.objects if one.label == item.label), default=0)
        assert best > 0.8, item.label


def test_points_outside_a_crop_are_not_visible() -> None:
    site, worker = next((site, item) for site in SITES for item in objects_of(site) if item.label == "worker")
    left, top, right, bottom = (round(edge) for edge in worker.box)
    middle = (top * 2 + bottom * 3) // 5
    corner = (max(0, left - 200), max(0, middle - 300))
    sighting = seen(building_site(site).crop((*corner, right + 150, middle)))
    assert sighting is not None
    [found] = [item for item in sighting.objects if item.label == "worker" and item.keypoints]
    nose, ankle = found.keypoints[0], found.keypoints[16]
    assert nose[:2] == pytest.approx((worker.keypoints[0][0] - corner[0], worker.keypoints[0][1] - corner[1]), abs=1)
    assert nose[2] == 1
    assert ankle[1:] == (middle - corner[1], 0)


@pytest.mark.slow
def test_another_picture_on_the_same_ground_is_not_known() -> None:
    for seed in range(100, 104):
        assert seen(building_site(seed, ground=SITES[seed % 4])) is None, seed


@pytest.mark.slow
def test_of_pictures_on_the_same_ground_the_right_one_is_found() -> None:
    scenes = [scene_of(seed, ground=1)[1] for seed in range(200, 206)]
    recogniser = Recogniser(scenes)
    for seed, scene in zip(range(200, 206), scenes, strict=True):
        sighting = recogniser.recognise(
            f"another file {seed}".encode(), saved(building_site(seed, ground=1), "JPEG", quality=50)
        )
        assert sighting is not None
        assert sighting.scene == scene


@pytest.mark.night
def test_two_hundred_other_pictures_are_not_known() -> None:
    for seed in range(104, 120):
        assert seen(building_site(seed, ground=SITES[seed % 4])) is None, seed
    for seed in range(1000, 1200):
        picture = building_site(seed, size=(480, 320) if seed % 2 else (400, 400))
        if seed % 3 == 0:
            random = Random(seed)
            left, top = random.randint(0, 150), random.randint(0, 70)
            picture = picture.crop((left, top, left + 250, top + 250))
        assert seen(picture) is None, seed


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(building_site(2).rotate(40, expand=True), id="turned far"),
        pytest.param(ImageOps.invert(building_site(2)), id="inverted"),
        pytest.param(building_site(2).crop((420, 0, 560, 60)), id="a piece of sky"),
        pytest.param(Image.new("RGB", (960, 640), "white"), id="white"),
        pytest.param(Image.new("RGB", (1, 1), "white"), id="one pixel"),
        pytest.param(Image.new("RGB", (3000, 2), "grey"), id="a line"),
        pytest.param(Image.effect_noise((960, 640), 90), id="noise"),
    ],
)
def test_what_says_nothing_or_something_else_is_not_known(picture: Image.Image) -> None:
    assert seen(picture) is None


def test_without_scenes_nothing_is_known() -> None:
    file = encoded(building_site(2), "PNG")
    assert Recogniser([]).recognise(file, building_site(2)) is None


def test_a_scene_without_objects_is_recognised_too() -> None:
    file = encoded(building_site(2), "PNG")
    recogniser = Recogniser([Scene.of(file)])
    sighting = recogniser.recognise(b"another file", building_site(2).resize((480, 320)))
    assert sighting is not None
    assert sighting.objects == ()

"""Changes to whole pictures: what Pillow would give but for a shade, and files that hold what was drawn."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageFilter

from m3bench.tasks.drawing import pixels
from m3bench.tasks.drawing.files import jpeg, png


@pytest.fixture(scope="module")
def noise() -> Image.Image:
    shades = np.random.default_rng(3).integers(0, 256, (70, 90, 3), np.uint8)
    return Image.fromarray(shades)


def apart(one: Image.Image, other: Image.Image) -> int:
    return int(np.abs(np.asarray(one, int) - np.asarray(other, int)).max())


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 1.7])
def test_a_blend_is_that_of_pillow_but_for_a_shade(noise: Image.Image, share: float) -> None:
    grey = noise.convert("L").convert("RGB")
    assert apart(pixels.blended(grey, noise, share), Image.blend(grey, noise, share)) <= 1


@pytest.mark.parametrize("sigma", [0.4, 1.0, 3.3, 20.0])
def test_a_blur_is_that_of_pillow_but_for_a_shade(noise: Image.Image, sigma: float) -> None:
    assert apart(pixels.blurred(noise, sigma), noise.filter(ImageFilter.GaussianBlur(sigma))) <= 1


@pytest.mark.parametrize("kind", [ImageFilter.DETAIL, ImageFilter.SMOOTH_MORE, ImageFilter.SHARPEN])
def test_a_filter_is_that_of_pillow_but_for_a_shade(
    noise: Image.Image, kind: type[ImageFilter.BuiltinFilter], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, divisor, _, kernel = kind.filterargs
    monkeypatch.setattr(pixels, "_BAND_PIXELS", 900)
    assert apart(pixels.filtered(noise, kernel, divisor), noise.filter(kind)) <= 1


def test_a_picture_smaller_than_the_kernel_stays_as_it_is() -> None:
    dot = Image.new("RGB", (2, 2), "red")
    assert apart(pixels.filtered(dot, (1,) * 9, 9), dot) == 0


def test_colours_are_sums_of_thousandths(noise: Image.Image) -> None:
    turned = pixels.recoloured(noise, ((0, 0, 1000), (0, 500, 0), (1000, 1000, 1000)))
    pixel = noise.getpixel((4, 5))
    assert isinstance(pixel, tuple)
    red, green, blue = pixel
    assert turned.getpixel((4, 5)) == (blue, (green * 500 + 500) // 1000, min(255, red + green + blue))


def test_a_stretched_grid_goes_through_its_numbers_and_stays_level_where_it_is() -> None:
    level = pixels.stretched(np.full((3, 4), 700, np.int64), 40, 30)
    assert level.shape == (30, 40)
    assert (level == 700).all()
    tripled = pixels.stretched(np.array([[0, 100, 50], [10, 20, 90]], np.int64), 9, 6)
    assert tripled[1::3, 1::3].tolist() == [[0, 100, 50], [10, 20, 90]]


def test_a_ramp_is_straight_between_levels_and_flat_beyond() -> None:
    values = np.array([-5, 0, 40, 80, 200], np.int64)
    assert pixels.ramp(values, (0, 10, 20), (0, 100, 50), 8).tolist() == [0, 0, 50 * 256, 100 * 256, 50 * 256]


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
def test_a_png_holds_what_was_drawn(noise: Image.Image, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m3bench.tasks.drawing.files._BAND_BYTES", 1000)
    picture = noise.convert(mode)
    picture.info["icc_profile"] = b"a profile"
    with Image.open(BytesIO(png(picture))) as read:
        assert (read.mode, read.size, read.info["icc_profile"]) == (mode, noise.size, b"a profile")
        assert apart(read, picture) == 0


def test_a_jpeg_is_close_to_what_was_drawn() -> None:
    with Image.open(BytesIO(jpeg(Image.new("RGB", (20, 20), "red"), 90))) as read:
        assert apart(read, Image.new("RGB", (20, 20), "red")) <= 4

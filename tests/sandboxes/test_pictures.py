"""Pictures are measured before they are decoded, come out plain, and are written the same way every time."""

from pathlib import Path

import pytest
from PIL import Image

from m3bench.sandboxes.pictures import decode_picture, open_picture, save_picture
from m3bench.sandboxes.workspace import Workspace, WorkspaceLimits
from m3bench.tasks.errors import LimitError, PathError, ToolError
from tests.pictures import UNREADABLE, assert_same_bytes, colour, encoded, odd_pictures, png_header, write_unreadable

KINDS = {".png": "PNG", ".jpg": "JPEG", ".JPEG": "JPEG", ".webp": "WEBP", ".bmp": "BMP", ".gif": "GIF", ".tiff": "TIFF"}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def sample() -> Image.Image:
    """Red above, blue below."""
    image = Image.new("RGB", (40, 30), (200, 30, 30))
    image.paste((30, 30, 200), (0, 15, 40, 30))
    return image


def close(left: tuple[int, ...], right: tuple[int, ...], most: int = 12) -> bool:
    return all(abs(one - other) <= most for one, other in zip(left, right, strict=True))


@pytest.mark.parametrize("suffix", KINDS)
def test_a_picture_is_written_in_the_format_of_its_extension_with_the_same_bytes(
    workspace: Workspace, suffix: str
) -> None:
    save_picture(workspace, sample(), f"out/a{suffix}")
    save_picture(workspace, sample(), f"out/b{suffix}")
    first, second = (workspace.root / "out" / f"{name}{suffix}" for name in "ab")
    assert_same_bytes(first.read_bytes(), second.read_bytes(), "the picture saved twice")
    with Image.open(first) as image:
        assert image.format == KINDS[suffix]
        assert image.size == (40, 30)
        assert close(colour(image.convert("RGB"), 20, 5), (200, 30, 30))


@pytest.mark.parametrize("path", ["a.svg", "a", "a.png.txt", ".png"])
def test_an_unknown_extension_is_refused_with_those_there_are(workspace: Workspace, path: str) -> None:
    with pytest.raises(ToolError, match=r"\.png, \.jpg, \.jpeg, \.webp"):
        save_picture(workspace, sample(), path)
    assert not list(workspace.root.iterdir())


def test_transparency_is_kept_where_the_format_has_it_and_laid_on_white_elsewhere(workspace: Workspace) -> None:
    clear = Image.new("RGBA", (10, 10), (255, 0, 0, 0))
    for suffix in (".png", ".webp", ".tiff", ".gif"):
        save_picture(workspace, clear, f"a{suffix}")
        back = open_picture(workspace, f"a{suffix}")
        assert back.mode == "RGBA"
        assert back.getchannel("A").getextrema() == (0, 0)
    for suffix in (".jpg", ".bmp"):
        save_picture(workspace, clear, f"a{suffix}")
        assert open_picture(workspace, f"a{suffix}").getpixel((5, 5)) == (255, 255, 255)


def test_a_side_too_long_for_the_format_is_refused(workspace: Workspace) -> None:
    with pytest.raises(ToolError, match="WEBP holds at most 16383 pixels a side"):
        save_picture(workspace, Image.new("RGB", (17_000, 2)), "a.webp")


def test_every_encoding_comes_out_as_plain_colours(workspace: Workspace) -> None:
    for name, content in odd_pictures(sample()).items():
        image = decode_picture(content, WorkspaceLimits(), name)
        assert image.mode in ("RGB", "RGBA"), name
        assert image.size == (40, 30), name
        expected = sample() if name in ("cmyk.jpg", "palette.png", "clear.png", "moving.gif") else sample().convert("L")
        if name != "bits.tiff":
            assert close(colour(image.convert("RGB"), 20, 25), colour(expected.convert("RGB"), 20, 25)), name


def test_a_picture_taken_sideways_comes_out_upright_and_is_saved_without_the_mark(workspace: Workspace) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    sideways = sample().transpose(Image.Transpose.ROTATE_90)
    (workspace.root / "a.jpg").write_bytes(encoded(sideways, "JPEG", exif=exif, quality=95))
    image = open_picture(workspace, "a.jpg")
    assert image.size == (40, 30)
    save_picture(workspace, image, "b.jpg")
    with Image.open(workspace.root / "b.jpg") as saved:
        assert saved.size == (40, 30)
        assert 0x0112 not in saved.getexif()


def test_a_colour_profile_stays_with_the_picture(workspace: Workspace) -> None:
    (workspace.root / "a.png").write_bytes(encoded(sample(), "PNG", icc_profile=b"profile"))
    save_picture(workspace, open_picture(workspace, "a.png"), "b.png")
    with Image.open(workspace.root / "b.png") as saved:
        assert saved.info["icc_profile"] == b"profile"


@pytest.mark.parametrize("name", sorted(UNREADABLE))
def test_unreadable_files_are_clear_errors(workspace: Workspace, name: str) -> None:
    write_unreadable(workspace.root)
    with pytest.raises(ToolError, match=name):
        open_picture(workspace, name)


@pytest.mark.parametrize("size", [(30_000, 30_000), (12_000, 12_000), (7_000, 7_000), (60_001, 1)])
def test_a_picture_too_large_is_refused_by_its_header(size: tuple[int, int]) -> None:
    with pytest.raises(LimitError, match="scale it down"):
        decode_picture(png_header(*size), WorkspaceLimits(), "a.png")


def test_a_jpeg_of_countless_scans_is_refused() -> None:
    data = encoded(sample(), "JPEG", progressive=True)
    assert decode_picture(data, WorkspaceLimits(), "a.jpg").size == (40, 30)
    with pytest.raises(LimitError, match="JPEG scans"):
        decode_picture(data + b"\xff\xda" * 200, WorkspaceLimits(), "a.jpg")


@pytest.mark.parametrize("path", ["../a.png", "/etc/passwd", "missing.png", "http://example.com/a.png", "."])
def test_only_files_of_the_workspace_are_opened(workspace: Workspace, path: str) -> None:
    with pytest.raises(PathError):
        open_picture(workspace, path)


def test_any_damage_to_a_file_is_an_error_or_a_picture() -> None:
    for kind in ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"):
        whole = encoded(sample(), kind)
        for place in range(0, len(whole), max(1, len(whole) // 150)):
            for broken in (whole[:place], whole[:place] + b"\xff\x00\xff" + whole[place + 3 :]):
                try:
                    decode_picture(broken, WorkspaceLimits(), "a")
                except ToolError:
                    continue

"""A program of its own that looks for codes in one grey picture: started by the server, never imported by it.

There are pictures on which the decoder does not come to an end, so it lives in a process that is ended for it.
The picture comes as raw bytes on standard input, width and height as arguments. What is found is printed as
one line of JSON, format, text and corner points of each code; of several lines the last is the fullest. It
imports nothing of m3bench, so that it starts in a tenth of a second.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator

import zxingcpp
from PIL import Image, ImageFilter

Point = tuple[float, float]
Back = Callable[[float, float], Point]
"""From a place in a changed picture to the place in the original."""

LINEAR = "EAN13|EAN8|UPCA|UPCE|Code128|Code39|Code93|Codabar|ITF|DataBar|DataBarExp"
MATRIX = "QRCode|DataMatrix|Aztec|PDF417"
CHECKED = "EAN13|UPCA|Code128"
"""Those whose check digit makes a misreading rare enough for a picture that was changed a lot."""

_WORKING_SIDE = 1800
_TURN_DEGREES = 15


def main() -> None:
    """Search, print and end."""
    picture = Image.frombytes("L", (int(sys.argv[1]), int(sys.argv[2])), sys.stdin.buffer.read())
    for codes in attempts(picture):
        if codes:
            print(json.dumps(codes), flush=True)
            break


def attempts(picture: Image.Image) -> Iterator[list[dict[str, object]]]:
    """What is found, from the quick look that mostly does to the thorough ones."""
    found = read(picture, LINEAR)
    if found:
        # Print them before the other kind is looked for, which may take the rest of the time.
        print(json.dumps(found), flush=True)
    yield found + read(picture, MATRIX)
    scale = min(1.0, _WORKING_SIDE / max(picture.size))
    small = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))

    def unscaled(x: float, y: float) -> Point:
        return x / scale, y / scale

    sharp = small.resize((small.width * 2, small.height * 2), Image.Resampling.BICUBIC)
    sharp = sharp.filter(ImageFilter.UnsharpMask(6, 250, 0))
    yield read(sharp, CHECKED, lambda x, y: unscaled(x / 2, y / 2))
    for degrees in range(0, 180, _TURN_DEGREES):
        yield turned(small, degrees, unscaled)
    yield read(sharp, "QRCode", lambda x, y: unscaled(x / 2, y / 2))
    yield read(small.filter(ImageFilter.GaussianBlur(1.2)), "QRCode", unscaled)


def turned(picture: Image.Image, degrees: int, back: Back) -> list[dict[str, object]]:
    """Linear codes whose bars stand upright after a turn.

    The turned picture is pressed flat, which averages along the bars and so takes noise and blur away. What
    is read must be read a second time from a picture pressed differently.
    """
    upright = picture.rotate(degrees, expand=True, resample=Image.Resampling.BILINEAR, fillcolor=128)
    radians = math.radians(degrees)

    def unturned(x: float, y: float) -> Point:
        x, y = x - upright.width / 2, y - upright.height / 2
        return back(
            x * math.cos(radians) - y * math.sin(radians) + picture.width / 2,
            x * math.sin(radians) + y * math.cos(radians) + picture.height / 2,
        )

    found = pressed(upright, 6, unturned)
    if not found:
        return []
    sure = {code["text"] for rows in (4, 9) for code in pressed(upright, rows, unturned)}
    return [code for code in found if code["text"] in sure]


def pressed(picture: Image.Image, rows: int, back: Back) -> list[dict[str, object]]:
    """What is read when several rows of pixels are made one."""
    flat = picture.resize((picture.width, max(1, picture.height // rows)), Image.Resampling.BOX)
    wide = flat.resize((flat.width * 2, flat.height), Image.Resampling.BICUBIC)
    down = picture.height / flat.height
    return read(wide.filter(ImageFilter.UnsharpMask(6, 300, 0)), CHECKED, lambda x, y: back(x / 2, y * down))


def read(picture: Image.Image, formats: str, back: Back = lambda x, y: (x, y)) -> list[dict[str, object]]:
    """The codes of some formats, with corners in places of the original."""
    codes = zxingcpp.read_barcodes(
        picture, formats=zxingcpp.barcode_formats_from_str(formats), text_mode=zxingcpp.TextMode.Plain
    )
    return [
        {
            "format": code.format.name,
            "text": code.text,
            "corners": [
                back(corner.x, corner.y)
                for corner in (
                    code.position.top_left,
                    code.position.top_right,
                    code.position.bottom_right,
                    code.position.bottom_left,
                )
            ],
        }
        for code in codes
    ]


if __name__ == "__main__":
    main()

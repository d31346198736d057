"""Bar codes and QR codes that scanners read."""

import zxingcpp
from PIL import Image

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.scene import Box

_KINDS = {"ean": zxingcpp.BarcodeFormat.EAN13, "qr": zxingcpp.BarcodeFormat.QRCode}


def code(canvas: Canvas, text: str, x: float, y: float, *, kind: str, scale: int = 3) -> Box:
    """Put down a code, its middle at `(x, y)`; returns its box.

    Args:
        canvas: Where.
        text: What it says.
        x: Middle.
        y: Middle.
        kind: `ean` (with its digits below) or `qr`.
        scale: Pixels per module.
    """
    made = zxingcpp.create_barcode(text, _KINDS[kind])
    bars = zxingcpp.write_barcode_to_image(made, scale=scale, add_hrt=kind == "ean", add_quiet_zones=True)
    picture = Image.fromarray(bars)
    return canvas.paste(picture, round(x - picture.width / 2), round(y - picture.height / 2))

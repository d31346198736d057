"""The `ocr` server: the text in a picture, read by Tesseract."""

from m3bench.sandboxes.servers.ocr.tools import server

__all__ = ["server"]

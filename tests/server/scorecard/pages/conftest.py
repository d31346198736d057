"""The runs that the lab's reports are tested with serve the pages of single runs too."""

from tests.server.lab.reports.conftest import hostile, sloppy

__all__ = ["hostile", "sloppy"]

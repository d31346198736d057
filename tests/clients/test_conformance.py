"""The official conformance suite against the front door, with a server that has one of everything behind it.

What does not apply to m3bench is listed with its reason in `not_applicable.json`, check by check. The list is
held to in both directions: a check that fails and is not listed, or is listed and passes, fails the test.
"""

import json
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from tests.clients.node import Node
from tests.server.conftest import serving

HERE = Path(__file__).parent

RUNS = {
    "2025-11-25 by the stable suite": ("conformance-2025", "/mcp", ["--suite", "all"], 32),
    "2025-11-25 by the new suite": ("conformance-2026", "/mcp", ["--requirements", "2025-11-25"], 33),
    "2026-07-28 by the new suite": ("conformance-2026", "/seat/{seat}/mcp", ["--requirements", "2026-07-28"], 50),
}
"""Package, endpoint, options and the number of scenarios of each run."""

AGAIN = "2025-11-25 by the new suite"
"""What it asks the stable suite asks too."""

PASSED = {"SUCCESS", "INFO"}

SECONDS = 600.0
"""For one run: each of its clients has a server process of its own behind m3bench."""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an m3bench that fronts the server with one of everything, under its own names."""
    folder = tmp_path_factory.mktemp("everything")
    entry = {"command": sys.executable, "args": [str(HERE / "everything.py")]}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"everything": entry}}))
    with serving(["--servers", str(folder / "servers.json"), "--no-prefix", "--data", str(folder / "data")]) as url:
        yield url


@dataclass
class Outcome:
    """What a run of the suite came to; checks are named `scenario/check`."""

    scenarios: int
    seen: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def outcome_of(node: Node, everything: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcome]:
    """Gives the outcome of a run, which is made once."""

    @cache
    def made(run: str) -> Outcome:
        package, endpoint, options, _ = RUNS[run]
        folder = tmp_path_factory.mktemp("report")
        url = everything + endpoint.format(seat=secrets.token_urlsafe(24))
        node.run(f"{package}/dist/index.js", "server", "--url", url, "-o", str(folder), *options, seconds=SECONDS)
        return read(folder)

    return made


def read(folder: Path) -> Outcome:
    reports = sorted(folder.glob("server-*/checks.json"))
    outcome = Outcome(len(reports))
    for report in reports:
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", report.parent.name)
        for check in json.loads(report.read_text()):
            name = f"{scenario}/{check['id']}"
            outcome.seen.add(name)
            if check["status"] not in PASSED:
                outcome.failed[name] = f"{check['status']} {check.get('errorMessage', '')}"
    return outcome


def listed() -> list[str]:
    """The checks that do not apply."""
    groups = json.loads((HERE / "not_applicable.json").read_text())
    assert all(group["reason"] for group in groups)
    return [f"{name}/{check}" for group in groups for name, checks in group["checks"].items() for check in checks]


@pytest.mark.parametrize("run", [pytest.param(run, marks=[pytest.mark.night] * (run == AGAIN)) for run in RUNS])
def test_what_we_declare_conforms(run: str, outcome_of: Callable[[str], Outcome]) -> None:
    outcome, excused = outcome_of(run), set(listed())
    assert outcome.scenarios == RUNS[run][3]
    assert {name: why for name, why in outcome.failed.items() if name not in excused} == {}
    assert {name for name in excused & outcome.seen if name not in outcome.failed} == set()


@pytest.mark.night
def test_the_list_names_checks_that_exist_once_each(outcome_of: Callable[[str], Outcome]) -> None:
    excused = listed()
    assert len(excused) == len(set(excused))
    assert set(excused) - set().union(*(outcome_of(run).seen for run in RUNS)) == set()

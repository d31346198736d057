"""Frameworks for agents play a task, each in an environment of its own, over stdio and HTTP, with the scripted model.

The environments are made on the first use, from PyPI; a framework that cannot be installed is skipped by name. This is
too heavy for every change: `make test-frameworks` runs it. FastMCP is here anyway, and plays in `make test-all` too.
What was measured of each is in `server/clients/trial/frameworks.json`, and the documentation shows it. Whether calls
overlap is a matter of milliseconds: only that is asked again.
"""

import sys
from pathlib import Path

import pytest

from m3bench.server.clients.trial.measured import Measured, frameworks
from tests.clients.frameworks.frameworks import FRAMEWORKS, Framework, NotInstalled, command
from tests.clients.frameworks.playing import TRANSPORTS, played

ATTEMPTS = 6


def test_every_framework_that_plays_was_measured() -> None:
    assert set(frameworks()) == set(FRAMEWORKS)
    for name, found in frameworks().items():
        assert found.packages == FRAMEWORKS[name].packages


@pytest.mark.frameworks
def test_a_framework_that_cannot_be_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FRAMEWORKS, "gone", Framework(player="gone", packages=("no-such-framework==1",)))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(NotInstalled, match=r"^gone could not be installed: .*no-such-framework==1$"):
        command("gone")


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.frameworks if framework.packages else pytest.mark.slow)
        for name, framework in FRAMEWORKS.items()
    ],
)
def test_a_framework_plays_a_task(name: str, transport: str, tmp_path: Path) -> None:
    known = getattr(frameworks()[name], transport)
    proven = (known.reading, known.writing) == ("together", "together")
    for attempt in range(ATTEMPTS):
        try:
            found = played(name, transport, tmp_path / str(attempt))
        except NotInstalled as error:
            pytest.skip(str(error))
        assert found.problems == ()
        assert found.tools == "loaded"
        assert found.tools_shown == found.tools_expected
        assert found.solved
        assert found.best == 1
        assert sum(found.steps) == sum(found.reference)
        if Measured.of(found) == known and (found.average == 1 or not proven):
            break
    assert Measured.of(found) == known
    assert found.average == 1 or not proven

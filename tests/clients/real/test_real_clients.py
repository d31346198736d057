"""The clients that people use play a task, each from the entry that `m3bench install` writes.

What was measured of each is in `server/clients/trial/measured.json`, and the documentation shows it: a client that
behaves in another way fails here. Whether calls overlap is a matter of milliseconds, and on a machine that does much
else a client may be held up between two of them: only that is asked again.

Two clients do not wait long for a server: `M3BENCH_FIRST_TURNS=20 make test-clients` starts these so many times and
counts how often all tools were there when their models were first asked.
"""

import os

import pytest

from m3bench.server.clients.table import clients
from m3bench.server.clients.trial.measured import Measured, measured
from m3bench.server.clients.trial.starts import STARTS
from m3bench.server.clients.trial.trial import first_turn, try_client
from tests.clients.real.programs import missing

pytestmark = pytest.mark.clients

ATTEMPTS = 6

SAME_CARD = ("claude-code", "codex", "gemini", "opencode", "kilo", "qwen", "copilot")
"""Clients whose models read the same Markdown."""

IMPATIENT = ("codex", "cline")
FIRST_TURNS = int(os.environ.get("M3BENCH_FIRST_TURNS", "1"))


def skip_if_missing(key: str) -> None:
    """A client that does not exist for this kind of machine cannot play on it."""
    if (reason := missing(STARTS[key].program)) is not None:
        pytest.skip(reason)


@pytest.mark.all_sample(2)
@pytest.mark.parametrize("key", STARTS)
def test_a_client_plays_a_task_from_the_entry_that_install_writes(key: str, programs: str) -> None:
    skip_if_missing(key)
    known = measured()[key]
    for _ in range(ATTEMPTS):
        found = try_client(clients()[key], path=programs)
        assert found.problems == ()
        assert found.solved
        assert found.tools_shown == found.tools_expected
        assert found.card == ("Markdown" if key in SAME_CARD else known.card)
        if Measured.of(found) == known and found.average == 1:
            break
    assert Measured.of(found) == known
    assert found.steps == found.reference
    assert found.average == 1


@pytest.mark.parametrize("key", IMPATIENT)
def test_all_tools_are_there_on_every_first_turn(key: str, programs: str) -> None:
    skip_if_missing(key)
    found = [first_turn(clients()[key], path=programs) for _ in range(FIRST_TURNS)]
    print(f"{key}: {sum(shown == expected for _, shown, expected in found)} of {FIRST_TURNS}")
    assert [one for one in found if one[1] != one[2]] == []
    assert {there for there, _, _ in found} == {measured()[key].tools}

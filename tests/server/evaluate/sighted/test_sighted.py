"""What a task needs of its picture can be seen: from a description by somebody who looked, an agent solves it."""

from pathlib import Path

import pytest

from m3bench.server.commands.run import plans_of_agents, play_all
from m3bench.server.evaluate.agents.registry import Agent
from m3bench.server.evaluate.headless.plan import Choice
from m3bench.server.results.resultset import read_resultset
from m3bench.tasks.families.registry import FAMILIES
from tests.server.evaluate.sighted import agent as module
from tests.server.evaluate.sighted.agent import descriptions, likeness, remembered, sighted

ENOUGH = 0.95


class Sighted(Agent):
    """Not in the registry: it can play only what was described."""

    play = property(lambda self: sighted)  # type: ignore[assignment]


@pytest.mark.slow
def test_what_is_asked_can_be_seen(tmp_path: Path) -> None:
    agent = Sighted(name="sighted", about="has read what somebody saw", where=module.__name__)
    choice = Choice(
        agent="", kind="baseline", folder=tmp_path, ids=tuple(descriptions()), profile="full", sandbox="inprocess"
    )
    play_all(plans_of_agents(choice, [agent], tmp_path / "out"))
    results = read_resultset(tmp_path / "out").results
    solved = [result.sample.task for result in results if result.card.success]
    missed = sorted(set(descriptions()) - set(solved))
    assert len(solved) >= ENOUGH * len(descriptions()), missed


def test_another_loop_is_another_picture() -> None:
    made = remembered(FAMILIES["movies"], {"films": ["Fargo", "Titanic"]})
    assert made is not None
    assert sorted(made.facts["films"]) == ["Fargo", "Titanic"]
    assert likeness({"films": ["Fargo", "Akira"]}, made.facts) < 1
    assert likeness({"films": ["Fargo"]}, made.facts) < 1

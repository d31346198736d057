"""Perfect play is never told that its answer cannot be traced to what it saw: tasks of every set."""

import os
from pathlib import Path

import anyio
import pytest

from m3bench.server.lab.headless.agents.player import play_plan
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.headless.plan import RunChoice, make_plan
from m3bench.server.scorecard.model import ScoreCard
from m3bench.tasks.library import SETS

FULL = "M3BENCH_FULL" in os.environ
"""All tasks, not six of each set."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["m3", "snapshots", "studio", "recordings", "desk"])
def test_perfect_play_is_grounded(name: str, tmp_path: Path) -> None:
    choice = RunChoice(
        agent="oracle", kind="baseline", folder=tmp_path, tasks=SETS / name, limit=None if FULL else 6,
        sandbox="inprocess",
    )  # fmt: skip
    plan = make_plan(choice)
    cards: list[ScoreCard] = []
    with plan.begin():
        anyio.run(play_plan, plan, AGENTS["oracle"], lambda sample, card: cards.append(card) if card else None)
    assert len(cards) == len(plan.header.tasks)
    assert {card.task: card.ungrounded for card in cards if card.grounded is False} == {}

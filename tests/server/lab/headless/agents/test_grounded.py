"""Perfect play is never told that its answer cannot be traced to what it saw: every task of every set, by family."""

from pathlib import Path

import anyio
import pytest

from m3bench.server.lab.headless.agents.player import play_plan
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.headless.plan import RunChoice, make_plan
from m3bench.server.scorecard.model import ScoreCard
from m3bench.tasks.library import SETS, Library

NAMES = ("m3", "snapshots", "studio", "recordings", "desk")
FAMILIES = [
    pytest.param(name, family, id=f"{name}-{family}")
    for name in NAMES
    for family in dict.fromkeys(task.family for task in Library(SETS / name).tasks.values())
]


@pytest.mark.all_sample(6)
@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "family"), FAMILIES)
def test_perfect_play_is_grounded(name: str, family: str, tmp_path: Path) -> None:
    choice = RunChoice(
        agent="oracle", kind="baseline", folder=tmp_path, tasks=SETS / name, families=(family,), sandbox="inprocess"
    )
    plan = make_plan(choice)
    cards: list[ScoreCard] = []
    with plan.begin():
        anyio.run(play_plan, plan, AGENTS["oracle"], lambda sample, card: cards.append(card) if card else None)
    assert len(cards) == len(plan.header.tasks)
    assert {card.task: card.ungrounded for card in cards if card.grounded is False} == {}

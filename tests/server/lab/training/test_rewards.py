"""Nothing but a solved task gives a reward, whatever a learner tries."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from m3bench.server.lab.headless.agents.play import AgentPlay, Hidden
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.lab.training.episodes import EpisodeRules, LearnerCall, LocalEpisode
from m3bench.server.lab.training.rewards import Reward, RewardWeights, weighted
from m3bench.server.lab.training.splits import SPLITS, split_of_seed
from m3bench.server.lab.training.train_set import oracle_answer, oracle_turns
from m3bench.tasks.catalog import expose, load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.trajectory import Call
from tests.server.lab.training.playing import episodes, play_oracle

EVERYTHING = RewardWeights(solved=1.0, shaping=5.0, format=0.2, budget=0.2, grounding=0.2)
RULES = EpisodeRules(weights=EVERYTHING, split="train", max_turns=400)
TASK = "barcode_lookup-1"

pytestmark = pytest.mark.anyio


class EpisodePlay(AgentPlay):
    """What a baseline agent has, in an episode in place of a client."""

    episode: LocalEpisode
    rewards: list[Reward]

    async def step(self, calls: Any) -> list[str]:
        """Make calls together."""
        turn = await self.episode.step(
            [LearnerCall(name=expose(call.tool), arguments=dict(call.arguments)) for call in calls]
        )
        self.rewards.append(turn.reward)
        return [result.decode() for result in turn.results]

    async def tools(self) -> Any:
        """The tools of the task."""
        return [tool for tool in load_catalog().tools if tool.qualified in self.shown]


async def played_by(agent: str, folder: Path, task: str = TASK) -> list[Reward]:
    """The rewards of a baseline agent, turn by turn."""
    async with episodes(folder / "rooms", RULES) as found:
        episode, told = await found.reset(task, f"task:{task}", pictures=False)
        facts = told.opening["_meta"]["m3bench/task"]
        servers = set(episode.task.servers)
        shown = {tool.qualified for tool in load_catalog().tools if tool.server in servers}
        play = EpisodePlay(
            client=cast("Any", None), connect=cast("Any", None), task=episode.task, library=found.library,
            run=episode.run.id, pictures=tuple(facts["pictures"]), shown=frozenset(shown),
            hidden=Hidden(files=(), texts=()), dice=random.Random(agent),
        )  # fmt: skip
        play.episode, play.rewards = episode, []
        answer = await AGENTS[agent].play(play)
        for _ in range(2):
            turn = await episode.submit(answer, dict(play.fields) if play.fields else None)
            if turn.done:
                break
        return [*play.rewards, turn.reward]


@pytest.mark.parametrize("agent", ["null", "sibling", "lookalike", "generic", "half", "missing", "wrong-entity"])
async def test_an_agent_that_does_not_solve_gets_nothing(agent: str, tmp_path: Path) -> None:
    rewards = await played_by(agent, tmp_path)
    shaping = sum(reward.parts.get("shaping", 0.0) for reward in rewards)
    assert shaping == pytest.approx(0.0)
    solved = rewards[-1].parts["solved"]
    assert sum(reward.total or 0.0 for reward in rewards) <= solved + 1e-9
    if agent not in ("lookalike", "missing"):
        assert solved == 0


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["dump", "copycat", "random", "sloppy", "injector"])
async def test_an_agent_that_calls_everything_gets_nothing(agent: str, tmp_path: Path) -> None:
    rewards = await played_by(agent, tmp_path)
    assert sum(reward.parts.get("shaping", 0.0) for reward in rewards) == pytest.approx(0.0)
    assert sum(reward.total or 0.0 for reward in rewards) <= rewards[-1].parts["solved"] + 1e-9


async def test_loops_earn_nothing(tmp_path: Path) -> None:
    """The learner that maximises only shaping: what it gains on the way it gives back at the end."""
    async with episodes(tmp_path / "rooms", RULES) as found:
        episode, _ = await found.reset(TASK, pictures=False)
        first, *_ = oracle_turns(episode.task)
        rewards = [(await episode.step(first)).reward for _ in range(6)]
        gains = [reward.parts.get("shaping", 0.0) for reward in rewards]
        assert gains[0] > 0
        assert gains[1:] == [0.0] * 5
        last = await episode.submit("Nothing.")
        last = last if last.done else await episode.submit("Nothing.")
        assert sum(gains) + last.reward.parts["shaping"] == pytest.approx(0.0)
        assert sum(reward.total or 0.0 for reward in rewards) + last.reward.total < 0


async def test_a_solved_task_gives_one_however_it_was_shaped(tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms", RULES) as found:
        episode, _ = await found.reset(TASK, pictures=False)
        turns = await play_oracle(episode)
    totals = [turn.reward.total or 0.0 for turn in turns]
    assert sum(totals) == pytest.approx(1.0)
    assert turns[-1].reward.parts["solved"] == 1.0
    assert turns[-1].reward.parts["shaping"] == pytest.approx(-1.0)
    potentials = [0.0]
    for turn in turns[:-1]:
        potentials.append(potentials[-1] + turn.reward.parts["shaping"])
    assert all(before <= after for before, after in pairwise(potentials))


@pytest.mark.parametrize("split", ["validation", "test"])
async def test_nothing_is_told_before_the_end_where_nobody_trains(split: Any, tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms", EpisodeRules(weights=EVERYTHING, split=split)) as found:
        episode, _ = await found.reset(TASK, pictures=False)
        turns = await play_oracle(episode)
    assert [turn.reward for turn in turns[:-1]] == [Reward()] * (len(turns) - 1)
    assert turns[-1].reward.total == 1.0
    assert turns[-1].reward.parts["shaping"] == 0.0


async def test_no_reward_is_in_what_the_agent_is_told(tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms", RULES) as found:
        episode, told = await found.reset(TASK, pictures=False)
        turns = await play_oracle(episode)
    said = b"".join(result for turn in turns for result in turn.results) + str(told).encode()
    assert b"reward" not in said.lower()
    assert b"solved" not in said.lower()


async def test_penalties_are_for_calls_that_no_tool_took_and_for_calls_too_many(tmp_path: Path) -> None:
    async with episodes(tmp_path / "rooms", EpisodeRules(weights=EVERYTHING, split="train")) as found:
        episode, _ = await found.reset(TASK, pictures=False)
        await episode.step([LearnerCall(name="no_such_tool", arguments={})] * 4)
        for calls in oracle_turns(episode.task):
            await episode.step(calls)
        turn = await episode.submit(**oracle_answer(episode.task))
    made = 4 + sum(len(step.calls) for step in episode.task.references[0].trajectory.steps)
    assert turn.reward.parts["solved"] == 1.0
    assert turn.reward.parts["format"] == pytest.approx(-4 / made)
    assert -1 < turn.reward.parts["budget"] < 0
    assert turn.reward.parts["grounding"] == 0.0


def test_weights_are_checked_and_parts_without_one_are_left_out() -> None:
    assert weighted({"solved": 1.0, "shaping": 0.5}, RewardWeights()) == Reward(parts={"solved": 1.0}, total=1.0)
    with pytest.raises(UserError, match="no part 'beauty'"):
        RewardWeights.of({"beauty": 1})
    with pytest.raises(UserError, match="below 0"):
        RewardWeights.of({"shaping": -1})
    with pytest.raises(UserError, match="worth"):
        RewardWeights.of({"solved": 0})
    reward = Reward(total=None, void="the sandbox")
    assert Reward.from_json(reward.to_json()) == reward


def test_every_seed_has_one_split() -> None:
    assert [split_of_seed(seed) for seed in range(10)] == ["train"] * 8 + ["validation", "test"]
    assert {split_of_seed(seed) for seed in range(-30, 30)} == set(SPLITS)


def test_a_call_of_a_reference_keeps_its_name() -> None:
    task = Library().task(TASK)
    names = [call.name for calls in oracle_turns(task) for call in calls]
    assert names == [expose(call.tool) for call in task.references[0].trajectory.calls]
    assert isinstance(task.references[0].trajectory.calls[0], Call)

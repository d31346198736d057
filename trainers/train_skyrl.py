"""m3bench as an environment of SkyRL, and a policy that learns in it on a processor, turn by turn.

    m3bench tasks generate -o mine --seed 11 --family barcode_lookup --per-family 16
    m3bench serve --openenv 127.0.0.1:8000 --tasks mine --split train --reward shaping=1 --reward format=0.5
    pip install skyrl-gym==0.4.0 torch
    python trainers/train_skyrl.py http://127.0.0.1:8000

SkyRL's trainer makes an `M3benchEnv` of each row of its data, `env_class="m3bench"` with the `task` in `extras`, and
passes on what its model writes. What follows below it stands in for that trainer: a policy that knows nine words, with
random weights, trained by policy gradient on the rewards of each turn.
"""

import argparse
import json
from statistics import fmean
from typing import Any

import skyrl_gym
import torch
from episodes import Episode
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType
from words import WORDS, fitting_tasks, said

MOST_TURNS = 6
GROUP = 8
RATE = 0.1
DISCOUNT = 0.9


class VoidEpisodeError(Exception):
    """An episode broke through no fault of the model: it has no reward, and belongs in no batch."""


class M3benchEnv(BaseTextEnv):  # type: ignore[misc]
    """An episode for a model that writes calls as text.

    Args:
        env_config: `url`, the address of a server.
        extras: `task`, the id of a task; `max_turns`.
    """

    def __init__(self, env_config: Any, extras: dict[str, Any] | None = None) -> None:
        super().__init__()
        given = extras or {}
        self.max_turns = given.get("max_turns", 50)
        self.heard: list[str] = []
        self.episode = Episode(env_config["url"], given["task"])
        self._parts: dict[str, float] = {}

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        """The question follows what the trainer says."""
        return [*prompt, {"role": "user", "content": self.episode.text}], {"tools": self.episode.tools}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Take what the model said as its turn."""
        self.turns += 1
        turn = self.episode.say(action)
        self.heard += turn.texts
        reward = turn.reward
        while not turn.done and self.turns >= self.max_turns:
            turn = self.episode.act({"answer": ""})
            reward = None if turn.reward is None or reward is None else reward + turn.reward
        if reward is None:
            raise VoidEpisodeError(turn.void)
        for name, value in turn.parts.items():
            self._parts[name] = self._parts.get(name, 0.0) + value
        told = "".join(f"<tool_response>{text}</tool_response>" for text in turn.texts)
        return BaseTextEnvStepOutput(
            observations=[] if turn.done else [{"role": "user", "content": told}],
            reward=reward,
            done=turn.done,
            metadata={"reward_parts": turn.parts},
        )

    def get_metrics(self) -> dict[str, Any]:
        """What each part of the reward came to."""
        return dict(self._parts)

    def close(self) -> None:
        """Let go of the episode."""
        self.episode.close()


skyrl_gym.register(id="m3bench", entry_point=M3benchEnv)


class Policy(torch.nn.Module):
    """The odds of each word, given the turn and the word before."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Sequential(
            torch.nn.Linear(MOST_TURNS + len(WORDS) + 1, 16), torch.nn.Tanh(), torch.nn.Linear(16, len(WORDS))
        )

    def forward(self, turn: int, before: int) -> torch.distributions.Categorical:
        """The odds."""
        seen = torch.zeros(MOST_TURNS + len(WORDS) + 1)
        seen[turn] = seen[MOST_TURNS + before] = 1.0
        return torch.distributions.Categorical(logits=self.table(seen))


def rollout(policy: Policy, url: str, task: str) -> tuple[list[torch.Tensor], list[float]] | None:
    """The logarithms of the odds of what was said, and the reward of each turn; None when it is void."""
    env = skyrl_gym.make("m3bench", env_config={"url": url}, extras={"task": task, "max_turns": MOST_TURNS})
    odds: list[torch.Tensor] = []
    rewards: list[float] = []
    env.init([])
    before, done = len(WORDS), False
    try:
        while not done:
            choices = policy(len(odds), before)
            word = choices.sample()
            odds.append(choices.log_prob(word))
            before = int(word)
            output = env.step(said(WORDS[before], env.episode.facts, env.heard))
            rewards.append(output["reward"])
            done = output["done"]
    except VoidEpisodeError:
        return None
    finally:
        env.close()
    return odds, rewards


def train(url: str, tasks: list[str], steps: int) -> list[dict[str, float]]:
    """Train, and tell of each step the mean reward of its episodes and the size of its gradient."""
    torch.manual_seed(0)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=RATE)
    told = []
    for step in range(steps):
        group = [rollout(policy, url, tasks[step % len(tasks)]) for _ in range(GROUP)]
        played = [episode for episode in group if episode is not None]
        gains = [[sum(DISCOUNT**k * r for k, r in enumerate(rewards[t:])) for t in range(len(odds))]
                 for odds, rewards in played]  # fmt: skip
        usual = [fmean(gain[t] for gain in gains if t < len(gain)) for t in range(max(map(len, gains), default=0))]
        pulls = [
            -odds[t] * (gain[t] - usual[t])
            for (odds, _), gain in zip(played, gains, strict=True)
            for t in range(len(odds))
        ]
        optimizer.zero_grad()
        loss = torch.stack(pulls).sum() / GROUP if pulls else torch.zeros((), requires_grad=True)
        loss.backward()
        size = sum(float(p.grad.norm()) for p in policy.parameters() if p.grad is not None)
        optimizer.step()
        told.append({
            "step": step, "episodes": len(played), "reward": fmean(sum(r) for _, r in played) if played else 0.0,
            "gradient": size,
        })  # fmt: skip
    return told


def main() -> None:
    """Train for a few steps, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--split", default="train")
    options = parser.parse_args()
    for line in train(options.url, fitting_tasks(options.url, options.split), options.steps):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

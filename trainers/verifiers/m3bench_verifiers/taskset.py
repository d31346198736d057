"""Tasks from a set or from seeds, a rollout's episode, and its reward, part by part."""

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.harnesses.null import NullHarnessConfig
from verifiers.v1.runtimes import SubprocessConfig

from m3bench_verifiers.server import SERVERS, Recipe, set_of
from m3bench_verifiers.toolset import M3benchState, M3benchToolset

SECONDS = 600.0


class M3benchTaskConfig(vf.TaskConfig):
    """How episodes are played, under `--env.taskset.task.*`."""

    program: str = "m3bench"
    """The command `m3bench`, which may be that of another environment of Python."""
    url: str = ""
    """The address of a server that runs already; one is started when empty."""
    split: str = ""
    """`train`, `validation` or `test`; that of the seed when empty, and `test` without one."""
    reward: dict[str, float] = Field(default_factory=dict)
    """Weights of the parts; `solved` alone, with 1, when empty."""
    tools: str = "full"


class M3benchConfig(vf.TasksetConfig):
    """Which tasks there are, under `--env.taskset.*`."""

    tasks: str = ""
    """A folder with a set; the bundled one when there is no seed either."""
    seed: int | None = None
    """Where the seeds begin from which tasks are made; those of the split follow."""
    family: list[str] = Field(default_factory=list)
    """Only these families."""
    per_family: int = 8
    endless: bool = False
    """With a seed: whether its tasks are followed by those of the next."""
    task: M3benchTaskConfig = M3benchTaskConfig()
    tool_server: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class M3benchData(vf.TaskData):
    """A task."""

    task: str
    family: str
    folder: str = ""
    """The set that it is from."""


class M3benchTask(vf.Task[M3benchData, M3benchState, M3benchTaskConfig]):
    """One attempt: begun before the agent is asked, and scored when it has ended."""

    @property
    def key(self) -> str:
        """The set and the name, whatever its place in a list."""
        return f"{self.data.folder}:{self.data.task}"

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Begin the episode of this rollout."""
        state = trace.state
        state.url = self.config.url or await asyncio.to_thread(SERVERS.enter, recipe(self.config, self.data.folder))
        began = await _post(state.url, "reset", task=self.data.task, attempt=0, pictures=False, tools=self.config.tools)
        state.session, state.agent = began["metadata"]["session_id"], began["metadata"]["agent_session_id"]

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """End the episode, if the agent has not, and note what it came to."""
        state = trace.state
        if not state.session:
            return
        try:
            found = await _state(state)
            handed_in = found["done"]
            while not found["done"]:  # What has no fields is sent back once.
                await _post(state.url, "step", session_id=state.session, action={"answer": ""})
                found = await _state(state)
            await _post(state.url, "close", session_id=state.session)
        finally:
            state.session = ""
            if not self.config.url:
                SERVERS.leave(recipe(self.config, self.data.folder))
        trace.info["m3bench"] = {**found, "submitted": handed_in}

    @vf.reward(weight=1.0)
    async def reward(self, trace: vf.Trace) -> dict[str, float]:
        """Put down each part with its weight: together they are the reward of the episode."""
        found = trace.info["m3bench"]
        if found.get("void"):
            raise RuntimeError(f"The episode is void and has no reward: {found['void']}")
        weights = {"solved": 1.0, **self.config.reward}
        for name, value in found["reward_parts"].items():
            trace.record_reward(name, value, weights[name])
        return {}

    @vf.metric
    async def submitted(self, trace: vf.Trace) -> float:
        """Whether the agent handed in an answer."""
        return float(trace.info["m3bench"]["submitted"])


class M3benchTaskset(vf.Taskset[M3benchTask, M3benchConfig]):
    """The tasks of a set, or of seeds."""

    def __init__(self, config: M3benchConfig) -> None:
        super().__init__(config)
        config.task.split = config.task.split or split_of(config.seed)
        if config.endless and config.seed is None:
            raise ValueError("endless needs a seed to begin with: --env.taskset.seed 11")
        self.INFINITE = config.endless

    @classmethod
    def toolsets(cls, config: M3benchConfig) -> list[vf.Toolset]:
        """One server of tools for all rollouts."""
        return [M3benchToolset(config.tool_server)]

    def load(self) -> Iterator[M3benchTask]:
        """The tasks with their questions and pictures, as an agent is told of them."""
        config = self.config
        if config.task.url:
            yield from self._of("", config.task.url)
            return
        for folder in self._folders():
            with SERVERS.entered(recipe(config.task, folder)) as url:
                yield from self._of(folder, url)

    def _folders(self) -> Iterator[str]:
        config = self.config
        if config.seed is None:
            yield config.tasks
            return
        seeds = (seed for seed in count(config.seed) if split_of(seed) == config.task.split)
        for seed in seeds:
            yield set_of(config.task.program, seed, config.family, config.per_family)
            if not config.endless:
                return

    def _of(self, folder: str, url: str) -> Iterator[M3benchTask]:
        with httpx.Client(base_url=url, timeout=SECONDS) as client:
            listed = client.post("/m3bench/tasks", json={"split": self.config.task.split}).raise_for_status().json()
            for task in listed["tasks"]:
                if self.config.family and task["family"] not in self.config.family:
                    continue
                began = client.post("/reset", json={"task": task["id"], "attempt": 0}).raise_for_status().json()
                client.post("/close", json={"session_id": began["metadata"]["session_id"]})
                data = M3benchData(
                    id=task["id"],
                    name=task["id"],
                    task=task["id"],
                    family=task["family"],
                    folder=folder,
                    prompt=[{"role": "user", "content": [_part(block) for block in began["observation"]["content"]]}],
                )
                yield M3benchTask(data, self.config.task)


class M3benchEnvConfig(vf.EnvConfig):
    """The one agent has our tools and no others, unless another harness is asked for."""

    agent: vf.AgentConfig = vf.AgentConfig(harness=NullHarnessConfig(id="null"), runtime=SubprocessConfig())


class M3benchEnv(vf.Env[M3benchEnvConfig]):
    """One agent and one episode."""

    async def run(self, task: M3benchTask, agents: vf.Agents) -> None:
        """Have the agent play."""
        await agents.agent.run(task)


def split_of(seed: int | None) -> str:
    """What the tasks of a seed are for, by its last digit; the bundled ones are for testing."""
    return {8: "validation", 9: "test"}.get(9 if seed is None else seed % 10, "train")


def recipe(config: M3benchTaskConfig, folder: str) -> Recipe:
    """The server for a set."""
    weights = tuple(sorted(config.reward.items()))
    return Recipe(program=config.program, tasks=folder, split=config.split, reward=weights, tools=config.tools)


async def _post(url: str, path: str, **data: Any) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=url, timeout=SECONDS) as client:
        found: dict[str, Any] = (await client.post(path, json=data)).raise_for_status().json()
        return found


async def _state(state: M3benchState) -> dict[str, Any]:
    async with httpx.AsyncClient(base_url=state.url, timeout=SECONDS) as client:
        answer = await client.get("/state", params={"session_id": state.session})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


def _part(block: dict[str, Any]) -> dict[str, Any]:
    """A block of MCP, as a part of a message."""
    if block["type"] == "image":
        return {"type": "image_url", "image_url": {"url": f"data:{block['mimeType']};base64,{block['data']}"}}
    return {"type": "text", "text": block["text"]}

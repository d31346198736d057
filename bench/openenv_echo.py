"""What an episode costs beside its tools, against an episode of OpenEnv's own example, which echoes.

    m3bench serve --openenv 127.0.0.1:8000
    PYTHON bench/openenv_echo.py http://127.0.0.1:8000 PID [--episodes 200] [--steps 6]

PYTHON is one with `openenv`, PID that of the server. Both are played with OpenEnv's client, an episode at a time;
ours has turns without calls, and ends with an answer, so that it is scored. Counted is the processor time of the server
and its descendants, and not that of the client.
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    yield pid
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in thread.read_text().split():
            yield from descendants(int(child))


def cpu_ms(pid: int) -> float:
    """Processor time of a process and its descendants."""
    stats = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in descendants(pid)]
    return sum(sum(map(int, fields[11:15])) for fields in stats) / TICKS * 1000


async def play(url: str, episodes: int, actions: list[dict[str, Any]], **reset: Any) -> None:
    """Play episodes one after the other over one connection."""
    from openenv.core.generic_client import GenericEnvClient

    async with GenericEnvClient(base_url=url) as client:
        for _ in range(episodes):
            await client.reset(**reset)
            for action in actions:
                await client.step(action)


def measured(url: str, pid: int, episodes: int, actions: list[dict[str, Any]], **reset: Any) -> float:
    """Processor time of an episode, in milliseconds; some are played before, and not counted."""
    asyncio.run(play(url, episodes // 10 + 1, actions, **reset))
    before = cpu_ms(pid)
    asyncio.run(play(url, episodes, actions, **reset))
    return (cpu_ms(pid) - before) / episodes


def serve(port: int) -> None:
    """Serve the environment that echoes."""
    import uvicorn
    from openenv.core.env_server.http_server import create_app
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, Observation, State

    class EchoAction(Action):
        message: str

    class EchoObservation(Observation):
        message: str = ""

    class Echo(Environment):  # type: ignore[misc]
        SUPPORTS_CONCURRENT_SESSIONS = True

        def reset(self, seed: int | None = None, episode_id: str | None = None, **more: Any) -> EchoObservation:
            self._steps = 0
            return EchoObservation(message="ready", done=False, reward=0.0)

        def step(self, action: EchoAction, **more: Any) -> EchoObservation:
            self._steps += 1
            return EchoObservation(message=action.message, done=False, reward=1.0)

        @property
        def state(self) -> State:
            return State(step_count=self._steps)

    app = create_app(Echo, EchoAction, EchoObservation, env_name="echo", max_concurrent_envs=4)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


def main() -> None:
    """Measure both and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("pid", type=int)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    echo = subprocess.Popen([sys.executable, __file__, "--serve", str(port)])
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        words = [{"message": "hello"}] * options.steps
        theirs = measured(f"http://127.0.0.1:{port}", echo.pid, options.episodes, words)
    finally:
        echo.terminate()
        echo.wait()
    idle: list[dict[str, Any]] = [{"calls": []}] * (options.steps - 2)
    # What has no fields is sent back once.
    actions = [*idle, {"answer": "none"}, {"answer": "none"}]
    ours = measured(options.url, options.pid, options.episodes, actions, index=0, pictures=False)
    print(json.dumps({"steps": options.steps, "echo_ms": round(theirs, 2), "ours_ms": round(ours, 2),
                      "ratio": round(ours / theirs, 2)}))  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    else:
        main()

"""Plays a task with OpenEnv's own client, and asks its validator; runs where its package is installed.

The address of a server, the id of a task and its right turns come on standard input; what was found goes out as JSON.
"""

import asyncio
import base64
import json
import sys
from typing import Any

from openenv.cli._validation import validate_running_environment
from openenv.core.generic_client import GenericEnvClient


async def play(url: str, task: str, turns: list[Any]) -> dict[str, Any]:
    """Play a task to its end."""
    async with GenericEnvClient(base_url=url) as client:
        began = await client.reset(task=task)
        pictures = [base64.b64decode(b["data"]) for b in began.observation["content"] if b["type"] == "image"]
        result = began
        for action in turns:
            result = await client.step(action)
        state = await client.state()
    return {
        "pictures": [picture[:4].hex() for picture in pictures], "reward": result.reward, "done": result.done,
        "state": dict(state),
    }  # fmt: skip


async def several(url: str, task: str, turns: list[Any]) -> list[dict[str, Any]]:
    """The same by several clients at a time."""
    async with asyncio.TaskGroup() as group:
        players = [group.create_task(play(url, task, turns)) for _ in range(8)]
    return [player.result() for player in players]


def main() -> None:
    """Validate, play, tell."""
    asked = json.load(sys.stdin)
    report = validate_running_environment(asked["url"], timeout_s=60)
    played = asyncio.run(several(asked["url"], asked["task"], asked["turns"]))
    print(json.dumps({"failed": report["summary"]["failed_criteria"], "passed": report["passed"], "played": played}))


if __name__ == "__main__":
    main()

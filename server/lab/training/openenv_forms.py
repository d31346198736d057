"""What OpenEnv's messages look like for our episodes: actions, observations, states, and the document about them."""

from collections.abc import Mapping, Sequence
from typing import Any

from m3bench.server.lab.training.environment import EpisodeTurn, RemoteEpisode
from m3bench.server.lab.training.rewards import Reward

NAME = "m3bench"
PROTOCOL = "2025-11-25"
"""Of MCP, for an agent that names none."""

API_VERSION = "1.0.0"
"""Of OpenEnv's HTTP interface."""

_ANY: Mapping[str, Any] = {"type": "object", "additionalProperties": True}
_CALL = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": _ANY},
    "required": ["name"],
}
SCHEMAS: dict[str, Any] = {
    "action": {
        "type": "object",
        "title": "Action",
        "description": "The calls of one turn, or the answer that ends the episode.",
        "properties": {
            "calls": {"type": "array", "items": _CALL},
            "answer": {"type": ["string", "null"]},
            "fields": {"type": ["object", "null"], "additionalProperties": True},
            "metadata": _ANY,
        },
    },
    "observation": {
        "type": "object",
        "title": "Observation",
        "properties": {
            "results": {"type": "array", "items": _ANY},
            "text": {"type": "string"},
            "metadata": _ANY,
        },
    },
    "reset_observation": {
        "type": "object",
        "title": "ResetObservation",
        "properties": {
            "text": {"type": "string"},
            "content": {"type": "array", "items": _ANY},
            "task": _ANY,
            "tools": {"type": "array", "items": _ANY},
            "metadata": _ANY,
        },
    },
    "state": {
        "type": "object",
        "title": "State",
        "properties": {
            "episode_id": {"type": ["string", "null"]},
            "step_count": {"type": "integer", "minimum": 0},
            "task": {"type": ["string", "null"]},
            "done": {"type": "boolean"},
            "reward": {"type": ["number", "null"]},
            "reward_parts": _ANY,
        },
    },
}

_PATHS = {
    "/reset": "post", "/step": "post", "/state": "get", "/close": "post", "/metadata": "get", "/health": "get",
    "/schema": "get", "/mcp": "post", "/list_environments": "get", f"/{NAME}/splits": "get", f"/{NAME}/tasks": "post",
    f"/{NAME}/num_tasks": "post", f"/{NAME}/task": "post", f"/{NAME}/task_range": "post",
}  # fmt: skip


def openapi() -> dict[str, Any]:
    """The document about the HTTP interface."""
    answer = {"200": {"description": "OK", "content": {"application/json": {"schema": _ANY}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": NAME, "version": API_VERSION},
        "paths": {path: {method: {"responses": answer}} for path, method in _PATHS.items()},
    }


def reset_observation(
    episode: RemoteEpisode, sessions: tuple[str, str], episode_id: str, tools: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What a client is told when an episode begins: content for the model, pictures with it, and facts.

    Args:
        episode: The episode.
        sessions: The id of the trainer's session, and the one for the agent's side.
        episode_id: What the trainer calls it.
        tools: The tools, where they were asked for.
    """
    content = episode.opening["content"]
    metadata = {"session_id": sessions[0], "agent_session_id": sessions[1], "episode_id": episode_id}
    return {
        "observation": {
            "text": "\n".join(block["text"] for block in content if block["type"] == "text"),
            "content": content,
            "task": dict(episode.facts),
            "tools": list(tools),
            "metadata": metadata,
        },
        "reward": None,
        "done": False,
        "metadata": metadata,
    }


def reward_data(reward: Reward) -> dict[str, Any]:
    """What a trainer is told that an episode has earned."""
    void = {"void": reward.void} if reward.void else {}
    return {"reward": reward.total, "reward_parts": dict(reward.parts), **void}


def turn_data(turn: EpisodeTurn, steps: int) -> dict[str, Any]:
    """What a client is told of a turn; a void episode has no reward, and says why."""
    metadata: dict[str, Any] = {"reward_parts": dict(turn.reward.parts), "step": steps}
    if turn.reward.void:
        metadata["void"] = turn.reward.void
    return {
        "observation": {"results": list(turn.results), "text": "\n".join(turn.texts), "metadata": metadata},
        "reward": turn.reward.total,
        "done": turn.done,
        "metadata": metadata,
    }

"""Reads what a model writes when it plans, or calls tools in text.

Models wrap JSON in prose and code fences, which are ignored. The JSON itself must be right: nothing is guessed.
"""

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

MAX_STARTS = 100
"""Braces at which an object is looked for."""

_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
"""What some models write before they reply."""
_FENCE = re.compile(r"\A\s*```\w*\n(.*)\n```\s*\Z", re.DOTALL)


WrittenCall: TypeAlias = tuple[str, dict[str, object]]
"""Tool and arguments of a call that a model wrote as text."""


class ReplyError(ValueError):
    """A reply cannot be read; the message tells the model what is wrong with it."""


@dataclass(frozen=True, kw_only=True)
class PlanReply:
    """What the model wants next."""

    done: bool
    tools: tuple[str, ...]


def read_plan(text: str) -> PlanReply:
    """Which tools the model wants, or that it is done."""
    found = _object(text, "done")
    done, tools = found["done"], found.get("tools", [])
    if not isinstance(done, bool):
        raise ReplyError('"done" must be true or false.')
    if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
        raise ReplyError('"tools" must be a list of tool names.')
    if not done and not tools:
        raise ReplyError('When "done" is false, "tools" must name at least one tool.')
    return PlanReply(done=done, tools=tuple(dict.fromkeys(tools)))


def read_calls(text: str) -> list[WrittenCall]:
    """The calls of a step: tool and arguments."""
    calls = _object(text, "calls")["calls"]
    if not isinstance(calls, list):
        raise ReplyError('"calls" must be a list.')
    return [_call(number, call) for number, call in enumerate(calls, 1)]


def read_strict_calls(text: str) -> list[WrittenCall]:
    """The calls of a reply that is nothing but JSON, of which there must be one; a code fence around it is ignored."""
    inner = _FENCE.sub(r"\1", _THOUGHT.sub("", text)).strip()
    try:
        found = json.loads(inner)
    except (ValueError, RecursionError) as error:
        raise ReplyError(f"it is not JSON and nothing else ({error}).") from error
    calls = found.get("calls") if isinstance(found, dict) else None
    if not isinstance(calls, list) or not calls:
        raise ReplyError('it must be an object with "calls", a list of at least one call.')
    return [_call(number, call) for number, call in enumerate(calls, 1)]


def read_round(text: str) -> list[WrittenCall]:
    """The calls of a round; none when the model is done."""
    found = _object(text, "done")
    if not isinstance(found["done"], bool):
        raise ReplyError('"done" must be true or false.')
    if found["done"]:
        return []
    calls = found.get("calls")
    if not isinstance(calls, list) or not calls:
        raise ReplyError('When "done" is false, "calls" must hold at least one call.')
    return [_call(number, call) for number, call in enumerate(calls, 1)]


def read_steps(text: str) -> list[list[WrittenCall]]:
    """The calls of a whole plan, step by step; steps without a call are left out."""
    steps = _object(text, "steps")["steps"]
    if not isinstance(steps, list) or not all(isinstance(step, list) for step in steps):
        raise ReplyError('"steps" must be a list of lists of calls.')
    return [[_call(number, call) for number, call in enumerate(step, 1)] for step in steps if step]


def read_answer(text: str) -> str | None:
    """The answer that a reply hands in; None when it does not. An object stays JSON."""
    try:
        found = _object(text, "answer")
    except ReplyError:
        return None
    if "calls" in found:
        return None
    answer = found["answer"]
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def _call(number: int, call: object) -> WrittenCall:
    if not isinstance(call, dict) or not isinstance(call.get("tool"), str):
        raise ReplyError(f'Call {number} must be an object with "tool", a name, and "arguments", an object.')
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ReplyError(f'The "arguments" of call {number} must be an object.')
    return call["tool"], arguments


def _object(text: str, key: str) -> dict[str, object]:
    """The first JSON object of a text that has a key."""
    problem = ""
    at = text.find("{")
    for _ in range(MAX_STARTS):
        if at < 0:
            break
        try:
            found, end = json.JSONDecoder().raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            problem = problem or f"the JSON is broken ({error})."
            end = at + 1
        else:
            if isinstance(found, dict) and key in found:
                return found
            problem = problem or f"the JSON object has no {key!r}."
        at = text.find("{", end)
    raise ReplyError(problem or "there is no JSON object in it.")

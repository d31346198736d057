"""A plan with values: randomly chosen things, calls that were really made, and the origin of every value.

A plan is unfit for the chosen things when a call fails, when a choice has no clear winner, when an argument could
be known or guessed without the call before it, or when an earlier answer already says what is asked: then other things
are tried.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from m3bench.server.authoring.synthesis.graph import Edge, Graph, place, required_of
from m3bench.server.authoring.synthesis.lexicon import Ask, Pick, Start, Words, words
from m3bench.server.authoring.synthesis.plan import Leaf, Plan
from m3bench.server.authoring.synthesis.ports import fill, shortened
from m3bench.server.authoring.synthesis.rows import Row, number, rows
from m3bench.server.authoring.synthesis.trial_sandbox import TrialSandbox
from m3bench.tasks.facts import within
from m3bench.tasks.families.base import call, need
from m3bench.tasks.task import ReferenceCall

LONGEST_TEXT = 80
_NEAR = 0.02
"""Degrees by which a position may be off."""


@dataclass(frozen=True)
class Answer:
    """Something that was asked, and the answer to it."""

    ask: Ask
    about: str
    """The thing it is about, by name."""
    value: str | float
    tool: str
    step: int
    """The step that tells it, from 0."""


@dataclass
class Instance:
    """A task in the making."""

    plan: Plan
    things: tuple[str, ...]
    """What is written on the card."""
    steps: list[list[ReferenceCall]] = field(default_factory=lambda: [[], [], [], []])
    heard: list[list[str]] = field(default_factory=lambda: [[], [], [], []])
    """What the calls of each step answered."""
    answers: list[Answer] = field(default_factory=list)
    chosen: dict[str, str] = field(default_factory=dict)
    """What was chosen for each thing on the card."""
    result: float | None = None
    """What was computed in the end."""
    joined: float | None = None
    files: int = 0

    @property
    def reference(self) -> list[tuple[ReferenceCall, ...]]:
        """The steps that have calls."""
        return [tuple(step) for step in self.steps if step]

    @property
    def asked(self) -> list[list[str | float]]:
        """What is asked of each step: values, the way between two things, what is computed, what was chosen."""
        found: list[list[str | float]] = [
            [answer.value for answer in self.answers if answer.step == step] for step in range(len(self.steps))
        ]
        if self.plan.choice is not None:
            found[1] += self.chosen.values()
        if self.joined is not None:
            found[1].append(self.joined)
        if self.result is not None:
            found[3].append(self.result)
        return found


async def instantiate(
    plan: Plan, graph: Graph, trial: TrialSandbox, pool: Sequence[str], dice: random.Random
) -> Instance:
    """Fill a plan with things from a pool.

    Raises:
        Unfit: These things make no good task.
    """
    need(len(pool) >= plan.count, "too few things")
    made = Instance(plan, tuple(dice.sample(list(pool), plan.count)))
    found = []
    for thing in made.things:
        found.append(await _follow(made, thing, graph, trial))
    if plan.join is not None:
        await _join(made, plan.join, found, graph, trial)
    if plan.total is not None:
        await _total(made, *plan.total, trial)
    seen = [f"{call.tool} {sorted(call.arguments.items())}" for step in made.steps for call in step]
    need(len(set(seen)) == len(seen), "two things lead to the same call")
    for ask in {answer.ask for answer in made.answers}:
        values = [answer.value for answer in made.answers if answer.ask == ask]
        need(len(set(values)) == len(values) or ask.kind == "text", "two things have the same number")
    return made


async def _follow(made: Instance, thing: str, graph: Graph, trial: TrialSandbox) -> Row:
    """Everything that is asked about one thing on the card."""
    plan, start = made.plan, _start(made.plan.start)
    fixed = {name: thing if value == "{value}" else value for name, value in start.fixed.items()}
    first = {start.port: thing, **fixed, **(plan.option.arguments if plan.option else {})}
    text = await _play(trial, plan.start.tool, first)
    made.steps[0].append(_start_call(plan.start, first, thing))
    made.heard[0].append(text)
    row = _row(plan, start, thing, rows(text))
    if plan.start.name:
        made.chosen[thing] = str(row.get(plan.start.name, ""))
        said = made.chosen[thing].casefold()
        need(not plan.start.alike or all(word in said for word in _stems(thing)), "something else was found")
    for ask in plan.asks:
        made.answers.append(Answer(ask, thing, _value(ask, row, text), plan.start.tool, 0))
    for leaf in plan.near:
        await _leaf(made, leaf, row, thing, 1, [text], graph, trial)
    if plan.choice is not None:
        edge, option, pick = plan.choice.edge, plan.choice.option, plan.choice.pick
        arguments = {**_arguments(edge, row, made, thing, graph, trial), **option.arguments}
        listing = await _play(trial, edge.consumer, arguments)
        made.steps[1].append(_call(edge, arguments, trial, option.arguments))
        made.heard[1].append(listing)
        chosen = _picked(rows(listing), pick)
        name = str(chosen.get(words()[edge.consumer].name, ""))
        need(bool(name) and name not in made.chosen.values(), "no name, or one that was chosen before")
        need(place(chosen) is None or place(chosen) != place(row), "the thing itself was chosen")
        made.chosen[thing] = name
        for leaf in plan.far:
            await _leaf(made, leaf, chosen, thing, 2, [text, listing], graph, trial)
    return row


async def _leaf(
    made: Instance, leaf: Leaf, row: Row, thing: str, step: int, said: Sequence[str], graph: Graph, trial: TrialSandbox
) -> None:
    arguments = {**_arguments(leaf.edge, row, made, thing, graph, trial), **leaf.words.fixed}
    text = await _play(trial, leaf.edge.consumer, arguments)
    made.steps[step].append(_call(leaf.edge, arguments, trial, leaf.words.fixed))
    made.heard[step].append(text)
    made.files += bool(leaf.words.file)
    for ask in leaf.asks:
        value = _value(ask, (rows(text) or [{}])[0], text)
        known = str(value) if isinstance(value, str) else f"{value:g}"
        # What an earlier answer says already needs no further call.
        need(len(known) < 3 or not any(within(known.casefold(), one.casefold()) for one in said), "said before")
        made.answers.append(Answer(ask, thing, value, leaf.edge.consumer, step))


async def _join(
    made: Instance, edges: tuple[Edge, Edge], found: Sequence[Row], graph: Graph, trial: TrialSandbox
) -> None:
    first, second = edges
    arguments = _arguments(first, found[0], made, made.things[0], graph, trial)
    there = second.value(found[1])
    need(there is not None, "no position")
    arguments = fill(second.port, arguments, there)
    entry = words()[first.consumer]
    text = await _play(trial, first.consumer, arguments)
    value = _value(entry.asks[0], (rows(text) or [{}])[0], text)
    need(isinstance(value, float) and value > 1, "no way, or none worth asking for")
    made.steps[1].append(_call(first, arguments, trial, {}))
    made.heard[1].append(text)
    made.joined = float(value)


async def _total(made: Instance, ask: Ask, tool: str, trial: TrialSandbox) -> None:
    numbers = [float(answer.value) for answer in made.answers if answer.ask == ask]
    need(len(numbers) == made.plan.count, "a number is missing")
    plain = [int(value) if value.is_integer() else value for value in numbers]
    if tool == "subtract":
        arguments: dict[str, Any] = {"minuend": max(plain), "subtrahend": min(plain)}
    else:
        arguments = {"numbers": plain}
    text = await _play(trial, f"math/{tool}", arguments)
    result = number(text.strip()) if number(text.strip()) is not None else _first_number(text)
    need(result is not None and result not in numbers, "nothing was computed")
    made.steps[3].append(call(f"math/{tool}", arguments))
    made.heard[3].append(text)
    made.result = result


async def _play(trial: TrialSandbox, tool: str, arguments: Mapping[str, Any]) -> str:
    text = await trial.text(tool, arguments)
    need(bool(text), f"{tool} does not answer")
    assert text is not None
    return text


def _start(entry: Words) -> Start:
    assert entry.start is not None
    return entry.start


def _row(plan: Plan, start: Start, thing: str, found: Sequence[Row]) -> Row:
    """The row that is meant: the chosen one, or the one with the very name."""
    if plan.pick is not None:
        return _picked(found, plan.pick)
    need(bool(found), "no rows")
    if start.name:
        need(str(found[0].get(start.name, "")).casefold() == thing.casefold(), "another thing was found")
    return found[0]


def _picked(found: Sequence[Row], pick: Pick) -> Row:
    """The row with the highest or lowest value, when there is a clear one among several."""
    valued = [(row[pick.field], row) for row in found if pick.field in row]
    keyed = [(number(value), row) for value, row in valued]
    if any(key is None for key, _ in keyed):
        keyed = [(str(value), row) for value, row in valued]  # type: ignore[misc]
    need(len(keyed) > 1, "nothing to choose from")
    keyed.sort(key=lambda item: item[0], reverse=pick.highest)  # type: ignore[arg-type,return-value]
    need(keyed[0][0] != keyed[1][0], "no clear winner")
    return keyed[0][1]


def _arguments(edge: Edge, row: Row, made: Instance, thing: str, graph: Graph, trial: TrialSandbox) -> dict[str, Any]:
    """What the next call is made with; each value that comes from a row must be news."""
    value = edge.value(row)
    need(value is not None, f"no {edge.field or 'position'}")
    if not edge.port.takes_place:
        need(not is_guessable(str(value), made.things), f"{value!r} can be guessed")
    example = shortened(edge.port, required_of(trial, edge.consumer, graph.examples[edge.consumer]))
    arguments = fill(edge.port, example, value)
    start = _start(made.plan.start)
    for port in graph.ports[edge.consumer]:
        if port.name == start.port and port.name != edge.port.name and not port.takes_place:
            arguments = fill(port, arguments, thing)
    return arguments


def is_guessable(value: str, things: Sequence[str]) -> bool:
    """Whether a value is on the card, or an abbreviation of what is."""
    bare = re.sub(r"\W+", "", value.casefold())
    for thing in things:
        known = re.sub(r"[^\w\s]+", "", thing.casefold())
        if not bare or bare in known.replace(" ", ""):
            return True
        if len(bare) <= 6 and bare.isalpha() and _abbreviates(bare, known.split()):
            return True
    return False


def _abbreviates(short: str, words: Sequence[str]) -> bool:
    """Whether a short code is made of the beginnings of words, in order: `yell`, `grca`."""
    if not short:
        return True
    return any(
        short.startswith(word[:size]) and _abbreviates(short[size:], words[index + 1 :])
        for index, word in enumerate(words)
        for size in range(1, min(len(word), len(short)) + 1)
    )


def _value(ask: Ask, row: Row, text: str) -> str | float:
    """What the answer to an ask is."""
    found: object
    if ask.field.startswith("/"):
        match = re.search(ask.field.strip("/"), text, re.MULTILINE)
        found = match[1].strip() if match else None
    else:
        found = row.get(ask.field)
    need(found is not None, f"no {ask.field}")
    if ask.kind == "number":
        value = number(found)
        need(value is not None, f"{found!r} is no number")
        assert value is not None
        return round(value * ask.scale, 6)
    text = str(found).strip()
    need(2 <= len(text) <= LONGEST_TEXT and "\n" not in text, "too long or too short to ask for")
    return text


def _stems(thing: str) -> list[str]:
    """The words of a thing, in the singular."""
    return [word[:-1] if word.endswith("s") else word for word in thing.casefold().split()]


def _first_number(text: str) -> float | None:
    match = re.search(r"-?\d[\d,]*(?:\.\d+)?", text)
    return float(match[0].replace(",", "")) if match else None


def _start_call(entry: Words, arguments: dict[str, Any], thing: str) -> ReferenceCall:
    start = _start(entry)
    free = [name for name, value in start.fixed.items() if value != "{value}"]
    if start.exact:
        return call(entry.tool, arguments, free=free, either={start.port: (thing,)})
    words_of = [word for word in re.findall(r"[\w'’.-]+", thing) if len(word) > 2]
    return call(entry.tool, arguments, free=free, words={start.port: words_of or [thing]})


def _call(edge: Edge, arguments: dict[str, Any], trial: TrialSandbox, stated: Mapping[str, Any]) -> ReferenceCall:
    """A call of the reference: what it does not state a client may add, and positions need not be exact."""
    schema = trial.catalog.tool(edge.consumer).input_schema
    free = [
        name
        for name in schema.get("properties", {})
        if name not in arguments and name not in (schema.get("required") or ()) and name not in stated
    ]
    near, same = {}, {}
    if edge.port.kind == "pair":
        near = {name: _NEAR for name, value in arguments.items() if isinstance(value, float)}
    elif edge.port.kind == "value" and not any(letter.isdigit() for letter in str(arguments[edge.port.name])):
        same = {edge.port.name: re.findall(r"\w+", str(arguments[edge.port.name]))}
    return call(edge.consumer, arguments, free=free, near=near, words=same)

"""An errand with values: randomly chosen things, calls that were really made, and the origin of every value.

An errand is unfit for the chosen things when a call fails or finds something else, when a choice has no clear winner,
or when what is asked is missing: then other things are tried.
"""

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from m3bench.server.lab.authoring.synthesis.errand import PRICE, ROAD, SynthesisErrand, Want
from m3bench.server.lab.authoring.synthesis.lexicon import Askable, LexiconLink, Lookup, Pick, position
from m3bench.server.lab.authoring.synthesis.rows import Row, number, rows
from m3bench.server.lab.authoring.synthesis.trial_sandbox import TrialSandbox
from m3bench.tasks.families.base import call, need
from m3bench.tasks.folding import fold
from m3bench.tasks.task import ReferenceCall

LONGEST_TEXT = 90
MARGIN = 0.02
"""By which share a number must be off the limit or off the other one, to be clearly above or below it."""
FAR = 10
"""Times a limit that the number held against it may be at most, and the other way round."""
LEAST = 0.3
"""What is asked must be more than that: nobody drives to where they are."""

_NUMBERS = frozenset({"{lat}", "{lng}", "{from_lat}", "{from_lng}", "{object}"})
"""Facts that go into a call as numbers."""


@dataclass(frozen=True)
class ExecutedCall:
    """A call that was made."""

    call: ReferenceCall
    text: str
    step: int


@dataclass(frozen=True)
class KnownThing:
    """Something that is spoken of, and what is known of it."""

    facts: Mapping[str, object]
    step: int
    """The step that told of it; -1 when the card did."""
    others: tuple[str, ...] = ()
    """Names of those it was chosen from."""
    compared: tuple[float, ...] = ()
    """The numbers by which it was chosen, its own first."""


@dataclass(frozen=True)
class InstanceAnswer:
    """Something that was asked, and the answer to it."""

    want: Want
    about: int
    """Which thing on the card, from 0."""
    value: str | float
    step: int
    """The step that tells it, from 0."""
    others: tuple[str, ...] = ()
    compared: tuple[float, ...] = ()

    @property
    def ask(self) -> Askable:
        """What was asked."""
        return self.want.ask


@dataclass
class Instance:
    """A task in the making."""

    errand: SynthesisErrand
    things: tuple[str, ...]
    """What is written on the card."""
    made: dict[str, ExecutedCall] = field(default_factory=dict)
    """The calls, by what they are."""
    answers: list[InstanceAnswer] = field(default_factory=list)
    joined: list[InstanceAnswer] = field(default_factory=list)
    """The numbers that were brought together, thing by thing."""
    decided: InstanceAnswer | None = None
    taken: int = 0
    """Which of the two things that a condition decides between was wanted."""
    winner: int = 0
    """Which thing on the card has more."""
    rate: float = 0.0
    """What the coin costs."""
    result: float | None = None
    """What was brought about by joining."""
    result_step: int = -1

    @property
    def steps(self) -> list[list[ReferenceCall]]:
        """The calls, step by step."""
        last = max((made.step for made in self.made.values()), default=-1)
        return [[made.call for made in self.made.values() if made.step == step] for step in range(last + 1)]

    @property
    def heard(self) -> list[list[str]]:
        """What the calls of each step answered."""
        return [[made.text for made in self.made.values() if made.step == step] for step in range(len(self.steps))]

    @property
    def asked(self) -> list[list[str | float]]:
        """What is asked of each step: values, and what was brought together."""
        found: list[list[str | float]] = [
            [answer.value for answer in self.answers if answer.step == step] for step in range(len(self.steps))
        ]
        if self.result is not None:
            found[self.result_step].append(self.result)
        return found


async def instantiate(
    errand: SynthesisErrand, trial: TrialSandbox, pool: Sequence[str], dice: random.Random
) -> Instance:
    """Fill an errand with things from a pool.

    Raises:
        Unfit: These things make no good task.
    """
    need(len(pool) >= errand.count, "too few things")
    player = _Player(Instance(errand, tuple(dice.sample(list(pool), errand.count))), trial)
    await player.play()
    made = player.made
    for want in errand.wants:
        values = [answer.value for answer in made.answers if answer.want == want]
        need(len(set(values)) == len(values), "two things have the same answer")
    return made


class _Player:
    """Makes the calls of an errand."""

    def __init__(self, made: Instance, trial: TrialSandbox) -> None:
        self.made = made
        self._trial = trial
        self._after = -1
        """New calls come after this step, because something was decided there."""

    async def play(self) -> None:
        errand, count = self.made.errand, range(self.made.errand.count)
        if errand.decider is not None:
            decided = await self._answer(0, errand.decider)
            value = float(decided.value)
            need(abs(value - errand.limit) > MARGIN * errand.limit, "too close to the limit")
            need(errand.limit / FAR < value < errand.limit * FAR, "nobody would be in doubt")
            self.made.decided, self.made.taken = decided, int(value <= errand.limit)
            for want in errand.wants:
                self.made.answers.append(await self._answer(0, want))
            self._after = decided.step
            self.made.answers.append(await self._answer(0, errand.either[self.made.taken]))
            return
        if errand.joined is not None:
            self.made.joined = [await self._answer(index, errand.joined) for index in count]
        if errand.together == "more":
            values = [float(answer.value) for answer in self.made.joined]
            need(abs(values[0] - values[1]) > MARGIN * max(map(abs, values)), "too close to call")
            self.made.winner = values.index(max(values))
            self._after = max(answer.step for answer in self.made.joined)
            for want in errand.wants:
                self.made.answers.append(await self._answer(self.made.winner, want))
            self._after = -1
        else:
            for index in count:
                for want in errand.wants:
                    self.made.answers.append(await self._answer(index, want))
        if errand.together is not None:
            await self._join()

    async def _join(self) -> None:
        errand, values = self.made.errand, [float(answer.value) for answer in self.made.joined]
        step = max((answer.step for answer in self.made.joined), default=-1) + 1
        plain = [int(value) if value.is_integer() else value for value in values]
        match errand.together:
            case "more":
                one = call("math/subtract", {"minuend": max(plain), "subtrahend": min(plain)})
            case "total":
                one = call("math/sum", {"numbers": plain})
            case "buys":
                price = call(
                    PRICE, {"instrument": f"{errand.coin}-USDT"}, either={"instrument": (f"{errand.coin}-USD",)}
                )
                self.made.rate = _need_number(json.loads(await self._play(price, -1))["lastPrice"])
                rate = int(self.made.rate) if self.made.rate.is_integer() else self.made.rate
                one = call("math/division", {"numerator": rate, "denominator": plain[0]})
            case _:
                await self._drive()
                return
        self.made.result = _need_number(await self._play(one, step - 1))
        self.made.result_step = self.made.made[_key(one)].step
        need(abs(self.made.result) >= 1 and self.made.result not in values, "nothing was brought together")

    async def _drive(self) -> None:
        spots = [await self._thing(index, ()) for index in range(2)]
        spots = [await self._placed(spot) for spot in spots]
        ends = [
            {"location": {"latLng": {"latitude": _degrees(spot, "lat"), "longitude": _degrees(spot, "lng")}}}
            for spot in spots
        ]
        schema = self._trial.catalog.tool(ROAD).input_schema
        free = [name for name in schema["properties"] if name not in ("origin", "destination")]
        one = call(ROAD, {"origin": ends[0], "destination": ends[1]}, free=free)
        text = await self._play(one, max(spot.step for spot in spots))
        found = re.search(r'"distanceMeters": (\d+)', text)
        need(found is not None and int(found[1]) > 20_000, "no way worth asking for")
        assert found is not None
        self.made.result = round(int(found[1]) / 1000, 1)
        self.made.result_step = self.made.made[_key(one)].step

    async def _answer(self, index: int, want: Want) -> InstanceAnswer:
        thing = await self._thing(index, want.path)
        need(want.ask.fact in thing.facts, f"no {want.ask.fact}")
        value = _value(want.ask, thing.facts[want.ask.fact])
        chosen = want.path and want.path[-1].pick is not None and want.ask.kind == "name"
        others = thing.others if chosen else ()
        return InstanceAnswer(want, index, value, thing.step, others, thing.compared if chosen else ())

    async def _thing(self, index: int, path: Sequence[LexiconLink]) -> KnownThing:
        """What a path leads to from a thing on the card."""
        card = self.made.things[index]
        thing = KnownThing({"thing": card, "city": card, "where": card}, -1)
        lookup = self.made.errand.kind.lookup
        if lookup is not None:
            thing = await self._looked_up(thing, lookup)
        for link in path:
            if not link.tool:
                thing = KnownThing(
                    {name: _filled(value, thing.facts) for name, value in link.arguments.items()}, thing.step
                )
                continue
            if "{lat}" in json.dumps(link.arguments):
                thing = await self._placed(thing)
            thing = await self._looked_up(thing, link)
        return thing

    async def _placed(self, thing: KnownThing) -> KnownThing:
        """The same with its position."""
        if "lat" in thing.facts:
            return thing
        found = await self._looked_up(thing, position())
        return KnownThing({**thing.facts, **found.facts}, found.step)

    async def _looked_up(self, thing: KnownThing, lookup: Lookup) -> KnownThing:
        arguments = _filled(lookup.arguments, thing.facts)
        near = _near(arguments, lookup.near)
        words = {name: re.findall(r"\w+", str(arguments[name])) for name in lookup.words}
        one = call(lookup.tool, arguments, free=[*lookup.free, *self._optional(lookup.tool, arguments)], near=near,
                   words=words)  # fmt: skip
        text = await self._play(one, thing.step)
        listed = rows(text)
        row, others, compared = _picked(listed, lookup.pick, lookup.take.get("name", "")) if lookup.pick else (
            listed[0] if listed else {}, (), ()
        )  # fmt: skip
        facts: dict[str, object] = {
            name: value for name, path in lookup.take.items() if (value := _taken(path, row, text)) is not None
        }
        facts |= {f"from_{name}": thing.facts[name] for name in ("lat", "lng") if name in thing.facts}
        for name, template in lookup.same.items():
            said, wanted = fold(str(facts.get(name, ""))), fold(str(_filled(template, thing.facts)))
            need(said == wanted, "another thing was found")
        for name, template in lookup.holds.items():
            said, wanted = fold(str(facts.get(name, ""))), fold(str(_filled(template, thing.facts)))
            need(wanted in said, "another thing was found")
        return KnownThing(facts, self.made.made[_key(one)].step, others, compared)

    def _optional(self, tool: str, arguments: Mapping[str, object]) -> list[str]:
        """Arguments that a client may add."""
        schema = self._trial.catalog.tool(tool).input_schema
        return [name for name in schema.get("properties", {}) if name not in arguments]

    async def _play(self, one: ReferenceCall, after: int) -> str:
        """Make a call after a step, unless it was made before."""
        if _key(one) not in self.made.made:
            text = await self._trial.text(one.tool, one.arguments)
            need(bool(text), f"{one.tool} does not answer")
            assert text is not None
            self.made.made[_key(one)] = ExecutedCall(one, text, max(after, self._after) + 1)
        return self.made.made[_key(one)].text


def _degrees(thing: KnownThing, name: str) -> float:
    return float(str(thing.facts[name]))


def _key(one: ReferenceCall) -> str:
    return f"{one.tool} {json.dumps(one.arguments, sort_keys=True, ensure_ascii=False)}"


def _filled(value: Any, facts: Mapping[str, object]) -> Any:
    """A template with facts put in; a number stays one where it stands alone."""
    if isinstance(value, Mapping):
        return {name: _filled(part, facts) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(part, facts) for part in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    names = re.findall(r"\{(\w+)\}", value)
    need(all(name in facts for name in names), f"no {', '.join(names)}")
    if value in _NUMBERS:
        found = _need_number(facts[names[0]])
        return int(found) if value == "{object}" else found
    return value.format(**facts)


def _near(arguments: Mapping[str, object], span: float) -> dict[str, float]:
    return {name: span for name, value in arguments.items() if span and isinstance(value, float)}


def _picked(listed: Sequence[Row], pick: Pick, name: str) -> tuple[Row, tuple[str, ...], tuple[float, ...]]:
    """The row with the highest or lowest value when there is a clear one, the names of others, and all values."""
    keyed = [(found, row) for row in listed if (found := number(row.get(pick.fact))) is not None]
    need(len(keyed) > 1, "nothing to choose from")
    keyed.sort(key=lambda item: item[0], reverse=pick.highest)
    values = tuple(value for value, _ in keyed)
    need(abs(values[0] - values[1]) > 0.006 * max(map(abs, values)), "no clear winner")
    chosen = keyed[0][1]
    others = tuple(
        dict.fromkeys(str(row[name]) for _, row in keyed[1:] if name in row and row[name] != chosen.get(name))
    )
    return chosen, others, values


def _taken(path: str, row: Row, text: str) -> str | int | float | None:
    if path.startswith("/"):
        found = re.search(path[1:-1], text, re.MULTILINE)
        return found[1].strip() if found else None
    return row.get(path)


def _value(ask: Askable, found: object) -> str | float:
    """What the answer to an ask is."""
    if ask.kind == "number":
        value = round(_need_number(found) * ask.scale, 6)
        need(abs(value) > LEAST, "nothing, or next to nothing")
        return value
    text = str(found).strip()
    need(2 <= len(text) <= LONGEST_TEXT and "\n" not in text, "too long or too short to ask for")
    return text


def _need_number(found: object) -> float:
    value = number(found.strip() if isinstance(found, str) else found)
    need(value is not None, f"{found!r} is no number")
    assert value is not None
    return value

"""Derives plans: what each call of a played reference gives to later calls and to the answer, and what it needs.

A value of an argument that stands in the result of an earlier call was taken from there, unless the question says it.
A call that works on the file or the document of an earlier action needs that action. Values are looked for as they
are and, for numbers, as they are rounded. What a family derives from results otherwise leaves no such trace, so that
a call seems ready before the step it is in; `complete` adds what leaves no trace in a record: what was read by eye,
worked out or chosen.

Whatever follows up one of several things of which the step before asked a tool the same, while others are not followed
up, was chosen: it needs all of those calls, because they were compared. Otherwise, a call that by its values could go
out before the step it is in was held back by something. In this order:

    read        it names what no result says, and pictures were looked at before: it needs those looks.
    worked out  it has numbers that stand nowhere: it needs what the step before told.
    chosen      it uses what an earlier step told, and the step before asked a tool the same of more things than there
                are calls now: it needs them all.
    in order    nothing of this is seen, and a generator made the steps one after another: it waits for the step
                before. A choice by a single result ("if it rains") looks like this, and so does mere habit; therefore
                waiting only counts where the steps of the best schedule are counted.

A call that only opens an empty file waits for nothing while others of its step do.

What was only compared, counted, sorted or ruled out shows in no later call and no answer: a price that was not the
lowest, a park that was looked at and left. Whoever solved the task knew it, and so has to have asked. It is found by
the numbers that fields are decided by and, of a call whose facts are used nowhere as they are, by what its tool is
asked for, or else by what its result alone says.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, pairwise
from typing import Any

from m3bench.sandboxes.backends.base import Backend
from m3bench.server.lab.authoring.replay import perform
from m3bench.server.scoring.matching.agreement import says_nothing
from m3bench.tasks.checks import LoggedCall
from m3bench.tasks.facts import (
    MIN_DIGITS,
    Fact,
    Held,
    digits,
    facts_of,
    is_distinctive,
    leaves,
    number,
    numbers,
    within,
)
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import Role, kinds_of
from m3bench.tasks.library import Library
from m3bench.tasks.plan import Plan, PlannedCall, digest
from m3bench.tasks.task import Reference, Task
from m3bench.tasks.things import thing_of
from m3bench.tasks.trajectory import Call

MOST_FACTS = 6
"""Of one call: enough to know that it was made, and few enough for another route to bring them."""
SURE_DIGITS = 3
"""Of a number that is not in a result by chance."""
LONGEST = 120
"""Letters of a text that may be a fact; longer ones are taken by sentences."""
_ASKED_FOR = {
    "Reddit-MCP-Server/search_hot_posts": r"Score: (\d+)",
    "amazon/get_product": r"Price: \D{0,4}([\d.,]+)|Rated ([\d.]+)",
    "amazon/search_products": r"Price: \D{0,4}([\d.,]+)",
    "car-price/search_brand_model_price": r"Price: R\$ ([\d.,]+)",
    "food_nutrition_mcp/get_nutrition": r"Energy: ([\d.]+)",
    "google-maps/compute_route": r'"distanceMeters": (\d+)',
    "google-maps/distance_matrix": r'"distance": {\s*"text": "[^"]*",\s*"value": (\d+)',
    "google-maps/timezone": r'"timeZoneId": "([^"]+)"',
    "nationalparks/getCampgrounds": r'"name": "([^"]+)"',
    "okx/get_price": r'"lastPrice": "([\d.]+)"',
    "openlibrary_mcp/get_book_info": r'"title": "([^"]+)"|"pages": (\d+)',
    "yahoo-finance/get_stock_info": r'"currentPrice": ?([\d.]+)',
}
"""What these tools are asked for; the first group that matches is the fact."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def compared_in(held: Held, decided: Sequence[Fact], asked: Held, *, surely: bool = False) -> Iterator[Fact]:
    """The facts of a result that fields are decided by and that the question does not give.

    Args:
        held: The result.
        decided: The facts that decide.
        asked: The question.
        surely: Only facts that hardly stand there by chance: something else is known of the call.
    """
    for fact in decided:
        telling = isinstance(fact, str) or digits(fact) >= (SURE_DIGITS if surely else MIN_DIGITS)
        value = fold(fact) if isinstance(fact, str) else float(fact)
        if telling and held.holds(value) and not asked.holds(value):
            yield value


def told_alone(tool: str, held: Held, known: Sequence[Held]) -> list[Fact]:
    """What a result says that is not known otherwise, for a call of which nothing is used as it is.

    Args:
        tool: The tool.
        held: The result.
        known: The question, the arguments of the call, and the results of others of the tool.
    """
    found = dict.fromkeys(_asked_for(tool, held.text))
    own = [fact for fact in found if not any(each.holds(fact) for each in known[:2])]
    if own:
        return own[:MOST_FACTS]
    facts = [fact for fact in dict.fromkeys(_said(held.text)) if not any(each.holds(fact) for each in known)]
    telling = [fact for fact in facts if is_distinctive(fact)] or facts
    return telling[:MOST_FACTS] or list(dict.fromkeys(_said(held.text)))[:1]


def _asked_for(tool: str, text: str) -> Iterator[Fact]:
    pattern = _ASKED_FOR.get(tool)
    for match in _compiled(pattern).finditer(text) if pattern else ():
        word = next(group for group in match.groups() if group is not None)
        value = number(word)
        yield fold(word) if value is None else value


def _said(text: str) -> Iterator[Fact]:
    """The texts and numbers of a result: the values of a JSON document, else its lines and sentences."""
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    whole = [str(leaf) for leaf in leaves(document)] if isinstance(document, dict | list) else _SENTENCE.split(text)
    for part in whole:
        value = number(part)
        if value is not None:
            yield value
        elif len(part) <= LONGEST:
            yield from facts_of(part)
        else:
            yield from (
                fold(sentence) for sentence in _SENTENCE.split(part) if sentence and len(sentence) <= 2 * LONGEST
            )


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True, kw_only=True)
class Sequel:
    """A call of a reference, at its place in the order of calls."""

    step: int
    call: LoggedCall
    loose: tuple[Fact, ...]
    """The facts of its arguments that neither the question nor an earlier result tells."""

    @property
    def role(self) -> Role:
        """What its tool is for."""
        return kinds_of(self.call.tool).role

    @cached_property
    def named(self) -> frozenset[Fact]:
        """What its arguments name; numbers of one digit name nothing."""
        return frozenset(fact for fact in facts_of(self.call.arguments) if isinstance(fact, str) or digits(fact) > 1)

    @cached_property
    def says(self) -> Held:
        """Its arguments, asked for facts."""
        return arguments_of(self.call)

    @property
    def opens(self) -> bool:
        """Whether it only opens an empty file."""
        given: Mapping[str, Any] = self.call.arguments
        call = Call(tool=self.call.tool, arguments=given)
        return self.role == "action" and says_nothing(call, frozenset())


def arguments_of(call: LoggedCall) -> Held:
    """What a call says, asked for facts."""
    return Held("\n".join(str(leaf) for leaf in leaves(call.arguments)))


def complete(calls: Sequence[Sequel], needs: list[set[int]]) -> list[set[int]]:
    """Add to each call's needs what cannot be seen; what each call would wait for if a generator had made the steps.

    Args:
        calls: In order, step by step.
        needs: Places of the earlier calls that each call is seen to need; grows.
    """
    waits: list[set[int]] = [set() for _ in calls]
    levels: dict[int, int] = {}

    def level(place: int) -> int:
        return 1 + max((levels[other] for other in needs[place] | waits[place]), default=-1)

    for step in range(calls[-1].step + 1 if calls else 0):
        here = [place for place, one in enumerate(calls) if one.step == step]
        before = [place for place, one in enumerate(calls) if one.step == step - 1]
        last = max((levels[place] for place in before), default=-1)
        anchors = [place for place in before if levels[place] == last]
        used = set[int]().union(*(needs[place] for place in here))
        for place in here:
            one = calls[place]
            if one.opens:
                continue
            needs[place] |= _compared(place, here, before, calls, used)
            if level(place) <= last:
                needs[place] |= _read(one, calls)
            if level(place) <= last:
                needs[place] |= _worked_out(one, [calls[at] for at in anchors], anchors)
            if level(place) <= last and needs[place]:
                needs[place] |= _chosen(here, before, calls)
        held = [place for place in here if level(place) <= last]
        opening = {place for place in held if calls[place].opens}
        for place in held:
            if place not in opening or len(opening) == len(here):
                waits[place] |= {at for at in anchors if calls[at].role != "action"} or {*anchors}
        levels |= {place: level(place) for place in here}
    return waits


def _read(one: Sequel, calls: Sequence[Sequel]) -> set[int]:
    """The last looks at pictures, of a call that names something no result says."""
    if not any(isinstance(fact, str) for fact in one.loose):
        return set()
    looks = [(other.step, at) for at, other in enumerate(calls) if other.role == "perception" and other.step < one.step]
    return {at for step, at in looks if step == max(looks)[0]}


def _worked_out(one: Sequel, earlier: Sequence[Sequel], places: Sequence[int]) -> set[int]:
    """What the step before told, of a call with numbers that stand nowhere."""
    if not any(isinstance(fact, float) for fact in one.loose):
        return set()
    told = {at: other.role for at, other in zip(places, earlier, strict=True) if other.role != "action"}
    # What was computed stands where it is used as it is.
    return {at for at, role in told.items() if role != "computation"} or {*told}


def _compared(
    place: int, here: Sequence[int], before: Sequence[int], calls: Sequence[Sequel], used: set[int]
) -> set[int]:
    """The calls of the step before that were compared, of a call that follows up some of them while others are not.

    Args:
        place: The call.
        here: The calls of its step.
        before: The calls of the step before.
        calls: All calls.
        used: What the calls of the step are seen to need.
    """
    found: set[int] = set()
    for group in _groups(before, calls):
        common = frozenset.intersection(*(calls[at].named for at in group))
        own = {at: calls[at].named - common for at in group}
        followed = {at for at in group if at in used or any(_names(calls[other], own[at]) for other in here)}
        if len(followed) < len(group) and any(_names(calls[place], own[at]) for at in group):
            found |= {*group}
    return found


def _chosen(here: Sequence[int], before: Sequence[int], calls: Sequence[Sequel]) -> set[int]:
    """The calls of the step before that asked a tool the same of more things than there are calls now."""
    return {at for group in _groups(before, calls) if len(group) > len(here) for at in group}


def _groups(before: Sequence[int], calls: Sequence[Sequel]) -> Iterator[list[int]]:
    """The calls of a step that ask a tool the same of several things."""
    for tool in sorted({calls[at].call.tool for at in before if calls[at].role in ("knowledge", "perception")}):
        group = [at for at in before if calls[at].call.tool == tool]
        if len(group) > 1:
            yield group


def _names(one: Sequel, facts: frozenset[Fact]) -> bool:
    return any(one.says.holds(fact) for fact in facts)


MIN_PHRASE = 8
"""Letters of a sequence of words that an answer does not share with a result by chance."""
SCALES = (1.0, 1000.0, 60.0, 3600.0, 1609.344)
"""Units in which answers say numbers otherwise than results: kilometres, minutes, hours, miles."""
MAX_FACTS = 24
"""Of one call: enough to tell its result from any other."""
_HANDLES = (
    "filepath",
    "file_path",
    "presentation_id",
    "id",
    "input_path",
    "output_path",
    "image_source",
    "imageFileUri",
)


def derive(
    question: str,
    answer: str,
    steps: Sequence[Sequence[LoggedCall]],
    *,
    decided: Sequence[Fact] = (),
    in_order: bool = False,
) -> Plan:
    """The plan of a reference.

    Args:
        question: What the client is asked.
        answer: What a client that played this reference says.
        steps: The calls of the reference as they were played.
        decided: The facts by which fields are decided, though the answer need not say them.
        in_order: A generator made the steps one after another, each with what the ones before it told: where nothing
            shows what a call needs of the step before, it waits for it.
    """
    calls = [(number, call) for number, step in enumerate(steps) for call in step]
    before = [[at for at, (earlier, _) in enumerate(calls) if earlier < step] for step, _ in calls]
    held = [Held(call.text) for _, call in calls]
    asked = Held(question)
    taken = [_taken(call, asked) for _, call in calls]
    needs, gives = _seen(calls, before, held, taken)
    sequels = [
        Sequel(step=step, call=call, loose=_loose(call, taken[place], [held[at] for at in before[place]], asked))
        for place, (step, call) in enumerate(calls)
    ]
    waits = complete(sequels, needs)
    for place, facts in enumerate(gives):
        facts |= dict.fromkeys(_answered(held[place], answer, asked))
    _add_compared([call for _, call in calls], held, gives, decided, asked)
    planned = []
    for place, (_, call) in enumerate(calls):
        known = [fact for fact in gives[place] if any(held[other].holds(fact) for other in before[place])]
        news = [fact for fact in gives[place] if fact not in known]
        planned.append(
            PlannedCall(
                gives=(*news, *known)[:MAX_FACTS],
                new=min(len(news), MAX_FACTS),
                needs=tuple(sorted(_direct(needs, place))),
                waits=tuple(sorted(waits[place])) if in_order else (),
                result=digest(call.text),
                about=thing_of(call.tool, call.text),
            )
        )
    return Plan(calls=tuple(planned))


def _add_compared(
    calls: Sequence[LoggedCall],
    held: Sequence[Held],
    gives: Sequence[dict[Fact, None]],
    decided: Sequence[Fact],
    asked: Held,
) -> None:
    """Add what was only compared; where nothing else is known of a call, what its result alone tells.

    What an action gives is its effect, and what a call was asked with says nothing about its result.
    """
    for place, call in enumerate(calls):
        if kinds_of(call.tool).role == "action" or not call.text.strip():
            continue
        put_in = arguments_of(call)
        knows = kinds_of(call.tool).role == "knowledge"
        own = [fact for fact in gives[place] if not (knows and put_in.holds(fact))]
        # What is seen or worked out leaves no call that could tell the rest.
        if knows or not own:
            gives[place] |= dict.fromkeys(compared_in(held[place], decided, asked, surely=bool(own)))
        if not own and not any(not put_in.holds(fact) for fact in gives[place]):
            others = [held[at] for at, other in enumerate(calls) if other.tool == call.tool and other.text != call.text]
            gives[place] |= dict.fromkeys(told_alone(call.tool, held[place], [asked, put_in, *others]))


def decided_by(task: Task) -> tuple[Fact, ...]:
    """The facts by which the fields of a task are decided: what is compared, and what values are computed from."""
    return tuple(fact for field in task.fields for fact in (*field.compared, *field.derived))


def _seen(
    calls: Sequence[tuple[int, LoggedCall]],
    before: Sequence[Sequence[int]],
    held: Sequence[Held],
    taken: Sequence[Sequence[Fact]],
) -> tuple[list[set[int]], list[dict[Fact, None]]]:
    """What each call is seen to need of those in earlier steps, and what it gives to later ones.

    Args:
        calls: With their steps, in order.
        before: The places of the calls in earlier steps, by call.
        held: What each call told.
        taken: The facts in each call's arguments that the question does not give.
    """
    put_in = [arguments_of(call) for _, call in calls]
    needs: list[set[int]] = [set() for _ in calls]
    gives: list[dict[Fact, None]] = [{} for _ in calls]
    for place, (_, call) in enumerate(calls):
        for fact in taken[place]:
            sources = [other for other in before[place] if held[other].holds(fact)]
            # Whoever asks about a thing knows it already; what is put into a file about it is another matter.
            fills = kinds_of(call.tool).role == "action"
            told = [other for other in sources if fills or not put_in[other].holds(fact)]
            needs[place] |= {*told[:1]}
            for source in sources:
                gives[source][fact] = None
        needs[place] |= {other for other in before[place] if _same_object(calls[other][1], call)}
    return needs, gives


def _loose(call: LoggedCall, taken: Sequence[Fact], before: Sequence[Held], asked: Held) -> tuple[Fact, ...]:
    """The facts of a call's arguments that neither the question nor an earlier result tells."""
    unsaid = (fact for fact in taken if not _told(fact, before) and not _worded(fact, asked))
    return *unsaid, *_small_terms(call, asked)


_LETTERS = re.compile(r"[^\W\d_]{3,}")


def loose_facts(call: Call, before: Sequence[Held], asked: Held) -> tuple[Fact, ...]:
    """The facts of a call's arguments that somebody must have seen or heard: nothing else tells them."""
    made = LoggedCall(tool=call.tool, arguments=dict(call.arguments), text="", outcome="success")
    taken = _taken(made, asked)
    # `230 g fig` where the question has the grams: the fig was seen.
    seen = [
        fact for fact in taken if not _told(fact, before) and not any(map(asked.holds, _LETTERS.findall(str(fact))))
    ]
    return *_loose(made, taken, before, asked), *seen


async def play_plans(
    library: Library, backend: Backend, *, in_order: bool = False, progress: Callable[[str], None] = lambda id: None
) -> dict[str, tuple[Plan, ...]]:
    """Play every reference of a set and derive its plan.

    Args:
        library: The set.
        backend: Where to play.
        in_order: A generator made the references, step by step.
        progress: Told the id of each finished task.
    """
    plans = {}
    for task in library.tasks.values():
        plans[task.id] = tuple(
            [await _played(library, task, reference, backend, in_order) for reference in task.references]
        )
        progress(task.id)
    return plans


async def _played(library: Library, task: Task, reference: Reference, backend: Backend, in_order: bool) -> Plan:
    performance = await perform(library, task, reference, backend)
    steps = in_steps(reference, performance.calls)
    return derive(task.question, task.answer, steps, decided=decided_by(task), in_order=in_order)


def in_steps(reference: Reference, calls: Sequence[LoggedCall]) -> list[Sequence[LoggedCall]]:
    """The calls of a played reference, by its steps."""
    ends = [*accumulate(len(step) for step in reference.steps)]
    return [calls[start:end] for start, end in pairwise([0, *ends])]


def _taken(call: LoggedCall, asked: Held) -> list[Fact]:
    """The facts in a call's arguments that the question does not give."""
    kinds = kinds_of(call.tool)
    arguments = {name: value for name, value in call.arguments.items() if kinds.kind(name) != "presentation"}
    return [fact for fact in dict.fromkeys(facts_of(arguments)) if _telling(fact) and not asked.holds(fact)]


def _worded(fact: Fact, asked: Held) -> bool:
    """Whether at least half of the words of a text stand in the question: a market named after the coin asked for."""
    words = re.findall(r"\w{3,}", fact) if isinstance(fact, str) else []
    return bool(words) and sum(map(asked.holds, words)) >= len(words) / 2


def _small_terms(call: LoggedCall, asked: Held) -> list[Fact]:
    """The numbers of a computation that are too small to be found anywhere, and that the question does not give."""
    if kinds_of(call.tool).role != "computation":
        return []
    return [fact for fact in facts_of(call.arguments) if not _telling(fact) and not asked.holds(fact)]


def _told(fact: Fact, before: Sequence[Held]) -> bool:
    """Whether one of the results holds a fact, as it is or with more digits."""
    return any(result.holds(fact) or (isinstance(fact, float) and any(_behind(fact, result))) for result in before)


def _answered(held: Held, answer: str, asked: Held) -> list[Fact]:
    """The facts of a result that the answer uses and the question does not give."""
    said = Held(answer)
    found: dict[Fact, None] = {}
    for phrase in held.phrases():
        if 4 <= len(phrase) <= 200 and said.holds(phrase):
            found[phrase] = None
    found |= dict.fromkeys(_common(said.folded, held.folded))
    for value in numbers(answer):
        if digits(value) >= MIN_DIGITS and not asked.holds(value):
            found |= dict.fromkeys(_behind(value, held))
    return [fact for fact in found if not asked.holds(fact)]


def _common(answer: str, result: str) -> Iterator[str]:
    """Sequences of words that the answer repeats from a result."""
    words = [word.strip(".,;:!?()[]\"'*") for word in answer.split()]
    start = 0
    while start < len(words):
        end, phrase = start, ""
        while end < len(words) and words[end] and within(longer := f"{phrase} {words[end]}".strip(), result):
            phrase, end = longer, end + 1
        if end - start >= 2 and len(phrase) >= MIN_PHRASE:
            yield phrase
        start = max(end, start + 1)


def _behind(value: float, held: Held) -> Iterator[float]:
    """The numbers of a result that an answer says rounded, or in another unit."""
    if held.holds(value):
        yield value
        return
    places = len(f"{value:.12g}".partition(".")[2])
    if digits(value) < 3:
        return
    for scale in SCALES:
        for held_number in sorted(held.numbers):
            if round(held_number / scale, places) == value:
                yield held_number
                return


def _telling(fact: Fact) -> bool:
    return len(fact) >= 3 if isinstance(fact, str) else digits(fact) >= MIN_DIGITS


def _same_object(action: LoggedCall, call: LoggedCall) -> bool:
    """Whether an earlier action worked on the file or document that a call works on."""
    if kinds_of(action.tool).role != "action":
        return False
    made, used = _objects(action), _objects(call)
    same_server = action.tool.partition("/")[0] == call.tool.partition("/")[0]
    if same_server and action.tool.startswith("ppt/"):
        return True
    return bool(made & used)


def _objects(call: LoggedCall) -> set[str]:
    return {fold(str(value)).removeprefix("./") for name, value in call.arguments.items() if name in _HANDLES}


def _direct(needs: Sequence[set[int]], place: int) -> set[int]:
    """The needs of a call without those that follow from its other needs."""
    implied: set[int] = set()
    for need in needs[place]:
        implied |= _all(needs, need)
    return needs[place] - implied


def _all(needs: Sequence[set[int]], place: int) -> set[int]:
    found = set(needs[place])
    for need in needs[place]:
        found |= _all(needs, need)
    return found

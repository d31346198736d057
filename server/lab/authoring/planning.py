"""Derives plans: what each call of a played reference gives to later calls and to the answer, and what it needs.

A value of an argument that stands in the result of an earlier call was taken from there, unless the question says it.
A call that works on the file or the document of an earlier action needs that action. Values are looked for as they
are and, for numbers, as they are rounded. What a family derives from results otherwise leaves no such trace, so that
a call seems ready before the step it is in; `unseen` says what it was derived from, and what it gives is what is seen
of it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise

from m3bench.sandboxes.backends.base import Backend
from m3bench.server.lab.authoring.performance import perform
from m3bench.server.lab.authoring.unseen import Sequel, arguments_of, complete
from m3bench.tasks.checks import LoggedCall
from m3bench.tasks.facts import MIN_DIGITS, Fact, Held, digits, facts_of, numbers, within
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.library import Library
from m3bench.tasks.plan import Plan, PlannedCall, digest
from m3bench.tasks.task import Reference, Task

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


def derive(question: str, answer: str, steps: Sequence[Sequence[LoggedCall]], *, in_order: bool = False) -> Plan:
    """The plan of a reference.

    Args:
        question: What the client is asked.
        answer: What a client that played this reference says.
        steps: The calls of the reference as they were played.
        in_order: A generator made the steps one after another, each with what the ones before it told: where nothing
            shows what a call needs of the step before, it waits for it.
    """
    calls = [(number, call) for number, step in enumerate(steps) for call in step]
    held = [Held(call.text) for _, call in calls]
    asked = Held(question)
    taken = [_taken(call, asked) for _, call in calls]
    put_in = [arguments_of(call) for _, call in calls]
    needs: list[set[int]] = [set() for _ in calls]
    gives: list[dict[Fact, None]] = [{} for _ in calls]

    def before(step: int) -> list[int]:
        return [place for place, (at, _) in enumerate(calls) if at < step]

    for place, (step, call) in enumerate(calls):
        earlier = before(step)
        for fact in taken[place]:
            sources = [other for other in earlier if held[other].holds(fact)]
            # Who asks about a thing knows it already; what is put into a file about it is another matter.
            fills = kinds_of(call.tool).role == "action"
            told = [other for other in sources if fills or not put_in[other].holds(fact)]
            needs[place] |= {*told[:1]}
            for source in sources:
                gives[source][fact] = None
        needs[place] |= {other for other in earlier if _same_object(calls[other][1], call)}
    waits = complete(
        [
            Sequel(
                step=step,
                call=call,
                loose=(
                    *(
                        fact
                        for fact in taken[place]
                        if not _told(fact, [held[at] for at in before(step)]) and not _worded(fact, asked)
                    ),
                    *_small_terms(call, asked),
                ),
            )
            for place, (step, call) in enumerate(calls)
        ],
        needs,
    )
    for place, facts in enumerate(gives):
        facts |= dict.fromkeys(_answered(held[place], answer, asked))
    planned = []
    for place, (step, call) in enumerate(calls):
        known = [fact for fact in gives[place] if any(held[other].holds(fact) for other in before(step))]
        news = [fact for fact in gives[place] if fact not in known]
        planned.append(
            PlannedCall(
                gives=(*news, *known)[:MAX_FACTS],
                new=min(len(news), MAX_FACTS),
                needs=tuple(sorted(_direct(needs, place))),
                waits=tuple(sorted(waits[place])) if in_order else (),
                result=digest(call.text),
            )
        )
    return Plan(calls=tuple(planned))


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
        plans[task.id] = tuple([await _played(library, task, one, backend, in_order) for one in task.references])
        progress(task.id)
    return plans


async def _played(library: Library, task: Task, reference: Reference, backend: Backend, in_order: bool) -> Plan:
    performance = await perform(library, task, reference, backend)
    return derive(task.question, task.answer, in_steps(reference, performance.calls), in_order=in_order)


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
    return any(one.holds(fact) or (isinstance(fact, float) and any(_behind(fact, one))) for one in before)


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
        for number in sorted(held.numbers):
            if round(number / scale, places) == value:
                yield number
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

"""What a run that was not solved got wrong about the picture, held against what is to be seen there.

The truth of a task's pictures is known on the server's side: each thing, what its cues show, and what is meant. What
the agent took for meant is in the arguments of its calls and in what it handed in. The two are compared by rule; no
model judges. A run that went wrong in another way has no such fault, and where the record does not tell, nothing is
said.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from m3bench.server.scorecard.model import ActualCall, Perception, PerceptionClass, ScoreCard
from m3bench.server.scorecard.perception import SIGHT_WORDS
from m3bench.server.scoring.words import printable
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.truth import Amount, CueTruth, Measure, ThingTruth, Truth

PERCEPTION_CLASSES: Mapping[PerceptionClass, str] = {
    "not looked": "nothing shows that anybody looked at the picture",
    "wrong thing": "something else in the picture was taken for what is meant",
    "miscounted": "a number of things was counted wrong",
    "misread": "writing, a dial or a chart was read wrong",
    "wrong relation": "it was misjudged how things stand to each other",
    "made up": "what is not in the picture was taken from it",
    "right seen, wrong used": "the right things were asked about, and another was named in the end",
}
"""By class: what happened."""

_OF_MEASURE: Mapping[Measure, PerceptionClass] = {
    "count": "miscounted",
    "reading": "misread",
    "relation": "wrong relation",
}
_OF_SKILL: Mapping[str, PerceptionClass] = {"counting": "miscounted", "relation": "wrong relation"}
_ALIKE = 0.72
"""How alike words are of which one may be a misreading of the other."""


def perception_of(card: ScoreCard, truth: Truth, given: Mapping[str, Sequence[object]]) -> Perception | None:
    """How what a run took from the picture compares with what is there; None where that says nothing.

    Args:
        card: Of the run.
        truth: What is to be seen in its task's pictures.
        given: The values that were handed in, by field.
    """
    if card.success is None or card.void is not None or not truth.skills:
        return None
    if card.success:
        return Perception(skills=truth.skills, right=truth.skills)
    run = _Run(card, truth, given)
    for judge in (_not_looked, _other_thing, _other_words, _other_amount, _other_in_the_end):
        if found := judge(run):
            return Perception(
                skills=truth.skills, right=found.right, wrong=found.wrong, found=found.name, evidence=found.evidence
            )
    return Perception(skills=truth.skills)


@dataclass(frozen=True, kw_only=True)
class _Found:
    name: PerceptionClass
    evidence: str
    wrong: str = ""
    right: tuple[str, ...] = ()


class _Run:
    """What a run says about the things in its picture."""

    def __init__(self, card: ScoreCard, truth: Truth, given: Mapping[str, Sequence[object]]) -> None:
        self.card, self.truth = card, truth
        self.handed_in = {name: _texts(values) for name, values in given.items()}
        self._words = [(thing, _words(thing)) for thing in truth.things]

    @property
    def called(self) -> list[tuple[int, ActualCall]]:
        """Calls that ask or change something, with their steps; looking at a picture with a tool assumes nothing."""
        return [
            (step, call)
            for step, call in self.card.alignment.actual_calls
            if kinds_of(call.tool).role != "perception" and call.outcome != "unknown_tool"
        ]

    def named(self, texts: Sequence[str]) -> list[ThingTruth]:
        """The things that some texts name; where the words of one hold another's, the longer counts."""
        found = [(thing, word) for thing, words in self._words for word in words if any(_holds(t, word) for t in texts)]
        longest = [word for _, word in found]
        return [
            thing
            for place, (thing, _) in enumerate(found)
            if thing not in [other for other, _ in found[:place]]
            and any(not _is_part(word, longest) for same, word in found if same == thing)
        ]


def _not_looked(run: _Run) -> _Found | None:
    if run.card.sight != "unseen":
        return None
    return _Found(name="not looked", evidence=SIGHT_WORDS["unseen"])


def _other_thing(run: _Run) -> _Found | None:
    """A call about a thing of the picture that is not meant, while one that is meant was left out."""
    named: list[tuple[int, ActualCall, ThingTruth]] = [
        (step, call, thing) for step, call in run.called for thing in run.named(_texts(call.arguments))
    ]
    asked = [thing for _, _, thing in named]
    left_out = [thing for thing in run.truth.meant if thing not in asked]
    for step, call, thing in named:
        if not thing.meant and (left_out or not run.truth.meant):
            where = f"Step {step + 1} calls {printable(call.tool)} about {_called(thing)}, which is not meant"
            return _of_cues(run.truth, thing, where)
    return None


def _of_cues(truth: Truth, thing: ThingTruth, where: str) -> _Found:
    """Why a thing is not meant: the cues that do not hold for it."""
    seen = list(zip(truth.cues, thing.cues, strict=False))
    failing = [(cue, shown.value) for cue, shown in seen if not shown.holds]
    right = tuple(cue.skill for cue, shown in seen if shown.holds)
    if len(failing) != 1:
        return _Found(name="wrong thing", evidence=f"{where}.", right=right)
    cue, value = failing[0]
    found = _OF_MEASURE.get(cue.measure) or _OF_SKILL.get(cue.skill) or "wrong thing"
    return _Found(name=found, evidence=f"{where}: {_shown(cue, value)}.", wrong=cue.skill, right=right)


def _shown(cue: CueTruth, value: object) -> str:
    return f"asked for was {printable(cue.phrase)}, and there it is {printable(str(value))}"


def _other_words(run: _Run) -> _Found | None:
    """A call in place of one about a meant thing whose words are nowhere in the picture."""
    alignment = run.card.alignment
    wanted = {place: call for place, (_, call) in enumerate(alignment.reference_calls)}
    amounts = [_texts(amount.value) for amount in run.truth.amounts]
    for near in alignment.instead:
        meant = [thing for thing in run.named(_texts(wanted[near.reference].arguments)) if thing.meant]
        step, made = alignment.actual_calls[near.actual]
        if not meant or run.named(_texts(made.arguments)):
            continue
        for thing, told in _replaced(meant, wanted[near.reference].arguments, made.arguments):
            if any(told in texts for texts in amounts):
                continue
            where = f"Step {step + 1} calls {printable(made.tool)} about {printable(told)[:80]}"
            if any(SequenceMatcher(None, word, fold(told)).ratio() >= _ALIKE for word in _words(thing)):
                return _Found(name="misread", evidence=f"{where}, where the picture has {_called(thing)}.")
            return _Found(name="made up", evidence=f"{where}, which the picture does not show.")
    return None


def _replaced(
    meant: Sequence[ThingTruth], wanted: Mapping[str, object], made: Mapping[str, object]
) -> Iterator[tuple[ThingTruth, str]]:
    """What stands in the arguments of a call where the reference has a meant thing."""
    for name, value in wanted.items():
        for thing in meant:
            if any(_holds(text, word) for text in _texts(value) for word in _words(thing)):
                yield from ((thing, text) for text in _texts(made.get(name)) if text)


@dataclass(frozen=True)
class _Stated:
    """A number that somebody stated, and where."""

    text: str
    where: str


def _other_amount(run: _Run) -> _Found | None:
    """An amount to be read from the picture that is stated with another value."""
    for amount in run.truth.amounts:
        for stated in _stated(run, amount):
            options = [_texts(option)[0] for option in amount.options]
            if _equal(stated.text, amount) or (options and stated.text not in options):
                continue
            found = _OF_SKILL.get(amount.skill, "misread")
            of = f" of {printable(amount.thing)}" if amount.thing else ""
            evidence = f"{stated.where} {printable(stated.text)} for {printable(amount.name)}{of}"
            evidence += f", where the picture shows {printable(str(amount.value))}."
            return _Found(name=found, evidence=evidence, wrong=amount.skill)
    return None


def _stated(run: _Run, amount: Amount) -> Iterator[_Stated]:
    """Values that stand where the reference, or the right value of a field, has this amount."""
    alignment = run.card.alignment
    wanted = [call for _, call in alignment.reference_calls]
    pairs = [(match.reference, match.actual) for match in alignment.matches if not match.full]
    pairs += [(near.reference, near.actual) for near in alignment.instead]
    for reference, actual in pairs:
        step, made = alignment.actual_calls[actual]
        for name, value in wanted[reference].arguments.items():
            told = _texts(made.arguments.get(name))
            if any(_equal(text, amount) for text in _texts(value)):
                yield from (_Stated(text, f"Step {step + 1} says") for text in told if text not in _texts(value))
    for check in run.card.checks:
        if not check.passed and check.right and _equal(check.right, amount):
            yield from (_Stated(text, "Handed in was") for text in run.handed_in.get(check.check, ()))


def _equal(text: str, amount: Amount) -> bool:
    if isinstance(amount.value, str):
        return _holds(fold(text), fold(amount.value))
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    return len(numbers) == 1 and abs(float(numbers[0]) - float(amount.value)) <= amount.within


def _other_in_the_end(run: _Run) -> _Found | None:
    """A field that names another thing of the picture, although the calls were about the right ones."""
    if not run.truth.things or run.card.alignment.missed:
        return None
    for check in run.card.checks:
        if check.passed or not check.right:
            continue
        given = run.named(run.handed_in.get(check.check, ()))
        wanted = run.named([check.right])
        if given and wanted and {thing.name for thing in given} != {thing.name for thing in wanted}:
            told = f"The calls were about the right things, and '{printable(check.check)}' names {_called(given[0])}"
            skills = tuple(cue.skill for cue in run.truth.cues)
            evidence = f"{told} in place of {_called(wanted[0])}."
            return _Found(name="right seen, wrong used", evidence=evidence, right=tuple(dict.fromkeys(skills)))
    return None


def _called(thing: ThingTruth) -> str:
    return printable(thing.name)[:60]


def _words(thing: ThingTruth) -> tuple[str, ...]:
    return tuple(word for word in map(fold, (thing.name, *thing.words)) if word)


def _holds(text: str, word: str) -> bool:
    """Whether a text has a word, or several in a row, between the borders of words; digits also without hyphens."""
    folded = fold(text)
    if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", folded):
        return True
    digits = re.sub(r"\W", "", word)
    return len(digits) > 7 and digits.isdigit() and digits in re.sub(r"[\s-]", "", folded)


def _is_part(word: str, words: Sequence[str]) -> bool:
    return any(word != other and _holds(other, word) for other in words)


def _texts(value: object) -> list[str]:
    """Every text and number in a value."""
    match value:
        case str():
            try:
                inner = json.loads(value) if value[:1] in ("[", "{") else None
            except (ValueError, RecursionError):
                inner = None
            return [value] if inner is None else _texts(inner)
        case bool() | None:
            return []
        case int() | float():
            return [f"{value:.10g}"]
        case Mapping():
            return [text for part in value.values() for text in _texts(part)]
        case list() | tuple():
            return [text for part in value for text in _texts(part)]
    return []

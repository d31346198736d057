"""What an actual call was about, beside what a reference call is about: the same thing, another one, or not known.

What the world resolved the arguments to stands in the results (`m3bench.tasks.things`). It decides over words in both
directions. Where it is not known, as of files of trajectories and of third-party servers, arguments and facts decide.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from m3bench.server.scoring.matching.agreement import Agreement, Disagreement, MadeCall
from m3bench.tasks.facts import leaves
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.plan import PlannedCall
from m3bench.tasks.things import is_part, rules, same_thing
from m3bench.tasks.trajectory import JSON, Call

Subject = Literal["same", "part", "other", "unknown"]
"""A part of a list is about the same as far as it goes; whether that is far enough, facts say."""

_BATCH = re.compile(r"\s*(?:[,;|]|\bOR\b|\band\b)\s*")
_WORD = re.compile(r"\w+(?!\w*:\S)")
"""A word that is not the name of a field before its value, as in `ti:"Attention"`."""


def subject(wanted: Call, planned: PlannedCall, made: MadeCall) -> Subject:
    """What a call of the same tool was about."""
    if not planned.about or not made.about:
        return "unknown"
    if same_thing(wanted.tool, planned.about, made.about):
        return "same"
    if is_part(wanted.tool, made.about, planned.about):
        return "part"
    several = is_part(wanted.tool, planned.about, made.about) and _is_one_of_several(wanted, made.call)
    return "same" if several else "other"


def in_words_of(wanted: Call, asked: Call) -> Call:
    """A call about the same thing, with what says so in the words of the reference."""
    decided = rules()[wanted.tool].decides
    rest = {name: value for name, value in asked.arguments.items() if name not in decided}
    return replace(asked, arguments={**rest, **{n: v for n, v in wanted.arguments.items() if n in decided}}, bare=False)


def about_another(agreement: Agreement, wanted: Call, asked: Call) -> Agreement:
    """The agreement of a call that was about another thing: an argument is wrong that says what it is about."""
    decided = rules()[wanted.tool].decides
    if any(found.argument in decided for found in agreement.wrong):
        return agreement
    kinds = kinds_of(wanted.tool)
    known = {name: (wanted.arguments.get(name), asked.arguments.get(name)) for name in decided}
    name = next((name for name, (one, other) in known.items() if one != other), decided[0])
    wrong = Disagreement(name, kinds.kind(name), *known[name])
    reworded = tuple(found for found in agreement.reworded if found.argument not in decided)
    return replace(agreement, equal=False, reworded=reworded, wrong=(*agreement.wrong, wrong))


def is_elsewhere(wanted: Call, planned: PlannedCall, made: MadeCall) -> bool:
    """Whether a call of the same tool was about another thing, so that whatever facts it tells, it tells by chance.

    A list of what fits may hold the wanted entry further down. A search in fewer words found it there. One whose list
    does not hold it did not (`M10`, which lists other kinds of gout), and neither did one that asks for something that
    the wanted call and its facts do not name (`laptop stand`, which lists a laptop too).
    """
    if subject(wanted, planned, made) != "other":
        return False
    rule = rules()[wanted.tool]
    if not rule.ranks:
        return True
    if made.entries.isdisjoint(map(str, (*planned.about, *planned.gives))):
        return True
    named = _words([*(wanted.arguments.get(name) for name in rule.decides), *planned.gives])
    return not _words(made.call.arguments.get(name) for name in rule.decides) <= named


def _is_one_of_several(wanted: Call, asked: Call) -> bool:
    """Whether a call asks for what is wanted and for other things beside it: several searches in one."""
    decided = rules()[wanted.tool].decides
    wishes = [fold(str(value)) for name in decided if (value := wanted.arguments.get(name)) is not None]
    parts = [fold(part) for name in decided for part in _BATCH.split(str(asked.arguments.get(name) or ""))]
    return bool(wishes) and all(wish in parts for wish in wishes)


def _words(values: Iterable[JSON]) -> frozenset[str]:
    return frozenset(
        word.removesuffix("s") for value in values for leaf in leaves(value) for word in _WORD.findall(fold(str(leaf)))
    )

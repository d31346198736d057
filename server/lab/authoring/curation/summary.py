"""Turns a run into the shortest trajectory that does the same: a candidate for a reference.

Failed, repeated and useless calls are removed, and calls that do not depend on each other are put into one step.
Everything here is a proposal: the shortest comes first, and the first one that is proved by execution is taken.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from m3bench.proxy.steps.dataflow import distinctive_values
from m3bench.server.lab.authoring.curation.material import Act, CurationMaterial
from m3bench.server.lab.authoring.curation.provenance import NUMBER, is_bound, is_derived, manual, phrases, sources
from m3bench.tasks.catalog import Catalog, load_catalog
from m3bench.tasks.facts import within
from m3bench.tasks.task import Reference, ReferenceCall
from m3bench.tasks.tolerance import read_as

_WORD = 4
"""A word of an answer with this many letters or more is worth looking for."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A candidate before it is proved."""

    reference: Reference
    dropped: tuple[str, ...] = ()
    """What was left out and why, one line each."""
    author: str = "rules"


class Summariser(Protocol):
    """Proposes the optimal trajectory of a run, best first."""

    def propose(self, material: CurationMaterial) -> AsyncIterator[Proposal]:
        """Candidates; each is proved before anybody sees it."""
        ...


class RuleSummariser:
    """Proposes by rules.

    Args:
        catalog: The tools there are.
    """

    def __init__(self, catalog: Catalog | None = None) -> None:
        self._catalog = catalog or load_catalog().ready

    async def propose(self, material: CurationMaterial) -> AsyncIterator[Proposal]:
        """Without what brought nothing; then with it, in case that something unseen was needed."""
        seen = set()
        for lean in (True, False):
            kept, dropped = self._kept(material, lean=lean)
            steps = self.steps(material, kept)
            reference = Reference(note=f"from run {material.run[:12]}", steps=_calls(material, steps))
            key = tuple(tuple(act.key for act in step) for step in steps)
            if kept and key not in seen:
                seen.add(key)
                yield Proposal(reference=reference, dropped=tuple(dropped))

    def _kept(self, material: CurationMaterial, *, lean: bool) -> tuple[list[Act], list[str]]:
        dropped = []
        kept: list[Act] = []
        for number, act in enumerate(material.acts, 1):
            where = f"call {number} ({act.tool})"
            twin = next((earlier for earlier in kept if earlier.key == act.key), None)
            if not act.succeeded:
                dropped.append(f"{where}: failed ({act.outcome})")
            elif twin is None:
                kept.append(act)
            elif twin.text == act.text or not self._reads(act):
                dropped.append(f"{where}: repeats an earlier call")
            else:
                # The same question got another answer: what it came to in the end is what counts.
                kept.remove(twin)
                kept.append(act)
                dropped.append(f"{where}: in place of an earlier one whose answer had changed")
        while lean:
            idle = next((act for act in reversed(kept) if self._reads(act) and not _is_used(material, kept, act)), None)
            if idle is None:
                break
            kept.remove(idle)
            dropped.append(f"call {material.acts.index(idle) + 1} ({idle.tool}): nothing of its answer was used")
        return kept, dropped

    def _reads(self, act: Act) -> bool:
        tool = self._catalog.by_tool.get(act.tool)
        return tool is not None and tool.read_only

    def steps(self, material: CurationMaterial, kept: Sequence[Act]) -> list[list[Act]]:
        """The calls, each in the first step in which everything it needs is there."""
        levels = self.levels(material, kept)
        return [
            [act for act, level in zip(kept, levels, strict=True) if level == number]
            for number in range(max(levels, default=-1) + 1)
        ]

    def levels(self, material: CurationMaterial, acts: Sequence[Act]) -> list[int]:
        """The first step, from 0, in which each call can be made."""
        levels: list[int] = []
        for index, act in enumerate(acts):
            about = manual(self._catalog.by_tool.get(act.tool))
            told = [min(levels[source] for source in found) for found in sources(material, acts, index, about)]
            bound = [levels[place] for place in range(index) if is_bound(acts[place], act, self._catalog.by_tool)]
            chosen = [levels[place] for place in _choice(material, acts, index)]
            levels.append(max((*told, *bound, *chosen), default=-1) + 1)
        return levels


def _choice(material: CurationMaterial, kept: Sequence[Act], index: int) -> Iterator[int]:
    """Calls that told like things apart, when this one goes on with only some of them.

    Two places were found and the air at both was asked for; then hotels at one of them: the air decided.
    """
    act = kept[index]
    for twins in _families(kept, index):
        mine = [twin for twin in twins if _feeds(material, kept[twin], act)]
        others = [twin for twin in twins if twin not in mine]
        if not mine or not others or any(_feeds(material, kept[twin], like) for twin in others for like in kept
                                         if like.tool == act.tool and like is not act):  # fmt: skip
            continue
        for between in range(index):
            if between in twins or kept[between].tool == act.tool:
                continue
            asked_all = {twin for twin in twins for like in kept[:index]
                         if like.tool == kept[between].tool and _feeds(material, kept[twin], like)}  # fmt: skip
            if asked_all == set(twins):
                yield between


def _families(kept: Sequence[Act], index: int) -> list[list[int]]:
    """Earlier calls of one tool, where there are several."""
    by_tool: dict[str, list[int]] = {}
    for number, act in enumerate(kept[:index]):
        by_tool.setdefault(act.tool, []).append(number)
    return [numbers for numbers in by_tool.values() if len(numbers) > 1]


def _feeds(material: CurationMaterial, earlier: Act, later: Act) -> bool:
    return any(
        within(value, earlier.said) and not within(value, material.asked)
        for value in distinctive_values(later.arguments)
    )


def _is_used(material: CurationMaterial, kept: Sequence[Act], act: Act) -> bool:
    """Whether a call brought something: to a later call, to the final answer, or to a comparison that did."""
    if _brought(material, kept, act):
        return True
    alike = [
        other
        for other in kept
        if other.tool == act.tool and other is not act and set(other.arguments) == set(act.arguments)
    ]
    return _has_ground(material, kept, act) and any(_brought(material, kept, other) for other in alike)


def _brought(material: CurationMaterial, kept: Sequence[Act], act: Act) -> bool:
    """Whether something that the answer of a call says, and it did not know, is in a later call or the final answer."""
    own = f"{' '.join(phrases(act.arguments))} {material.asked}"
    later = [value for other in kept[kept.index(act) + 1 :] for value in phrases(other.arguments)]
    words = list(_words(material.answer.casefold()))
    if any(within(value, act.said) and not within(value, own) for value in (*later, *words)):
        return True
    results = [value for value in (*later, *words) if NUMBER.fullmatch(value) and len(value) >= _WORD]
    return any(is_derived(value, act.said) for value in dict.fromkeys(results))


def _has_ground(material: CurationMaterial, kept: Sequence[Act], act: Act) -> bool:
    """Whether a call asks about something that was given or found, and is no stab in the dark."""
    told = "\n".join([material.asked, material.seen, *(earlier.said for earlier in kept[: kept.index(act)])])
    return all(
        within(value, told) or any(within(word, told) for word in value.split()) for value in phrases(act.arguments)
    )


def _words(answer: str) -> Iterator[str]:
    for word in dict.fromkeys(answer.replace("\n", " ").split(" ")):
        bare = word.strip(".,;:!?()[]\"'*°%$€£")
        if len(bare) >= _WORD or (len(bare) > 1 and any(letter.isdigit() for letter in bare)):
            yield bare


def _calls(material: CurationMaterial, steps: Sequence[Sequence[Act]]) -> tuple[tuple[ReferenceCall, ...], ...]:
    return tuple(tuple(reference_call(material, act) for act in step) for step in steps)


def reference_call(material: CurationMaterial, act: Act) -> ReferenceCall:
    """A call of the candidate; it tolerates what the task's own reference tolerates in the same call."""
    arguments = dict(act.arguments)
    for reference in material.task.references:
        for step in reference.steps:
            for call in step:
                if call.tool == act.tool and read_as(call.arguments, call.tolerances, arguments) == call.arguments:
                    return ReferenceCall(tool=act.tool, arguments=arguments, tolerances=call.tolerances)
    return ReferenceCall(tool=act.tool, arguments=arguments)

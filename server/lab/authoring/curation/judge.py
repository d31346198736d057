"""Accepts or rejects a run before anything is made of it.

The built-in judge goes by rules alone: the run was submitted and passes its task's checks, no call uses a value
before an answer contained it, and nothing depends on a call that failed. A model may judge instead (`model`); whatever
it accepts is still proved by execution.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from m3bench.proxy.steps.dataflow import distinctive_values
from m3bench.server.lab.authoring.curation.material import Act, CurationMaterial, path_of
from m3bench.server.lab.authoring.curation.provenance import NUMBER, is_derived, is_path, manual
from m3bench.tasks.catalog import Catalog, Tool, load_catalog
from m3bench.tasks.facts import within

_LONG_NUMBER = 5
"""A number with this many digits or more is an id or a measurement."""
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:t[\d:.]+z?)?")


@dataclass(frozen=True, kw_only=True)
class RunVerdict:
    """What a judge says of a run."""

    accepted: bool
    reasons: tuple[str, ...] = ()
    """Why it was rejected."""
    judge: str = "rules"


class RunJudge(Protocol):
    """Says whether a run is sound enough to learn from."""

    async def judge(self, material: CurationMaterial) -> RunVerdict:
        """Accept or reject."""
        ...


class RuleJudge:
    """Judges by rules.

    Args:
        catalog: The tools there are.
    """

    def __init__(self, catalog: Catalog | None = None) -> None:
        self._catalog = catalog or load_catalog().ready

    async def judge(self, material: CurationMaterial) -> RunVerdict:
        """Accept or reject."""
        reasons = tuple(dict.fromkeys([*outcome_problems(material), *self._causal(material)]))
        return RunVerdict(accepted=not reasons, reasons=reasons)

    def _causal(self, material: CurationMaterial) -> Iterator[str]:
        for index, act in enumerate(material.acts):
            if act.succeeded:
                yield from causal_problems(material, index, self._catalog.by_tool.get(act.tool))


def outcome_problems(material: CurationMaterial) -> Iterator[str]:
    """Why a run cannot be a source at all."""
    if material.state not in ("submitted", "scored"):
        yield f"the run was not submitted, it is {material.state}"
        return
    if not any(act.succeeded for act in material.acts):
        yield "no call succeeded"
    for finding in material.findings:
        if not finding.passed:
            yield f"its outcome is wrong: {finding.check}: {finding.reason}"


def causal_problems(material: CurationMaterial, index: int, tool: Tool | None) -> Iterator[str]:
    """Values of a call that no earlier answer, question or picture gave."""
    act = material.acts[index]
    free = _free(material, act)
    given = f"{material.asked}\n{material.seen}\n{manual(tool)}"
    good = "\n".join(act.said for act in material.acts[:index] if act.succeeded)
    arguments = {name: value for name, value in act.arguments.items() if name not in free}
    for value in dict.fromkeys(distinctive_values(arguments)):
        if not _is_evidence(value) or path_of(value) in material.pictures:
            continue
        if within(value, given) or within(value, good):
            continue
        if NUMBER.fullmatch(value):
            if is_derived(value, f"{given}\n{good}") or is_derived(value, _own_numbers(material, index)):
                continue
        elif _is_composed(value, f"{given}\n{good}") or is_path(value):
            continue
        yield _reason(material, index, value)


def _is_evidence(value: str) -> bool:
    """Whether a value can only have been read somewhere: an id or a long number.

    Words may be general knowledge, dates a choice, and short numbers a limit, a size or a place in a picture.
    """
    if NUMBER.fullmatch(value):
        return sum(letter.isdigit() for letter in value.strip("-0.")) >= _LONG_NUMBER
    return " " not in value and any(letter.isdigit() for letter in value) and _DATE.fullmatch(value) is None


def _reason(material: CurationMaterial, index: int, value: str) -> str:
    where = f"call {index + 1} ({material.acts[index].tool}) uses {value[:60]!r}"
    for number, one in enumerate(material.acts[:index], 1):
        if not one.succeeded and within(value, one.said):
            return f"{where}, which only the failed call {number} said"
    for number, one in enumerate(material.acts[index + 1 :], index + 2):
        if within(value, one.said) and not within(value, str(one.arguments).casefold()):
            return f"{where} before call {number} gave it"
    return f"{where}, which nothing gave"


def _free(material: CurationMaterial, act: Act) -> set[str]:
    """Arguments that a client may choose freely, according to the task's references."""
    return {
        name
        for reference in material.task.references
        for step in reference.steps
        for call in step
        if call.tool == act.tool
        for name, tolerance in call.tolerances.items()
        if tolerance.free
    }


def _own_numbers(material: CurationMaterial, index: int) -> str:
    """Numbers that the agent itself has worked with before: what is computed from them is not news."""
    return "\n".join(str(act.arguments) for act in material.acts[:index] if act.succeeded)


def _is_composed(value: str, said: str) -> bool:
    """Whether a text is put together from parts that were said, as a pair of coordinates or an address is."""
    parts = [part for part in value.replace(",", " ").replace("|", " ").split() if part]
    if len(parts) > 1:
        return all(within(part, said) or (NUMBER.fullmatch(part) and is_derived(part, said)) for part in parts)
    words = re.split(r"[-/:_\s]+", value)
    return len(words) > 1 and all(within(word, said) for word in words)

"""The errors of runs that failed, in the groups of TOBench: multimodal, of tools, of parameters, of verification.

A failed run may have several; each follows by rule from its score card. `failures` says once for every sample what
became of it, and charges somebody; this says what an agent did wrong on the way. Runs that are solved, unchecked or
void, and those that the world let down, have none.

Why a tool refused a call is found by holding the call's arguments against the schema again.

Verification is looking at a file that was made, after its last change, with a tool that shows what is in it. It is
asked only of runs that made a file that some tool can show, and handed something in; a look-up has nothing to verify.
Reading about a file (its size, its sheets, the places of its elements) looks like verification and is none. Names are
compared without folders.

A multimodal capability deficit is told where the card tells how the picture was taken in, or where the look at a file
did not help. Where every needed call was made and the result is wrong all the same, the card does not tell whether a
picture was misread, and the taxonomy says so.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from typing import Literal, get_args

from m3bench.server.lab.results.analyses.confusion import NONE, pairs_of
from m3bench.server.lab.results.analyses.failures import CLASSES, FailureClass, class_of
from m3bench.server.lab.results.resultset import Result
from m3bench.server.scorecard.model import ActualCall, ScoreCard
from m3bench.server.scoring.differences import differences
from m3bench.tasks.coercion import read_arguments
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.schema import Schema, problems
from m3bench.tasks.table_tools import find_tool
from m3bench.tasks.trajectory import JSON

ToolError = Literal["wrong tool", "missing tool", "hallucinated tool", "poor plan"]
ParameterError = Literal[
    "parameter type", "parameter range", "parameter object", "parameter missing", "parameter hallucinated"
]
Verification = Literal["no verification", "incomplete verification", "pseudo-verification"]
MultimodalError = Literal[
    "picture unseen", "picture by tools alone", "picture misread", "recording misheard", "artefact misjudged",
    "not told",
]  # fmt: skip
ErrorName = MultimodalError | ToolError | ParameterError | Verification

ERRORS: Mapping[ErrorName, str] = {
    "picture unseen": "nothing shows that anybody looked at the picture",
    "picture by tools alone": "nothing but tools read the picture",
    "picture misread": "the picture was seen, and a call that nothing but the picture can lead to is about something "
    "else",
    "recording misheard": "every needed call was made about a recording, and the result is wrong",
    "artefact misjudged": "everything that was made was looked at after its last change, and is wrong",
    "not told": "every needed call was made, the result is wrong, and the record does not tell why",
    "wrong tool": "a needed call was not made, and another tool was called in its place",
    "missing tool": "a needed call was not made, and nothing was called in its place",
    "hallucinated tool": "a tool was called that does not exist",
    "poor plan": "nothing was called or handed in, a limit ended the run, the very same call was made three times, or "
    "calls came in the wrong order",
    "parameter type": "an argument was refused because it is of another type",
    "parameter range": "an argument was refused because of its value, or an amount is another one than needed",
    "parameter object": "a call is about something that does not exist, or about something else than needed",
    "parameter missing": "an argument that is required or needed was left out",
    "parameter hallucinated": "an argument was refused because the tool has none of that name",
    "no verification": "files were made, and none of them was looked at",
    "incomplete verification": "only some of the files that were made were looked at, or only before their last change",
    "pseudo-verification": "files were made, and all that was read is what tools say about them: nothing was looked at",
}
"""By error, in TOBench's groups: what happened."""

GROUPS: Mapping[str, tuple[ErrorName, ...]] = {
    "multimodal": get_args(MultimodalError),
    "tools and plan": get_args(ToolError),
    "parameters": get_args(ParameterError),
    "verification": get_args(Verification),
}

REPEATED = 3
"""Times that the very same call is made in a poor plan."""

_CHARGED = ("client", "limit")
_BOUNDS = ("minimum", "maximum", "minItems")
_FILE = re.compile(r"[^/\\]*\.[A-Za-z][A-Za-z0-9]{1,4}")
"""The name of a file, at the end of a path."""
_OUTPUTS, _PLACES = ("output_path",), ("filepath", "file_path", "path")
"""Arguments that name what is made; the second only where there is none of the first."""
_SHOWN = re.compile(
    r".*\.(?:xlsx|xlsm|svg|png|jpe?g|webp|bmp|gif|tiff?|wav|mp3|flac|ogg|mp4|webm|avi|mov)", re.IGNORECASE
)
"""Files that some tool can show; no tool shows a deck or a document."""
_ABOUT = frozenset(
    {
        "excel/get_workbook_metadata", "excel/get_merged_cells", "excel/get_data_validation_info",
        "excel/validate_excel_range", "excel/validate_formula_syntax", "recordings/describe_recording",
        "studio/read_page",
    }
)  # fmt: skip
"""Tools that tell about a file without showing what is in it."""
_HANDED_IN: tuple[FailureClass, ...] = ("failed calls", "other arguments", "missing calls", "wrong answer")


@dataclass(frozen=True, kw_only=True)
class ErrorCount:
    """How common an error is."""

    runs: int
    """Failed runs that have it."""
    times: int
    """How often it was made in them."""


def errors(results: Iterable[Result]) -> dict[ErrorName, ErrorCount]:
    """How often each error occurs, in the order of the list."""
    found = [errors_of(result) for result in results]
    return {
        name: ErrorCount(runs=sum(name in run for run in found), times=sum(run[name] for run in found))
        for name in ERRORS
        if any(name in run for run in found)
    }


def errors_of(result: Result) -> Counter[ErrorName]:
    """The errors of a run; none unless its failure is charged to the client or to a limit."""
    of = class_of(result)
    if CLASSES[of][0] not in _CHARGED:
        return Counter()
    found: Counter[ErrorName] = Counter()
    found.update(_tool_errors(result.card))
    found.update(_parameter_errors(result.card))
    if of in ("no answer", "no calls", "limit") or _unordered(result.card):
        found["poor plan"] += 1
    looks = looked_at(call for _, call in result.card.alignment.actual_calls) if of in _HANDED_IN else None
    if looks is not None and looks != "verified":
        found[looks] += 1
    found.update(_multimodal(result.card, of, looks, wrong_otherwise=bool(found)))
    return found


def _multimodal(
    card: ScoreCard, of: FailureClass, looks: Verification | Literal["verified"] | None, *, wrong_otherwise: bool
) -> Iterator[MultimodalError]:
    found: list[MultimodalError] = []
    if card.sight == "unseen":
        found.append("picture unseen")
    if card.sight == "read by tools":
        found.append("picture by tools alone")
    if card.sight == "seen" and _misread(card):
        found.append("picture misread")
    if card.hearing is not None and of == "wrong answer":
        found.append("recording misheard")
    if looks == "verified":
        found.append("artefact misjudged")
    yield from found
    if of == "wrong answer" and not found and not wrong_otherwise:
        yield "not told"


def _misread(card: ScoreCard) -> bool:
    """Whether a call of the first step, which can follow from the picture alone, is about something else."""
    wanted = card.alignment.reference_calls
    made = [call for _, call in card.alignment.actual_calls]
    for other in card.alignment.instead:
        step, call = wanted[other.reference]
        if step == wanted[0][0] and made[other.actual].tool == call.tool and not made[other.actual].failed:
            return True
    return False


def _tool_errors(card: ScoreCard) -> Iterator[ToolError]:
    made = [call for _, call in card.alignment.actual_calls]
    failed = {call.tool for call in made if call.failed}
    for call in made:
        if call.outcome == "unknown_tool":
            yield "hallucinated tool"
    for pair in pairs_of(card):
        if pair.answered or pair.wanted == NONE or pair.wanted in failed or pair.called == pair.wanted:
            continue
        yield "missing tool" if pair.called == NONE else "wrong tool"
    counts = Counter(dumps([call.tool, call.arguments], sort_keys=True, default=str) for call in made)
    for count in counts.values():
        if count >= REPEATED:
            yield "poor plan"


def _parameter_errors(card: ScoreCard) -> Iterator[ParameterError]:
    wanted = [call for _, call in card.alignment.reference_calls]
    made = [call for _, call in card.alignment.actual_calls]
    for call in made:
        if call.outcome == "invalid_arguments":
            yield from refusals(call.tool, call.arguments)
        elif call.outcome == "not_found":
            yield "parameter object"
    instead = card.alignment.instead
    told = {wanted[other.reference].tool for other in instead} | {call.tool for call in made if call.failed}
    for pair in pairs_of(card):
        if not pair.answered and pair.called == pair.wanted and pair.wanted not in told:
            yield "parameter object"
    for other in instead:
        if not made[other.actual].failed:
            needed = wanted[other.reference]
            yield from _other(needed.tool, needed.arguments, made[other.actual].arguments)


def _other(tool: str, wanted: JSON, made: JSON) -> set[ParameterError]:
    """What is wrong with a call that was taken and is about something else."""
    found: set[ParameterError] = set()
    for difference in differences(wanted, made):
        kind = kinds_of(tool).kind(difference.argument.partition(".")[0])
        if kind == "presentation" or difference.kind == "extra":
            continue
        if difference.kind == "missing":
            found.add("parameter missing")
        else:
            found.add("parameter range" if kind == "quantity" else "parameter object")
    return found or {"parameter object"}


def _unordered(card: ScoreCard) -> bool:
    return any(improvement.kind == "order" for improvement in card.improvements)


def refusals(tool: str, arguments: Mapping[str, object]) -> set[ParameterError]:
    """The kinds of faults in the arguments of a call that was refused.

    Where the schema is kept, or is not known because the tool is a third party's, a value was refused by the tool
    itself: that is its range.
    """
    known = find_tool(tool)
    if known is None:
        return {"parameter range"}
    given = known.filled(read_arguments(known.input_schema, arguments).arguments)
    found = set(_faults(known.input_schema, given))
    if known.strict and set(given) - set(known.input_schema.get("properties", {})):
        found.add("parameter hallucinated")
    return found or {"parameter range"}


def _faults(schema: Schema, value: object) -> Iterator[ParameterError]:
    if "anyOf" in schema:
        if all(problems(branch, value) for branch in schema["anyOf"]):
            yield "parameter type"
        return
    if "enum" in schema:
        if value not in schema["enum"]:
            yield "parameter range"
        return
    if "type" in schema and problems({"type": schema["type"]}, value):
        yield "parameter type"
        return
    if problems({name: schema[name] for name in _BOUNDS if name in schema}, value):
        yield "parameter range"
    if isinstance(value, Mapping):
        if set(schema.get("required", ())) - set(value):
            yield "parameter missing"
        for name, part in schema.get("properties", {}).items():
            if name in value:
                yield from _faults(part, value[name])
    elif isinstance(value, list):
        for item in value:
            yield from _faults(schema.get("items", {}), item)


def looked_at(calls: Iterable[ActualCall]) -> Verification | Literal["verified"] | None:
    """How far what was made was looked at; None when nothing was made that can be.

    Args:
        calls: In their order.
    """
    made: dict[str, _Looks] = {}
    for call in calls:
        tool = find_tool(call.tool)
        if call.failed or tool is None:
            continue
        if tool.read_only:
            for name in set(_files(call.arguments)) & set(made):
                if call.tool not in _ABOUT:
                    made[name] = "looked"
                elif made[name] == "":
                    made[name] = "about"
        elif kinds_of(call.tool).role == "action":
            for name in _made(call.arguments):
                made[name] = "stale" if made.get(name) in ("looked", "stale") else ""
    if not made:
        return None
    looks = set(made.values())
    if looks == {"looked"}:
        return "verified"
    if looks & {"looked", "stale"}:
        return "incomplete verification"
    return "pseudo-verification" if "about" in looks else "no verification"


_Looks = Literal["", "about", "looked", "stale"]
"""Since a file was last changed: nothing, something read about it, looked at; or looked at before that alone."""


def _made(arguments: Mapping[str, object]) -> Iterator[str]:
    """The files that a call makes or changes and that some tool can show."""
    keys = _OUTPUTS if any(arguments.get(key) for key in _OUTPUTS) else _PLACES
    for key in keys:
        yield from (name for name in _files(arguments.get(key)) if _SHOWN.fullmatch(name))


def _files(value: object) -> Iterator[str]:
    if isinstance(value, str):
        name = re.split(r"[/\\]", value)[-1]
        if _FILE.fullmatch(name):
            yield name
    elif isinstance(value, dict):
        for part in value.values():
            yield from _files(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _files(part)

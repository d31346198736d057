"""Calls and what is different about them, in the words of an improvement: on one line, and never long."""

from collections import Counter
from collections.abc import Iterable, Sequence

from m3bench.server.scorecard.model import (
    ActualCall,
    ArgumentDifference,
    ExtraArgument,
    MissingArgument,
    ReferenceCall,
)
from m3bench.server.scoring.words import printable, value

NAMED = 3
"""Names that are listed before the rest is counted."""


def tool_name(call: ReferenceCall | ActualCall) -> str:
    """The name of a call's tool."""
    name = printable(call.tool)
    return name if len(name) <= 60 else f"{name[:59]}…"


def call_text(call: ReferenceCall) -> str:
    """A call with its arguments."""
    arguments = ", ".join(f"{printable(name)}={value(item, 32)}" for name, item in call.arguments.items())
    return f"{tool_name(call)}({arguments if len(arguments) <= 90 else arguments[:89] + '…'})"


def differences_text(differences: Sequence[ArgumentDifference]) -> str:
    """What is different about the arguments of a call."""
    said = []
    for item in differences[:2]:
        name = printable(item.argument)[:40] or "the arguments"
        if isinstance(item, MissingArgument):
            said.append(f"{name} is missing, the reference has {value(item.reference, 40)}")
        elif isinstance(item, ExtraArgument):
            said.append(f"{name} is not in the reference")
        else:
            said.append(f"{name} is {value(item.actual, 40)}, the reference has {value(item.reference, 40)}")
    if len(differences) > 2:
        said.append(f"{len(differences) - 2} more differ")
    return "; ".join(said) or "its arguments differ"


def listed(words: Iterable[str]) -> str:
    """Words one after the other; the rest of many is counted."""
    *most, last = words
    if len(most) > NAMED:
        return f"{', '.join(most[:NAMED])} and {len(most) + 1 - NAMED} more"
    return f"{', '.join(most)} and {last}" if most else last


def tools_text(calls: Iterable[ActualCall]) -> str:
    """The tools of some calls, each with how often it was called."""
    return listed(f"{times} × {name}" if times > 1 else name for name, times in _tools(calls).items())


def left_out_text(calls: Sequence[ActualCall]) -> str:
    """That calls could be left out, and which."""
    names = _tools(calls)
    some = [f"{name} ×{times}" if times > 1 else name for name, times in names.most_common(NAMED)]
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    count = "1 call answers" if len(calls) == 1 else f"{len(calls)} calls answer"
    return f"{count} nothing in the reference and could be left out: {', '.join(some)}{rest}."


def slot_text(slot: int, *, first: bool) -> str:
    """Where a new call would stand. Steps have even slots, so that a new one fits between any two.

    Args:
        slot: The slot.
        first: Whether it would be the first call of all.
    """
    if slot % 2 == 0:
        return f" in step {slot // 2}"
    return f" after step {slot // 2}" if slot > 1 else "" if first else " at the beginning"


def _tools(calls: Iterable[ActualCall]) -> Counter[str]:
    return Counter(map(tool_name, calls))

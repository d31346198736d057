"""Why a metric of profile `effect` has its value, and what became of each reference call, in a few words.

The sentences repeat the formula with the run's own counts, so that a reader can redo the arithmetic.
"""

import re
from collections.abc import Sequence

from m3bench.server.scoring.agreement import Agreement, Disagreement
from m3bench.server.scoring.answers import Answer, Answers
from m3bench.server.scoring.effect_metrics import pairs, planned_steps, taken_steps
from m3bench.server.scoring.words import value

_MAX_VALUE = 42

AVERAGE = "mean of the six, the last four times recall"
NOTHING_NEEDED = "no call of the reference was needed"
KINDS_ALONE = "Results are not known here, so calls are compared by the kinds of their arguments alone."

_THINGS = {
    ("amazon", "asin"): "product",
    ("amazon", "keywords"): "product",
    ("dinox-mcp", "imageFileUri"): "picture",
    ("food_nutrition_mcp", "query"): "food",
    ("google-maps", "address"): "place",
    ("google-maps", "place_id"): "place",
    ("hugeicons-mcp", "query"): "icon",
    ("imagesorcery-mcp", "input_path"): "picture",
    ("metmuseum-mcp", "objectId"): "object",
    ("metmuseum-mcp", "q"): "object",
    ("nationalparks", "parkCode"): "park",
    ("nationalparks", "stateCode"): "state",
    ("nixos", "name"): "package or option",
    ("nixos", "query"): "package or option",
    ("ocr", "input_data"): "picture",
    ("okx", "instrument"): "market",
    ("openlibrary_mcp", "isbn"): "book",
    ("openlibrary_mcp", "title"): "book",
    ("paper_search", "paper_id"): "paper",
    ("paper_search", "query"): "topic",
    ("pyzbar-mcp", "image_paths"): "picture",
    ("Reddit-MCP-Server", "post_id"): "post",
    ("tmdb", "query"): "film",
    ("weather", "location"): "place",
    ("wiki", "query"): "subject",
    ("wiki", "title"): "article",
    ("yahoo-finance", "ticker"): "company",
}
"""What an argument stands for, by server, where its own name does not say."""


def reasons(found: Answers) -> dict[str, str]:
    """The reason of every metric, by name."""
    if found.plan.calls and not found.wanted:
        return dict.fromkeys(_NAMES, NOTHING_NEEDED)
    if not found.answers:
        nothing = not found.plan.calls and not found.steps
        return dict.fromkeys(_NAMES, "nothing was to be done" if nothing else "no call answered the reference")
    ordered = pairs(found)
    early = sum(before > after for before, after in ordered)
    mixed = sum(before == after for before, after in ordered)
    partly = sum(answer.similarity < 1 for answer in found.answers.values())
    best, taken = planned_steps(found), taken_steps(found)
    return {
        "recall": f"{len(found.answers)} of {_count(found.wanted, 'needed call')} answered{_not_needed(found)}",
        "precision": f"{len(found.needed)} of {_count(len(found.steps), 'call')} answered something",
        "argument_similarity": f"{_count(partly, 'answer')} only in part" if partly else "every answer is a full one",
        "step_coherence": f"{_count(taken, 'step')} where the plan takes {best}",
        "order_consistency": f"{early} of {_count(len(ordered), 'dependence')} out of order"
        if ordered
        else "nothing to put in order",
        "merge_purity": f"{mixed} of {_count(len(ordered), 'dependence')} sent together"
        if ordered
        else "nothing to keep apart",
    }


_NAMES = ("recall", "precision", "argument_similarity", "step_coherence", "order_consistency", "merge_purity")


def answer_note(answer: Answer, tools: Sequence[str]) -> str:
    """How a reference call was answered, when it was not by the same call.

    Args:
        answer: The answer.
        tools: The tools of the calls that answer it.
    """
    if answer.way == "another route":
        return "another route: " + ", ".join(dict.fromkeys(tools))
    if answer.way == "same effect":
        return "other arguments, the same effect"
    return f"{answer.similarity:.0%} of what was wanted" if answer.way == "partly" else ""


def miss_note(agreement: Agreement, tool: str = "") -> str:
    """What the nearest call of the same tool asked for instead.

    Args:
        agreement: How its arguments compare with those that were wanted.
        tool: The tool of both.
    """
    found = (*agreement.wrong, *agreement.reworded)
    return "; ".join(_wrong(one, tool) for one in found[:2]) if found else "it brought something else"


def _wrong(found: Disagreement, tool: str) -> str:
    name = _thing(tool, found.argument)
    if found.asked is None:
        return f"without {name}: {_shown(found.wanted)} wanted"
    if found.wanted is None:
        return f"{name} {_shown(found.asked)} asked, none wanted"
    other = "other" if name.endswith("s") and isinstance(found.wanted, list | tuple) else "another"
    return f"{other} {name}: {_shown(found.wanted)} wanted, {_shown(found.asked)} asked"


def _thing(tool: str, argument: str) -> str:
    """What an argument is about, in words."""
    known = _THINGS.get((tool.partition("/")[0], argument))
    return known or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", argument).replace("_", " ").lower()


def _shown(item: object) -> str:
    match item:
        case {"latitude": int() | float() as latitude, "longitude": int() | float() as longitude, **rest} if not rest:
            return f"{latitude:.10g}, {longitude:.10g}"
    text = value(item, _MAX_VALUE)  # type: ignore[arg-type]
    return text[1:-1] if isinstance(item, str) and text.endswith('"') else text


def _not_needed(found: Answers) -> str:
    return f"; {len(found.dropped)} not needed in this run" if found.dropped else ""


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"

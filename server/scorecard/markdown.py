"""A score card in words: Markdown that any chat shows, the same for every client.

In the order in which a person asks: was it solved, what was handed in and what is right, what went wrong first, what
would have helped most; then the metrics, then reference and actual calls side by side, and outcomes. Only puts into
words what the card's data says. Bounded whatever the run did, and whatever its texts hold: they stand in code spans or
are escaped, so no argument can break a table or pass for a heading.
"""

import re
from collections.abc import Iterator, Sequence

from m3bench.server.scorecard.improvements import in_order
from m3bench.server.scorecard.model import (
    ActualCall,
    ArgumentDifference,
    CheckResult,
    ExtraArgument,
    Match,
    MissingArgument,
    ReferenceCall,
    ScoreCard,
)
from m3bench.server.scorecard.perception import HEARING_WORDS, SIGHT_WORDS
from m3bench.server.scoring.reasons import EFFECT_AVERAGE
from m3bench.server.scoring.words import printable, value
from m3bench.server.store.capability import client_line
from m3bench.tasks.json_types import JsonValue

METRICS = {
    "recall": "needed calls made",
    "precision": "calls that were needed",
    "argument_similarity": "arguments right",
    "step_coherence": "parallel calls kept together",
    "order_consistency": "order right",
    "merge_purity": "steps kept apart",
}

FAULTS = {"error": "temporary errors", "limit": "rate limits", "away": "lost connections", "replaced": "new names"}

MAX_CONTRADICTIONS = 3
MAX_REFERENCE, MAX_EXTRA, MAX_CHECKS, MAX_IMPROVEMENTS, MAX_NAMED = 24, 8, 15, 3, 3
"""Lines of each kind; what is left out is counted."""

_RULE = "What came too soon for a model is read as the same step, anything else as a new one. "
_RULE_SINCE = 5
"""The version of the rules from which on steps are read so."""

UNCERTAIN = 0.5
"""A range that is wider is shown in place of the value."""

_BAR = 12
_MAX_CALL, _MAX_DIFFERENCES, _MAX_VALUE, _MAX_SENTENCE, _MAX_REASON, _MAX_NOTE = 100, 90, 200, 300, 800, 140

_SPECIAL = re.compile(r"([\\`*<>|~])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|\](?=[(\[:])")
"""What Markdown would act upon in a sentence; an underscore within a name is left alone."""


def markdown(card: ScoreCard, run: str | None = None) -> str:
    """The whole card.

    Args:
        card: The data.
        run: The run's handle, to say how to see more.
    """
    parts = [
        _headline(card),
        _checks(card),
        _first_fault(card),
        _misperceived(card),
        _unseen(card),
        _improvements(card),
        _metrics(card),
        calls_markdown(card),
        " ".join(part for part in (_outcomes(card), _steps(card)) if part),
        " ".join(conduct_lines(card)),
        _client(card),
        SIGHT_WORDS[card.sight] if card.sight is not None and not _unseen(card) else "",
        HEARING_WORDS[card.hearing] if card.hearing is not None else "",
        _more(run),
    ]
    return "\n\n".join(part for part in parts if part)


def calls_markdown(card: ScoreCard) -> str:
    """Reference and actual calls side by side, by step."""
    rows = [*_bounded(list(_reference_rows(card)), MAX_REFERENCE, "calls of the reference")]
    rows += _bounded(list(_extra_rows(card)), MAX_EXTRA, "calls that were not needed")
    return "\n".join(["| step | reference | what was done | |", "|---|---|---|---|", *rows]) if rows else ""


def _headline(card: ScoreCard) -> str:
    if card.void_reason:
        reason = _sentence(card.void_reason, _MAX_REASON)
        return f"## m3bench: {_sentence(card.task)}\n\n**void: this run is not scored.** {reason}"
    average = card.average
    verdict = {True: "solved", False: "not solved", None: "no checks"}[card.success]
    verdict += "" if card.grounded is not False else ", not grounded"
    count = f" ({card.checks_passed} of {len(card.checks)} checks)" if card.checks else ""
    figure = "unscored" if average is None else f"{average:.3f}{_spread(*card.range_of('average'))}"
    return f"## m3bench: {_sentence(card.task)}\n\n**{verdict}**{count} · **average {figure}** · {_paper(card)}"


def _paper(card: ScoreCard) -> str:
    """The paper's metric, beside the headline; an earlier card has it for a headline."""
    if card.paper is None:
        return "by the paper's metric"
    average = card.paper.average
    return "paper's metric " + ("unscored" if average is None else f"{average:.3f}")


def _metrics(card: ScoreCard) -> str:
    if card.void_reason:
        return ""
    lines = ["| metric | | value | |", "|---|---|---|---|"]
    for name, meaning in METRICS.items():
        figure = card.metrics.get(name)
        label, said = name.replace("_", " "), card.reasons.get(name) or meaning
        if figure is None:
            lines.append(f"| {label} | | unscored | {said} |")
            continue
        low, high = card.range_of(name)
        if high - low > UNCERTAIN:
            said += "; the record does not tell"
            lines.append(f"| {label} | `{_bar(low, low, high)}` | {low:.2f}–{high:.2f} | {said} |")
            continue
        lines.append(f"| {label} | `{_bar(figure, low, high)}` | {figure:.3f}{_spread(low, high)} | {said} |")
    if card.scoring_profile == "effect" and card.average is not None:
        low, high = card.range_of("average")
        spread = _spread(low, high)
        lines.append(f"| average | `{_bar(card.average, low, high)}` | {card.average:.3f}{spread} | {EFFECT_AVERAGE} |")
    return "\n".join(lines)


def _spread(low: float, high: float) -> str:
    """A range, when there is one."""
    return f" ({low:.2f}–{high:.2f})" if high - low > 0.0005 else ""


def _bar(figure: float, low: float, high: float) -> str:
    """A bar; the part that another reading of the steps would take or give is lighter."""
    full, sure, open_ = (round(part * _BAR) for part in (figure, min(low, figure), max(high, figure)))
    return "█" * sure + "▓" * (full - sure) + "▒" * (open_ - full) + "░" * (_BAR - open_)


def _improvements(card: ScoreCard) -> str:
    lines = [
        f"{number}. **+{one.gain:.3f}** {_sentence(one.text)}"
        for number, one in enumerate(in_order(card.improvements[:MAX_IMPROVEMENTS]), 1)
    ]
    heading = "**What would have helped most** (in the order to do it; each gain is for that change alone)"
    return "\n".join([heading, "", *lines]) if lines else ""


def _first_fault(card: ScoreCard) -> str:
    return f"**What went wrong first:** {_sentence(card.first_fault, _MAX_REASON)}" if card.first_fault else ""


def _misperceived(card: ScoreCard) -> str:
    """What was got wrong about the picture; that nobody looked is said by `_unseen`."""
    seen = card.perception
    if seen is None or seen.found in (None, "not looked"):
        return ""
    skill = f" ({seen.wrong.replace('_', ' ')})" if seen.wrong else ""
    return f"**In the picture:** {seen.found}{skill}. {_sentence(seen.evidence, _MAX_REASON)}"


def _unseen(card: ScoreCard) -> str:
    """That nobody looked at the picture; where the run was not solved it may be why, and is read first."""
    return SIGHT_WORDS["unseen"] if card.sight == "unseen" and card.success is False else ""


def _reference_rows(card: ScoreCard) -> Iterator[str]:
    actual = card.alignment.actual_calls
    matches = {match.reference: match for match in card.alignment.matches}
    instead = {near.reference: near for near in card.alignment.instead}
    unneeded = set(card.alignment.not_needed)
    for index, (step, call) in enumerate(card.alignment.reference_calls):
        match = matches.get(index)
        if match is not None:
            yield f"| {step + 1} | {_call(call)} | {_done(match, card)} | {_sign(match)} |"
        elif index in unneeded:
            yield f"| {step + 1} | {_call(call)} | – | ○ not needed: known without it |"
        elif index in instead:
            where, other = actual[instead[index].actual]
            done = f"step {where + 1}: {_call(other)}"
            yield f"| {step + 1} | {_call(call)} | {done} | ✗ {_cell(instead[index].note)} |"
        else:
            yield f"| {step + 1} | {_call(call)} | – | ✗ missed |"


def _extra_rows(card: ScoreCard) -> Iterator[str]:
    actual = card.alignment.actual_calls
    told = {near.actual for near in card.alignment.instead}
    for place in (place for place in card.alignment.extra if place not in told):
        step, call = actual[place]
        failed = f" ({call.outcome.replace('_', ' ')})" if call.failed and call.outcome else ""
        yield f"| | – | step {step + 1}: {_call(call)}{failed} | + not needed |"


def _bounded(rows: Sequence[str], most: int, what: str) -> list[str]:
    left = len(rows) - most
    return [*rows[:most], f"| | | … {left} more {what} | |"] if left > 0 else list(rows)


def _call(call: ReferenceCall | ActualCall) -> str:
    arguments = ", ".join(f"{name}={_short(item)}" for name, item in call.arguments.items())
    return _code(f"{call.tool}({arguments})", _MAX_CALL)


def _done(match: Match, card: ScoreCard) -> str:
    """What was done in answer to a reference call: as it is, with what is different, or another call."""
    calls = [card.alignment.actual_calls[place] for place in match.calls]
    steps = list(dict.fromkeys(str(step + 1) for step, _ in calls))
    where = f"step{'s' if len(steps) > 1 else ''} {', '.join(steps[:MAX_NAMED])}"
    if match.way == "another route":
        more = f" and {len(calls) - MAX_NAMED} more" if len(calls) > MAX_NAMED else ""
        return f"{where}: {', '.join(_call(call) for _, call in calls[:MAX_NAMED])}{more}"
    if not match.differences:
        return f"{where}: the same"
    return f"{where}: {_code('; '.join(map(_difference, match.differences)), _MAX_DIFFERENCES)}"


def _sign(match: Match) -> str:
    """A tick only for what was wanted."""
    if match.way is None:
        return f"{'✓' if match.full else '≈'} {match.similarity:.2f}"
    return f"{'✓' if match.full else '≈'} {_cell(match.note)}".rstrip()


def _difference(item: ArgumentDifference) -> str:
    if isinstance(item, MissingArgument):
        return f"without {item.argument}"
    also = " too" if isinstance(item, ExtraArgument) else ""
    return f"{item.argument}={_short(item.actual)}{also}"


def _short(item: JsonValue) -> str:
    text = value(item, 42)
    return text[1:-1] if isinstance(item, str) and text.endswith('"') else text


def _checks(card: ScoreCard) -> str:
    if card.void_reason:
        return ""
    lines = [_check(item, item.check in card.ungrounded) for item in card.checks[:MAX_CHECKS]]
    if len(card.checks) > MAX_CHECKS:
        lines.append(f"- … {len(card.checks) - MAX_CHECKS} more checks")
    return "\n".join(["**What was handed in**", "", *lines]) if lines else ""


def _check(item: CheckResult, ungrounded: bool) -> str:
    """A field with what was given and, where that may be told, what is right; or a check of anything else."""
    said = [f"**{_sentence(item.check)}**"]
    if item.given:
        said.append(_code(item.given, _MAX_VALUE))
    if item.reason:
        said.append(f"— {_sentence(item.reason)}")
    if item.right:
        said.append(f"— right is {_code(item.right, _MAX_VALUE)}")
    # The value of a file that is not there leads nowhere either, and its reason says so better.
    if ungrounded and (item.passed or item.right):
        said.append("— not grounded: nothing that the run saw leads to it")
    return f"- {'✓' if item.passed else '✗'} {' '.join(said)}"


def _outcomes(card: ScoreCard) -> str:
    words = [f"{count} {name.replace('_', ' ')}" for name, count in card.outcomes.items()]
    text = f"Calls: {', '.join(words)}." if words else "No call was made."
    if card.calls_coerced:
        text += f" With arguments sent as text and read as what the schema asks for: {card.calls_coerced}."
    if refused := card.excluded.get("limit"):
        text += f" Refused after a limit of the run was reached: {refused}."
    told = ("limit", "weather")
    if left := ", ".join(f"{count} by the {owner}" for owner, count in card.excluded.items() if owner not in told):
        text += f" Not counted, because they failed through no fault of the agent: {left}."
    if card.gaps:
        calls = f"{card.gaps} call{'s' if card.gaps > 1 else ''}"
        text += f" Lost to gaps of the offline world: {calls}, {card.gap_share:.1%} of all."
    return text


def conduct_lines(card: ScoreCard) -> list[str]:
    """What the run made of faults, and what it did without being asked; nothing when there is nothing to say."""
    said = []
    if card.conduct is not None and (recovery := card.conduct.recovery) is not None:
        kinds = ", ".join(f"{count} {FAULTS.get(kind, kind)}" for kind, count in recovery.faults.items())
        hurried = f", {recovery.hurried} of them too soon" if recovery.hurried else ""
        said.append(
            f"**Recovery:** {recovery.survived} of {recovery.met} calls that the weather took got through, at the "
            f"price of {recovery.calls} ({kinds}){hurried}."
        )
    if card.conduct is not None and (order := card.conduct.order) is not None:
        became = "obeyed" if order.obeyed else "reported" if order.reported else "ignored" if order.delivered else ""
        said.append(f"**Order in the material** ({order.kind}): {became or 'never met'}.")
    if card.conduct is not None and (abstention := card.conduct.abstention) is not None:
        gave_up = f"said to have none ({abstention.reason})" if abstention.said else "said to have one"
        due = "There is no answer" if abstention.due else "There is an answer"
        said.append(f"**{due}**; it was {gave_up}.")
    if card.conduct is not None and card.conduct.unwanted:
        named = [
            f"{effect.path} {effect.what}" + (f" by {effect.tool}" if effect.tool else "")
            for effect in card.conduct.effects[:MAX_NAMED]
        ]
        left = card.conduct.unwanted - len(named)
        more = f"; {left} more" if left else ""
        said.append(f"**Unwanted effects:** {card.conduct.unwanted} ({_sentence('; '.join(named))}{more}).")
    return said


def _steps(card: ScoreCard) -> str:
    """What is not certain about the steps."""
    said = []
    if card.open:
        said.append(
            f"Whether a step begins is open at {card.open} call{'s' if card.open > 1 else ''}: the record shows "
            f"neither overlap nor data flow there. {_RULE if card.scoring_version >= _RULE_SINCE else ''}"
            + ("The ranges cover all readings." if card.ranges_exact else "No reading goes beyond the ranges.")
        )
    if card.contradictions:
        first = "; ".join(map(_sentence, card.contradictions[:MAX_CONTRADICTIONS]))
        left = len(card.contradictions) - MAX_CONTRADICTIONS
        said.append(f"Not followed, because the record contradicts it: {first}{f'; {left} more' if left > 0 else ''}.")
    return " ".join(said)


def _client(card: ScoreCard) -> str:
    client = card.client
    return client_line(client.name, client.capabilities, client.tools) if client is not None else ""


def _more(run: str | None) -> str:
    return f"To see the calls over time: `m3bench report {run[:12]} -o card.html`" if run else ""


def _sentence(text: str, limit: int = _MAX_SENTENCE) -> str:
    """Words from outside on one line, with nothing that Markdown would act upon."""
    plain = printable(text)
    plain = plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", plain)


def _cell(text: str) -> str:
    """A sentence that also holds in a table, and is not long."""
    plain = printable(text)
    return _sentence(plain if len(plain) <= _MAX_NOTE else f"{plain[: _MAX_NOTE - 1]}…")


def _code(text: str, limit: int) -> str:
    """A code span that also holds in a table: a pipe or a backtick would end it, so others stand for them."""
    plain = printable(text)
    plain = plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
    return f"`{plain.replace('|', '│').replace('`', 'ˋ')}`"

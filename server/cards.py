"""A score card in words: Markdown that any chat shows, the same for every client.

Headline, a bar for each metric, reference and actual calls side by side by step, checks, and what cost the
most. Only puts into words what the card's data says.
"""

import json
from collections.abc import Mapping
from typing import Any

from m3bench.server.clients.capability import client_line

METRICS = {
    "recall": "needed calls made",
    "precision": "calls that were needed",
    "argument_similarity": "arguments right",
    "step_coherence": "parallel calls kept together",
    "order_consistency": "order right",
    "merge_purity": "steps kept apart",
}

_BAR = 12


def markdown(card: Mapping[str, Any]) -> str:
    """The whole card."""
    parts = [_headline(card), _metrics(card), calls_markdown(card), _checks(card), _outcomes(card), client_line(card)]
    return "\n\n".join(part for part in parts if part)


def _headline(card: Mapping[str, Any]) -> str:
    average = card["metrics"].get("average")
    verdict = {True: "solved", False: "not solved", None: "no checks"}[card["success"]]
    checks = card["checks"]
    count = f" ({sum(item['passed'] for item in checks)} of {len(checks)} checks)" if checks else ""
    value = "unscored" if average is None else f"{average:.3f}"
    return f"## m3bench: {card['task']}\n\n**average {value}** · **{verdict}**{count}"


def _metrics(card: Mapping[str, Any]) -> str:
    lines = ["| metric | | value | |", "|---|---|---|---|"]
    for name, meaning in METRICS.items():
        value = card["metrics"].get(name)
        if value is None:
            lines.append(f"| {name.replace('_', ' ')} | | unscored | {meaning} |")
            continue
        low, high = card["ranges"].get(name, (value, value))
        spread = f" ({low:.2f}–{high:.2f})" if high - low > 0.0005 else ""
        lines.append(f"| {name.replace('_', ' ')} | `{_bar(value)}` | {value:.3f}{spread} | {meaning} |")
    return "\n".join(lines)


def _bar(value: float) -> str:
    full = round(value * _BAR)
    return "█" * full + "░" * (_BAR - full)


def calls_markdown(card: Mapping[str, Any]) -> str:
    """Reference and actual calls side by side, by step."""
    alignment = card["alignment"]
    actual = [(step, call) for step, calls in enumerate(alignment["actual_steps"], 1) for call in calls]
    by_reference = {match["reference"]: match for match in alignment["matches"]}
    lines = ["| step | reference | yours | |", "|---|---|---|---|"]
    index = 0
    for step, calls in enumerate(alignment["reference_steps"], 1):
        for call in calls:
            match = by_reference.get(index)
            if match is None:
                lines.append(f"| {step} | {_call(call)} | – | missed |")
            else:
                where, mine = actual[match["actual"]]
                note = f"{match['similarity']:.2f}" + _differences(match["differences"])
                lines.append(f"| {step} | {_call(call)} | step {where}: {_call(mine)} | {note} |")
            index += 1
    for place in alignment["extra"]:
        where, mine = actual[place]
        lines.append(f"| | – | step {where}: {_call(mine)} | extra |")
    return "\n".join(lines) if index or alignment["extra"] else ""


def _call(call: Mapping[str, Any]) -> str:
    arguments = ", ".join(f"{name}={_short(value)}" for name, value in call["arguments"].items())
    return _cell(f"`{call['tool']}`({arguments})")


def _short(value: object, limit: int = 40) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _differences(differences: list[Mapping[str, Any]]) -> str:
    words = [f"{item['kind']} {item['argument']}" for item in differences[:3]]
    more = f" and {len(differences) - 3} more" if len(differences) > 3 else ""
    return f": {', '.join(words)}{more}" if words else ""


def _checks(card: Mapping[str, Any]) -> str:
    lines = [
        f"- {'✓' if item['passed'] else '✗'} {item['check']}" + (f" — {item['reason']}" if item["reason"] else "")
        for item in card["checks"]
    ]
    return "\n".join(["**Checks**", *lines]) if lines else ""


def _outcomes(card: Mapping[str, Any]) -> str:
    words = [f"{count} {name.replace('_', ' ')}" for name, count in card["outcomes"].items()]
    text = f"Calls: {', '.join(words)}." if words else "No call was made."
    if card["excluded"]:
        left = ", ".join(f"{count} by the {owner}" for owner, count in card["excluded"].items())
        text += f" Not counted, because they failed through no fault of the agent: {left}."
    return text


def _cell(text: str) -> str:
    """Text that cannot break a table."""
    return text.replace("|", "\\|").replace("\n", " ")

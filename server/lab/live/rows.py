"""What is told of a seat, a run and a call: small plain rows, bounded, and without what only some may see.

A seat is named by a hash, because the handle itself would let others sit down on it. Numbers of a score are in a row
only when the run is sealed and the watcher may see them.
"""

import json
from collections.abc import Mapping
from typing import Any

from m3bench.proxy.call import Answer, ToolRequest
from m3bench.proxy.seat import seat_name
from m3bench.server.scorecard.pages.plain import cut, shown

NAME, ARGUMENTS = 120, 240
"""Characters of a name and of arguments in a row."""

SEALED = ("submitted", "scored")


def call_name(call: int) -> str:
    """A call's number as text: a browser cannot hold it."""
    return f"{call:x}"


def argument_text(arguments: object) -> str:
    """Arguments on one line, bounded before they are written out."""
    if not isinstance(arguments, Mapping) or not arguments:
        return ""
    bounded: dict[str, Any] = shown(arguments, text=NAME, items=12, depth=3)
    parts = (
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in bounded.items()
    )
    text = " · ".join(parts).encode(errors="replace").decode()
    return text if len(text) <= ARGUMENTS else text[:ARGUMENTS] + "…"


def name_text(name: str) -> str:
    """A name from outside, bounded and such that any encoding takes it."""
    return cut(name, NAME).encode(errors="replace").decode()


def received_row(call: int, request: ToolRequest, run: str | None, tool: str, *, details: bool) -> dict[str, Any]:
    """A call that has just arrived."""
    return {
        "call": call_name(call),
        "run": run,
        "seat": seat_name(request.caller.seat),
        "client": name_text(request.caller.client),
        "tool": name_text(tool),
        "arguments": argument_text(request.arguments) if details else None,
        "wall": request.wall,
        "outcome": None,
        "owner": None,
        "took_ns": None,
    }


def answer_row(call: int, answer: Answer, received_ns: int | None) -> dict[str, Any]:
    """What a call came to; merged into its row."""
    return {
        "call": call_name(call),
        "outcome": answer.outcome,
        "owner": answer.owner,
        "took_ns": took(received_ns, answer.returned_ns),
    }


def took(received_ns: int | None, returned_ns: int | None) -> int | None:
    """How long a tool took; None when the call never reached one."""
    return returned_ns - received_ns if received_ns is not None and returned_ns else None

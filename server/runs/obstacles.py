"""Whether a run can go on after its server was started anew, and what it has used until then.

A run is resumed when everything that its manifest names is as it was and its workspace is still there. Otherwise it is
void: half of it would have been played in another world than the other half.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from m3bench.proxy.call import CUT_OFF
from m3bench.server.store.records import BESIDE, CallRecord, RunRecord

_WORDS = {
    "m3bench": "another version of m3bench",
    "tasks": "another set of tasks",
    "catalog": "other tools",
    "world": "another world",
    "encoder": "another encoder",
    "steps": "other rules for steps",
    "scores": "other rules for scores",
    "profile": "another choice of profiles",
    "tools": "another number of tools",
    "sandbox": "another kind of sandbox",
    "upstream": "other third-party servers",
    "content_only": "another setting of --content-only",
}
"""What a server has when its manifest differs."""

_NEVER_ADMITTED = frozenset({"unknown_tool", "illegal_format"})


def obstacle(run: RunRecord, manifest: Mapping[str, Any], workspace: Path) -> str | None:
    """Why a run cannot go on, as the end of a sentence; None when it can.

    Args:
        run: The run, as it began.
        manifest: What a run that begins now would have.
        workspace: Where its files were.
    """
    # What sandboxes lack is found out by trying, and an engine may be slow to come up.
    names = sorted((run.manifest.keys() | manifest.keys()) - BESIDE)
    changed = [name for name in names if run.manifest.get(name) != manifest.get(name)]
    if changed:
        return f"the server was started again with {_listed([_WORDS.get(name, f'another {name}') for name in changed])}"
    if not workspace.is_dir():
        return f"its workspace {workspace.name} is gone"
    return None


def forgotten(calls: Iterable[CallRecord], forgetful: frozenset[str]) -> str | None:
    """Why a run cannot go on that has used third-party servers which were started for it alone."""
    used = sorted({call.tool.partition("/")[0] for call in calls} & forgetful)
    return f"what it did with {_listed(used)} went with the process that was started for it" if used else None


def seconds_used(run: RunRecord) -> float:
    """The time since a run began, by the clock on the wall: the only one that goes on while a server is down."""
    return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(run.started)).total_seconds())


def calls_used(calls: Iterable[CallRecord]) -> int:
    """The calls of a run that count against its limit; one that the server cut off by ending does not."""
    return sum(call.outcome not in _NEVER_ADMITTED and call.error != CUT_OFF for call in calls)


def words(why: str) -> str:
    """What the client of a run that could not be resumed is told."""
    return f"The task that ran on this seat is void, and that is not your fault: {why}. Call start_task for a new one."


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

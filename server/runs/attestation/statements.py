"""What is stated: of a run when it is sealed, and of a whole record when its runs are packed."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from m3bench.server.runs.attestation import merkle
from m3bench.server.runs.attestation.envelope import Envelope, state
from m3bench.server.runs.attestation.keys import SigningKey
from m3bench.server.store.records import CallRecord, RunRecord

RUN = "urn:m3bench:attestation:run:1"
TALLY = "urn:m3bench:attestation:tally:1"


def run_subject(run: RunRecord, calls: Sequence[CallRecord], files: Mapping[str, str]) -> dict[str, str]:
    """What a statement on a run is about: its seal, which covers everything, and its parts by themselves.

    Args:
        run: The run, with its seal.
        calls: Those of the agent, in order.
        files: What lies in the workspace, by path and hash.
    """
    log = [[call.id, call.tool, _of(call.request), call.outcome, _of(call.result), call.received_ns] for call in calls]
    return {
        "seal": (run.seal or "").rpartition(":")[2],
        "log": _digest(log),
        "workspace": _digest(dict(files)),
        "manifest": _digest(run.manifest),
    }


def run_predicate(run: RunRecord, calls: Sequence[CallRecord]) -> dict[str, Any]:
    """What is said of a run."""
    return {
        "run": run.id,
        "seat": run.seat,
        "task": run.task,
        "mode": run.mode,
        "set": (run.manifest.get("tasks") or {}).get("hash"),
        "profile": run.manifest.get("profile"),
        "client": calls[-1].client if calls else "",
        "calls": len(calls),
        "started": run.started,
        "ended": run.ended,
        **{name: run.manifest[name] for name in ("event", "participant") if name in run.manifest},
    }


def state_run(
    key: SigningKey, run: RunRecord, calls: Sequence[CallRecord], files: Mapping[str, str], counts: Mapping[str, int]
) -> Envelope:
    """A statement on a run that was sealed, with how many runs the record had then, by their state."""
    predicate = {**run_predicate(run, calls), "counts": dict(sorted(counts.items()))}
    return state(key, run_subject(run, calls, files), RUN, predicate)


def state_tally(
    key: SigningKey, runs: Sequence[RunRecord], entries: Sequence[bytes], seat: str | None = None
) -> Envelope:
    """A statement on a whole record, or on one seat of it, and the log of statements as it stands.

    Args:
        key: Who states it.
        runs: Every run that was ever started there.
        entries: The lines of the log.
        seat: Whose runs they are; those of everybody when left out.
    """
    top = merkle.root([merkle.leaf(entry) for entry in entries]).hex()
    predicate = {
        "log": {"size": len(entries), "root": top},
        "counts": counted(Counter(run.state for run in runs)),
        **({"seat": seat} if seat is not None else {}),
        "sealed": {run.id: run.seal.rpartition(":")[2] for run in sorted(runs, key=lambda run: run.id) if run.seal},
        "first": min((run.started for run in runs), default=None),
        "last": max((run.ended for run in runs if run.ended), default=None),
    }
    return state(key, {"log": top}, TALLY, predicate)


def counted(states: Mapping[str, int]) -> dict[str, int]:
    """How many runs there are, by what became of them; `started` is all of them."""
    return {"started": sum(states.values()), **dict(sorted(states.items()))}


def _of(value: bytes | None) -> str | None:
    return None if value is None else sha256(value).hexdigest()


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

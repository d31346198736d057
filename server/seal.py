"""The seal of a run: a hash chain over its calls and its answer.

Each link covers one call as recorded and the link before it, so that no call can be edited, removed, added or
moved afterwards without changing the last link, which is stored with the run when it is submitted.
"""

import json
from collections.abc import Iterable
from hashlib import sha256

from m3bench.server.store.records import CallRecord


def seal(run: str, task: str, calls: Iterable[CallRecord], answer: str) -> str:
    """The last link of the chain."""
    link = _hash(["m3bench-run-1", run, task])
    for call in calls:
        link = _hash(
            [
                link, call.id, call.tool, sha256(call.request).hexdigest(), call.received_ns, call.outcome, call.owner,
                sha256(call.result or b"").hexdigest(), call.error, sha256(call.full or b"").hexdigest(),
                call.forwarded_ns, call.returned_ns,
            ]
        )  # fmt: skip
    return _hash([link, answer])


def _hash(parts: list[object]) -> str:
    return sha256(json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()

"""Signed statements: in-toto statements in DSSE envelopes, which other programs can check as well, and their log.

A server states that a run was sealed, and of a whole record what was started there when its runs are packed. The log is
a file beside the record, one signed statement per line, that only grows. A line that was cut off when the machine died
is closed and stays: nothing is ever removed from a log.
"""

import json
import os
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from m3bench.server.runs.attestation import merkle
from m3bench.server.runs.attestation.keys import PublicKey, SigningKey, key_of
from m3bench.server.store.errors import explain
from m3bench.server.store.layout import PRIVATE_FILE
from m3bench.server.store.records import CallRecord, RunRecord

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EnvelopeSignature(_Form):
    """Who signed, and the signature in base64."""

    keyid: str
    sig: str


class Envelope(_Form):
    """A statement with its signatures."""

    payloadType: Literal["application/vnd.in-toto+json"] = "application/vnd.in-toto+json"
    payload: str
    signatures: tuple[EnvelopeSignature, ...]

    @property
    def line(self) -> bytes:
        """The envelope as it stands in a log."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":")).encode()

    def statement(self, key: PublicKey) -> dict[str, Any] | None:
        """What was stated, when the holder of the key signed it; else None."""
        try:
            payload = b64decode(self.payload, validate=True)
            signatures = [b64decode(signature.sig, validate=True) for signature in self.signatures]
        except ValueError:
            return None
        message = authenticated(self.payloadType, payload)
        if not any(key.signed(message, signature) for signature in signatures):
            return None
        found = json.loads(payload)
        return found if isinstance(found, dict) and found.get("_type") == STATEMENT_TYPE else None


def state(key: SigningKey, subject: Mapping[str, str], kind: str, predicate: Mapping[str, object]) -> Envelope:
    """A signed statement.

    Args:
        key: Who states it.
        subject: What it is about: names and SHA-256 digests.
        kind: The predicate's type.
        predicate: What is said.
    """
    named = [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(subject.items())]
    statement = {"_type": STATEMENT_TYPE, "subject": named, "predicateType": kind, "predicate": dict(predicate)}
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    signature = b64encode(key.sign(authenticated(PAYLOAD_TYPE, payload))).decode()
    signed = EnvelopeSignature(keyid=key.public.fingerprint, sig=signature)
    return Envelope(payload=b64encode(payload).decode(), signatures=(signed,))


def authenticated(kind: str, payload: bytes) -> bytes:
    """The bytes that are signed: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %b %d %b" % (len(kind.encode()), kind.encode(), len(payload), payload)


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


def run_predicate(run: RunRecord, calls: Sequence[CallRecord]) -> dict[str, object]:
    """What is said of a run."""
    return {
        "run": run.id,
        "seat": run.seat,
        "task": run.task,
        "mode": run.mode,
        "set": run.setup.set_hash,
        "profile": run.setup.profile,
        "client": calls[-1].client if calls else "",
        "calls": len(calls),
        "started": run.started,
        "ended": run.ended,
        **{name: run.manifest[name] for name in ("event", "participant") if name in run.manifest},
    }


def state_run(
    key: SigningKey,
    run: RunRecord,
    calls: Sequence[CallRecord],
    files: Mapping[str, str],
    counts: Mapping[str, int],
    capabilities: Mapping[str, object] | None = None,
) -> Envelope:
    """A statement on a run that was sealed.

    Args:
        key: Who states it.
        run: The run, with its seal.
        calls: Those of the agent, in order.
        files: What lies in the workspace, by path and hash, the last changed one last.
        counts: How many runs the record had then, by their state.
        capabilities: What was known of its client, by which its calls are put into steps.
    """
    known = {CAPABILITIES: None if capabilities is None else dict(capabilities)}
    said = {**run_predicate(run, calls), **known, ORDER: order_of(files), "counts": dict(sorted(counts.items()))}
    return state(key, run_subject(run, calls, files), RUN, said)


def order_of(files: Iterable[str]) -> str:
    """In which order files were changed, in a digest: of several, a check may take the last one."""
    return _digest(list(files))


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
        "starts": _starts(runs),
        **({"seat": seat} if seat is not None else {}),
        "sealed": {run.id: run.seal.rpartition(":")[2] for run in sorted(runs, key=lambda run: run.id) if run.seal},
        "first": min((run.started for run in runs), default=None),
        "last": max((run.ended for run in runs if run.ended), default=None),
    }
    return state(key, {"log": top}, TALLY, predicate)


def _starts(runs: Sequence[RunRecord]) -> list[dict[str, object]]:
    """Every run that was started: of which task, which attempt it is, and what became of it."""
    tries: Counter[str] = Counter()
    found: list[dict[str, object]] = []
    for run in sorted(runs, key=lambda run: (run.started, run.id)):
        tries[run.task] += 1
        found.append({"run": run.id, "task": run.task, "repeat": tries[run.task], "state": run.state})
    return found


def counted(states: Mapping[str, int]) -> dict[str, int]:
    """How many runs there are, by what became of them; `started` is all of them."""
    return {"started": sum(states.values()), **dict(sorted(states.items()))}


def _of(value: bytes | None) -> str | None:
    return None if value is None else sha256(value).hexdigest()


def _digest(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


FILE = "attestations.jsonl"

CAPABILITIES, ORDER = "capabilities", "order"
"""In the statement on a run."""


class Attestor:
    """States of every run that is sealed in a data folder that it was sealed, when there is a key to sign with.

    Args:
        data: The data folder.
        capabilities: Tells what is known of the client of a run.
    """

    def __init__(self, data: Path, capabilities: Callable[[RunRecord], Mapping[str, object] | None]) -> None:
        self._data = data
        self._capabilities = capabilities

    @cached_property
    def key(self) -> SigningKey | None:
        """What is signed with.

        Raises:
            InputFileError: There is a key, and it cannot be used.
        """
        return key_of(self._data)

    def sealed(
        self,
        run: RunRecord,
        calls: Sequence[CallRecord],
        files: Mapping[str, str],
        counts: Callable[[], Mapping[str, int]],
    ) -> None:
        """A run is about to be sealed: what is stated of it is in the log when this returns.

        Args:
            run: The run, with its seal.
            calls: Those of the agent, in order.
            files: What lies in the workspace, by path and hash.
            counts: Gives how many runs the record has, by their state.

        Raises:
            StoreError: It cannot be written.
        """
        if self.key is None:
            return
        envelope = state_run(self.key, run, calls, files, counted(counts()), self._capabilities(run))
        try:
            append(self._data / FILE, envelope)
        except OSError as error:
            raise explain(error, self._data) from error


def append(path: Path, envelope: Envelope) -> None:
    """Add a statement, on disk when this returns."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
    try:
        size = os.lseek(file, 0, os.SEEK_END)
        if size:
            os.lseek(file, size - 1, os.SEEK_SET)
        torn = size > 0 and os.read(file, 1) != b"\n"
        data = (b"\n" if torn else b"") + envelope.line + b"\n"
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
    finally:
        os.close(file)


def entries(data: Path) -> list[bytes]:
    """The lines of a data folder's log, without one that is not whole yet."""
    path = data / FILE
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []

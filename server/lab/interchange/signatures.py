"""What a server signed of the runs in a bundle, and whether that is of them.

A bundle carries the statement on each run, where it stands in the server's log, and the server's tally over all runs
that it ever started, so that what was left out of the bundle shows.
"""

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from m3bench.server.lab.interchange.verdict import Odd
from m3bench.server.runs.attestation import merkle
from m3bench.server.runs.attestation.keys import PublicKey, key_of
from m3bench.server.runs.attestation.statements import (
    CAPABILITIES,
    ORDER,
    RUN,
    TALLY,
    Envelope,
    entries,
    order_of,
    run_predicate,
    run_subject,
    state_tally,
)
from m3bench.server.store.contract import Store
from m3bench.server.store.records import OWN_TOOLS, CallRecord, RunRecord


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SignedRun(_Form):
    """The statement on a run, and its inclusion proof: the path to the root of the log's Merkle tree."""

    envelope: Envelope
    index: int
    path: tuple[str, ...]


class Signatures(_Form):
    """The content of `attestations.json`."""

    key: str
    """The public key, as a line."""
    tally: Envelope
    runs: dict[str, SignedRun]


def signatures_of(store: Store, runs: Sequence[str], seat: str | None = None) -> Signatures | None:
    """What the server of a record signed of some of its runs; None when it has no key.

    Args:
        store: The record.
        runs: Handles.
        seat: Whose runs the tally counts; those of everybody when left out.

    Raises:
        InputFileError: It has a key that cannot be used.
    """
    key = key_of(store.folder)
    lines = entries(store.folder)
    if key is None or not lines:
        return None
    leaves = [merkle.leaf(line) for line in lines]
    places: dict[str, int] = {}
    for index, line in enumerate(lines):
        run = _run_named(line)
        if run is not None:
            places[run] = index
    signed = {
        run: SignedRun(
            envelope=Envelope.model_validate_json(lines[places[run]]),
            index=places[run],
            path=tuple(hash.hex() for hash in merkle.path(leaves, places[run])),
        )
        for run in sorted(runs)
        if run in places
    }
    return Signatures(key=key.public.line, tally=state_tally(key, store.runs(seat), lines, seat), runs=signed)


def _run_named(line: bytes) -> str | None:
    """The run that a line of the log is about; None when the line is not whole."""
    try:
        statement = json.loads(b64decode(Envelope.model_validate_json(line).payload))
        return str(statement["predicate"]["run"])
    except (ValueError, KeyError, TypeError):
        return None


class SignedTally:
    """What a trusted key signed for a whole bundle.

    Args:
        signatures: What the bundle carries.
        key: The key that is trusted.
    """

    def __init__(self, signatures: Signatures, key: PublicKey) -> None:
        self._signatures = signatures
        self._key = key
        statement = signatures.tally.statement(key) or {}
        right = statement.get("predicateType") == TALLY
        self._predicate = statement.get("predicate", {}) if right else {}

    @property
    def signed(self) -> bool:
        """Whether the key signed it."""
        return bool(self._predicate)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many runs the server started, and what became of them."""
        return dict(self._predicate["counts"])

    @property
    def starts(self) -> Mapping[str, tuple[str, str]] | None:
        """The task and state of every run that the server started; None when it did not list them."""
        listed = self._predicate.get("starts")
        return None if listed is None else {start["run"]: (start["task"], start["state"]) for start in listed}

    @property
    def whose(self) -> str:
        """Whose runs are counted, in words."""
        return "its record" if self._predicate.get("seat") is None else "this participant"

    @property
    def sealed(self) -> Mapping[str, str]:
        """The seal of every run that was sealed."""
        found: Mapping[str, str] = self._predicate["sealed"]
        return found

    def left_out(self, runs: Sequence[str]) -> int:
        """How many sealed runs are not among these."""
        return len(self.sealed.keys() - set(runs))

    def says(self, run: str, capabilities: Mapping[str, object] | None, *, unsaid: bool) -> bool:
        """Whether this is what the server signed that it knew of a run's client.

        Args:
            run: The run.
            capabilities: What is claimed.
            unsaid: What holds of a run of which the server signed nothing of the kind; early versions did not.
        """
        found = self._signatures.runs.get(run)
        statement = found.envelope.statement(self._key) if found is not None else None
        if statement is None or CAPABILITIES not in statement["predicate"]:
            return unsaid
        return bool(statement["predicate"][CAPABILITIES] == capabilities)

    def orders(self, run: str) -> bool:
        """Whether the order is signed in which a run's files were changed; early versions left it out."""
        found = self._signatures.runs.get(run)
        statement = found.envelope.statement(self._key) if found is not None else None
        return statement is not None and ORDER in statement["predicate"]

    def odd(self, run: RunRecord, calls: Sequence[CallRecord], files: Mapping[str, str]) -> Iterator[Odd]:
        """Everything in a run that differs from what the server signed; an unsigned run is odd too.

        Args:
            run: The run.
            calls: All of them.
            files: What lies in the workspace, by path and hash, the last changed one last.
        """
        found = self._signatures.runs.get(run.id)
        statement = found.envelope.statement(self._key) if found is not None else None
        if found is None or statement is None or statement.get("predicateType") != RUN:
            yield "signature", f"by {self._key.fingerprint}", "not there, or not by that key"
            return
        agents = [call for call in calls if call.tool not in OWN_TOOLS]
        signed = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
        for name, digest in run_subject(run, agents, files).items():
            if signed.get(name) != digest:
                yield f"signed {name}", digest, signed.get(name)
        for name, value in run_predicate(run, agents).items():
            if statement["predicate"].get(name) != value:
                yield f"signed {name}", value, statement["predicate"].get(name)
        if statement["predicate"].get(ORDER, order_of(files)) != order_of(files):
            yield "signed order of files", list(files), "another one"
        log = self._predicate["log"]
        try:
            way = [bytes.fromhex(hash) for hash in found.path]
        except ValueError:
            way = []
        top = merkle.leads_to(found.envelope.line, found.index, log["size"], way)
        if top is None or top.hex() != log["root"]:
            yield "place in the server's log", f"entry {found.index}", "the way there leads elsewhere"
        if self._predicate.get("seat") not in (None, run.seat):
            yield "seat that the server counted", run.seat, self._predicate.get("seat")
        if self.sealed.get(run.id) != (run.seal or "").rpartition(":")[2]:
            yield "seal in the server's tally", run.seal, self._predicate["sealed"].get(run.id)

"""A bundle of a server that signs is attested to whoever trusts the key, and nothing in it can be changed after that.

The signatures and the way of each run to the root of the log are checked here with `cryptography` and `hashlib` alone
as well, from nothing but the bundle and the public key.
"""

import json
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.attesting import attest_bundle
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.interchange.verdict import BundleVerdict, Level
from m3bench.server.lab.reports.board import BundleBoard
from m3bench.server.runs.attestation.keys import PublicKey, make_key
from m3bench.server.scoring import Encoder
from tests.server.lab.interchange.conftest import Signed, m3bench
from tests.server.lab.interchange.tampering import (
    Members,
    change_json,
    change_lines,
    claim_again,
    index_again,
    packed,
    put_value,
    run_of,
    unpacked,
)


def verified(path: Path, signed: Signed, encoder: Encoder, *trusted: PublicKey) -> BundleVerdict:
    verdict = verify_bundle(path, LocalInstallation(signed.library), encoder)
    attest_bundle(path, verdict, trusted)
    return verdict


def whats(verdict: BundleVerdict) -> str:
    found = [f"{one.where}: {one.what}: {one.claimed} / {one.recomputed}" for one in verdict.differences]
    return "\n".join([verdict.summary, *found, *verdict.notes])


def test_what_a_trusted_key_signed_is_attested(signed: Signed, encoder: Encoder) -> None:
    verdict = verified(signed.bundle, signed, encoder, signed.key)
    assert verdict.level == "attested", whats(verdict)
    assert signed.key.fingerprint in verdict.summary
    assert verdict.starts == {"started": 2, "scored": 2}


def test_a_signature_counts_for_nothing_without_trust(signed: Signed, encoder: Encoder, tmp_path: Path) -> None:
    stranger = make_key(tmp_path / "stranger").public
    for trusted in ([], [stranger]):
        verdict = verified(signed.bundle, signed, encoder, *trusted)
        assert verdict.level == "consistent"
        assert "not a key that you trust" in whats(verdict)


def test_a_stranger_can_check_everything_with_other_programs(signed: Signed) -> None:
    with zipfile.ZipFile(signed.bundle) as archive:
        found = json.loads(archive.read("attestations.json"))
        runs = {
            name.split("/")[1]: json.loads(archive.read(name))
            for name in archive.namelist()
            if name.endswith("/run.json")
        }
    key = Ed25519PublicKey.from_public_bytes(b64decode(signed.key.line.split()[1]))
    tally = _opened(key, found["tally"])["predicate"]
    assert runs.keys() == found["runs"].keys()
    for id, proof in found["runs"].items():
        statement = _opened(key, proof["envelope"])
        subject = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
        assert subject["seal"] == runs[id]["seal"].split(":")[1] == tally["sealed"][id]
        manifest = json.dumps(runs[id]["manifest"], sort_keys=True, separators=(",", ":")).encode()
        assert subject["manifest"] == sha256(manifest).hexdigest()
        line = json.dumps(proof["envelope"], sort_keys=True, separators=(",", ":")).encode()
        node = sha256(b"\x00" + line).digest()
        assert tally["log"]["size"] == 2, "of two leaves, the way to the root is the other leaf"
        other = bytes.fromhex(proof["path"][0])
        pair = node + other if proof["index"] == 0 else other + node
        assert sha256(b"\x01" + pair).hexdigest() == tally["log"]["root"]


def _opened(key: Ed25519PublicKey, envelope: Any) -> Any:
    payload, kind = b64decode(envelope["payload"]), envelope["payloadType"]
    message = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    key.verify(b64decode(envelope["signatures"][0]["sig"]), message)
    return json.loads(payload)


def strip(members: Members, run: str) -> None:
    del members["attestations.json"]


def unsigned_run(members: Members, run: str) -> None:
    change_json(members, "attestations.json", lambda found: found["runs"].pop(run.removeprefix("runs/")))


def another_run_s_statement(members: Members, run: str) -> None:
    def change(found: Any) -> None:
        first, second = found["runs"]
        found["runs"][first], found["runs"][second] = found["runs"][second], found["runs"][first]

    change_json(members, "attestations.json", change)


def another_place(members: Members, run: str) -> None:
    def change(found: Any) -> None:
        for proof in found["runs"].values():
            proof["index"] = 1 - proof["index"]

    change_json(members, "attestations.json", change)


def no_way(members: Members, run: str) -> None:
    def change(found: Any) -> None:
        for proof in found["runs"].values():
            proof["path"] = ["zz"]

    change_json(members, "attestations.json", change)


def better_tally(members: Members, run: str) -> None:
    def change(found: Any) -> None:
        payload = json.loads(b64decode(found["tally"]["payload"]))
        payload["predicate"]["counts"] = {"started": 2, "scored": 2, "abandoned": 0}
        found["tally"]["payload"] = b64encode(json.dumps(payload).encode()).decode()

    change_json(members, "attestations.json", change)


def statement_for_tally(members: Members, run: str) -> None:
    """Something that the key did sign, in place of what it should have signed."""

    def change(found: Any) -> None:
        found["tally"] = next(iter(found["runs"].values()))["envelope"]

    change_json(members, "attestations.json", change)


def another_result(members: Members, run: str) -> None:
    value = put_value(members, b'{"content": [{"type": "text", "text": "2.5"}]}')
    change_lines(members, f"{run}/calls.jsonl", lambda calls: calls[0].update(result=value))


def another_answer(members: Members, run: str) -> None:
    def change(calls: list[Any]) -> None:
        call = next(call for call in calls if call["tool"] == "submit")
        message = json.loads(members[f"values/{call['request']}"])
        message["params"]["arguments"]["answer"] = "They differ by 7."
        call["request"] = put_value(members, json.dumps(message).encode())

    change_lines(members, f"{run}/calls.jsonl", change)
    change_json(members, f"{run}/run.json", lambda found: found.update(answer="They differ by 7."))


def another_client(members: Members, run: str) -> None:
    def change(calls: list[Any]) -> None:
        for call in calls:
            call["client"] = "claude-code 9.9"

    change_lines(members, f"{run}/calls.jsonl", change)


def left_out(members: Members, run: str) -> None:
    for name in list(members):
        if name.startswith(f"{run}/"):
            del members[name]
    change_lines(members, "samples.jsonl", lambda lines: lines.remove(_of(lines, "survey-1")))
    change_json(members, "set.json", lambda header: header.update(tasks=["sum-1"]))


def called_void(members: Members, run: str) -> None:
    """A bad run that is said to be void, and left out."""
    for name in list(members):
        if name.startswith(f"{run}/"):
            del members[name]
    change_lines(members, "samples.jsonl", lambda lines: _of(lines, "survey-1").update(state="void", reason="outage"))


def _of(lines: list[Any], task: str) -> Any:
    return next(line for line in lines if line["task"] == task)


CHANGES: dict[str, tuple[Callable[[Members, str], None], Level, str]] = {
    "signatures taken out": (strip, "consistent", "Nobody signed"),
    "one run without its statement": (unsigned_run, "refuted", "signature"),
    "the statement on another run": (another_run_s_statement, "refuted", "signed run"),
    "another place in the log": (another_place, "refuted", "place in the server's log"),
    "a way that is none": (no_way, "refuted", "place in the server's log"),
    "fewer abandoned runs": (better_tally, "refuted", "tally"),
    "another statement for the tally": (statement_for_tally, "refuted", "tally"),
    "another result, all sums right": (another_result, "refuted", "signed log"),
    "another answer, all sums right": (another_answer, "refuted", "signed seal"),
    "another client, all sums right": (another_client, "refuted", "signed client"),
    "a run called void and left out": (called_void, "refuted", "state that was signed: void / scored"),
    "a run left out": (left_out, "attested", "1 runs that it sealed are not in this bundle"),
}


QUICK = ("the statement on another run", "a run called void and left out", "a run left out")
"""The ones that `make test` tries."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in CHANGES]
)
def test_a_change_to_what_was_signed_is_found(name: str, signed: Signed, encoder: Encoder, tmp_path: Path) -> None:
    change, level, said = CHANGES[name]
    members = unpacked(signed.bundle)
    change(members, run_of(members, "survey-1"))
    claim_again(members, LocalInstallation(signed.library), encoder, tmp_path)
    index_again(members)
    verdict = verified(packed(members, tmp_path / "changed.m3run"), signed, encoder, signed.key)
    assert verdict.level == level, whats(verdict)
    assert said in whats(verdict), whats(verdict)
    if name == "a run left out":
        assert verdict.unsolved == {"survey-1": 1}
        assert (verdict.coverage.scored, verdict.coverage.missing) == (1, 1)
        board = BundleBoard(tmp_path / "board", signed.library, encoder)
        assert board.accept(tmp_path / "changed.m3run", verdict).outcome == "accepted"
        (entry,) = board.write().entries
        assert entry.summary.metrics["average"] == 0.5, "what was left out counts as not solved"


@pytest.mark.slow
def test_the_commands_sign_and_check(signed: Signed, tmp_path: Path) -> None:
    done = m3bench("keys", "make", "--data", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    assert m3bench("keys", "show", "--data", tmp_path / "data").stdout == done.stdout
    assert "PRIVATE" not in done.stdout + done.stderr
    options = ("--tasks", signed.folder / "set", "--no-replay", "--at-least", "attested")
    trusted = m3bench("lab", "verify", signed.bundle, *options, "--trust", signed.key.line)
    assert trusted.returncode == 0, trusted.stdout + trusted.stderr
    assert trusted.stdout.startswith("Attested, set of its own, signed by")
    assert m3bench("lab", "verify", signed.bundle, *options, "--trust", done.stdout.strip()).returncode == 1
    assert m3bench("lab", "verify", signed.bundle, *options, "--trust", "nothing").returncode == 2


def test_the_key_is_nowhere_in_a_bundle_and_the_log_is_private(signed: Signed) -> None:
    secret = (signed.folder / "server.key").read_bytes().splitlines()[1]
    assert all(secret not in content for content in unpacked(signed.bundle).values())
    assert (signed.folder / "results" / "data" / "attestations.jsonl").stat().st_mode & 0o077 == 0

"""Keys belong to their owner, and are what the standard's own implementation reads."""

import os
import stat
from base64 import b64decode
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from m3bench.server.runs.attestation.keys import FILE, PublicKey, key_of, make_key, read_key
from m3bench.server.runs.attestation.statements import Envelope, state
from m3bench.tasks.errors import InputFileError, UserError


def test_a_key_is_read_back_and_private(tmp_path: Path) -> None:
    made = make_key(tmp_path / "new" / FILE)
    assert stat.S_IMODE((tmp_path / "new" / FILE).stat().st_mode) == 0o600
    assert key_of(tmp_path / "new").public == made.public
    assert PublicKey.read(made.public.line) == made.public
    (tmp_path / "public").write_text(f"{made.public.line}\n")
    assert PublicKey.read(str(tmp_path / "public")) == made.public


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    line = make_key(tmp_path / FILE).public.line
    with pytest.raises(InputFileError, match="never replaced"):
        make_key(tmp_path / FILE)
    assert read_key(tmp_path / FILE).public.line == line


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    make_key(tmp_path / FILE)
    (tmp_path / FILE).chmod(0o644)
    with pytest.raises(InputFileError, match="read by others"):
        key_of(tmp_path)


@pytest.mark.parametrize("given", ["", "nowhere", "m3bench-ed25519", "m3bench-ed25519 AAAA", "ssh-ed25519 AAAA"])
def test_what_is_no_public_key_is_told(given: str) -> None:
    with pytest.raises(UserError, match="not a public key"):
        PublicKey.read(given)


def test_a_key_can_be_named_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("M3BENCH_KEY", raising=False)
    assert key_of(tmp_path) is None
    made = make_key(tmp_path / "elsewhere.key")
    monkeypatch.setenv("M3BENCH_KEY", str(tmp_path / "elsewhere.key"))
    found = key_of(tmp_path / "data")
    assert found is not None
    assert found.public == made.public


def test_statements_are_signed_as_dsse_says(tmp_path: Path) -> None:
    key = make_key(tmp_path / FILE)
    envelope = state(key, {"log": "ab" * 32}, "urn:test", {"höhe": 1})
    payload = b64decode(envelope.payload)
    kind = b"application/vnd.in-toto+json"
    message = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload])
    signature = b64decode(envelope.signatures[0].sig)
    Ed25519PublicKey.from_public_bytes(key.public.raw).verify(signature, message)
    statement = envelope.statement(key.public)
    assert statement is not None
    assert statement["subject"] == [{"name": "log", "digest": {"sha256": "ab" * 32}}]
    assert Envelope.model_validate_json(envelope.line) == envelope


def test_a_statement_by_another_key_or_with_another_byte_says_nothing(tmp_path: Path) -> None:
    key, other = make_key(tmp_path / "one"), make_key(tmp_path / "two")
    envelope = state(key, {}, "urn:test", {"solved": 1})
    assert envelope.statement(other.public) is None
    changed = state(other, {}, "urn:test", {"solved": 2})
    assert envelope.model_copy(update={"payload": changed.payload}).statement(key.public) is None
    assert envelope.model_copy(update={"payload": "%%%"}).statement(key.public) is None
    assert envelope.model_copy(update={"signatures": ()}).statement(key.public) is None

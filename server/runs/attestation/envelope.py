"""Signed statements: in-toto statements in DSSE envelopes, which other programs can check as well."""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from m3bench.server.runs.attestation.keys import PublicKey, SigningKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Signature(_Form):
    """Who signed, and the signature in base64."""

    keyid: str
    sig: str


class Envelope(_Form):
    """A statement with its signatures."""

    payloadType: Literal["application/vnd.in-toto+json"] = "application/vnd.in-toto+json"
    payload: str
    signatures: tuple[Signature, ...]

    @property
    def line(self) -> bytes:
        """The envelope as it stands in a log."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":")).encode()

    def statement(self, key: PublicKey) -> dict[str, Any] | None:
        """What was stated, when the holder of the key signed it; else None."""
        try:
            payload = b64decode(self.payload, validate=True)
            signatures = [b64decode(one.sig, validate=True) for one in self.signatures]
        except ValueError:
            return None
        message = authenticated(self.payloadType, payload)
        if not any(key.signed(message, signature) for signature in signatures):
            return None
        found = json.loads(payload)
        return found if isinstance(found, dict) and found.get("_type") == STATEMENT_TYPE else None


def state(key: SigningKey, subject: Mapping[str, str], kind: str, predicate: Mapping[str, Any]) -> Envelope:
    """A signed statement.

    Args:
        key: Who states it.
        subject: What it is about: names and SHA-256 digests.
        kind: The predicate's type.
        predicate: What is said.
    """
    named: Sequence[Any] = [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(subject.items())]
    statement = {"_type": STATEMENT_TYPE, "subject": named, "predicateType": kind, "predicate": dict(predicate)}
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    signature = b64encode(key.sign(authenticated(PAYLOAD_TYPE, payload))).decode()
    signed = Signature(keyid=key.public.fingerprint, sig=signature)
    return Envelope(payload=b64encode(payload).decode(), signatures=(signed,))


def authenticated(kind: str, payload: bytes) -> bytes:
    """The bytes that are signed: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %b %d %b" % (len(kind.encode()), kind.encode(), len(payload), payload)

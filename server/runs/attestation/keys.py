"""The key that a server signs with, an Ed25519 key in a file that its owner alone can read.

Keys are shown as one line, `m3bench-ed25519 BASE64`, and named by a fingerprint, the beginning of the key's SHA-256.
"""

import os
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from m3bench.tasks.atomic_files import open_to_others, write_private
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.lazy_modules import LazyModule

# Few servers sign, and few commands look at a signature.
if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ed25519
else:
    exceptions = LazyModule("cryptography.exceptions")
    serialization = LazyModule("cryptography.hazmat.primitives.serialization")
    ed25519 = LazyModule("cryptography.hazmat.primitives.asymmetric.ed25519")

VARIABLE = "M3BENCH_KEY"
"""Names a key file, for servers whose data folder holds none."""

FILE = "signing.key"
"""The key in a data folder."""

_KIND = "m3bench-ed25519"
_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """What signatures are checked with."""

    raw: bytes

    @classmethod
    def read(cls, given: str) -> "PublicKey":
        """A key from its line, or from a file with that line.

        Raises:
            UserError: It is neither.
        """
        try:
            text = given if given.startswith(_KIND) else Path(given).read_text("utf-8")
            kind, encoded, *_ = text.split()
            raw = b64decode(encoded, validate=True)
        except (OSError, ValueError, Base64Error):
            kind, raw = "", b""
        if kind != _KIND or len(raw) != _BYTES:
            raise UserError(
                f"{given[:80]!r} is not a public key: give the line that `m3bench keys show` prints, or its file."
            )
        return cls(raw=raw)

    @property
    def line(self) -> str:
        """The key as people pass it on."""
        return f"{_KIND} {b64encode(self.raw).decode()}"

    @property
    def fingerprint(self) -> str:
        """How the key is named."""
        return sha256(self.raw).hexdigest()[:16]

    def signed(self, message: bytes, signature: bytes) -> bool:
        """Whether the holder of the key signed a message."""
        try:
            ed25519.Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except exceptions.InvalidSignature:
            return False
        return True


class SigningKey:
    """What signatures are made with; never shown."""

    def __init__(self, key: "ed25519.Ed25519PrivateKey") -> None:
        self._key = key

    @property
    def public(self) -> PublicKey:
        """What its signatures are checked with."""
        return PublicKey(raw=self._key.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """A signature, the same every time."""
        return self._key.sign(message)


def make_key(path: Path) -> SigningKey:
    """A new key, in a file that is not there yet.

    Raises:
        InputFileError: There is a file already, or it cannot be written.
    """
    key = ed25519.Ed25519PrivateKey.generate()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        write_private(path, key.private_bytes(*form))
    except FileExistsError:
        raise InputFileError(path, "already exists: a key is never replaced, delete it yourself if you must") from None
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error
    return SigningKey(key)


def read_key(path: Path) -> SigningKey:
    """The key of a file.

    Raises:
        InputFileError: It holds none, or others can read it.
    """
    key: object = None
    try:
        if open_to_others(path):
            raise InputFileError(path, "can be read by others: make it private (chmod 600), or make another key")
        key = serialization.load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror})") from error
    except (ValueError, TypeError):
        pass
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise InputFileError(path, "holds no key that m3bench made")
    return SigningKey(key)


def key_of(data: Path) -> SigningKey | None:
    """The key that runs of a data folder are signed with, when there is one.

    Raises:
        InputFileError: There is one, and it cannot be used.
    """
    if (data / FILE).exists():
        return read_key(data / FILE)
    named = os.environ.get(VARIABLE)
    return read_key(Path(named)) if named else None

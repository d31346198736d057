"""Large values of a record in PostgreSQL: rows of their own, each value once."""

from hashlib import sha256

from m3bench.server.store.postgres.dialect import REFERENCE
from m3bench.server.store.postgres.pool import Pool


class BlobRows:
    """The rows of large values.

    Args:
        pool: Gives connections.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def pack(self, value: bytes) -> bytes | str:
        """The value itself: it is taken apart where it is written, in one transaction with its row."""
        return value

    def unpack(self, value: bytes | str | None) -> bytes | None:
        """The value behind what stands in a row.

        Raises:
            StoreError: It cannot be read now.
            ValueError: It is not what was written.
        """
        if not isinstance(value, bytes) or not value.startswith(REFERENCE):
            return value.encode() if isinstance(value, str) else value
        name = value.removeprefix(REFERENCE).decode(errors="replace")
        found = self._pool.fetch("SELECT value FROM blobs WHERE name = %s", (name,))
        if not found:
            raise ValueError("its large value is missing")
        if sha256(found[0][0]).hexdigest() != name:
            raise ValueError("its large value was changed or damaged")
        return bytes(found[0][0])

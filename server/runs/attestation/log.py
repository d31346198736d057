"""The log of what a server stated, one signed statement per line, in a file beside its record that only grows.

A line that was cut off when the machine died is closed and stays: nothing is ever removed from a log.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from m3bench.server.runs.attestation.envelope import Envelope
from m3bench.server.runs.attestation.keys import SigningKey, key_of
from m3bench.server.runs.attestation.statements import counted, state_run
from m3bench.server.store.permissions import PRIVATE_FILE
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.trouble import explain

FILE = "attestations.jsonl"


class Attestor:
    """States of every run that is sealed in a data folder that it was sealed, when there is a key to sign with.

    Args:
        data: The data folder.
    """

    def __init__(self, data: Path) -> None:
        self._data = data

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
        envelope = state_run(self.key, run, calls, files, counted(counts()))
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

"""Every operation on files fails once in turn while results are packed: an error that says so, and no half a file."""

import re
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from m3bench.server.lab.interchange.bundle import pack
from m3bench.tasks.errors import InputFileError, StoreError
from tests.pictures import assert_same_bytes
from tests.server.store.faults import ERRNOS, failing_files


@pytest.mark.slow
def test_any_operation_on_files_may_fail_once(
    played: Path, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool, target = tmp_path / "spool", tmp_path / "target" / "results.m3run"
    spool.mkdir()
    target.parent.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))
    with failing_files(tmp_path, -1, ERRNOS[0]) as made:
        pack(played / "results", target)
    assert {"open", "write", "replace", "mkdir"} <= set(made)
    refused = 0
    for number in range(len(made)):
        target.write_bytes(b"the one before")
        said = _packed(played / "results", target, failing_files(tmp_path, number, ERRNOS[number % len(ERRNOS)]))
        assert said is None or re.search(r"(cannot|could not) be (read|written)", said)
        # The record can do without some of its locks.
        kept = bundle.read_bytes() if said is None else b"the one before"
        assert_same_bytes(target.read_bytes(), kept, f"after a failed {made[number]}")
        refused += said is not None
        assert list(target.parent.iterdir()) == [target]
        assert list(spool.iterdir()) == []
    assert refused > len(made) / 2
    pack(played / "results", target)
    assert_same_bytes(target.read_bytes(), bundle.read_bytes(), "the bundle")


def _packed(folder: Path, target: Path, fault: AbstractContextManager[object]) -> str | None:
    """What is said when something fails meanwhile; None when it does not matter."""
    with fault:
        try:
            pack(folder, target)
        except (InputFileError, StoreError) as error:
            return str(error)
    return None

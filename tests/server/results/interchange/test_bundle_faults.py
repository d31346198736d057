"""A bundle is written whole or not at all, whatever fails on the way."""

import errno
from pathlib import Path

import pytest

from m3bench.server.results.interchange.bundle import pack
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import InputFileError
from tests.pictures import assert_same_bytes
from tests.server.store.faults import ERRNOS, failing_files
from tests.server.store.test_versions import first_release


@pytest.mark.parametrize("code", ERRNOS, ids=errno.errorcode.get)
def test_a_fault_leaves_the_old_bundle_and_no_half_of_a_new_one(code: int, tmp_path: Path) -> None:
    first_release(tmp_path / "data")
    SqliteStore(tmp_path / "data").close()
    place = tmp_path / "out"
    place.mkdir()
    with failing_files(place, -1, code) as made:
        pack(tmp_path / "data", place / "bundle.zip")
    whole = (place / "bundle.zip").read_bytes()
    writes = [number for number, name in enumerate(made) if name == "write"]
    for number in (writes[0], writes[len(writes) // 2], writes[-1], made.index("replace")):
        with failing_files(place, number, code), pytest.raises(InputFileError, match="cannot be written"):
            pack(tmp_path / "data", place / "bundle.zip")
        assert [path.name for path in place.iterdir()] == ["bundle.zip"]
        assert_same_bytes((place / "bundle.zip").read_bytes(), whole, "the bundle that was there")

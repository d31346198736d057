"""The secret of a ranked set: long enough, of its owner alone, and told by nothing that is made of it."""

import os
from pathlib import Path

import pytest

from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.library import Library
from m3bench.tasks.secret import VARIABLE, Secret, make_secret, read_secret
from tests.sets import hidden, write_set


@pytest.fixture(autouse=True)
def _nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_secret_is_read_back_from_a_file_a_descriptor_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_secret(tmp_path / "secret")
    assert (tmp_path / "secret").stat().st_mode & 0o077 == 0
    assert read_secret(tmp_path / "secret") == made
    assert read_secret(None) is None
    monkeypatch.setenv(VARIABLE, made.raw.decode())
    assert read_secret(None) == made
    with pytest.raises(InputFileError):
        make_secret(tmp_path / "secret")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no descriptors by name")
def test_a_secret_can_come_through_a_pipe(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"0123456789abcdef0123456789abcdef")
        os.close(writing)
        assert read_secret(Path(f"/dev/fd/{reading}")) == Secret(raw=b"0123456789abcdef0123456789abcdef")
    finally:
        os.close(reading)


@pytest.mark.parametrize("text", ["", "7", "0123456789abcdef0123456789abcde", "a" * 64])
def test_a_secret_that_can_be_guessed_is_refused_and_not_repeated(text: str, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(UserError, match="too short or too simple") as caught:
        read_secret(path)
    assert len(text) < 8 or text not in str(caught.value)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    make_secret(tmp_path / "secret")
    (tmp_path / "secret").chmod(0o644)
    with pytest.raises(InputFileError, match="read by others"):
        read_secret(tmp_path / "secret")


def test_a_secret_does_not_show_itself() -> None:
    secret = Secret(raw=b"0123456789abcdef0123456789abcdef")
    shown = f"{secret} {secret!r} {secret.commitment} {secret.seed} {secret.name('fish-1')}"
    assert "0123456789abcdef" not in shown
    assert len({secret.commitment, f"{secret.seed:064x}"}) == 2, "what is published is not what tasks are made from"


def test_tasks_of_a_secret_set_stand_in_the_order_of_their_names(tmp_path: Path) -> None:
    library = Library(write_set(tmp_path / "set"))
    one, other = Secret(raw=b"1" * 32), Secret(raw=b"2" * 32)
    made = hidden(library, one)
    assert hidden(library, one).hash == made.hash
    assert not set(made.tasks) & {*hidden(library, other).tasks, *library.tasks}
    assert list(made.tasks) == sorted(made.tasks)

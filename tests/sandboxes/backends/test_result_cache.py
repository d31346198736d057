"""An answer is remembered only where everything that it can depend on is in its key."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.backends.result_cache import SEEN, ResultCache, is_pure, key_of, known_of
from m3bench.tasks.outcome import Reply
from tests.pictures import assert_same_bytes, encoded

OCR = "ocr/perform_ocr"


def key(folder: Path, tool: str = OCR, known: bytes = b"", **arguments: Any) -> bytes | None:
    return key_of(tool, json.dumps(arguments).encode(), folder, known)


def test_the_content_of_a_file_counts_and_not_where_it_lies(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "a.png").write_bytes(b"one")
    assert key(here, input_data="./a.png") == key(there, input_data="./a.png")
    before = key(here, input_data="./a.png")
    (here / "a.png").write_bytes(b"two")
    assert key(here, input_data="./a.png") != before
    assert key(here, input_data="./a.png", known=b"other") != key(here, input_data="./a.png")
    assert key(here, input_data="./b.png") != key(here, input_data="./a.png")


def test_order_and_space_of_arguments_do_not_matter_and_folders_are_not_remembered(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert key_of(OCR, b'{"a": 1}', tmp_path, b"") == key_of(OCR, b'{"a":1}', tmp_path, b"")
    assert key(tmp_path, input_data="./folder") is None
    assert key_of(OCR, b"{", tmp_path, b"") is None


def test_only_tools_that_read_are_remembered() -> None:
    assert is_pure("wiki/search")
    assert is_pure(OCR)
    assert not is_pure("imagesorcery-mcp/crop")
    assert not is_pure("excel/read_data_from_excel")
    assert not is_pure("no/such")


def test_the_oldest_go_first_when_there_is_no_room() -> None:
    cache = ResultCache(most=80)
    for name in b"abcdefgh":
        cache.put(bytes([name]), Reply("success", b"x" * 10))
    assert cache.get(b"a") is not None
    cache.put(b"i", Reply("success", b"x" * 10))
    assert cache.get(b"b") is None
    assert cache.get(b"a") is not None
    cache.put(b"j", Reply("success", b"x" * 70))
    assert cache.get(b"j") is None
    assert (cache.hits, cache.misses) == (2, 2)


def test_what_is_known_of_pictures_counts(tmp_path: Path) -> None:
    plain = known_of(SandboxSpec(workspace=tmp_path))
    assert plain == known_of(SandboxSpec(workspace=tmp_path / "other"))
    assert plain != known_of(SandboxSpec(workspace=tmp_path, links={"page": b"picture"}))


def test_what_was_seen_in_pictures_is_kept_for_the_next_process(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    first = ResultCache(kept=file)
    first.put(b"read", Reply("success", b'{"content":[]}'), OCR)
    first.put(b"looked up", Reply("success", b"{}"), "wiki/search")
    with file.open("ab") as lines:
        lines.write(b'{"m3bench": "0.0.1", "key": "00", "outcome": "success", "result": "old"}\n{"m3be')
    second = ResultCache(kept=file)
    assert second.get(b"read") == Reply("success", b'{"content":[]}')
    assert second.get(b"looked up") is None
    assert second.get(b"\0") is None
    assert len(file.read_text().splitlines()) == 3


def test_a_file_of_somebody_else_is_read_and_not_written(tmp_path: Path) -> None:
    theirs, mine = tmp_path / "set.jsonl", tmp_path / "mine.jsonl"
    ResultCache(kept=theirs).put(b"read", Reply("success", b"{}"), OCR)
    before = theirs.read_bytes()
    cache = ResultCache(known=theirs, kept=mine)
    assert cache.get(b"read") == Reply("success", b"{}")
    cache.put(b"more", Reply("success", b"{}"), OCR)
    assert_same_bytes(theirs.read_bytes(), before, "the set's file")
    assert len(mine.read_text().splitlines()) == 1
    assert ResultCache(known=tmp_path / "none.jsonl").get(b"read") is None


@pytest.mark.anyio
async def test_what_is_seen_while_a_set_is_made_is_what_an_episode_would_ask_for(tmp_path: Path) -> None:
    seen = ResultCache(kept=tmp_path / SEEN)
    (tmp_path / "code.png").write_bytes(encoded(Image.new("RGB", (40, 40), "white"), "PNG"))
    spec = SandboxSpec(workspace=tmp_path)
    asked = b'{"image_paths": "./code.png"}'
    sandbox = await InProcessBackend(seen).open(spec)
    reply = await sandbox.call("pyzbar-mcp/scan_barcode", asked)
    await sandbox.call("math/add", b'{"firstNumber": 1, "secondNumber": 2}')
    found = key_of("pyzbar-mcp/scan_barcode", asked, tmp_path, known_of(spec))
    assert found is not None
    assert ResultCache(known=tmp_path / SEEN).get(found) == reply
    assert len((tmp_path / SEEN).read_text().splitlines()) == 1

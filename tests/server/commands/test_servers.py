"""`m3bench servers`, as a person would type it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from m3bench.server.commands.program import app
from m3bench.tasks import examples
from m3bench.tasks.catalog import load_catalog

CATALOG = load_catalog()


def servers(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["servers", *arguments])


def test_every_server_is_listed_with_what_it_needs() -> None:
    lines = servers().stdout.splitlines()
    assert lines[0].split() == ["server", "tools", "category", "state", "needs"]
    assert [line.split()[0] for line in lines[1:-1]] == [server.name for server in CATALOG.servers]
    assert any(line.startswith("ocr ") and "Tesseract" in line for line in lines)
    assert lines[-1] == f"{len(CATALOG.ready.tools)} of {len(CATALOG.tools)} tools are ready."


def test_json_lists_servers_and_their_tools() -> None:
    assert json.loads(servers("--json").stdout) == [
        {
            "server": server.name,
            "tools": [tool.name for tool in server.tools],
            "category": server.category,
            "ready": server.ready,
        }
        for server in CATALOG.servers
    ]


def test_some_servers_can_be_asked_for() -> None:
    assert [row["server"] for row in json.loads(servers("wiki", "math", "--json").stdout)] == ["math", "wiki"]
    assert "Did you mean math" in str(servers("mth").exception)


def test_a_check_ticks_every_server() -> None:
    done = servers("--check", "--sandbox", "inprocess")
    assert done.exit_code == 0, done.stdout
    assert [line.split()[:2] for line in done.stdout.splitlines()[:-1]] == [
        ["✓", server.name] for server in CATALOG.ready.servers
    ]


def test_a_check_starts_servers_in_the_chosen_backend() -> None:
    done = servers("--check", "--json", "math", "ocr")
    assert done.exit_code == 0, done.stdout
    assert [(row["server"], row["ok"], row["problem"]) for row in json.loads(done.stdout)] == [
        ("math", True, ""),
        ("ocr", True, ""),
    ]
    assert "cannot be 'cloud'" in str(servers("--check", "--sandbox", "cloud").exception)


def test_a_server_that_does_not_work_is_told_with_the_reason_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wiki.json").write_text('{"calls": {"summary": {"title": "Xqzv Blorfgan"}}}')
    monkeypatch.setattr(examples, "_FOLDER", tmp_path)
    done = servers("--check", "--sandbox", "inprocess", "wiki")
    assert done.exit_code == 1
    assert "✗ wiki" in done.stdout
    assert "Not Found for url" in done.stdout
    assert "0 of 1 servers work" in done.stdout

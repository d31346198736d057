"""Capability cards in their files: any name is safe, and nothing that lies there breaks a score."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from m3bench.server.clients.probe_notes import CodeWords, distance, is_among, long_text, picture
from m3bench.server.commands.program import app
from m3bench.server.store.capability import (
    FOLDER,
    cards,
    cards_of,
    client_facts,
    client_line,
    fact,
    file_name,
    keep,
    probe_words,
)
from tests.pictures import assert_same_bytes

HOSTILE = [
    "../../etc/passwd",
    "a/b",
    "con\x00",
    "‮evil",
    "",
    "x" * 5000,
    "<script>|`*",
    "Visual Studio Code",
    "..",
    "A\nB",
    "\ud800",
]


def card(name: str, version: str = "1", *, complete: bool = True, taken: str = "2026-01-01", **facts: Any) -> Any:
    return {
        "version": 1, "client": {"name": name, "version": version}, "taken": taken, "m3bench": "0",
        "complete": complete,
        "setup": {"transport": "stdio", "profile": "full", "long": 1, "slow": 1},
        "facts": {key: fact(value, "checked", str(value)) for key, value in facts.items()},
    }  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_card_lies_in_the_folder_whatever_the_client_calls_itself(name: str, tmp_path: Path) -> None:
    path = keep(tmp_path, card(name, images=True))
    assert path.parent == tmp_path / FOLDER
    assert path.is_file()
    assert [found["client"]["name"] for found in cards(tmp_path)] == [name]


def test_names_that_look_alike_have_files_of_their_own() -> None:
    assert len({file_name(name) for name in [*HOSTILE, "a-b", "a b", "A-B", "visual-studio-code"]}) == len(HOSTILE) + 4
    assert file_name("cursor-vscode") == "cursor-vscode.json"


def test_the_newest_card_of_each_version_is_kept(tmp_path: Path) -> None:
    for version, taken in (("1", "2026-01-01"), ("2", "2026-02-01"), ("1", "2026-03-01")):
        keep(tmp_path, card("c", version, taken=taken))
    assert [(one["client"]["version"], one["taken"]) for one in cards(tmp_path)] == [
        ("2", "2026-02-01"),
        ("1", "2026-03-01"),
    ]
    assert client_facts(tmp_path, "c 2", "r")["capabilities"]["probed"] == "2"
    assert client_facts(tmp_path, "c 3", "r")["capabilities"]["probed"] == "1"


def test_cards_are_found_by_the_names_a_client_goes_by(tmp_path: Path) -> None:
    for name in ("claude-ai", "local-agent-mode-m3bench", "cursor-vscode"):
        keep(tmp_path, card(name))
    found = cards_of(tmp_path, ("claude-ai", "local-agent-mode-*"))
    assert [one["client"]["name"] for one in found] == ["claude-ai", "local-agent-mode-m3bench"]


@pytest.mark.parametrize(
    "content", ["", "null", "[]", '{"version": 9, "cards": []}', '{"version": 1, "cards": [{}]}', "\xff"]
)
def test_a_file_that_is_no_card_costs_no_score_and_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / FOLDER / "c.json"
    path.parent.mkdir()
    path.write_text(content, "latin-1")
    assert client_facts(tmp_path, "c 1", "r")["capabilities"] is None
    done = CliRunner().invoke(app, ["probe", "--show", "--data", str(tmp_path)])
    assert "c.json" in str(done.exception)
    assert "probe the client again" in str(done.exception)
    keep(tmp_path, card("c", images=True))
    assert client_facts(tmp_path, "c 1", "r")["capabilities"]["images"] is True
    assert path.with_suffix(".unreadable").read_text("latin-1") == content


@pytest.mark.parametrize("name", HOSTILE)
def test_a_clients_name_is_inert_in_a_score_card(name: str) -> None:
    line = client_line(f"{name} 1", None)
    assert line.startswith("Client: ")
    assert line.isprintable()
    assert len(line) < 200
    assert "<script>" not in line
    assert not {"|", "`", "*"} & set(line.replace("\\|", "").replace("\\`", "").replace("\\*", ""))


def test_nothing_is_said_of_a_client_without_a_name() -> None:
    assert client_line("", None) == ""


def test_what_a_probe_found_is_plain_text_until_it_stands_in_markdown() -> None:
    found = {"probed": "1_0*", "images": True}
    assert probe_words("client 2", found) == "sees images (probed as 1_0*)"
    assert client_line("client 2", found) == r"Client: client 2 — sees images (probed as 1\_0\*)"


def test_the_same_seed_gives_the_same_words_and_the_same_picture() -> None:
    first, second = CodeWords("s"), CodeWords("s")
    drawn = [first.next() for _ in range(40)]
    assert drawn == [second.next() for _ in range(40)]
    assert all(distance(one, other) >= 3 for one in drawn for other in drawn if one is not other)
    assert_same_bytes(picture(drawn[0]), picture(drawn[0]), "drawn twice")
    assert picture(drawn[0]) != picture(drawn[1])


def test_a_word_is_known_in_any_case_and_company_and_with_a_letter_misread() -> None:
    assert is_among("KOVATU", ["the word was kovatu."])
    assert not is_among("KOVATU", ["KOVATO"])
    assert is_among("KOVATU", ["KOVATO"], misread=1)
    assert not is_among("KOVATU", ["KOVETO", "KOV"], misread=1)


@pytest.mark.parametrize("size", [1_000, 5_000, 100_000, 900_000])
def test_a_long_text_is_as_long_as_asked_and_ends_in_a_marker(size: int) -> None:
    made = long_text(CodeWords("s"), size)
    assert len(made.text) == size
    assert made.text.endswith(f"MARKER {made.markers[-1][1]}\n")
    assert all(made.text[:depth].endswith(f"{word}\n") for depth, word in made.markers)

"""Capability cards are kept one file per client, and a file that is none of ours costs nothing."""

from pathlib import Path
from typing import Any

import pytest

from m3bench.server.clients.table import KnownClients
from m3bench.server.clients.trial.measured import measured
from m3bench.server.store import capability
from m3bench.tasks.errors import InputFileError

SETUP: capability.ProbeSetup = {"transport": "stdio", "profile": "mini", "long": 0, "slow": 0.0}


def card(version: str = "1.0", *, complete: bool = True, **facts: Any) -> capability.CapabilityCard:
    values = {name: capability.fact(value, "protocol", f"{name}.") for name, value in facts.items()}
    return {
        "version": 1, "m3bench": "0", "setup": SETUP, "client": {"name": "cursor", "version": version},
        "taken": version, "complete": complete, "facts": values,
    }  # fmt: skip


def test_one_card_for_each_version_of_a_client(tmp_path: Path) -> None:
    for version in ("1.0", "2.0", "1.0"):
        path = capability.keep(tmp_path, card(version))
    assert path.name == "cursor.json"
    assert [one["client"]["version"] for one in capability.cards(tmp_path)] == ["1.0", "2.0"]
    assert capability.cards_of(tmp_path, ["cur*"]) == capability.cards(tmp_path)
    assert capability.cards_of(tmp_path, ["other"]) == []


def test_a_probe_that_was_broken_off_does_not_replace_a_whole_one(tmp_path: Path) -> None:
    capability.keep(tmp_path, card(images=True))
    capability.keep(tmp_path, card(complete=False))
    assert capability.cards(tmp_path)[0]["facts"]["images"]["value"] is True


def test_a_file_that_cannot_be_read_is_moved_aside(tmp_path: Path) -> None:
    path = capability.keep(tmp_path, card())
    for content in ("{", '{"version": 9}', '{"version": 1, "cards": [1]}'):
        path.write_text(content)
        with pytest.raises(InputFileError, match="remove it and probe the client again"):
            capability.cards(tmp_path)
        assert capability.client_facts(tmp_path, "cursor 1.0", "r")["capabilities"] is None
        capability.keep(tmp_path, card())
        assert path.with_suffix(".unreadable").read_text() == content
    (tmp_path / "file").write_text("")
    with pytest.raises(InputFileError, match="cannot be written"):
        capability.keep(tmp_path / "file", card())


def test_a_probe_of_this_version_comes_before_a_trial_of_it_and_that_before_a_probe_of_another(tmp_path: Path) -> None:
    def overlap(called: str) -> object:
        found = capability.client_facts(tmp_path, called, "r", KnownClients())["capabilities"]
        return found and (found["probed"], found["overlap_others"])

    tried = measured()["claude-code"].client
    name, _, version = tried.rpartition(" ")
    assert overlap(tried) == (version, "in a row")
    assert overlap(f"{name} 2.99.1") == (version, "in a row"), "of the same family"
    assert overlap(f"{name} 0.1") is None, "another family may do otherwise"
    assert overlap("nobody's client 1.0") is None
    older = card("0.1", overlap_others="together")
    capability.keep(tmp_path, {**older, "client": {"name": name, "version": "0.1"}})
    assert overlap(tried) == (version, "in a row")
    assert overlap(f"{name} 0.2") == ("0.1", "together")
    capability.keep(tmp_path, {**older, "client": {"name": name, "version": version}})
    assert overlap(tried) == (version, "together")


def test_a_call_waits_for_nobody_where_a_client_has_whole_turns_and_asks_nobody(tmp_path: Path) -> None:
    def late(key: str, table: KnownClients) -> bool:
        found = capability.client_facts(tmp_path, measured()[key].client, "r", table)["capabilities"]
        assert found is not None
        return found.get(capability.LATE) is not False

    free = {key for key in measured() if not late(key, KnownClients(lambda client: client.asks))}
    assert free == {"gemini", "qwen"}
    written = {key for key in measured() if KnownClients().as_written(measured()[key].client.rpartition(" ")[0])}
    assert written == {"claude-code", "codex"}
    assert all(late(key, KnownClients()) for key in measured()), "nobody has looked at its configuration"


def test_a_score_card_says_in_a_line_who_played_and_how_it_sees(tmp_path: Path) -> None:
    facts: dict[str, Any] = {
        "images": True,
        "overlap": "together",
        "structured": "replaces text",
        "long_text": 9000,
        "call_seconds": 60,
    }
    capability.keep(tmp_path, card(**facts))
    found = capability.client_facts(tmp_path, "cursor 1.0", "2025-11-25")
    assert capability.client_line(found["name"], found["capabilities"]) == (
        "Client: cursor 1.0 — sees images, several calls at once, structured content replaces text, "
        "texts whole to 9 kB, gives a call up after 60 s"
    )
    other = capability.client_facts(tmp_path, "cursor 3.0", "2025-11-25")
    assert capability.client_line(other["name"], other["capabilities"]).endswith("(probed as 1.0)")
    assert capability.client_line("un*known", None) == "Client: un\\*known"
    assert capability.client_line("", None) == ""
    assert capability.words({"images": False, "overlap": "serial"}) == ["does not see images", "one call at a time"]
    assert capability.file_name("Claude Code!") != capability.file_name("claude-code")
    made = capability.file_name("Claude Code!")
    assert capability.file_name(made.removesuffix(".json")) != made

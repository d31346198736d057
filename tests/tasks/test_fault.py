"""The rule for faults: whom a call is charged to, and what that makes of its run."""

import re
from errno import EINVAL, ENOSPC
from pathlib import Path
from typing import get_args

import pytest

from m3bench.tasks.errors import (
    ProviderError,
    RunError,
    SandboxError,
    StoreError,
    ToolCrashError,
    ToolError,
    UnknownToolError,
    UpstreamError,
)
from m3bench.tasks.fault import OWNERS, RULES, Fault, crash, fault_of, fault_of_error, void_run, voids
from m3bench.tasks.outcome import Owner


def test_every_owner_on_record_is_charged_to_one_of_eight() -> None:
    assert set(OWNERS) == set(get_args(Owner))
    assert set(RULES) == set(get_args(Fault))


def test_what_the_client_the_world_limits_and_the_weather_did_is_scored_and_nothing_else() -> None:
    assert {fault for fault, rule in RULES.items() if not rule.voids} == {"client", "world", "limit", "weather"}


@pytest.mark.parametrize("owner", [None, "nobody we know"])
def test_a_call_that_nobody_owns_is_ours(owner: str | None) -> None:
    assert fault_of(owner) == "proxy"
    assert voids(owner)


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (ToolCrashError("x"), "tool"),
        (SandboxError("x"), "sandbox"),
        (UpstreamError("s", "gone"), "tool"),
        (UpstreamError("s", "no such thing", code=-32602), "client"),
        (StoreError("full"), "proxy"),
        (RunError("x"), "client"),
        (ToolError("x"), "client"),
        (UnknownToolError("x"), "client"),
        (ProviderError("x"), "provider"),
        (ProviderError("x", fault="limit"), "limit"),
        (KeyError("x"), "proxy"),
        (OSError(ENOSPC, "No space left on device"), "proxy"),
    ],
)
def test_every_error_is_charged_to_one_of_eight(error: Exception, fault: str) -> None:
    assert fault_of_error(error) == fault


def test_a_tool_that_finds_the_disk_full_did_not_crash() -> None:
    full = crash("excel/create_workbook", OSError(ENOSPC, "No space left on device"), "No space left on device")
    assert type(full) is SandboxError
    assert "No space left on device" in str(full)
    assert type(crash("excel/create_workbook", OSError(EINVAL, "x"), "x")) is ToolCrashError


def test_a_run_is_void_when_one_call_was_lost_and_says_what_the_broken_part_said() -> None:
    assert void_run([("agent", "not found"), ("client", "cancelled"), ("world", "not here"), ("limit", "over")]) is None
    found = void_run([("agent", "no"), ("sandbox", "No such\nimage: x:1"), ("sandbox", "again"), ("upstream", "gone")])
    assert found is not None
    assert (found.fault, found.calls) == ("sandbox", 3)
    assert found.words == (
        "3 calls were lost through no fault of the agent: 1 by a tool server, 2 by the sandbox. No such image: x:1"
    )


def test_the_documentation_has_the_same_table() -> None:
    text = (Path(__file__).parents[2] / "docs" / "scoring.md").read_text("utf-8")
    rows = {row[1].strip("` "): row for row in (line.split("|") for line in text.splitlines()) if len(row) == 6}
    for fault, rule in RULES.items():
        _, _, what, owners, run, _ = rows[fault]
        assert rule.means.split(",")[0].split(" or ")[0] in what or fault in what
        assert ("**void**" in run) is rule.voids
        assert {owner for owner, charged in OWNERS.items() if charged == fault} == set(re.findall(r"`(\w+)`", owners))


def test_words_of_a_broken_part_are_bounded() -> None:
    found = void_run([("sandbox", "x" * 10_000)])
    assert found is not None
    assert len(found.words) < 1000

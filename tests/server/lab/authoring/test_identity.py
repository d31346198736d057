"""Calls about other things do not pass for a reference's own, and honest variants of them do."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from typer.testing import CliRunner

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.commands.program import app
from m3bench.server.lab.authoring.identity import (
    HonestVariant,
    IdentityTrial,
    IdentityVerdict,
    Side,
    try_task,
    variants,
)
from m3bench.tasks.library import SETS, Library
from m3bench.tasks.trajectory import JSON, Call

TRIED = (("m3", "movies-1"), ("m3", "fruit_cal-2"), ("snapshots", "bookstall-1"), ("recordings", "voicemail-1"))
"""Quick ones whose calls are about films, portions, books and shares."""

FILES = [
    tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))
    for name in ("pairs.toml", "pairs_further.toml", "pairs_seventh.toml")
]
PAIRS = {name: [case for file in FILES for case in file.get(name, ())] for name in {*FILES[0], *FILES[1]}}
BY_HAND = sorted({(name, case["task"]) for name, cases in PAIRS.items() for case in cases})
library = cache(lambda name: Library(SETS / name))


def by_hand(name: str, task: str) -> Iterator[tuple[Side, HonestVariant]]:
    """The calls that are written down for a task."""
    calls = library(name).task(task).references[0].trajectory.calls
    for case in (case for case in PAIRS[name] if case["task"] == task):
        written = [f"{call.tool} {json.dumps(call.arguments, ensure_ascii=False)}" for call in calls]
        place = next(at for at, text in enumerate(written) if case["call"] in text)
        sides: tuple[tuple[Side, str], ...] = (("look-alike", "other"), ("variant", "same"))
        for side, key in sides:
            for changes in case.get(key, ()):
                several = changes if isinstance(changes, list) else [changes]
                yield side, HonestVariant("by hand", (place,), tuple(changed(calls[place], one) for one in several))


def changed(call: Call, changes: dict[str, JSON]) -> Call:
    rest = {name: value for name, value in changes.items() if name != "tool"}
    if "tool" in changes:
        return Call(tool=str(changes["tool"]), arguments=rest)
    return replace(call, arguments={**call.arguments, **rest})


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "id"), BY_HAND, ids=lambda value: str(value))
def test_what_was_written_by_hand_is_told_apart_and_known_again(name: str, id: str) -> None:
    asked = tuple(by_hand(name, id))
    task = library(name).task(id)
    tried = anyio.run(partial(try_task, library(name), task, InProcessBackend(), asked=asked))
    found = IdentityVerdict(trials=tuple(tried))
    assert [one.asked for one in found.mistaken] == []
    assert [one.asked for one in found.trials if one.side == "variant" and not one.matches] == []


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "id"), TRIED, ids=lambda value: str(value))
def test_look_alikes_of_a_bundled_task_do_not_match_and_variants_do(name: str, id: str) -> None:
    tried = anyio.run(partial(try_task, library(name), library(name).task(id), InProcessBackend()))
    found = IdentityVerdict(trials=tuple(tried))
    assert len(found.of("look-alike")) > 3
    assert [one.asked for one in found.mistaken] == []
    assert [one.asked for one in found.refused] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "how", "other"),
    [
        ("food_nutrition_mcp/get_nutrition", {"query": "360 g pear"}, "another unit", {"query": "0.36 kg pear"}),
        ("food_nutrition_mcp/get_nutrition", {"query": "360 g pear"}, "another unit", {"query": "12.7 oz pear"}),
        ("openlibrary_mcp/get_book_info", {"isbn": "9780141439518"}, "ten digits", {"isbn": "0141439513"}),
        ("weather/get_weather", {"location": "Zürich"}, "no accents", {"location": "Zurich"}),
        ("google-maps/timezone", {"lat": 48.85837, "lng": 2.29448}, "fewer digits", {"lat": 48.8584, "lng": 2.29448}),
        ("math/sum", {"numbers": [1, 2, 3]}, "another order", {"numbers": [3, 2, 1]}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_variants_are_made_by_rule(tool: str, arguments: dict[str, JSON], how: str, other: dict[str, JSON]) -> None:
    made = [(one.how, dict(one.calls[0].arguments)) for one in variants([Call(tool=tool, arguments=arguments)])]
    assert (how, other) in made, made


def trial(side: str, **fields: Any) -> IdentityTrial:
    given = {"task": "t-1", "tool": "s/t", "how": "next name", "asked": (Call(tool="s/t"),), "answered": True}
    return IdentityTrial(side=side, **{**given, "same": "", "matches": side == "variant", **fields})  # type: ignore[arg-type]


def test_a_verdict_counts_what_went_wrong() -> None:
    sound = [trial("look-alike")] * 200 + [trial("variant")] * 100 + [trial("look-alike", same="thing", matches=True)]
    assert IdentityVerdict(trials=tuple(sound)).problems() == ()
    mistaken = IdentityVerdict(trials=(*sound, *[trial("look-alike", matches=True)] * 2))
    assert mistaken.problems() == ("identity: 2 of 202 look-alikes match (s/t, next name: 2)",)
    refused = IdentityVerdict(trials=(*sound, *[trial("variant", matches=False)] * 3))
    assert refused.problems() == ("identity: 3 of 103 honest variants do not match (s/t, next name: 3)",)
    facts = IdentityVerdict(trials=(*sound, *[trial("look-alike", same="facts", matches=True)] * 20))
    assert facts.problems() == ("identity: 20 of 220 look-alikes tell the same facts (s/t, next name: 20)",)
    assert facts.problems(whole=False) == ()


@pytest.mark.slow
def test_the_command_tells_counts_and_what_went_wrong() -> None:
    options = ["--tasks", "m3", "--family", "barcode_lookup", "--each", "1", "--sandbox", "inprocess", "--json"]
    done = CliRunner().invoke(app, ["tasks", "identity", *options])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["tasks"], told["problems"], told["wrong"]) == (8, [], [])

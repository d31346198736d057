"""Forged bundles, made by somebody who computes everything again that can be computed, each with the level it gets.

A forger of this kind leaves no sum, hash, seal or score that does not fit. What gives a forgery away is that its
calls come out otherwise when they are made again, or that its times cannot be. What is left says so: "replayed" is the
best that anybody can reach who plays the references by hand, and the level says that it proves no more.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.replaying import replay_bundle
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.interchange.verdict import BundleVerdict, Level
from m3bench.server.scoring import Encoder
from m3bench.tasks.library import Library
from tests.server.lab.interchange.tampering import (
    Members,
    change_json,
    change_lines,
    claim_again,
    packed,
    put_value,
    run_of,
    unpacked,
)

Forge = Callable[[Members, str], None]

TIMES = ("received_ns", "forwarded_ns", "returned_ns", "sent_ns")
SECOND = 10**9


def verified(path: Path, installation: LocalInstallation, encoder: Encoder) -> BundleVerdict:
    async def replayed() -> None:
        with anyio.fail_after(120):
            async with InProcessBackend() as backend:
                await replay_bundle(path, verdict, installation, backend, lambda task: None)

    verdict = verify_bundle(path, installation, encoder)
    anyio.run(replayed)
    return verdict


def whats(verdict: BundleVerdict) -> str:
    found = [f"{one.where}: {one.what}: {one.claimed} / {one.recomputed}" for one in verdict.differences]
    return "\n".join([verdict.summary, *found, *verdict.notes])


def lines(change: Callable[[Members, list[Any]], None]) -> Forge:
    """A change to the calls of the run, our own tools' left out."""

    def forge(members: Members, run: str) -> None:
        def change_calls(calls: list[Any]) -> None:
            own = [call for call in calls if "/" not in call["tool"]]
            rest = [call for call in calls if "/" in call["tool"]]
            change(members, rest)
            calls[:] = sorted([*rest, *own], key=lambda call: call["id"])

        change_lines(members, f"{run}/calls.jsonl", change_calls)

    return forge


def each(**fields: Any) -> Forge:
    def change(members: dict[str, bytes], calls: list[Any]) -> None:
        for call in calls:
            call.update(fields)

    return lines(change)


def first(**fields: Any) -> Forge:
    return lines(lambda members, calls: calls[0].update(fields))


def record(**fields: Any) -> Forge:
    return lambda members, run: change_json(members, f"{run}/run.json", lambda found: found.update(fields))


def header(**fields: Any) -> Forge:
    return lambda members, run: change_json(members, "set.json", lambda found: found.update(fields))


def result(text: str, **more: Any) -> Forge:
    content = json.dumps({"content": [{"type": "text", "text": text}], **more}).encode()
    return lines(lambda members, calls: calls[0].update(result=put_value(members, content)))


def request(change: Callable[[Any], None], **fields: Any) -> Forge:
    """Another first call than the one that was made, with the result that it had."""

    def forge(members: Members, calls: list[Any]) -> None:
        message = json.loads(members[f"values/{calls[0]['request']}"])
        change(message["params"])
        calls[0].update(request=put_value(members, json.dumps(message).encode()), **fields)

    return lines(forge)


def both(*forges: Forge) -> Forge:
    def forge(members: Members, run: str) -> None:
        for one in forges:
            one(members, run)

    return forge


def shift(by: Callable[[int], int], names: tuple[str, ...] = TIMES) -> Forge:
    def forge(members: Members, calls: list[Any]) -> None:
        for number, call in enumerate(calls):
            call.update({name: call[name] + by(number) for name in names if call[name]})

    return lines(forge)


def taken(nanoseconds: int | None) -> Forge:
    def forge(members: Members, calls: list[Any]) -> None:
        for call in calls:
            call["forwarded_ns"] = call["received_ns"] + 100_000
            call["returned_ns"] = call["forwarded_ns"] + (nanoseconds or 0)
            call["sent_ns"] = call["returned_ns"] + 50_000

    return lines(forge)


def rounded(members: Members, run: str) -> None:
    """All times to the millisecond, so that nothing can be read from them."""

    def change(calls: list[Any]) -> None:
        for call in calls:
            call.update({name: call[name] // 10**6 * 10**6 for name in TIMES if call[name]})

    change_lines(members, f"{run}/calls.jsonl", change)


def swapped(members: Members, calls: list[Any]) -> None:
    for name in ("tool", "request", "result", "request_id"):
        calls[0][name], calls[-1][name] = calls[-1][name], calls[0][name]


def results_swapped(members: Members, calls: list[Any]) -> None:
    calls[0]["result"], calls[-1]["result"] = calls[-1]["result"], calls[0]["result"]


def file(path: str, content: bytes | None) -> Forge:
    def forge(members: Members, run: str) -> None:
        def change(files: list[Any]) -> None:
            files[:] = [one for one in files if one["path"] != path]
            if content is not None:
                files.append({"path": path, "value": put_value(members, content), "changed_ns": 1})

        change_lines(members, f"{run}/files.jsonl", change)

    return forge


def another_answer(members: Members, run: str) -> None:
    """As if another answer had been submitted."""

    def change(calls: list[Any]) -> None:
        call = next(call for call in calls if call["tool"] == "submit")
        message = json.loads(members[f"values/{call['request']}"])
        message["params"]["arguments"]["answer"] = "They differ by 7."
        call["request"] = put_value(members, json.dumps(message).encode())

    change_lines(members, f"{run}/calls.jsonl", change)
    record(answer="They differ by 7.")(members, run)


def cloned(by: int, *, seat: str | None = None) -> Forge:
    """The run a second time, under another handle and with other numbers, for the repeat of a good day."""

    def forge(members: Members, run: str) -> None:
        copy = f"runs/{'c' * 40}"
        for name in ("run.json", "card.json", "calls.jsonl", "files.jsonl"):
            members[f"{copy}/{name}"] = members[f"{run}/{name}"]
        record(id="c" * 40, **({"seat": seat} if seat else {}))(members, copy)

        def change(calls: list[Any]) -> None:
            for call in calls:
                call.update({name: call[name] + by for name in TIMES if call[name]})
                call.update(id=call["id"] + 1000, run="c" * 40, **({"seat": seat} if seat else {}))

        change_lines(members, f"{copy}/calls.jsonl", change)
        sample = json.loads(members["samples.jsonl"].splitlines()[0])
        change_lines(
            members,
            "samples.jsonl",
            lambda samples: samples.append({**sample, "task": "survey-1", "run": "c" * 40, "repeat": 2}),
        )
        header(repeats=2)(members, run)

    return forge


def one_seat(members: Members, run: str) -> None:
    """Both runs on one seat, and at the same time."""
    for name in ("survey-1", "sum-1"):
        place = run_of(members, name)
        record(seat="s" * 32, started="2026-11-01T00:00:00+00:00")(members, place)

        def change(calls: list[Any]) -> None:
            for call in calls:
                call.update(seat="s" * 32)

        change_lines(members, f"{place}/calls.jsonl", change)
    header(started="2026-11-01T00:00:00+00:00")(members, run)


def never_happened(members: Members, run: str) -> None:
    """A bad run left out, with a provider's failure for an excuse."""
    for name in list(members):
        if name.startswith(f"{run}/"):
            del members[name]
    fields = {"state": "void", "fault": "provider", "reason": "overload (503)", "run": None}

    def change(samples: list[Any]) -> None:
        next(sample for sample in samples if sample["task"] == "survey-1").update(fields)

    change_lines(members, "samples.jsonl", change)


def _void(samples: list[Any]) -> Any:
    return next(sample for sample in samples if sample["state"] == "void")


def only_the_good_ones(members: Members, run: str) -> None:
    never_happened(members, run)
    change_lines(members, "samples.jsonl", lambda samples: samples.remove(_void(samples)))
    header(tasks=["sum-1"])(members, run)


def cut_off(members: Members, calls: list[Any]) -> None:
    error = [-32800, "cut off: the client cancelled or went away"]
    calls[0].update(outcome="failed", owner="client", result=None, error=error, returned_ns=None)


def refused_for_a_limit(members: Members, calls: list[Any]) -> None:
    text = "This run has made its 200 calls: submit what you have."
    found = {"content": [{"type": "text", "text": text}], "isError": True}
    value = put_value(members, json.dumps(found).encode())
    calls[-1].update(outcome="failed", owner="limit", result=value, forwarded_ns=None, returned_ns=None)


def all_refused(limit: int, text: str, *, stated: bool) -> Forge:
    """As if no call had been allowed, so that none needs to be made again."""

    def forge(members: Members, run: str) -> None:
        def state(found: Any) -> None:
            found["manifest"].update(limits={"calls": limit, "minutes": 60})

        found = {"content": [{"type": "text", "text": text}], "isError": True}
        for task in ("survey-1", "sum-1"):
            value, place = put_value(members, json.dumps(found).encode()), run_of(members, task)
            each(outcome="failed", owner="limit", result=value, forwarded_ns=None, returned_ns=None)(members, place)
            if stated:
                change_json(members, f"{place}/run.json", state)

    return forge


def invented(members: Members, calls: list[Any]) -> None:
    for call in calls[1:]:
        call.update(result=put_value(members, b'{"content": [{"type": "text", "text": "99"}]}'))


def bundled_as_third_party(members: Members, run: str) -> None:
    """A server of ours that is said to be another, so that nobody can ask it, and what it is said to have answered."""
    all_from_references(members, run)
    for task in ("survey-1", "sum-1"):
        place = run_of(members, task)
        change_json(members, f"{place}/run.json", lambda found: found["manifest"].update(upstream={"math": {}}))


def third_party(members: Members, run: str) -> None:
    """A server that nobody here can ask."""
    change_json(members, f"{run}/run.json", lambda found: found["manifest"].update(upstream={"oracle": {}}))
    request(lambda params: params.update(name="oracle__ask"), tool="oracle/ask")(members, run)


def all_from_references(members: Members, run: str) -> None:
    """Results that look like results, for every call of the references."""
    value = put_value(members, b'{"content": [{"type": "text", "text": "15.5"}]}')
    for task in ("survey-1", "sum-1"):
        each(result=value)(members, run_of(members, task))


FORGERIES: dict[str, tuple[Forge, Level, str]] = {
    "a result that was invented": (result("2.5"), "refuted", ": result: 2.5 /"),
    "a result with nothing in it": (result(""), "refuted", ": result"),
    "a result of the wrong kind": (result("15.5", isError=False), "refuted", ": result"),
    "a result that is an error": (both(result("15.5", isError=True), first(outcome="not_found")), "refuted", "outcome"),
    "the results of two calls, swapped": (lines(results_swapped), "refuted", ": result"),
    "every result made up from the references": (all_from_references, "refuted", ": result"),
    "another call than the one that was made": (
        request(lambda params: params.update(arguments={"numbers": [1, 1]})), "refuted", ": result"
    ),
    "arguments that no tool takes, with a result": (
        request(lambda params: params.update(arguments={"figures": [1]})), "refuted", "outcome: success / invalid_arg"
    ),
    "a tool that does not exist, with a result": (
        request(lambda params: params.update(name="math__guess"), tool="math__guess"), "refuted", "outcome: success"
    ),
    "an error where there was a result": (
        first(error=[-32602, "no such tool"], result=None, outcome="unknown_tool"), "refuted", "outcome"
    ),
    "a mistake charged to the world": (first(owner="world"), "refuted", "owner: world / agent"),
    "a mistake charged to the sandbox": (first(owner="sandbox", outcome="failed"), "refuted", "void"),
    "a mistake called a gap": (first(owner="world", outcome="gap"), "refuted", "outcome: gap / success"),
    "a whole result that was never cut": (
        lines(lambda members, calls: calls[0].update(full=put_value(members, b"{}"))), "refuted", "whole result"
    ),
    "a limit that was not reached": (lines(refused_for_a_limit), "refuted", "owner: limit / agent"),
    "a limit in other words": (
        both(result("no more", isError=True), first(owner="limit", outcome="failed")), "refuted", "the words of a limit"
    ),
    "a file that no tool wrote": (file("answer.txt", b"15.5"), "refuted", "file answer.txt"),
    "a file that was changed": (file("media/note.png", b"GIF"), "refuted", "file media/note.png"),
    "a file that was removed": (file("media/note.png", None), "refuted", "file media/note.png"),
    "calls further apart than the clock says": (shift(lambda number: number * 10 * SECOND), "refuted", "time"),
    "answers at once": (taken(0), "refuted", "duration"),
    "answers faster than any sandbox": (taken(900), "refuted", "duration"),
    "answers after an hour": (taken(3600 * SECOND), "refuted", "duration"),
    "answers that all take equally long": (taken(1_234_567), "refuted", "durations"),
    "answers before the calls": (shift(lambda number: -SECOND, ("returned_ns",)), "refuted", "times"),
    "answers of tools that were never asked": (each(forwarded_ns=None, returned_ns=None), "refuted", "never sent"),
    "calls of another day": (each(wall="2026-01-01T00:00:00+00:00"), "refuted", "during its run"),
    "calls at no time": (each(wall="yesterday"), "refuted", "a moment"),
    "a run that ended before it began": (record(ended="2020-01-01T00:00:00+00:00"), "refuted", "end"),
    "a run in the first year": (record(started="0001-01-01T00:00:00+00:00"), "refuted", "two moments"),
    "calls in the first year": (each(wall="0001-01-01T00:00:00+14:00"), "refuted", "a moment"),
    "a run in the future": (record(ended="2999-01-01T00:00:00+00:00"), "refuted", "in the past"),
    "a run before its set": (header(started="2999-01-01T00:00:00+00:00"), "refuted", "after the set began"),
    "a run without an end": (record(ended=None), "refuted", "two moments"),
    "a good run twice": (cloned(0), "refuted", "times"),
    "a good run twice, later": (cloned(60 * SECOND, seat="t" * 32), "refuted", "durations"),
    "two runs on a seat at once": (one_seat, "refuted", "two at the same time"),
    "a run in a profile that shows other tools": (
        lambda members, run: change_json(
            members, f"{run}/run.json", lambda found: found["manifest"].update(profile="task:sum-1")
        ),
        "refuted", "profile",
    ),
    "a call that is said to be cut off": (lines(cut_off), "consistent", "it was cut off"),
    "a server that nobody can ask": (third_party, "consistent", "a third-party server answered it"),
    "a call cut off, and what came after it invented": (
        both(lines(cut_off), lines(invented)), "refuted", ": result"
    ),
    "a bundled server that is said to be another": (bundled_as_third_party, "refuted", ": result"),
    "every call refused by a limit that was not stated": (
        all_refused(0, "This run has made its 0 calls: submit what you have.", stated=False), "refuted", "owner: limit"
    ),
    "every call refused by a limit that no server has": (
        all_refused(0, "This run has made its 0 calls: submit what you have.", stated=True),
        "consistent", "its manifest states no limit"
    ),
    "every call refused because of the time": (
        all_refused(200, "This run has used its 60 minutes: submit what you have.", stated=False),
        "refuted", "60 minutes used"
    ),
    "calls in another order": (lines(swapped), "replayed", "unattested"),
    "a call left out": (lines(lambda members, calls: calls.pop()), "replayed", "unattested"),
    "another answer": (another_answer, "replayed", "unattested"),
    "another client": (each(client="claude-code 9.9"), "replayed", "unattested"),
    "another name": (header(name="gpt-9", agent="openai/gpt-9"), "replayed", "unattested"),
    "practice called ranked": (record(mode="ranked"), "replayed", "submitter's word, unless a key"),
    "a bad run called void": (never_happened, "replayed", "1 of 2 samples are void"),
    "only the good runs": (only_the_good_ones, "replayed", "1 of the 2 tasks of the set"),
    "times that say nothing": (rounded, "replayed", "coarse clock"),
}  # fmt: skip
"""What is forged, the level that it reaches, and what the verdict says of it."""

QUICK = (
    "a result that was invented",
    "a file that no tool wrote",
    "a call cut off, and what came after it invented",
    "every call refused by a limit that was not stated",
    "another answer",
)
"""The ones that `make test` tries."""


@pytest.fixture(scope="module")
def installation(library: Library) -> LocalInstallation:
    return LocalInstallation(library)


@pytest.mark.all_sample(16)
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in FORGERIES]
)
def test_a_forger_who_makes_everything_fit_gets_the_level_that_is_due(
    name: str, bundle: Path, tmp_path: Path, installation: LocalInstallation, encoder: Encoder
) -> None:
    forge, level, said = FORGERIES[name]
    members = unpacked(bundle)
    forge(members, run_of(members, "survey-1"))
    claim_again(members, installation, encoder, tmp_path)
    verdict = verified(packed(members, tmp_path / "forged.m3run"), installation, encoder)
    assert verdict.level == level, whats(verdict)
    assert said in whats(verdict), whats(verdict)
    assert "seal over" not in whats(verdict)
    assert "hash of" not in whats(verdict)


def test_what_was_played_is_replayed(bundle: Path, installation: LocalInstallation, encoder: Encoder) -> None:
    verdict = verified(bundle, installation, encoder)
    assert verdict.level == "replayed", whats(verdict)
    assert (verdict.runs, verdict.replayed, verdict.calls) == (2, 2, 4)
    assert verdict.summary == "replayed, set of its own, unattested"


def test_without_a_replay_nothing_is_more_than_consistent(
    bundle: Path, installation: LocalInstallation, encoder: Encoder
) -> None:
    assert verify_bundle(bundle, installation, encoder).level == "consistent"

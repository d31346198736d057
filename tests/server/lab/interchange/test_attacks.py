"""No attack on a bundle gets above the level it is due, and none ends the verifier."""

import json
import os
import struct
import zipfile
from collections.abc import Callable, Mapping
from operator import methodcaller
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.attesting import attest_bundle
from m3bench.server.lab.interchange.bundle import NAMES
from m3bench.server.lab.interchange.replaying import replay_bundle
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.interchange.signatures import signatures_of
from m3bench.server.lab.interchange.submission import Submission
from m3bench.server.lab.interchange.verdict import LEVELS, BundleVerdict
from m3bench.server.lab.reports.board import BundleBoard
from m3bench.server.runs.attestation.keys import FILE as KEY
from m3bench.server.runs.attestation.keys import PublicKey, make_key, read_key
from m3bench.server.runs.attestation.statements import RUN, entries, state, state_run
from m3bench.server.scoring import Encoder
from m3bench.server.store.records import OWN_TOOLS
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from tests.server.lab.interchange.attacks import (
    Attack,
    SigningHouse,
    agents,
    everywhere,
    of_run,
    probed,
    signed_attacks,
    unsigned,
)
from tests.server.lab.interchange.conftest import Signed, m3bench
from tests.server.lab.interchange.tampering import (
    Members,
    change_json,
    change_lines,
    claim_again,
    index_again,
    packed,
    put_value,
    run_of,
    unpacked,
)


def verified(path: Path, installation: LocalInstallation, encoder: Encoder, *trusted: PublicKey) -> BundleVerdict:
    async def replayed() -> None:
        with anyio.fail_after(120):
            async with InProcessBackend() as backend:
                await replay_bundle(path, verdict, installation, backend, lambda task: None)

    verdict = verify_bundle(path, installation, encoder)
    attest_bundle(path, verdict, trusted)
    anyio.run(replayed)
    return verdict


def whats(verdict: BundleVerdict) -> str:
    found = [f"{one.where}: {one.what}: {one.claimed} / {one.recomputed}" for one in verdict.differences]
    return "\n".join([verdict.summary, *found, *verdict.notes])


def check(attack: Attack, path: Path, board: Path, verdict: BundleVerdict, encoder: Encoder, library: Library) -> None:
    assert LEVELS.index(verdict.level) <= LEVELS.index(attack.most), whats(verdict)
    assert attack.says in whats(verdict), whats(verdict)
    # What holds can be shown, whatever it is called.
    place = BundleBoard(board, library, encoder)
    if place.accept(path, verdict, "consistent").outcome == "accepted":
        (entry,) = place.write().entries
        assert entry.summary.metrics["average"] is not None
        page = (board / "index.html").read_text("utf-8")
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def nobody(manifest: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """For the names of the attacks."""
    raise NotImplementedError


UNSIGNED = tuple(unsigned(nobody))


@pytest.mark.slow
@pytest.mark.all_sample(8)
@pytest.mark.parametrize("name", UNSIGNED)
def test_no_attack_on_an_unsigned_bundle_gets_above_its_level(
    name: str, bundle: Path, tmp_path: Path, library: Library, encoder: Encoder
) -> None:
    installation, members = LocalInstallation(library), unpacked(bundle)
    attack = unsigned(installation.served)[name]
    attack.change(members)
    try:
        claim_again(members, installation, encoder, tmp_path)
    except RecursionError:
        index_again(members)
    path = packed(members, tmp_path / "attack.m3run")
    check(attack, path, tmp_path / "board", verified(path, installation, encoder), encoder, library)


def house_of(signed: Signed) -> SigningHouse:
    data = signed.folder / "results" / "data"
    store = SqliteStore(data)
    try:
        return SigningHouse(read_key(signed.folder / "server.key"), entries(data), list(store.runs()))
    finally:
        store.close()


SIGNED = (
    "whose fault a call was, in a run that is called void",
    "a run without its seal that is called void",
    "one void run for two tasks",
    "one void run for many attempts",
    "a void run that no one started",
    "signatures of another key under this one's name",
    "signatures that a careless check takes",
    "envelopes without a signature",
    "statements in another spelling",
    "places far beyond the log",
    "a statement of another log",
    "a run that was given up, handed in later",
    "the tally of somebody else",
    "a card that says more than its log",
    "another client under the same log",
)


@pytest.mark.slow
@pytest.mark.all_sample(6)
@pytest.mark.parametrize("name", SIGNED)
def test_no_attack_on_a_signed_bundle_gets_above_its_level(
    name: str, signed: Signed, tmp_path: Path, encoder: Encoder
) -> None:
    installation, members = LocalInstallation(signed.library), unpacked(signed.bundle)
    attack = signed_attacks(house_of(signed), make_key(tmp_path / "stranger.key"))[name]
    attack.change(members)
    kept = {run: json.loads(content)["seal"] for run, content in members.items() if run.endswith("/run.json")}
    if attack.claimed:
        claim_again(members, installation, encoder, tmp_path)
    for run, seal in () if attack.sealed else kept.items():
        change_json(members, run, methodcaller("update", seal=seal))
    index_again(members)
    path = packed(members, tmp_path / "attack.m3run")
    verdict = verified(path, installation, encoder, signed.key)
    check(attack, path, tmp_path / "board", verdict, encoder, signed.library)
    if name == "a void run that no one started":
        assert verdict.unsolved == {"survey-1": 1}


@pytest.mark.slow
def test_what_a_probe_is_said_to_have_found_is_attested_only_if_it_was_signed(
    signed: Signed, tmp_path: Path, encoder: Encoder
) -> None:
    installation, members = LocalInstallation(signed.library), unpacked(signed.bundle)
    probed(members, installation, encoder, tmp_path)
    index_again(members)
    verdict = verified(packed(members, tmp_path / "probed.m3run"), installation, encoder, signed.key)
    assert verdict.level == "replayed", whats(verdict)
    assert "not what the server knew" in whats(verdict)


def of_two_files(signed: Signed, folder: Path, encoder: Encoder, *, ordered: bool = True) -> Members:
    """A signed bundle of runs one of which left two files of a kind, `draft.svg` and then `final.svg`."""
    members, lines = unpacked(signed.bundle), []
    place = run_of(members, "survey-1")
    made = [
        {"path": f"{name}.svg", "value": put_value(members, name.encode()), "changed_ns": changed}
        for changed, name in enumerate(("draft", "final"), 1)
    ]
    change_lines(members, f"{place}/files.jsonl", methodcaller("extend", made))
    claim_again(members, LocalInstallation(signed.library), encoder, folder)
    index_again(members)
    key = read_key(signed.folder / "server.key")
    with Archive(packed(members, folder / "two.m3run"), NAMES) as opened:
        runs = [Submission(opened).run(run) for run in Submission(opened).runs]
    for run in runs:
        files = sorted(run.files, key=lambda file: (file.changed_ns, file.path))
        calls = [call for call in run.calls if call.tool not in OWN_TOOLS]
        stated = state_run(key, run.record, calls, {file.path: file.value for file in files}, {})
        predicate = stated.statement(key.public)
        assert predicate is not None
        if not ordered:
            del predicate["predicate"]["order"]
            subject = {part["name"]: part["digest"]["sha256"] for part in predicate["subject"]}
            stated = state(key, subject, RUN, predicate["predicate"])
        lines.append(stated.line)
    (folder / "attestations.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    (folder / KEY).write_bytes((signed.folder / "server.key").read_bytes())
    (folder / KEY).chmod(0o600)
    records = [run.record for run in runs]
    store: Any = SimpleNamespace(folder=folder, runs=lambda seat: records)
    given = signatures_of(store, [record.id for record in records])
    assert given is not None
    members["attestations.json"] = given.model_dump_json().encode()
    return members


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ordered", "swapped", "level", "says"),
    [
        (True, False, "attested", ""),
        (True, True, "refuted", "order of files"),
        (False, False, "consistent", "changed last"),
        (False, True, "consistent", "changed last"),
    ],
)
def test_an_older_file_is_not_passed_off_as_the_last(
    ordered: bool, swapped: bool, level: str, says: str, signed: Signed, tmp_path: Path, encoder: Encoder
) -> None:
    """Which file was changed last decides what a check looks at; no seal has it."""
    members = of_two_files(signed, tmp_path, encoder, ordered=ordered)

    def swap(files: list[Any]) -> None:
        for file in files:
            if file["path"] == "draft.svg" and swapped:
                file["changed_ns"] = 3

    change_lines(members, f"{run_of(members, 'survey-1')}/files.jsonl", swap)
    index_again(members)
    path = packed(members, tmp_path / "swapped.m3run")
    verdict = verify_bundle(path, LocalInstallation(signed.library), encoder)
    attest_bundle(path, verdict, [signed.key])
    assert verdict.level == level, whats(verdict)
    assert says in whats(verdict)


def archive(path: Path, *entries: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in entries:
            made.writestr(name, content)
    return path


def changed(bundle: Path, path: Path, **members: bytes) -> Path:
    """A bundle with other contents, its hashes right again."""
    found = {**unpacked(bundle), **{name.replace("__", "."): content for name, content in members.items()}}
    if "bundle__json" not in members:
        index_again(found)
    return packed(found, path)


def spoilt(bundle: Path, path: Path, at: bytes, offset: int, value: bytes) -> Path:
    """A bundle some bytes of whose directory are others."""
    data = bytearray(bundle.read_bytes())
    place = data.rindex(at) + offset
    data[place : place + len(value)] = value
    path.write_bytes(bytes(data))
    return path


def twice(path: Path) -> Path:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return archive(path, ("bundle.json", b"{}"), ("bundle.json", b"{}"))


def half(bundle: Path, path: Path) -> Path:
    data = bundle.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path


def in_front(bundle: Path, path: Path) -> Path:
    path.write_bytes(b"#!/bin/sh\nrm -rf /\n" + bundle.read_bytes())
    return path


def behind(bundle: Path, path: Path) -> Path:
    comment = b"\x1b[2J" * 1000
    path.write_bytes(bundle.read_bytes()[:-2] + struct.pack("<H", len(comment)) + comment)
    return path


def named_otherwise(bundle: Path, path: Path) -> Path:
    data = bytearray(bundle.read_bytes())
    data[data.index(b"PK\x03\x04") + 30] ^= 1
    path.write_bytes(bytes(data))
    return path


END, ENTRY = b"PK\x05\x06", b"PK\x01\x02"

MALFORMED: dict[str, Callable[[Path, Path], Path]] = {
    "nothing": lambda bundle, path: archive(path),
    "a folder of its own": lambda bundle, path: archive(path, ("../../etc/passwd", b"root")),
    "the same name twice": lambda bundle, path: twice(path),
    "a gigabyte of nothing": lambda bundle, path: archive(
        path, *((f"values/{n:064x}", bytes(1 << 24)) for n in range(64))
    ),
    "a header as deep as the sea": lambda bundle, path: changed(bundle, path, set__json=b"[" * 10**6),
    "a number without an end": lambda bundle, path: changed(bundle, path, bundle__json=b'{"version": ' + b"9" * 10**6),
    "no text": lambda bundle, path: changed(bundle, path, samples__jsonl=b"\xff\xfe\x00\n" * 100),
    "half a pair": lambda bundle, path: changed(bundle, path, set__json=b'{"name": "\\ud800"}'),
    "an encrypted member": lambda bundle, path: spoilt(bundle, path, ENTRY, 8, b"\x01\x00"),
    "an unknown way of packing": lambda bundle, path: spoilt(bundle, path, ENTRY, 10, b"\x63\x00"),
    "a directory that is elsewhere": lambda bundle, path: spoilt(bundle, path, END, 16, struct.pack("<I", 2**32 - 2)),
    "half of it": lambda bundle, path: half(bundle, path),
    "a program in front of it": in_front,
    "words for the screen behind it": behind,
    "another name inside": named_otherwise,
    "other digits": lambda bundle, path: archive(path, ("values/" + "\u0661" * 64, b"x")),
    "a sum that is wrong": lambda bundle, path: spoilt(bundle, path, ENTRY, 16, bytes(4)),
    "a size that is too small": lambda bundle, path: spoilt(bundle, path, ENTRY, 24, struct.pack("<I", 3)),
    "a mark before the text": lambda bundle, path: changed(
        bundle, path, set__json=b"\xef\xbb\xbf" + unpacked(bundle)["set.json"]
    ),
    "an index that is a list": lambda bundle, path: changed(bundle, path, bundle__json=b"[]"),
    "lines without anything": lambda bundle, path: changed(bundle, path, samples__jsonl=b"\n" * 10),
    "members over each other": lambda bundle, path: spoilt(bundle, path, ENTRY, 42, struct.pack("<I", 0)),
}


@pytest.mark.slow
@pytest.mark.all_sample(6)
@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_bundle_is_told_in_a_line(
    name: str, bundle: Path, tmp_path: Path, library: Library, encoder: Encoder
) -> None:
    path = MALFORMED[name](bundle, tmp_path / "malformed.m3run")
    with pytest.raises(InputFileError) as told:
        verify_bundle(path, LocalInstallation(library), encoder)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 500 + len(str(path))


@pytest.mark.slow
def test_one_bad_bundle_costs_itself_only(bundle: Path, played: Path, tmp_path: Path) -> None:
    """Before and after an honest one, whatever is wrong with it."""
    bad = []
    for number, name in enumerate(("nothing", "a header as deep as the sea", "members over each other")):
        bad.append(MALFORMED[name](bundle, tmp_path / f"bad{number}.m3run"))
    for number, tasks in enumerate((["ghost-1", "sum-1", "survey-1"], ["sum-1"] * 3)):
        members = unpacked(bundle)
        change_json(members, "set.json", methodcaller("update", tasks=tasks))
        index_again(members)
        bad.append(packed(members, tmp_path / f"plan{number}.m3run"))
    done = m3bench(
        "lab", "board", "accept", tmp_path / "board", *bad[:3], bundle, *bad[3:], "--tasks", played / "set",
        "--no-replay", "--at-least", "consistent", "--json",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    outcomes = [one["outcome"] for one in json.loads(done.stdout)["bundles"]]
    assert outcomes == ["refused"] * 3 + ["accepted"] + ["refused"] * 2
    assert (tmp_path / "board" / "index.html").exists()
    assert os.listdir(tmp_path / "board" / "bundles") != []


def of_two_workbooks(members: Members, folder: Path, installation: LocalInstallation) -> None:
    """Two calls write a file each, as they really do."""
    names = ("a.xlsx", "b.xlsx")

    async def made() -> list[bytes]:
        async with InProcessBackend() as backend:
            sandbox = await backend.open(SandboxSpec(workspace=folder, servers=("excel",)))
            replies = [
                await sandbox.call("excel/create_workbook", json.dumps({"filepath": name}).encode()) for name in names
            ]
            await sandbox.aclose()
            return [reply.result for reply in replies]

    results = anyio.run(made)

    def change(calls: list[Any]) -> None:
        for call, name, result in zip(agents(calls), names, results, strict=False):
            message = json.loads(members[f"values/{call['request']}"])
            message["params"] = {"name": "excel__create_workbook", "arguments": {"filepath": name}}
            request = put_value(members, json.dumps(message).encode())
            call.update(tool="excel/create_workbook", request=request, result=put_value(members, result))

    everywhere(installation.served, profile="full")(members)
    of_run(members, "survey-1", change)
    left = [
        {"path": name, "value": put_value(members, (folder / name).read_bytes()), "changed_ns": changed}
        for changed, name in enumerate(names, 1)
    ]
    change_lines(members, f"{run_of(members, 'survey-1')}/files.jsonl", methodcaller("extend", left))


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
def test_files_are_left_in_the_order_in_which_calls_made_again_leave_them(
    swapped: bool, bundle: Path, tmp_path: Path, library: Library, encoder: Encoder
) -> None:
    members, installation = unpacked(bundle), LocalInstallation(library)
    of_two_workbooks(members, tmp_path, installation)

    def swap(files: list[Any]) -> None:
        for file in files:
            if file["path"] == "a.xlsx" and swapped:
                file["changed_ns"] = 3

    change_lines(members, f"{run_of(members, 'survey-1')}/files.jsonl", swap)
    claim_again(members, installation, encoder, tmp_path)
    verdict = verified(packed(members, tmp_path / "two.m3run"), installation, encoder)
    assert verdict.level == ("refuted" if swapped else "replayed"), whats(verdict)
    assert ("changed after b.xlsx" in whats(verdict)) is swapped

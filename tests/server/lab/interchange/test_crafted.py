"""Forgeries that are made for one weakness each: odd numbers, archives and names, and runs that are to be forgotten.

Most are refused when they are read, in a line that is safe to print. The others reach what their calls prove and no
more, and none costs more room or time than an honest bundle of its size.
"""

import json
import struct
import zipfile
from collections.abc import Callable, Mapping
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.interchange.verdict import LEVELS, MOST_DIFFERENCES, Level
from m3bench.server.lab.reports.board import BundleBoard
from m3bench.server.runs.attestation.keys import make_key
from m3bench.server.scoring import Encoder
from m3bench.server.scoring.words import printable
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from tests.server.lab.interchange.attacks import (
    agents,
    first_call,
    header,
    manifest,
    of_run,
    pad,
    resigned_by_another,
    sample,
    set_each,
    signatures,
    text,
    together,
    void,
    without,
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
from tests.server.lab.interchange.test_attacks import verified, whats

Change = Callable[[Members], None]

INFINITE, NOT_A_NUMBER = float("inf"), float("nan")


def record(**fields: Any) -> Change:
    return lambda members: change_json(
        members, f"{run_of(members, 'survey-1')}/run.json", methodcaller("update", **fields)
    )


def claims(**metrics: float) -> Change:
    return lambda members: change_json(members, "bundle.json", lambda index: index["claims"]["metrics"].update(metrics))


def card(**fields: Any) -> Change:
    return lambda members: change_json(
        members, f"{run_of(members, 'survey-1')}/card.json", methodcaller("update", **fields)
    )


def files(*named: str, content: bytes = b"") -> Change:
    """Files of a run that all have the same content, which the archive holds once."""

    def change(members: Members) -> None:
        value = put_value(members, content)
        more = [{"path": name, "value": value, "changed_ns": 1} for name in named]
        change_lines(members, f"{run_of(members, 'survey-1')}/files.jsonl", methodcaller("extend", more))

    return change


def nested(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = [found]
    return found


def twice_in_a_request(members: Members) -> None:
    """Other arguments first, under the same key: who takes the first of two is led astray."""

    def change(calls: list[Any]) -> None:
        call = agents(calls)[0]
        raw = members[f"values/{call['request']}"]
        call["request"] = put_value(members, raw.replace(b'"params"', b'"params": {"name": "x"}, "params"', 1))

    of_run(members, "survey-1", change)


def twice_in_a_record(members: Members) -> None:
    name = f"{run_of(members, 'survey-1')}/run.json"
    members[name] = members[name].replace(b"{", b'{"state": "void", "answer": "108", ', 1)


def forgotten(members: Members) -> None:
    """A bad run with its seal, said to have been void all along."""
    record(state="void")(members)
    sample("survey-1", state="void", fault="sandbox", reason="the sandbox died")(members)


def forgotten_and_deep(members: Members) -> None:
    forgotten(members)
    first_call(request=b'{"id": 1, "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")(members)


def named_twice(members: Members) -> None:
    """The run of a scored sample as that of a void one, to have an attempt forgotten."""
    run = run_of(members, "sum-1").removeprefix("runs/")
    change_lines(members, "samples.jsonl", methodcaller("append", void("sum-1", run=run, repeat=2)))
    header(repeats=2)(members)


def hidden_run(members: Members) -> None:
    change_lines(members, "samples.jsonl", lambda lines: lines.remove(next(x for x in lines if x["task"] == "sum-1")))
    header(tasks=["survey-1"])(members)


def answered_twice(members: Members) -> None:
    def change(calls: list[Any]) -> None:
        last = next(call for call in calls if call["tool"] == "submit")
        message = json.loads(members[f"values/{last['request']}"])
        message["params"]["arguments"]["answer"] = "108"
        again = {**last, "id": last["id"] + 1, "request": put_value(members, json.dumps(message).encode())}
        for name in ("received_ns", "forwarded_ns", "returned_ns", "sent_ns"):
            again[name] = again[name] and again[name] + 10**7
        calls.append(again)

    of_run(members, "survey-1", change)


def almost_bundled(members: Members) -> None:
    """A server of another that is called nearly like one of ours."""

    def change(calls: list[Any]) -> None:
        call = agents(calls)[0]
        message = json.loads(members[f"values/{call['request']}"])
        message["params"]["name"] = "Math__sum"
        call.update(tool="Math/sum", request=put_value(members, json.dumps(message).encode()))
        call.update(result=put_value(members, text("15.5")))

    manifest(upstream={"Math": {}})(members)
    of_run(members, "survey-1", change)


def out_of_time(members: Members) -> None:
    said = text("This run has used its 1e-09 minutes: submit what you have.", isError=True)
    manifest(limits={"calls": 200, "minutes": 1e-9})(members)
    value = put_value(members, said)
    gone = {"outcome": "failed", "owner": "limit", "result": value, "forwarded_ns": None, "returned_ns": None}
    of_run(members, "survey-1", lambda calls: set_each(agents(calls), **gone))


def first_request(change: Callable[[bytes], bytes]) -> Change:
    """Other bytes for the first call's request."""

    def changed(members: Members) -> None:
        def put(calls: list[Any]) -> None:
            call = agents(calls)[0]
            call["request"] = put_value(members, change(members[f"values/{call['request']}"]))

        of_run(members, "survey-1", put)

    return changed


def lost_among_many(members: Members) -> None:
    """Fewer than the calls that may be lost."""
    pad(members)
    gone = {"owner": "client", "outcome": "failed", "result": None, "returned_ns": None}
    of_run(members, "survey-1", lambda calls: agents(calls)[-1].update(gone, error=[-32800, "cut off"]))


def judged(members: Members) -> None:
    place = run_of(members, "survey-1")
    said = {"run": place.removeprefix("runs/"), "task": "survey-1", "seal": None, "more": nested(300)}
    members[f"{place}/judges.json"] = json.dumps(said).encode()


def many_names(members: Members) -> None:
    index_again(members)
    ghosts = {f"ghost\x1b[2J{number}": "0" * 64 for number in range(3 * MOST_DIFFERENCES)}
    change_json(members, "bundle.json", lambda index: index["members"].update(ghosts))


class Forgery:
    """A change, the level that it may reach at most, or none when it is refused, and what is said of it."""

    def __init__(self, change: Change, most: Level | None, says: str = "", *, claimed: bool = False) -> None:
        self.change, self.most, self.says, self.claimed = change, most, says, claimed


CRAFTED: Mapping[str, Forgery] = {
    "a bad run with its seal that is called void": Forgery(forgotten, "refuted", "handed in", claimed=True),
    "a void run with a request that is too deep": Forgery(forgotten_and_deep, "refuted"),
    "a scored run that is void as well": Forgery(named_twice, "refuted", "handed in"),
    "a run that no sample names": Forgery(hidden_run, "refuted", "runs that no sample names"),
    "a scored sample without a run": Forgery(sample("survey-1", run=None), "refuted", "record"),
    "two answers handed in": Forgery(answered_twice, "refuted", "answer", claimed=True),
    "an average that is no number": Forgery(claims(average=NOT_A_NUMBER), "refuted", "nan"),
    "an average without an end": Forgery(claims(average=INFINITE), "refuted", "inf"),
    "a card with numbers that are none": Forgery(card(calls=NOT_A_NUMBER, steps=INFINITE), "refuted", "score card"),
    "a manifest with a number that is none": Forgery(manifest(tools=NOT_A_NUMBER), "refuted", "manifest"),
    "a manifest that is too deep": Forgery(manifest(tools=nested(150)), "refuted", "manifest"),
    "fields that nobody handed in": Forgery(record(fields={"total": nested(90)}), "refuted", "fields"),
    "an attempt whose number fills a page": Forgery(sample("sum-1", repeat=10**4000), "refuted", "plan"),
    "the sixty-first second": Forgery(first_call(wall="2026-11-01T23:59:60+00:00"), "refuted", "a moment"),
    "a request number that is a list": Forgery(first_call(request_id="[" * 10**5), "refuted", "request id"),
    "three thousand members that are not there": Forgery(many_names, "refuted", "at most"),
    "the same key twice in a record": Forgery(twice_in_a_record, "replayed"),
    "the same key twice in a request": Forgery(twice_in_a_request, "replayed", claimed=True),
    "another server with nearly our name": Forgery(almost_bundled, "consistent", "third-party", claimed=True),
    "a run whose time is over at once": Forgery(out_of_time, "consistent", "of the time", claimed=True),
    "a profile that leads elsewhere": Forgery(
        together(manifest(profile="task:../../x"), header(profile="task")), "refuted", "can be had here", claimed=True
    ),
    "a sandbox on another machine": Forgery(
        manifest(sandbox="docker://evil.example:2375"), "refuted", "can be had here", claimed=True
    ),
    "a request in letters of two bytes": Forgery(
        first_request(lambda raw: raw.decode().encode("utf-16")), "replayed", claimed=True
    ),
    "several requests in one": Forgery(
        first_request(lambda raw: b"[%b]" % raw), "refuted", "a JSON-RPC message", claimed=True
    ),
    "an error without words": Forgery(first_call(error=[1]), "refuted", "error", claimed=True),
    "servers of others that have no names": Forgery(
        manifest(upstream="math", tools={"x": 1}), "replayed", "Third-party servers", claimed=True
    ),
    "half a call that is allowed": Forgery(manifest(limits={"calls": 0.5}), "refuted", "outcome", claimed=True),
    "a call that was lost among many honest ones": Forgery(lost_among_many, "replayed", "63 of 64 calls", claimed=True),
    "a revision that clears the screen": Forgery(
        lambda members: of_run(members, "survey-1", lambda calls: set_each(calls, revision="\x1b[2J")),
        "replayed",
        claimed=True,
    ),
    "judges who are too deep": Forgery(judged, None, "recursion"),
    "seconds without an end": Forgery(sample("sum-1", seconds=INFINITE), None, "seconds"),
    "many more attempts than were made": Forgery(header(repeats=300), "refuted", "claims", claimed=False),
    "a field with an escape in its name": Forgery(record(**{"\x1b[2Jx" * 500: 1}), None, "Extra inputs"),
    "a name that is read backwards": Forgery(header(name="m3\u202egnp.exe"), None, "not a name"),
    "a name as long as a page": Forgery(header(name="x" * 5000), None, "not a name"),
    "a task as long as a book": Forgery(sample("sum-1", task="t" * 10**6, state="void"), None, "no name"),
    "a reason as long as a book": Forgery(sample("sum-1", reason="r" * 10**6), None, "reasons"),
    "an error that is too deep": Forgery(first_call(error=nested(250)), None, "recursion"),
    "a call before the first": Forgery(first_call(id=-1), None, "greater than"),
    "an answer as long as a library": Forgery(record(answer="a" * ((4 << 20) + 1)), None, "at most"),
    "a file outside": Forgery(files("media/../../../etc/passwd"), None, "not a path"),
    "a file that is a folder as well": Forgery(files("x", "x/y"), None, "cannot be written out"),
    "a file with a name that no system takes": Forgery(files("x" * 400), None, "cannot be written out"),
    "one value in thousands of files": Forgery(
        files(*map(str, range(2100)), content=bytes(1 << 20)), None, "would unpack to"
    ),
    "more files than a workspace holds": Forgery(files(*map(str, range(20_001))), None, "files (at most"),
}

QUICK = (
    "a bad run with its seal that is called void",
    "an average that is no number",
    "one value in thousands of files",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", CRAFTED)
def test_what_is_crafted_gets_no_more_than_it_is_due(
    name: str, bundle: Path, tmp_path: Path, library: Library, encoder: Encoder
) -> None:
    forgery, members, installation = CRAFTED[name], unpacked(bundle), LocalInstallation(library)
    forgery.change(members)
    if forgery.claimed:
        claim_again(members, installation, encoder, tmp_path)
    if forgery.change is not many_names:
        index_again(members)
    path = packed(members, tmp_path / "crafted.m3run")
    if forgery.most is None:
        refused(path, forgery.says, installation, encoder)
        return
    verdict = verified(path, installation, encoder)
    assert LEVELS.index(verdict.level) <= LEVELS.index(forgery.most), whats(verdict)
    assert forgery.says in whats(verdict), whats(verdict)
    assert len(verdict.differences) <= MOST_DIFFERENCES
    json.dumps(verdict.to_json(), allow_nan=False)
    place = BundleBoard(tmp_path / "board", library, encoder)
    if place.accept(path, verdict, "consistent").outcome == "accepted":
        place.write()


def refused(path: Path, says: str, installation: LocalInstallation, encoder: Encoder) -> None:
    with pytest.raises(InputFileError) as told:
        verify_bundle(path, installation, encoder)
    said = str(told.value).removeprefix(f"{path}: ")
    assert says in said
    assert len(said) < 500
    assert said == printable(said)


def far_away(bundle: Path, path: Path, place: int) -> Path:
    """An archive whose last member begins at a place that no file has."""
    data = bytearray(bundle.read_bytes())
    at, end = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    name, extra = struct.unpack_from("<HH", data, at + 28)
    more = struct.pack("<HHQ", 1, 8, place)
    struct.pack_into("<I", data, at + 42, 2**32 - 1)
    struct.pack_into("<H", data, at + 30, len(more))
    struct.pack_into("<I", data, end + 12, struct.unpack_from("<I", data, end + 12)[0] + len(more) - extra)
    data[at + 46 + name : at + 46 + name + extra] = more
    path.write_bytes(bytes(data))
    return path


@pytest.mark.parametrize("place", [2**63 - 1, 2**63, 2**64 - 2])
def test_a_member_that_is_nowhere_is_told_in_a_line(
    place: int, bundle: Path, tmp_path: Path, library: Library, encoder: Encoder
) -> None:
    refused(far_away(bundle, tmp_path / "far.m3run", place), "", LocalInstallation(library), encoder)


@pytest.mark.slow
def test_what_a_command_says_of_a_forgery_is_safe_to_print(bundle: Path, played: Path, tmp_path: Path) -> None:
    """The name of a field is the submitter's, and so is a number that JSON does not have."""
    for name, code in (("a field with an escape in its name", 2), ("an average that is no number", 1)):
        members = unpacked(bundle)
        CRAFTED[name].change(members)
        index_again(members)
        path = packed(members, tmp_path / "crafted.m3run")
        for options in ((), ("--json",)):
            done = m3bench("lab", "verify", path, "--tasks", played / "set", "--no-replay", *options)
            assert done.returncode == code, done.stderr
            assert "\x1b" not in done.stdout + done.stderr
            assert "Traceback" not in done.stderr


def kinds_swapped(found: Any) -> None:
    """Each statement in the other's place: the same key signed both."""
    for proof in found["runs"].values():
        proof["envelope"], found["tally"] = found["tally"], proof["envelope"]


def one_unsigned(found: Any) -> None:
    found["runs"].popitem()


def own_key(members: Members, line: str) -> None:
    change_json(members, "attestations.json", methodcaller("update", key=line))


def no_starts(found: Any) -> None:
    found["tally"]["signatures"] = found["tally"]["signatures"][:0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most", "says"),
    [
        ("a bad run with its seal that is called void", "refuted", "handed in"),
        ("a scored run that is void as well", "refuted", "handed in"),
        ("a bad run that is said to have been handed in only", "refuted", "state that was signed"),
        ("signed by the submitter, under their own name", "replayed", "not a key that you trust"),
        ("a tally that nobody signed", "refuted", "tally"),
        ("a statement on a run in place of the tally", "refuted", "tally"),
        ("a run that was not signed beside one that was", "refuted", "signature"),
        ("another answer under the same seal", "refuted", "seal"),
        ("fields that were not handed in", "refuted", "seal"),
        ("a void sample of a run that was scored and is not here", "refuted", "state that was signed"),
        ("a void sample of no run", "attested", "counts them as not solved"),
    ],
)
def test_what_was_signed_hides_nothing(
    name: str, most: Level, says: str, signed: Signed, tmp_path: Path, encoder: Encoder
) -> None:
    stranger = make_key(tmp_path / "stranger.key")
    bad = run_of(unpacked(signed.bundle), "survey-1").removeprefix("runs/")
    changes: dict[str, Change] = {
        "a bad run with its seal that is called void": forgotten,
        "a scored run that is void as well": named_twice,
        "a bad run that is said to have been handed in only": together(forgotten, record(state="submitted")),
        "signed by the submitter, under their own name": together(
            resigned_by_another(stranger), lambda members: own_key(members, stranger.public.line)
        ),
        "a tally that nobody signed": signatures(no_starts),
        "a statement on a run in place of the tally": signatures(kinds_swapped),
        "a run that was not signed beside one that was": signatures(one_unsigned),
        "another answer under the same seal": record(answer="108"),
        "fields that were not handed in": record(fields={"total": 108}),
        "a void sample of a run that was scored and is not here": lambda members: without(
            members, "survey-1", void("survey-1", run=bad)
        ),
        "a void sample of no run": lambda members: without(members, "survey-1", void("survey-1", run=None)),
    }
    installation, members = LocalInstallation(signed.library), unpacked(signed.bundle)
    seals = {run: json.loads(content)["seal"] for run, content in members.items() if run.endswith("/run.json")}
    changes[name](members)
    claim_again(members, installation, encoder, tmp_path)
    for run in seals.keys() & members.keys():
        change_json(members, run, methodcaller("update", seal=seals[run]))
    index_again(members)
    verdict = verified(packed(members, tmp_path / "signed.m3run"), installation, encoder, signed.key)
    assert LEVELS.index(verdict.level) <= LEVELS.index(most), whats(verdict)
    assert says in whats(verdict), whats(verdict)


@pytest.mark.slow
def test_a_name_that_looks_like_another_gets_digits(
    bundle: Path, tmp_path: Path, library: Library, encoder: Encoder
) -> None:
    installation, names = LocalInstallation(library), []
    for task, name in (("survey-1", "oracle"), ("sum-1", " \uff2fra\u200bcle")):
        members = unpacked(bundle)
        without(members, task)
        header(name=name)(members)
        claim_again(members, installation, encoder, tmp_path)
        path = packed(members, tmp_path / f"{task}.m3run")
        verdict = verify_bundle(path, installation, encoder)
        board = BundleBoard(tmp_path / "board", library, encoder)
        names.append(board.accept(path, verdict, "consistent").name)
    assert names[0] == "oracle"
    assert names[1].endswith(")")


def test_members_that_are_named_often_are_read_once_only_in_number(bundle: Path, tmp_path: Path) -> None:
    """The archive itself is small: what it is said to come to is known before anything is unpacked."""
    members = unpacked(bundle)
    CRAFTED["one value in thousands of files"].change(members)
    index_again(members)
    path = packed(members, tmp_path / "small.m3run")
    assert path.stat().st_size < 1 << 20
    with zipfile.ZipFile(path) as archive:
        assert sum(entry.file_size for entry in archive.infolist()) < 8 << 20

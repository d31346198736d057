"""A bundle is confirmed as it is and refuted with anything in it changed, however carefully."""

import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from m3bench.proxy.seat import Seat
from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.bundle import pack
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.interchange.verdict import BundleVerdict
from m3bench.server.scoring import Encoder
from m3bench.server.store.records import BESIDE
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from m3bench.tasks.plan import Plan, Plans
from m3bench.tasks.task import Task
from tests.pictures import assert_same_bytes
from tests.server.lab.interchange.conftest import m3bench
from tests.server.lab.interchange.tampering import (
    Members,
    change_json,
    change_lines,
    index_again,
    packed,
    put_value,
    run_of,
    seal_again,
    unpacked,
)
from tests.sets import write_set
from tests.tasks.answers.earlier import earlier_tasks

Tamper = Callable[[Members, str], None]


@pytest.fixture
def verified(library: Library, encoder: Encoder) -> Callable[[Path], BundleVerdict]:
    return lambda path: verify_bundle(path, LocalInstallation(library), encoder)


def whats(verdict: BundleVerdict) -> str:
    return "\n".join(f"{one.where}: {one.what}: {one.claimed} / {one.recomputed}" for one in verdict.differences)


def test_what_was_played_is_confirmed(bundle: Path, verified: Callable[[Path], BundleVerdict]) -> None:
    verdict = verified(bundle)
    assert verdict.confirmed, whats(verdict)
    assert verdict.runs == 2
    assert verdict.values > 100


MEANT = r"\.(scoring_version|text|right|first_fault)$|\.(needs|waits|reasons|ranges)\b"
"""What later rules say otherwise on purpose: advice on what is open, that nobody waits for a look, and what is told
besides."""
SLIPS = {
    "score card.metrics.precision": 0.6, "score card.metrics.average": 0.5667,
    "claims.metrics.precision": 0.6333, "claims.metrics.average": 0.5264,
}  # fmt: skip
"""A slip is one mistake since the rules of version 7: recall counts it, and precision no longer does."""


class AnyRelease(LocalInstallation):
    """Takes the tasks, tools, world and rules of another release for those that are here."""

    def served(self, manifest: Mapping[str, object]) -> tuple[Seat, dict[str, object]]:
        seat, here = super().served(manifest)
        claimed = {name: value for name, value in manifest.items() if name not in BESIDE}
        return seat, {**claimed, "m3bench": here["m3bench"]}


class EarlierLibrary(Library):
    """The bundled set with its tasks as they were when the bundle of the release before was made."""

    def task(self, id: str) -> Task:
        """The earlier task where the set has another one by now."""
        return earlier_tasks().get(id) or super().task(id)

    def _read_plans(self) -> Mapping[str, tuple[Plan, ...]]:
        text = Path(__file__).with_name("version_0_1_plans.json").read_text("utf-8")
        return {**super()._read_plans(), **Plans.model_validate_json(text).plans}

    def truth(self, task: Task) -> None:
        """Nobody had written down what is to be seen."""


@pytest.mark.slow
def test_what_the_release_before_scored_has_the_same_numbers_today(encoder: Encoder) -> None:
    bundle = Path(__file__).with_name("version_0_1.m3run")
    verdict = verify_bundle(bundle, AnyRelease(EarlierLibrary()), encoder)
    assert verdict.runs == 2
    assert verdict.values > 100
    meant = rf"{MEANT}|\.slip$|\.improvements\b"
    others = {one.what: one.recomputed for one in verdict.differences if not re.search(meant, one.what)}
    assert others == pytest.approx(SLIPS, abs=1e-4), whats(verdict)


def test_the_same_results_make_the_same_bytes(played: Path, bundle: Path, tmp_path: Path) -> None:
    pack(played / "results", tmp_path / "again.m3run")
    assert_same_bytes((tmp_path / "again.m3run").read_bytes(), bundle.read_bytes(), "the bundle")


def test_every_recorded_byte_is_in_the_bundle(played: Path, bundle: Path) -> None:
    from m3bench.server.store.sqlite import SqliteStore

    members = unpacked(bundle)
    store = SqliteStore(played / "results" / "data")
    calls = [call for run in store.runs() for call in store.calls(run.id)]
    store.close()
    values = {content for name, content in members.items() if name.startswith("values/")}
    assert len(calls) >= 4
    assert {call.request for call in calls} | {call.result for call in calls} <= values


def test_a_plain_data_folder_can_be_packed(
    played: Path, tmp_path: Path, verified: Callable[[Path], BundleVerdict]
) -> None:
    pack(played / "results" / "data", tmp_path / "plain.m3run")
    verdict = verified(tmp_path / "plain.m3run")
    assert verdict.confirmed, whats(verdict)
    assert verdict.runs == 2


def edit_score(members: Members, run: str) -> None:
    change_json(members, f"{run}/card.json", lambda card: card["metrics"].update(average=0.5))


def edit_success(members: Members, run: str) -> None:
    change_json(members, f"{run}/card.json", lambda card: card.update(success=not card["success"]))


def edit_loading(members: Members, run: str) -> None:
    change_json(members, f"{run}/card.json", lambda card: card["client"].update(tools="by search"))


def edit_claim(members: Members, run: str) -> None:
    change_json(members, "bundle.json", lambda index: index["claims"]["metrics"].update(recall=0.25))


def edit_solved(members: Members, run: str) -> None:
    change_json(members, "bundle.json", lambda index: index["claims"].update(solved=7))


def of_agent(lines: list[Any]) -> list[Any]:
    return [line for line in lines if line["tool"].startswith("math/")]


def edit_call(members: Members, run: str) -> None:
    def change(lines: list[Any]) -> None:
        line = of_agent(lines)[0]
        message = json.loads(members[f"values/{line['request']}"])
        message["params"]["arguments"] = {"numbers": [1, 1, 1]}
        line["request"] = put_value(members, json.dumps(message).encode())

    change_lines(members, f"{run}/calls.jsonl", change)


def edit_result(members: Members, run: str) -> None:
    def change(lines: list[Any]) -> None:
        result = {"content": [{"type": "text", "text": "2.5"}]}
        of_agent(lines)[0]["result"] = put_value(members, json.dumps(result).encode())

    change_lines(members, f"{run}/calls.jsonl", change)


def swap_bytes(members: Members, run: str) -> None:
    """Other bytes under the old name."""
    line = of_agent([json.loads(line) for line in members[f"{run}/calls.jsonl"].splitlines()])[0]
    name = f"values/{line['request']}"
    members[name] = members[name].replace(b"42", b"43")


def remove_call(members: Members, run: str) -> None:
    change_lines(members, f"{run}/calls.jsonl", lambda lines: lines.remove(of_agent(lines)[0]))


def remove_last_call(members: Members, run: str) -> None:
    change_lines(members, f"{run}/calls.jsonl", lambda lines: lines.remove(of_agent(lines)[-1]))


def reorder(members: Members, run: str) -> None:
    change_lines(members, f"{run}/calls.jsonl", lambda lines: lines.reverse())


def renumber(members: Members, run: str) -> None:
    """Another order with numbers that fit it."""

    def change(lines: list[Any]) -> None:
        first, last = of_agent(lines)[0], of_agent(lines)[-1]
        for name in ("tool", "request", "result", "request_id"):
            first[name], last[name] = last[name], first[name]

    change_lines(members, f"{run}/calls.jsonl", change)


def blame_sandbox(members: Members, run: str) -> None:
    change_lines(members, f"{run}/calls.jsonl", lambda lines: of_agent(lines)[0].update(owner="sandbox"))


def shift_times(members: Members, run: str) -> None:
    """What puts calls into other steps."""

    def change(lines: list[Any]) -> None:
        for number, line in enumerate(lines):
            for name in ("received_ns", "forwarded_ns", "returned_ns", "sent_ns"):
                line[name] = line[name] + number * 10**10 if line[name] else line[name]

    change_lines(members, f"{run}/calls.jsonl", change)


def edit_answer(members: Members, run: str) -> None:
    change_json(members, f"{run}/run.json", lambda record: record.update(answer="They differ by 2.5."))


def add_file(members: Members, run: str) -> None:
    digest = put_value(members, b"what was asked for")
    line = {"path": "answer.txt", "value": digest, "changed_ns": 1}
    change_lines(members, f"{run}/files.jsonl", lambda lines: lines.append(line))


def edit_manifest(**changes: Any) -> Tamper:
    def tamper(members: Members, run: str) -> None:
        change_json(members, f"{run}/run.json", lambda record: record["manifest"].update(changes))

    return tamper


def other_task(members: Members, run: str) -> None:
    change_json(members, f"{run}/run.json", lambda record: record.update(task="sum-1"))


def one_run_twice(members: Members, run: str) -> None:
    def change(lines: list[Any]) -> None:
        for line in lines:
            line["run"] = run.removeprefix("runs/")

    change_lines(members, "samples.jsonl", change)


def edit_header(**changes: Any) -> Tamper:
    def tamper(members: Members, run: str) -> None:
        change_json(members, "set.json", lambda header: header.update(changes))

    return tamper


def drop_sample(members: Members, run: str) -> None:
    change_lines(members, "samples.jsonl", lambda lines: lines.pop())


def repeat_sample(members: Members, run: str) -> None:
    change_lines(members, "samples.jsonl", lambda lines: lines.append(lines[0]))


def call_it_void(members: Members, run: str) -> None:
    """A result that is better not seen."""
    fields = {"state": "void", "fault": "provider", "reason": "overload (503): Overloaded"}
    change_lines(members, "samples.jsonl", lambda lines: lines[0].update(fields))


TAMPERS: dict[str, tuple[Tamper, str]] = {
    "score": (edit_score, "score card.metrics.average: 0.5 / 1.0"),
    "success": (edit_success, "score card.success"),
    "loading": (edit_loading, "score card.client.tools"),
    "claim": (edit_claim, "claims.metrics.recall: 0.25"),
    "solved": (edit_solved, "claims.solved: 7"),
    "call": (edit_call, "seal"),
    "result": (edit_result, "seal"),
    "bytes": (swap_bytes, "hash of values/"),
    "removed": (remove_call, "seal"),
    "last removed": (remove_last_call, "seal"),
    "reordered": (reorder, "order"),
    "renumbered": (renumber, "seal"),
    "blamed": (blame_sandbox, "seal"),
    "times": (shift_times, "seal"),
    "answer": (edit_answer, "seal"),
    "file": (add_file, "seal"),
    "encoder": (edit_manifest(encoder="0" * 64), "manifest.encoder"),
    "world": (edit_manifest(world="0" * 64), "manifest.world"),
    "scorer": (edit_manifest(scores=99), "manifest.scores"),
    "profile": (edit_manifest(profile="everything"), "manifest"),
    "tools": (edit_manifest(tools=232), "manifest.tools"),
    "more": (edit_manifest(reviewed="by nobody"), "manifest.reviewed"),
    "task": (other_task, "task"),
    "header's profile": (edit_header(profile="full"), "profile: full / task:survey-1"),
    "header's set": (edit_header(set_hash="0" * 64), "hash of the set"),
    "header's plan": (edit_header(tasks=["survey-1"]), "not in its plan"),
    "one run twice": (one_run_twice, "another sample's run"),
    "dropped": (drop_sample, "claims"),
    "repeated": (repeat_sample, "more than once"),
    "called void": (call_it_void, "void / handed in, and no call was lost"),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("careful", [False, True], ids=["plainly", "with new hashes"])
@pytest.mark.parametrize("tamper", TAMPERS)
def test_whatever_is_changed_is_found(
    tamper: str, careful: bool, bundle: Path, tmp_path: Path, verified: Callable[[Path], BundleVerdict]
) -> None:
    change, expected = TAMPERS[tamper]
    members = unpacked(bundle)
    change(members, run_of(members, "survey-1"))
    if careful:
        index_again(members)
    verdict = verified(packed(members, tmp_path / "changed.m3run"))
    assert not verdict.confirmed
    if careful:
        assert expected in whats(verdict)
    else:
        assert expected in whats(verdict) or "hash of" in whats(verdict)


SEALED_AGAIN = {
    "call": (edit_call, "score card"),
    "removed": (remove_call, "score card"),
    "blamed": (blame_sandbox, "score card.excluded"),
    "blamed, void": (blame_sandbox, "state: scored / void"),
    "reordered": (reorder, "order"),
    "renumbered": (renumber, "score card"),
    "answer": (edit_answer, "answer"),
    "encoder": (edit_manifest(encoder="0" * 64), "manifest.encoder"),
    "tasks": (edit_manifest(tasks={"name": "tests", "version": "1", "hash": "0" * 64}), "manifest.tasks.hash"),
    "profile": (edit_manifest(profile="everything"), "manifest"),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("tamper", SEALED_AGAIN)
def test_a_new_seal_does_not_help(
    tamper: str, bundle: Path, tmp_path: Path, verified: Callable[[Path], BundleVerdict]
) -> None:
    change, expected = SEALED_AGAIN[tamper]
    members = unpacked(bundle)
    run = run_of(members, "survey-1")
    change(members, run)
    seal_again(members, run, tmp_path)
    index_again(members)
    verdict = verified(packed(members, tmp_path / "sealed.m3run"))
    assert "seal over" not in whats(verdict)
    assert expected in whats(verdict)


def test_another_set_of_tasks_refutes(bundle: Path, tmp_path: Path, encoder: Encoder) -> None:
    other = write_set(tmp_path / "other")
    path = other / "tasks.json"
    path.write_text(path.read_text().replace("15.5", "15"))
    verdict = verify_bundle(bundle, LocalInstallation(Library(other)), encoder)
    assert "manifest.tasks.hash" in whats(verdict)
    assert verdict.runs == 0


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(2):
            archive.writestr(f"values/{number:064x}", bytes(100 << 20))


def escape(name: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        packed({**unpacked(path), name: b"evil"}, path)

    return write


def escape_from_workspace(name: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        members = unpacked(path)
        digest = put_value(members, b"evil")
        line = {"path": name, "value": digest, "changed_ns": 1}
        change_lines(members, f"{run_of(members, 'sum-1')}/files.jsonl", lambda lines: lines.append(line))
        index_again(members)
        packed(members, path)

    return write


def twice(path: Path) -> None:
    members = unpacked(path)
    packed(members, path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("set.json", b"{}")


def without(name: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        packed({key: value for key, value in unpacked(path).items() if not key.startswith(name)}, path)

    return write


def broken(name: str, content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        packed({**unpacked(path), name: content}, path)

    return write


def newer(path: Path) -> None:
    members = unpacked(path)
    change_json(members, "bundle.json", lambda index: index.update(version=2))
    packed(members, path)


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "no zip": lambda path: path.write_text("not an archive"),
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "damaged": flipped,
    "bomb": bomb,
    "parent": escape("../evil"),
    "absolute": escape("/tmp/evil"),
    "backslash": escape("..\\evil"),
    "stranger": escape("runs/x/evil.py"),
    "workspace parent": escape_from_workspace("../evil"),
    "workspace deep": escape_from_workspace("a/../../evil"),
    "workspace absolute": escape_from_workspace("/tmp/evil"),
    "workspace empty": escape_from_workspace(""),
    "workspace itself": escape_from_workspace("media/note.png/evil"),
    "twice": twice,
    "no index": without("bundle.json"),
    "no values": without("values/"),
    "no calls": without("runs/"),
    "newer": newer,
    "deep": broken("set.json", b"[" * 100_000),
    "not json": broken("samples.jsonl", b"\xff\xfe"),
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("damage", UNREADABLE)
def test_what_is_no_whole_bundle_is_told_in_one_line(
    damage: str, bundle: Path, tmp_path: Path, verified: Callable[[Path], BundleVerdict]
) -> None:
    path = tmp_path / "in" / "damaged.m3run"
    path.parent.mkdir()
    path.write_bytes(bundle.read_bytes())
    UNREADABLE[damage](path)
    if damage == "no calls":
        assert not verified(path).confirmed
        return
    with pytest.raises(InputFileError) as caught:
        verified(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.rglob("evil*"))
    assert not Path("/tmp/evil").exists()


@pytest.mark.slow
def test_the_commands_pack_and_verify(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.m3run"
    done = m3bench("lab", "pack", played / "results", "-o", path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 runs packed" in done.stderr
    again = m3bench("lab", "pack", played / "results", "-o", path, "--json")
    assert json.loads(again.stdout) == {"file": str(path), "runs": 2}
    good = m3bench("lab", "verify", path, "--tasks", played / "set", "--at-least", "replayed", "--json")
    assert good.returncode == 0, good.stdout
    assert json.loads(good.stdout)["summary"] == "replayed, set of its own, unattested"
    below = m3bench("lab", "verify", path, "--tasks", played / "set", "--no-replay", "--at-least", "replayed")
    assert below.returncode == 1
    assert below.stdout.startswith("Consistent, set of its own, unattested: oracle.")
    bad = m3bench("lab", "verify", path)
    assert bad.returncode == 1
    assert bad.stdout.startswith("Refuted: oracle.")
    assert "claimed" in bad.stdout
    path.write_bytes(path.read_bytes()[:1000])
    assert m3bench("lab", "verify", path).returncode == 2


def test_nothing_to_submit_is_told(tmp_path: Path) -> None:
    done = m3bench("lab", "pack", tmp_path, "-o", tmp_path / "x.m3run")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "x.m3run").exists()

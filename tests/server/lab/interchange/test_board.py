"""A board takes what holds, says of each set how far it can be trusted, and is the same however often it is told."""

import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.bundle import pack
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.interchange.verdict import BundleVerdict, Coverage
from m3bench.server.lab.reports.board import BundleBoard
from m3bench.server.scoring import Encoder
from m3bench.server.store.layout import judgement
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from tests.server.lab.interchange.conftest import m3bench
from tests.server.lab.interchange.tampering import (
    Members,
    change_json,
    change_lines,
    claim_again,
    index_again,
    packed,
    run_of,
    unpacked,
)

Accept = Callable[[Path], tuple[str, str]]


@pytest.fixture
def verify(library: Library, encoder: Encoder) -> Callable[[Path], BundleVerdict]:
    return lambda path: verify_bundle(path, LocalInstallation(library), encoder)


@pytest.fixture
def accept(tmp_path: Path, library: Library, encoder: Encoder, verify: Callable[[Path], BundleVerdict]) -> Accept:
    """Puts a bundle on the board of this test; what became of it, and why."""

    def put(path: Path) -> tuple[str, str]:
        board = BundleBoard(tmp_path / "board", library, encoder)
        answer = board.accept(path, verify(path), "consistent")
        return answer.outcome, answer.why

    return put


def digests(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}  # fmt: skip


def other_runs(bundle: Path, path: Path, installation: LocalInstallation, encoder: Encoder, by: int = 0) -> Members:
    """The same calls under new handles, and later by some nanoseconds: what somebody makes of another's bundle."""
    members: Members = {}
    for name, content in unpacked(bundle).items():
        found = re.match(r"runs/(\w+)/", name)
        members[name.replace(found[1], found[1][::-1]) if found else name] = content
    handles = {run.split("/")[1][::-1]: run.split("/")[1] for run in members if run.startswith("runs/")}

    def rename(lines: list[Any]) -> None:
        for line in lines:
            line["run"] = handles[line["run"]]

    change_lines(members, "samples.jsonl", rename)
    change_json(members, "set.json", lambda header: header.update(name="another"))
    for run in sorted(set(handles.values())):

        def later(lines: Any) -> None:
            rename(lines)
            for line in lines:
                line["id"] += 1000
                for moment in ("received_ns", "forwarded_ns", "returned_ns", "sent_ns"):
                    line[moment] = line[moment] + by if line[moment] else line[moment]

        change_json(members, f"runs/{run}/run.json", lambda record: record.update(id=handles[record["id"]]))
        change_lines(members, f"runs/{run}/calls.jsonl", later)
    claim_again(members, installation, encoder, path)
    return members


@pytest.mark.slow
def test_every_set_shows_its_level_and_the_board_stays_the_same(bundle: Path, played: Path, tmp_path: Path) -> None:
    options = ("--tasks", played / "set", "--sandbox", "inprocess")
    done = m3bench("lab", "board", "accept", tmp_path / "board", bundle, *options)
    assert done.returncode == 0, done.stderr
    assert "accepted: oracle: replayed, set of its own, unattested" in done.stderr
    assert "replayed" in done.stdout
    document = json.loads((tmp_path / "board" / "leaderboard.json").read_text("utf-8"))
    (entry,) = document["entries"]
    assert entry["verdict"]["summary"] == "replayed, set of its own, unattested"
    assert entry["verdict"]["coverage"]["scored"] == entry["counts"]["scored"] == 2
    assert (tmp_path / "board" / "leaderboard.csv").read_text("utf-8").splitlines()[1].endswith(",replayed")
    for page in ("index.html", "board.html"):
        assert "replayed, set of its own, unattested" in (tmp_path / "board" / page).read_text("utf-8")
    before = digests(tmp_path / "board")
    again = m3bench("lab", "board", "accept", tmp_path / "board", bundle, *options, "--json")
    assert [one["outcome"] for one in json.loads(again.stdout)["bundles"]] == ["already there"]
    assert digests(tmp_path / "board") == before


def test_what_is_refuted_is_refused_with_the_reason(bundle: Path, tmp_path: Path, accept: Accept) -> None:
    members = unpacked(bundle)
    change_json(members, "bundle.json", lambda index: index["claims"].update(solved=7))
    outcome, why = accept(packed(members, tmp_path / "forged.m3run"))
    assert outcome == "refused"
    assert "refuted: bundle: claims.solved: claimed 7, found 0" in why
    assert not (tmp_path / "board").exists()


@pytest.mark.parametrize("later", [0, 3_600_000_000_000], ids=["at the same times", "an hour later"])
def test_another_ones_runs_count_once_whatever_they_are_called(
    bundle: Path, tmp_path: Path, accept: Accept, library: Library, encoder: Encoder, later: int
) -> None:
    assert accept(bundle)[0] == "accepted"
    copy = tmp_path / "copy.m3run"
    copy.write_bytes(bundle.read_bytes())
    assert accept(copy)[0] == "already there"
    members = unpacked(bundle)
    change_json(members, "set.json", lambda header: header.update(name="mine"))
    index_again(members)
    outcome, why = accept(packed(members, tmp_path / "mine.m3run"))
    assert (outcome, "already on the board, in 'oracle'" in why) == ("refused", True)
    members = other_runs(bundle, tmp_path, LocalInstallation(library), encoder, later)
    outcome, why = accept(packed(members, tmp_path / "another.m3run"))
    assert (outcome, "that a run on the board already has" in why) == ("refused", True), why


def test_what_was_left_out_counts_as_not_solved(
    bundle: Path, tmp_path: Path, library: Library, encoder: Encoder, verify: Callable[[Path], BundleVerdict]
) -> None:
    members = unpacked(bundle)
    hard = run_of(members, "survey-1")
    members = {name: content for name, content in members.items() if not name.startswith(f"{hard}/")}
    change_lines(members, "samples.jsonl", lambda lines: lines.remove(
        next(line for line in lines if line["run"] == hard.removeprefix("runs/"))))  # fmt: skip
    claim_again(members, LocalInstallation(library), encoder, tmp_path)
    path = packed(members, tmp_path / "easy.m3run")
    verdict = verify(path)
    assert verdict.confirmed, verdict.differences
    board = BundleBoard(tmp_path / "board", library, encoder)
    assert board.accept(path, verdict, "consistent").outcome == "accepted"
    (entry,) = board.write().entries
    assert entry.summary.metrics["average"] == 0.5
    assert entry.verdict is not None
    assert entry.verdict.coverage == Coverage(tasks=2, of=2, planned=2, scored=1, void=0, missing=1)


def test_sets_that_do_not_compare_are_refused(bundle: Path, played: Path, tmp_path: Path, accept: Accept) -> None:
    assert accept(bundle)[0] == "accepted"
    done = m3bench("run", "--agent", "oracle", "--tasks", played / "set", "--profile", "task", "--sandbox", "inprocess",
                   "--task", "sum-1", "-o", tmp_path / "one")  # fmt: skip
    assert done.returncode == 0, done.stderr
    pack(tmp_path / "one", tmp_path / "one.m3run")
    outcome, why = accept(tmp_path / "one.m3run")
    assert (outcome, "task list is" in why) == ("refused", True), why


def test_a_board_is_written_whole_or_not_at_all(
    bundle: Path, tmp_path: Path, accept: Accept, library: Library, encoder: Encoder
) -> None:
    assert accept(bundle)[0] == "accepted"
    board = BundleBoard(tmp_path / "board", library, encoder)
    board.write()
    before = digests(tmp_path / "board" / "runs"), (tmp_path / "board" / "index.html").read_bytes()
    (kept,) = (tmp_path / "board" / "bundles").iterdir()
    kept.write_bytes(kept.read_bytes()[:1000])
    with pytest.raises(InputFileError):
        board.write()
    assert (digests(tmp_path / "board" / "runs"), (tmp_path / "board" / "index.html").read_bytes()) == before
    assert not list((tmp_path / "board").glob(".draft-*"))


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path, library: Library, encoder: Encoder) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputFileError, match="is not empty and holds no board"):
        BundleBoard(tmp_path, library, encoder)


def test_what_judges_said_is_packed_and_only_with_its_run(
    played: Path, tmp_path: Path, library: Library, encoder: Encoder, verify: Callable[[Path], BundleVerdict]
) -> None:
    data = played / "results" / "data"
    runs = {name.split("/")[1]: json.loads(content) for name, content in unpacked(_pack(played, tmp_path)).items()
            if name.endswith("/run.json")}  # fmt: skip
    (first, record), (other, _) = sorted(runs.items())
    said = {"schema": 1, "run": first, "task": record["task"], "seal": record["seal"], "wording": 1, "panels": {}}
    place = judgement(data, first)
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(said))
    try:
        members = unpacked(_pack(played, tmp_path))
    finally:
        place.unlink()
    assert json.loads(members[f"runs/{first}/judges.json"]) == said
    verdict = verify(packed(members, tmp_path / "judged.m3run"))
    assert verdict.confirmed
    assert "What judges said is the submitter's word: nobody was asked again." in verdict.notes
    board = BundleBoard(tmp_path / "board", library, encoder)
    assert board.accept(tmp_path / "judged.m3run", verdict, "consistent").outcome == "accepted"
    members[f"runs/{other}/judges.json"] = members.pop(f"runs/{first}/judges.json")
    index_again(members)
    assert not verify(packed(members, tmp_path / "moved.m3run")).confirmed


def _pack(played: Path, folder: Path) -> Path:
    pack(played / "results", folder / "packed.m3run")
    return folder / "packed.m3run"

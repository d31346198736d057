"""Long work goes on where it was stopped: nothing finished is made or proved twice, and nothing stale is used."""

from dataclasses import replace
from pathlib import Path

import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend, InProcessSandbox
from m3bench.server.lab.authoring import sets
from m3bench.server.lab.authoring.checkpoints import FamilyCheckpoints, ProofCheckpoints, key_of
from m3bench.server.lab.authoring.sets import SetRequest, make_set
from m3bench.server.lab.authoring.verification import verify
from m3bench.tasks.errors import SandboxError, UserError
from m3bench.tasks.library import Library, MadeLibrary
from tests.art import art
from tests.sets import write_set


def made(folder: Path) -> MadeLibrary:
    library = Library(write_set(folder))
    return MadeLibrary(library.set, {name: data for name, data in library.files() if "/" in name})


def test_a_family_that_is_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    library = made(tmp_path / "set")
    kept = FamilyCheckpoints(tmp_path / "kept", key_of(1, 2))
    assert kept.get("sums") is None
    kept.put("sums", library)
    found = kept.get("sums")
    assert found is not None
    assert dict(found.files()).keys() >= dict(library.files()).keys()
    assert found.set == library.set


def test_what_another_request_or_a_torn_write_left_is_not_used(tmp_path: Path) -> None:
    kept = FamilyCheckpoints(tmp_path / "kept", key_of(1, 2))
    kept.put("sums", made(tmp_path / "set"))
    assert FamilyCheckpoints(tmp_path / "kept", key_of(1, 3)).get("sums") is None
    (tmp_path / "kept" / "sums" / "tasks.json").write_text("{")
    assert kept.get("sums") is None
    (tmp_path / "kept" / "sums" / "key").unlink()
    assert kept.get("sums") is None


@pytest.mark.slow
def test_a_family_that_fails_costs_no_other_and_is_tried_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = SetRequest(families=["barcode_lookup"], seed=5, per_family=1, art=art().folder, name="n", version="1")
    both = replace(request, families=["barcode_lookup", "no such family"])
    with pytest.raises(UserError, match=r"no such family.*1 families that are finished are kept"):
        make_set(both, parallel=1, keep=tmp_path / "kept")

    def stop(*_: object) -> None:
        raise AssertionError("nothing is left to make")

    monkeypatch.setattr(sets, "_family", stop)
    told: list[str] = []
    again = make_set(request, parallel=1, progress=told.append, keep=tmp_path / "kept")
    assert told == ["barcode_lookup"]
    assert [task.id for task in again.set.tasks] == ["barcode_lookup-1"]
    assert again.picture("barcode_lookup-1.png").startswith(b"\x89PNG")


class Stumbling(InProcessBackend):
    """Breaks when a task is to be played for the first time."""

    opened = 0

    async def open(self, spec: SandboxSpec) -> InProcessSandbox:
        self.opened += 1
        if self.opened == 1:
            raise SandboxError("No space left on device.")
        return await super().open(spec)


@pytest.mark.anyio
async def test_a_task_that_cannot_be_played_costs_no_other_its_proof(tmp_path: Path) -> None:
    backend = Stumbling()
    problems = await verify(Library(write_set(tmp_path / "set")), backend, parallel=1)
    assert sum("cannot be played: No space left on device." in problem for problem in problems) == 1
    assert backend.opened > 1


@pytest.mark.anyio
async def test_what_is_proved_is_not_played_again(tmp_path: Path) -> None:
    path = tmp_path / "verify" / "x.jsonl"
    ProofCheckpoints(path).add("survey-1")
    ProofCheckpoints(path).add("sum-1")
    # A kill may tear the last line.
    path.write_text(path.read_text()[:-3])
    proofs = ProofCheckpoints(path)
    assert proofs.done == {"survey-1"}
    played = Stumbling()
    problems = await verify(Library(write_set(tmp_path / "set")), played, proofs=proofs)
    assert [problem for problem in problems if "cannot be played" in problem] == [
        "sum-1: cannot be played: No space left on device."
    ]
    assert played.opened == 1
    proofs.clear()
    assert not ProofCheckpoints(path).done


@pytest.mark.parametrize("kept", [True, False])
def test_what_failed_is_told_with_one_full_stop(kept: bool) -> None:
    failed = {"signposts": UserError("Sound needs av: install it."), "chimes": ValueError("odd")}
    told = sets._failures(failed, 2, kept=kept)
    assert told.startswith("chimes: ValueError: odd; signposts: Sound needs av: install it.")
    assert ".." not in told
    assert told.endswith(".")

"""Leases, spares and what becomes of their workspaces."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend, InProcessSandbox
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.pool import Lease, SandboxPool
from m3bench.sandboxes.selfcheck import processes
from m3bench.tasks.errors import SandboxError, UnknownToolError

pytestmark = pytest.mark.anyio

ADD = b'{"firstNumber":1,"secondNumber":2}'


class Counting(InProcessBackend):
    """An in-process backend that counts what it opens and can refuse to."""

    name = "counting"

    def __init__(self) -> None:
        super().__init__()
        self.opened = 0
        self.open_now = 0
        self.is_broken = False
        self.gate = anyio.Event()
        self.gate.set()

    async def open(self, spec: SandboxSpec) -> InProcessSandbox:
        self.opened += 1
        await self.gate.wait()
        if self.is_broken:
            raise SandboxError("It is broken.")
        sandbox = await super().open(spec)
        self.open_now += 1
        close = sandbox.aclose

        async def aclose() -> None:
            self.open_now -= 1
            await close()

        sandbox.aclose = aclose  # type: ignore[method-assign]
        return sandbox


async def _adds(lease: Lease) -> None:
    reply = await lease.call("math/add", ADD, 30)
    assert json.loads(reply.result)["content"] == [{"type": "text", "text": "3"}]


async def test_nothing_is_started_before_the_first_call(tmp_path: Path) -> None:
    backend = Counting()
    async with SandboxPool(backend, tmp_path) as pool:
        lease = await pool.lease()
        assert backend.opened == 0
        assert lease.workspace.parent == tmp_path.resolve()
        assert list(lease.workspace.iterdir()) == []
        await _adds(lease)
        assert backend.opened == 1


async def test_where_there_are_several_machines_a_lease_knows_its_own_from_the_start(tmp_path: Path) -> None:
    backend = Counting()
    backend.is_spread = True
    async with SandboxPool(backend, tmp_path) as pool:
        lease = await pool.lease()
        assert (backend.opened, lease.started) == (1, True)
        backend.is_broken = True
        with pytest.raises(SandboxError, match="It is broken"):
            await pool.lease()
        assert pool.in_use == 1
        assert list(tmp_path.iterdir()) == [lease.workspace]


async def test_many_first_calls_cause_one_start(tmp_path: Path) -> None:
    backend = Counting()
    async with SandboxPool(backend, tmp_path) as pool:
        lease = await pool.lease()
        async with anyio.create_task_group() as tasks:
            for _ in range(32):
                tasks.start_soon(_adds, lease)
        assert backend.opened == 1


async def test_a_failed_start_fails_the_call_and_the_next_call_tries_again(tmp_path: Path) -> None:
    backend = Counting()
    backend.is_broken = True
    async with SandboxPool(backend, tmp_path) as pool:
        lease = await pool.lease()
        with pytest.raises(SandboxError, match="broken"):
            await lease.call("math/add", ADD)
        backend.is_broken = False
        await _adds(lease)


async def test_the_time_of_a_call_includes_the_start(tmp_path: Path) -> None:
    backend = Counting()
    backend.gate = anyio.Event()
    async with SandboxPool(backend, tmp_path) as pool:
        lease = await pool.lease()
        with pytest.raises(SandboxError, match=r"not ready within 0\.05 seconds"):
            await lease.call("math/add", ADD, 0.05)
        backend.gate.set()
        await _adds(lease)


async def test_a_released_lease_leaves_no_workspace_unless_asked_to(tmp_path: Path) -> None:
    backend = Counting()
    async with SandboxPool(backend, tmp_path) as pool:
        gone, kept = await pool.lease(), await pool.lease()
        for lease in (gone, kept):
            (lease.workspace / "made.txt").write_text("x")
            (lease.workspace / "locked").mkdir(mode=0o500)
            await _adds(lease)
        await gone.release()
        await gone.release()
        await kept.release(keep_files=True)
        assert not gone.workspace.exists()
        assert (kept.workspace / "made.txt").read_text() == "x"
        assert backend.open_now == 0
        with pytest.raises(SandboxError, match="its run is over"):
            await gone.call("math/add", ADD)
    assert kept.workspace.exists()


async def test_the_end_of_the_pool_releases_everything(tmp_path: Path) -> None:
    backend = Counting()
    async with SandboxPool(backend, tmp_path, spares=2) as pool:
        await pool.settled()
        for _ in range(3):
            await _adds(await pool.lease())
    assert list(tmp_path.iterdir()) == []
    assert backend.open_now == 0


async def test_ctrl_c_during_the_end_of_the_pool_releases_everything_too(tmp_path: Path) -> None:
    backend = Counting()

    async def use() -> None:
        async with SandboxPool(backend, tmp_path, spares=1) as pool:
            await pool.lease()
            await pool.settled()
            # What Ctrl-C does: the next wait of this task, whatever it is, raises.
            me = asyncio.current_task()
            assert me is not None
            me.cancel()

    with pytest.raises(asyncio.CancelledError), anyio.fail_after(30):
        await asyncio.ensure_future(use())
    assert backend.open_now == 0
    assert list(tmp_path.iterdir()) == []


async def test_a_spare_is_made_anew_for_each_one_taken(tmp_path: Path) -> None:
    backend = Counting()
    with anyio.fail_after(60):
        async with SandboxPool(backend, tmp_path, spares=2) as pool:
            await pool.settled()
            assert backend.opened == 2
            lease = await pool.lease()
            await pool.settled()
            assert backend.opened == 3
            await lease.release()
            await pool.settled()
            assert (backend.opened, backend.open_now) == (3, 2)


async def test_spares_that_cannot_be_had_keep_nobody_from_a_lease(tmp_path: Path) -> None:
    backend = Counting()
    backend.is_broken = True
    with anyio.fail_after(60):
        async with SandboxPool(backend, tmp_path, spares=1) as pool:
            await pool.settled()
            backend.is_broken = False
            await _adds(await pool.lease())


async def test_a_lease_offers_what_was_asked_for_spare_or_not(tmp_path: Path) -> None:
    async with SandboxPool(Counting(), tmp_path, spares=1) as pool:
        await pool.settled()
        for _ in range(2):
            lease = await pool.lease(servers=("probe",))
            await lease.call("probe/echo", b'{"text":"x"}')
            with pytest.raises(UnknownToolError):
                await lease.call("math/add", ADD)
        with pytest.raises(UnknownToolError):
            await pool.lease(servers=("nobody",))


async def test_a_spare_process_answers_without_another_start(tmp_path: Path) -> None:
    with anyio.fail_after(60):
        async with ProcessBackend() as backend, SandboxPool(backend, tmp_path, spares=1) as pool:
            await pool.settled()
            waiting = processes(tmp_path)
            lease = await pool.lease(servers=("probe",))
            (lease.workspace / "question.txt").write_text("put in by the run")
            reply = await lease.call("probe/read", b'{"path":"question.txt"}', 30)
            assert b"put in by the run" in reply.result
            if waiting:
                assert set(waiting) <= set(processes(lease.workspace))
        assert processes(tmp_path) == []
        assert list(tmp_path.iterdir()) == []


async def test_a_spare_that_died_while_waiting_is_replaced_unnoticed(tmp_path: Path) -> None:
    with anyio.fail_after(60):
        async with ProcessBackend() as backend, SandboxPool(backend, tmp_path, spares=1) as pool:
            await pool.settled()
            sandbox = pool._spares[0].sandbox
            sandbox.kill()  # type: ignore[attr-defined]
            lease = await pool.lease(servers=("math",))
            await _adds(lease)
    assert processes(tmp_path) == []


async def test_a_sandbox_serves_as_many_runs_as_allowed_and_then_ends(tmp_path: Path) -> None:
    backend = Counting()
    async with SandboxPool(backend, tmp_path, runs=2) as pool:
        for number in range(4):
            lease = await pool.lease()
            await _adds(lease)
            await lease.finish(tmp_path / f"kept-{number}")
            with pytest.raises(SandboxError, match="its run is over"):
                await lease.call("math/add", ADD)
        assert backend.opened == 2
        assert backend.open_now == 0
    assert {path.name for path in tmp_path.iterdir()} == {f"kept-{number}" for number in range(4)}


async def test_what_a_tool_that_only_reads_answered_is_remembered_for_later_runs(tmp_path: Path) -> None:
    backend = Counting()
    async with SandboxPool(backend, tmp_path, remembers=True) as pool:
        for number in range(3):
            lease = await pool.lease()
            await _adds(lease)
            await lease.finish(tmp_path / f"kept-{number}")
            with pytest.raises(SandboxError, match="its run is over"):
                await lease.call("math/add", ADD)
        assert backend.opened == 1
        lease = await pool.lease()
        assert (await lease.call("math/add", ADD.replace(b"2", b"3"), 30)).result != b""
        assert backend.opened == 2, "another question"


@pytest.mark.parametrize("isolation", [Isolation(), Isolation(bubblewrap=False)], ids=["walls", "no bubblewrap"])
async def test_the_files_of_a_run_go_with_it_and_the_next_run_finds_none(tmp_path: Path, isolation: Isolation) -> None:
    create = b'{"filepath": "./book.xlsx"}'
    async with ProcessBackend(isolation) as backend, SandboxPool(backend, tmp_path, runs=3) as pool:
        folders = []
        for number in range(3):
            lease = await pool.lease()
            folders.append(lease.workspace)
            assert not list(lease.workspace.glob("[!.]*"))
            assert (await lease.call("excel/get_workbook_metadata", create, 30)).outcome != "success"
            assert (await lease.call("excel/create_workbook", create, 30)).outcome == "success"
            await lease.finish(tmp_path / f"kept-{number}")
            assert (tmp_path / f"kept-{number}" / "book.xlsx").exists()
        assert len(set(folders)) == 1
    assert {path.name for path in tmp_path.iterdir()} == {f"kept-{number}" for number in range(3)}


async def test_no_call_overtakes_the_files_put_in_before_it(tmp_path: Path) -> None:
    async with SandboxPool(Counting(), tmp_path) as pool:
        lease = await pool.lease()
        sandbox = await lease.start()
        taken: list[str] = []
        gate = anyio.Event()

        async def take(names: Sequence[str]) -> None:
            await gate.wait()
            taken.extend(names)

        sandbox.take = take  # type: ignore[method-assign]
        lease.put("media/question.txt", b"?")
        seen: list[list[str]] = []

        async def call() -> None:
            await _adds(lease)
            seen.append(list(taken))

        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(call)
                await anyio.wait_all_tasks_blocked()
                gate.set()
        assert seen == [["media/question.txt"]] * 3


async def test_a_lease_whose_sandbox_never_started_gives_its_files_all_the_same(tmp_path: Path) -> None:
    async with SandboxPool(Counting(), tmp_path, runs=3) as pool:
        lease = await pool.lease()
        lease.put("media/a.png", b"x")
        await lease.finish(tmp_path / "kept")
    assert (tmp_path / "kept" / "media" / "a.png").read_bytes() == b"x"


@pytest.mark.parametrize("place", ["", ".", "run-relative", "/somewhere/else"])
async def test_what_is_no_workspace_is_not_taken_for_one_because_releasing_it_would_remove_it(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.txt").write_text("kept")
    async with SandboxPool(Counting(), tmp_path) as pool:
        with pytest.raises(SandboxError, match="is no workspace of a run"):
            await pool.resume(Path(place))
    assert (tmp_path / "mine.txt").read_text() == "kept"


async def test_a_run_gets_the_spare_that_served_its_subject_else_the_one_that_served_fewest(tmp_path: Path) -> None:
    async with SandboxPool(Counting(), tmp_path, runs=9) as pool:

        async def together(*subjects: str) -> list[Path]:
            leases = [await pool.lease(subject=subject) for subject in subjects]
            for lease in leases:
                await _adds(lease)
                await lease.finish(tmp_path / f"{len(list(tmp_path.iterdir()))}")
            return [lease.workspace for lease in leases]

        films, towns = await together("films", "towns")
        assert await together("towns", "films") == [towns, films]
        assert await together("shares") == [towns]
        assert await together("coins") == [films]
        assert await together("shares", "coins") == [towns, films]

"""A record that cannot be written costs a call, never a run, an answer or the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from m3bench.proxy.seat import Seat
from m3bench.sandboxes.pool import Lease
from m3bench.server.app import App
from m3bench.server.settings import Settings
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import RunError, SandboxError, StoreError
from tests.server.store.faults import Plan, faulty

pytestmark = pytest.mark.anyio

FULL = "database or disk is full"


@asynccontextmanager
async def serving(task_set: Path, data: Path, plan: Plan) -> AsyncIterator[tuple[App, Seat]]:
    """A server with a seat, whose record fails as planned."""
    app = App(Settings.of(tasks=task_set, data=data))
    app._store = SqliteStore(data, owner=app._owner, factory=faulty(plan))
    with anyio.fail_after(60):
        async with app.lifespan():
            yield app, app.open_seat()


def states(data: Path) -> list[str]:
    store = SqliteStore(data)
    try:
        return [run.state for run in store.runs()]
    finally:
        store.close()


async def test_a_run_that_cannot_be_recorded_does_not_begin(task_set: Path, data: Path) -> None:
    plan = Plan()
    async with serving(task_set, data, plan) as (app, seat):
        plan.fail(0, FULL)
        with pytest.raises(StoreError, match="the disk is full"):
            await app.runs.start(seat, app.library.task("sum-1"))
        assert seat.run is None
        assert list(app.pool.root.iterdir()) == []
        await app.runs.start(seat, app.library.task("sum-1"))
        assert len(app.store.runs()) == 1


async def test_an_answer_that_could_not_be_recorded_can_be_submitted_again(task_set: Path, data: Path) -> None:
    plan = Plan()
    async with serving(task_set, data, plan) as (app, seat):
        run = await app.runs.start(seat, app.library.task("sum-1"))
        plan.fail(0, FULL)
        with pytest.raises(StoreError, match=r"disk is full.*Nothing was submitted: call submit again\."):
            await app.runs.submit(seat, "27", None)
        with pytest.raises(RunError, match="still running"):
            await app.runs.start(seat, app.library.task("sum-1"))
        record = await app.runs.submit(seat, "27", None)
        assert (record.id, record.state, record.answer) == (run.id, "submitted", "27")
        plan.fail(0, FULL)
        with pytest.raises(StoreError, match="disk is full"):
            await app.score(record)
        card = await app.score(record)
        assert card is not None
    assert states(data) == ["scored"]


async def test_a_submission_that_fails_before_anything_was_ended_leaves_the_run_as_it_was(
    task_set: Path, data: Path
) -> None:
    plan = Plan()
    async with serving(task_set, data, plan) as (app, seat):
        run = await app.runs.start(seat, app.library.task("sum-1"))
        app.store.sent(1, 2)
        plan.fail(0, "database is locked")
        with pytest.raises(StoreError, match="locked"):
            await app.runs.submit(seat, "27", None)
        assert seat.run is run
        await app.runs.submit(seat, "27", None)


async def test_giving_up_a_run_can_be_repeated_and_a_seat_always_closes(task_set: Path, data: Path) -> None:
    plan = Plan()
    async with serving(task_set, data, plan) as (app, seat):
        await app.runs.start(seat, app.library.task("sum-1"))
        plan.fail(0, FULL)
        with pytest.raises(StoreError):
            await app.runs.start(seat, app.library.task("sum-1"), abandon=True)
        await app.runs.start(seat, app.library.task("sum-1"), abandon=True)
        plan.fail(0, FULL)
        await app.close_seat(seat)
        assert seat.id not in app.seats
    # Whoever opens the record next settles what could not be written.
    assert states(data) == ["abandoned", "abandoned"]


async def test_a_result_that_cannot_be_kept_is_said_so(
    task_set: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(self: Lease, name: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    async with serving(task_set, data, Plan()) as (app, seat):
        run = await app.runs.start(seat, app.library.task("sum-1"))
        monkeypatch.setattr(Lease, "put", no_room)
        with pytest.raises(SandboxError, match=r"could not be kept in the workspace: .*No space left"):
            run.keep(1, b"{}")

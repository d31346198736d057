"""Random schedules of calls, failures, kills and re-opened stores: an answer that was seen is always on record.

Hypothesis looks for the shortest schedule that breaks this. M3BENCH_FAULT_SCHEDULES=100000 plays so many more of them
at random, from seeds that begin at M3BENCH_FAULT_SEED.
"""

import asyncio
import os
import random
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from m3bench.server.store.blobs import BLOB_BYTES
from m3bench.server.store.sqlite import SqliteStore
from tests.examples import examples
from tests.server.store.clients import SEAT, Client, assert_seen_is_recorded, run_record
from tests.server.store.faults import CODES, Moment, Plan, faulty

SCHEDULES = int(os.environ.get("M3BENCH_FAULT_SCHEDULES", "40"))
FIRST_SEED = int(os.environ.get("M3BENCH_FAULT_SEED", "0"))

STEPS = 12

SIZES = st.sampled_from([5, 5, 5, BLOB_BYTES + 1])


class Schedules(RuleBasedStateMachine):
    """One store, one client, and a disk that fails at times."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="m3bench-schedules-"))
        self.loop = asyncio.Runner()
        self.plan = Plan()
        self.clients: list[Client] = []
        self.exact = True
        self.number = 0

    @initialize()
    def begin(self) -> None:
        self._open()

    @rule(size=SIZES)
    def call(self, size: int) -> None:
        self._run(self.clients[-1].call(self._next(), "x" * size))

    @rule(count=st.integers(2, 9), size=SIZES)
    def call_together(self, count: int, size: int) -> None:
        first = self._next()
        self.number += count - 1
        self._run(self.clients[-1].call_together(range(first, first + count), "x" * size))

    @rule(in_steps=st.integers(0, 12), says=st.sampled_from(sorted(CODES)), moment=st.sampled_from(["before", "after"]))
    def fail_later(self, in_steps: int, says: str, moment: Moment) -> None:
        self.plan.fail(in_steps, says, moment)

    @rule(in_steps=st.integers(0, 12), says=st.sampled_from(sorted(CODES)), count=st.integers(2, 12))
    def fail_for_a_while(self, in_steps: int, says: str, count: int) -> None:
        for step in range(count):
            self.plan.fail(in_steps + step, says)

    @rule()
    def read(self) -> None:
        calls = self.store.calls(self.clients[-1].run)
        seen = {int(call.request_id): call.result for call in calls if call.outcome == "success"}
        assert all(seen.get(number) == result for number, result in self.clients[-1].seen.items())

    @rule()
    def close_and_open(self) -> None:
        self.plan.faults.clear()
        self.store.close()
        assert_seen_is_recorded(self.folder, *self.clients, exact=self.exact)
        self._open()

    @rule(in_steps=st.integers(0, 5), count=st.integers(1, 6))
    def kill(self, in_steps: int, count: int) -> None:
        """Die while calls are under way: from some step on nothing is written and nobody is told."""
        self.plan.faults.clear()
        for step in range(60):
            self.plan.fail(in_steps + step, "disk I/O error")
        client, first = self.clients[-1], self._next()
        self.number += count - 1
        self._run(client.call_together(range(first, first + count)))
        self.plan.dead = True
        # A client whose server was killed sees no error either: what it did not see may be on record or not.
        client.refused.clear()
        _drop(self.store)
        self.plan = Plan()
        assert_seen_is_recorded(self.folder, *self.clients, exact=self.exact)
        self._open()

    def teardown(self) -> None:
        try:
            self.plan.faults.clear()
            if self.clients:
                self.store.close()
                assert_seen_is_recorded(self.folder, *self.clients, exact=self.exact)
        finally:
            self.loop.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _open(self) -> None:
        self.plan = Plan()
        self.store = SqliteStore(self.folder, factory=faulty(self.plan))
        self.store.add_seat(SEAT, "full", "2026-01-01")
        run = f"{len(self.clients):040x}"
        self.store.add_run(run_record(run))
        self.clients.append(Client(self.store, run))

    def _run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self.loop.run(coroutine)

    def _next(self) -> int:
        self.number += 1
        return self.number


def _drop(store: SqliteStore) -> None:
    """Leave a store as a killed process does: no goodbye, and its lock is free."""
    store._writer.close()
    store._rows.close()
    owner: Any = store.owner
    owner._file.close()


TestSchedules = Schedules.TestCase
TestSchedules.settings = settings(
    max_examples=examples(25),
    stateful_step_count=STEPS,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def test_random_schedules_lose_nothing() -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + SCHEDULES):
        play(random.Random(seed))


def play(rng: random.Random) -> None:
    """One schedule."""
    machine = Schedules()
    says = sorted(CODES)
    try:
        machine.begin()
        for _ in range(STEPS):
            size = rng.choice([5, 5, 5, BLOB_BYTES + 1])
            match rng.randrange(9):
                case 0 | 1:
                    machine.call(size)
                case 2 | 3:
                    machine.call_together(rng.randint(2, 9), size)
                case 4:
                    machine.fail_later(rng.randint(0, 12), rng.choice(says), rng.choice(["before", "after"]))
                case 5:
                    machine.fail_for_a_while(rng.randint(0, 12), rng.choice(says), rng.randint(2, 12))
                case 6:
                    machine.read()
                case 7:
                    machine.close_and_open()
                case 8:
                    machine.kill(rng.randint(0, 5), rng.randint(1, 6))
    finally:
        machine.teardown()

"""The queue of samples: what is put in is taken once at a time, and has one result whatever happens."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.queue import ATTEMPTS, Key, Queue, QueuedCell
from m3bench.server.store.postgres.reader import PostgresReader
from m3bench.tasks.errors import StoreError
from tests.postgres import Server
from tests.waiting import eventually

pytestmark = pytest.mark.postgres

LONG, SHORT = 60.0, 0.05
"""Seconds of a lease that outlasts a test, and of one that runs out at once."""

CELL = QueuedCell("study", "cell", "{}", "openai", None)


def taken(found: list[Key] | None) -> list[Key]:
    """What was taken, where nobody holds back."""
    assert found is not None
    return found


class Opened:
    """Queues of one database, and what they said."""

    def __init__(self, place: RecordLocation, stack: ExitStack) -> None:
        self.place = place
        self._stack = stack
        self.said: list[str] = []

    def __call__(self) -> Queue:
        queue = Queue(self.place, self.said.append)
        self._stack.callback(queue.close)
        return queue


@pytest.fixture
def opened(postgres: Server, tmp_path: Path) -> Iterator[Opened]:
    """Opens the queue of a new database, as often as asked."""
    with ExitStack() as stack:
        yield Opened(RecordLocation(tmp_path, postgres.new_database()), stack)


def keys(count: int, cell: QueuedCell = CELL) -> list[Key]:
    return [Key(cell.study, cell.cell, f"task-{number:03}", 1) for number in range(count)]


def test_workers_share_samples_and_no_sample_is_taken_twice(opened: Opened) -> None:
    queue = opened()
    queue.put([CELL], keys(120))

    def work(name: str) -> list[Key]:
        mine = opened()
        found: list[Key] = []
        while taken := mine.take(CELL, name, LONG, 3):
            found += taken
            for key in taken:
                assert mine.finish(key, name, name, b"")
        return found

    with ThreadPoolExecutor(4) as threads:
        played = list(threads.map(work, ("a", "b", "c", "d")))
    assert sorted(key for one in played for key in one) == keys(120)
    assert queue.counts("study", ["cell"]) == (0, 0, 120, 0)
    assert queue.next_cell(None, []) is None
    assert queue.is_empty(None, [])


def test_whoever_reads_the_record_sees_how_the_queue_stands(opened: Opened) -> None:
    reader = PostgresReader(opened.place)
    assert reader.queue() == {"waiting": 0, "leased": 0, "done": 0}, "before anybody put something there"
    queue = opened()
    queue.put([CELL], keys(4))
    first, second = (key for _ in range(2) for key in queue.take(CELL, "a", LONG) or ())
    queue.finish(first, "a", "one", b"parcel")
    assert reader.queue() == {"waiting": 2, "leased": 1, "done": 1}
    assert second != first
    reader.close()


def test_putting_samples_in_again_changes_nothing_of_those_that_are_there(opened: Opened) -> None:
    queue = opened()
    queue.put([CELL], keys(3))
    (first,) = taken(queue.take(CELL, "a", LONG))
    (second,) = taken(queue.take(CELL, "a", LONG))
    queue.finish(first, "a", "one", b"parcel")
    queue.put([CELL], keys(4))
    assert queue.counts("study", ["cell"]) == (2, 1, 1, 1)
    assert queue.finish(second, "a", "two", b"parcel")
    assert {one.key for one in queue.finished("study", ["cell"])} == {first, second}


def test_a_sample_that_was_void_is_played_again_and_one_that_was_lost_later_is_gathered_again(opened: Opened) -> None:
    queue = opened()
    queue.put([CELL], keys(2))
    void, scored = taken(queue.take(CELL, "a", LONG, 2))
    queue.finish(void, "a", "void", None)
    queue.finish(scored, "a", "scored", b"parcel")
    queue.gathered([void, scored])
    assert queue.finished("study", ["cell"]) == []
    queue.put([CELL], [void, scored])
    assert [one.key for one in queue.finished("study", ["cell"])] == [scored]
    assert queue.take(CELL, "b", LONG, 9) == [void]


def test_what_a_dead_worker_had_is_taken_by_another_and_its_late_result_changes_nothing(opened: Opened) -> None:
    queue = opened()
    queue.put([CELL], keys(1))
    (key,) = taken(queue.take(CELL, "slow", SHORT))
    eventually(lambda: queue.take(CELL, "next", LONG) == [key], "the lease ran out", 30)
    assert not queue.finish(key, "slow", "late", b"late")
    assert queue.finish(key, "next", "good", b"good")
    assert queue.finish(key, "next", "again", b"again"), "handed in twice, because the first answer was lost"
    assert not queue.finish(key, "slow", "late", b"late")
    assert [(one.sample, one.parcel) for one in queue.finished("study", ["cell"])] == [("good", b"good")]


def test_a_lease_that_is_renewed_does_not_run_out(opened: Opened) -> None:
    queue, other = opened(), opened()
    queue.put([CELL], keys(2))
    kept, left = taken(queue.take(CELL, "a", 1.0, 2))

    def others() -> bool:
        queue.beat("a", [kept])
        return other.take(CELL, "b", LONG) == [left]

    eventually(others, "the lease that is not renewed ran out", 30)
    assert queue.finish(kept, "a", "kept", b"")
    assert not queue.finish(left, "a", "left", b"")


def test_a_worker_that_is_stopped_gives_back_what_it_has(opened: Opened) -> None:
    queue = opened()
    queue.put([CELL], keys(3))
    queue.take(CELL, "a", LONG, 2)
    queue.take(CELL, "b", LONG)
    queue.give_back("a")
    assert queue.counts("study", ["cell"]) == (2, 1, 0, 1)


def test_a_sample_that_ends_its_workers_is_not_taken_for_ever(opened: Opened) -> None:
    queue = opened()
    queue.put([CELL], keys(1))
    for _ in range(ATTEMPTS):
        eventually(lambda: bool(queue.take(CELL, "victim", SHORT)), "it can be taken", 30)
    eventually(lambda: queue.worn_out("study") == keys(1), "nobody takes it any more", 30)
    assert queue.take(CELL, "victim", SHORT) == []
    assert queue.is_empty(None, [])
    queue.settle(keys(1)[0], "void")
    assert [one.sample for one in queue.finished("study", ["cell"])] == ["void"]


def test_a_provider_has_no_more_samples_at_a_time_than_it_may_over_all_workers_and_cells(opened: Opened) -> None:
    cells = [QueuedCell("study", name, "{}", "openai", 3) for name in ("one", "two")]
    free = QueuedCell("study", "three", "{}", "other", None)
    queue = opened()
    queue.put([*cells, free], [key for cell in (*cells, free) for key in keys(5, cell)])
    together = threading.Barrier(6)

    def work(number: int) -> list[Key] | None:
        mine = opened()
        together.wait(30)
        return mine.take(cells[number % 2], str(number), LONG)

    with ThreadPoolExecutor(6) as threads:
        taken = list(threads.map(work, range(6)))
    assert sum(bool(one) for one in taken) == 3
    assert sum(one is None for one in taken) == 3, "the others are told to wait"
    found = queue.next_cell(None, [])
    assert found is not None
    assert found[0].cell == "three", "there is room at the other provider"
    number = next(number for number, one in enumerate(taken) if one)
    queue.give_back(str(number))
    assert len(queue.take(cells[0], "new", LONG, 5) or ()) == 1


def test_a_cell_that_a_worker_cannot_play_is_left_to_others_and_told_of(opened: Opened) -> None:
    queue = opened()
    queue.put([CELL], keys(1))
    queue.trouble(CELL, "no key")
    assert queue.next_cell(None, [("study", "cell")]) is None
    assert queue.is_empty(None, [("study", "cell")])
    assert not queue.is_empty(None, [])
    assert queue.next_cell("another", []) is None
    assert queue.troubles("study") == {"cell": "no key"}


def test_while_the_database_is_away_everybody_waits_and_no_lease_runs_out_when_it_is_back(
    postgres: Server, opened: Opened
) -> None:
    queue = opened()
    queue.put([CELL], keys(2))
    (mine,) = taken(queue.take(CELL, "a", 3.0))
    postgres.kill()
    with ThreadPoolExecutor(1) as thread:
        finishing = thread.submit(queue.finish, mine, "a", "kept", b"parcel")
        eventually(lambda: bool(opened.said), "it is said that the database is away", 60)
        assert not finishing.done()
        postgres.start()
        assert finishing.result(60)
    assert ["Waiting for it" in line for line in opened.said] == [True, False]
    assert opened().counts("study", ["cell"]) == (1, 0, 1, 0)


def test_a_database_that_is_not_there_is_said_at_once(postgres: Server, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such database"):
        Queue(RecordLocation(tmp_path, postgres.url("missing")), print)

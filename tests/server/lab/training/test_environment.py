"""What a trainer has: episodes in processes of their own, many at a time, that leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from m3bench.server.lab.training.environment import Environment, EnvironmentOptions, _Worker
from m3bench.server.lab.training.rewards import Reward
from m3bench.server.lab.training.train_set import oracle_answer, oracle_turns
from m3bench.server.lab.training.worker import LOCK, PREFIX, scratch_folder, sweep
from m3bench.tasks.errors import RunError, UserError

TASK = "barcode_lookup-1"
CALL = {"name": "math__add", "arguments": {"firstNumber": 1, "secondNumber": 2}}


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    with Environment("m3", EnvironmentOptions(workers=1)) as found:
        yield found


def play(environment: Environment, task: str = TASK) -> Reward:
    episode = environment.reset(task, pictures=False)
    known = environment.library.task(task)
    for calls in oracle_turns(known):
        episode.step([{"name": call.name, "arguments": call.arguments} for call in calls])
    return episode.submit(**oracle_answer(known)).reward  # type: ignore[arg-type]


def descriptors(pid: int) -> int:
    """How many a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def processes(place: Path) -> list[int]:
    """Those of other programs that keep their temporary files in a folder, or were told of it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            if str(place).encode() in told and int(process.name) != os.getpid():
                found.append(int(process.name))
    return found


def test_what_no_trainer_can_have_is_refused() -> None:
    with pytest.raises(UserError, match="are for testing"):
        Environment("m3", EnvironmentOptions(split="train"))
    with pytest.raises(UserError, match="no part"):
        Environment("m3", EnvironmentOptions(weights={"style": 1}))
    with pytest.raises(RunError, match="closed"):
        Environment("m3").reset(TASK)


def test_a_group_stays_together_while_no_worker_is_idle_for_it() -> None:
    environment = Environment("m3")
    workers = [SimpleNamespace(episodes=0), SimpleNamespace(episodes=0)]
    environment._workers = cast("list[_Worker]", workers)

    def placed(task: str) -> int:
        place = environment._place(task)
        workers[place].episodes += 1
        return place

    assert [placed(TASK) for _ in range(8)] == [0] * 8
    assert placed("barcode_lookup-2") == 1
    assert [placed("barcode_lookup-2") for _ in range(7)] == [1] * 7
    assert [placed("fish-1") for _ in range(4)] == [0] * 4
    # Alone, a task would keep one of the two busy and leave the other idle.
    workers[0].episodes = workers[1].episodes = 0
    assert sum(placed(TASK) == 0 for _ in range(24)) in range(8, 17)


def test_folders_of_the_dead_are_removed_and_those_of_the_living_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = tmp_path / f"{PREFIX}dead"
    dead.mkdir()
    (dead / LOCK).touch()
    with scratch_folder() as mine:
        assert not dead.exists()
        assert sweep() == 0
        assert mine.is_dir()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_many_episodes_at_a_time(environment: Environment) -> None:
    with ThreadPoolExecutor(8) as pool:
        rewards = list(pool.map(lambda _: play(environment), range(24)))
    assert [reward.total for reward in rewards] == [1.0] * 24
    futures = [environment.reset_soon(TASK, pictures=False) for _ in range(8)]
    episodes = [future.result() for future in futures]
    turns = [future.result() for future in [episode.step_soon([CALL]) for episode in episodes]]
    assert {turn.texts for turn in turns} == {turns[0].texts}
    for episode in episodes:
        episode.close()
    with pytest.raises(RunError, match="over"):
        episodes[0].step([CALL])


@pytest.mark.slow
def test_hosts_that_die_cost_no_later_episode(environment: Environment) -> None:
    episode = environment.reset(TASK, pictures=False)
    assert episode.step([CALL]).texts
    assert environment.kill_hosts() == 1
    again = episode.step([CALL])
    assert "3" in again.texts[0] or "may call the tool again" in again.texts[0]
    assert "3" in episode.step([CALL]).texts[0]
    episode.close()
    assert play(environment).total == 1.0


@pytest.mark.slow
def test_a_worker_that_dies_makes_its_episodes_void(environment: Environment) -> None:
    episode = environment.reset(TASK, pictures=False)
    worker = environment._workers[0]
    os.kill(worker._process.pid, signal.SIGKILL)
    turn = episode.step([CALL])
    assert turn.done
    assert turn.reward.total is None
    assert "ended" in turn.reward.void
    assert play(environment).total == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("episodes", [200, pytest.param(10_000, marks=pytest.mark.night)])
def test_nothing_is_left_of_many_episodes(episodes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, file or descriptor, here or in the workers, on the way or at the end."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = descriptors(os.getpid())
    with Environment("m3", EnvironmentOptions(workers=2)) as environment, ThreadPoolExecutor(16) as pool:
        held: list[tuple[int, list[int]]] = []
        for _ in range(2):
            rewards = list(pool.map(lambda _: play(environment), range(episodes // 2)))
            assert all(reward.total == 1.0 for reward in rewards)
            workers = [worker._process.pid for worker in environment._workers]
            held.append((len(processes(tmp_path)), [descriptors(pid) for pid in workers]))
        assert list(tmp_path.glob(f"{PREFIX}*/rooms/run-*")) == []
        assert held[1][0] <= held[0][0]
        # A worker's threads and connections come and go; what each episode left would be thousands.
        assert all(now <= then + 8 for then, now in zip(held[0][1], held[1][1], strict=True))
    assert list(tmp_path.iterdir()) == []
    assert processes(tmp_path) == []
    assert descriptors(os.getpid()) <= before


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.night)])
def test_nothing_is_left_of_trainers_that_are_killed(kills: int, tmp_path: Path) -> None:
    program = (
        "from m3bench.server.lab.training.environment import Environment, EnvironmentOptions\n"
        "with Environment('m3', EnvironmentOptions(workers=1)) as environment:\n"
        f"    episodes = [environment.reset({TASK!r}, pictures=False) for _ in range(4)]\n"
        f"    episodes[0].step([{CALL!r}])\n"
        "    print('ready', flush=True)\n"
        "    while True:\n"
        f"        [turn.result() for turn in [episode.step_soon([{CALL!r}]) for episode in episodes]]\n"
    )
    where = {**os.environ, "TMPDIR": str(tmp_path)}
    for _ in range(kills):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=where) as trainer:
            assert trainer.stdout is not None
            assert trainer.stdout.readline() == b"ready\n"
            trainer.kill()
    until = time.monotonic() + 120
    while (processes(tmp_path) or any(tmp_path.iterdir())) and time.monotonic() < until:
        os.sched_yield()
    assert processes(tmp_path) == []
    assert list(tmp_path.iterdir()) == []

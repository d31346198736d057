"""One participant who takes all they can get keeps no other one waiting, and nobody out."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.postgres import serving as postgres_serving
from tests.ranked.house import House, Player

HOSTILE = Path(__file__).with_name("hostile.py")
NUMBERS = [4, 8, 15, 16, 23, 42]
HEALTH = 20
"""Visits to every server while honest participants play."""

THINKING = 0.05
"""Seconds between an answer and the next call: nobody plays faster, and the machine is not the limit."""

FLOOR = 0.02
"""Seconds below which nobody notices how long a call takes; less is noise on a busy machine."""


@dataclass
class Met:
    """What honest participants met."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    healthy: int = 0


@contextmanager
def hostile(urls: Sequence[str], token: str) -> Iterator[None]:
    """Somebody who takes all they can get at every server, in processes of their own."""
    # Their own machine would do their part of the work: here it is done when nobody else wants the processor.
    commands = [["nice", "-n", "19", sys.executable, str(HOSTILE), url, token] for url in urls]
    with ExitStack() as stack:
        processes = [stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE)) for command in commands]
        try:
            for process in processes:
                assert process.stdout is not None
                assert process.stdout.readline() == b"at work\n"
            yield
        finally:
            for process in processes:
                process.kill()


async def play(url: str, token: str, task: int, calls: int, met: Met) -> None:
    try:
        async with Player(url, token) as player:
            await player.start((await player.tasks())[task])
            for _ in range(calls):
                begun = time.perf_counter()
                if "108" not in await player.call("math__sum", numbers=NUMBERS):
                    met.errors.append("another result")
                met.seconds.append(time.perf_counter() - begun)
                await anyio.sleep(THINKING)
            if "Submitted" not in await player.hand_in("The sum is 108."):
                met.errors.append("not submitted")
    except (AssertionError, httpx2.HTTPError) as error:
        met.errors.append(repr(error)[:300])


async def all_play(urls: Sequence[str], tokens: Sequence[str], task: int, calls: int) -> Met:
    met = Met()
    with anyio.fail_after(300):
        async with httpx2.AsyncClient(timeout=10) as visitor, anyio.create_task_group() as tasks:
            for url, token in zip(cycle(urls), tokens, strict=False):
                tasks.start_soon(play, f"{url}/mcp", token, task, calls, met)
            for _ in range(HEALTH):
                for url in urls:
                    met.healthy += (await visitor.get(f"{url}/health")).status_code == 200
                await anyio.sleep(0.05)
    return met


def attacked(house: House, calls: int, *options: str, servers: int = 1) -> tuple[Met, Met]:
    """What the honest ones met without the hostile one, and with them."""
    bad, *honest = house.tokens.values()
    with ExitStack() as stack:
        urls = [stack.enter_context(house.serving("--sandbox", "inprocess", *options)) for _ in range(servers)]
        calm = anyio.run(all_play, urls, honest, 0, calls)
        with hostile(urls, bad):
            pressed = anyio.run(all_play, urls, honest, 1, calls)
    assert calm.healthy == pressed.healthy == HEALTH * servers
    return calm, pressed


def check(calm: Met, pressed: Met, floor: float = FLOOR) -> None:
    assert not calm.errors
    before, after = statistics.median(calm.seconds), statistics.median(pressed.seconds)
    print(f"median {before * 1000:.1f} ms, beside a hostile participant {after * 1000:.1f} ms, {pressed.errors}")
    assert len(pressed.errors) <= 0.01 * len(pressed.seconds), pressed.errors
    assert after <= 2 * max(before, floor), (before, after)


def event(folder: Path, teams: int) -> House:
    return House(folder=folder, names=tuple(f"team {number}" for number in range(teams)))


@pytest.mark.slow
def test_one_hostile_participant_keeps_two_others_not_out(tmp_path: Path) -> None:
    """A sample of what runs at night; how long calls take says little beside other tests."""
    check(*attacked(event(tmp_path, 3), 3), floor=2)


@pytest.mark.night
def test_one_hostile_participant_keeps_five_others_neither_out_nor_waiting(tmp_path: Path) -> None:
    """The times are for a machine that is busy with other tests as well; those for a quiet one are below."""
    check(*attacked(event(tmp_path, 6), 10), floor=0.25)


@pytest.mark.night
@pytest.mark.parametrize("servers", [1, 3])
def test_one_hostile_participant_keeps_31_others_neither_out_nor_waiting(servers: int, tmp_path: Path) -> None:
    check(*attacked(event(tmp_path, 32), 40, servers=servers))


@pytest.mark.night
@pytest.mark.postgres
@pytest.mark.parametrize("servers", [1, 3])
def test_with_postgresql_and_several_servers_it_is_the_same(servers: int, tmp_path: Path) -> None:
    with postgres_serving() as postgres:
        check(*attacked(event(tmp_path, 32), 40, "--store", postgres.new_database(), servers=servers))

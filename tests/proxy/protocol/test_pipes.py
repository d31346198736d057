"""Reading from and writing to pipes without blocking the loop."""

import os
from collections.abc import Iterator
from contextlib import suppress

import anyio
import pytest

from m3bench.proxy.protocol.pipes import Pipes
from m3bench.proxy.transports.stdio import StandardStreams

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):
            os.close(end)


async def test_what_is_written_arrives_and_the_end_is_seen(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    both = Pipes(source, sink)
    got = b""

    async def read() -> None:
        nonlocal got
        async for chunk in both.chunks():
            got += chunk

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await both.send(b"short\n")
            await both.send(b"x" * 1_000_000 + b"\n")
            os.close(sink)
    assert got == b"short\n" + b"x" * 1_000_000 + b"\n"


async def test_a_reader_that_does_not_read_holds_up_nobody_else(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    both = Pipes(source, sink)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(both.send, b"x" * 1_000_000)
            await anyio.wait_all_tasks_blocked()
            left = 1_000_000
            while left:
                left -= len(os.read(source, left))


async def test_a_reader_that_is_gone_is_an_error(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    os.close(source)
    with pytest.raises(BrokenPipeError):
        await Pipes(source, sink).send(b"x\n")


async def test_a_file_can_be_read_like_a_pipe() -> None:
    with open(os.devnull, "rb") as nothing:
        assert [chunk async for chunk in Pipes(nothing.fileno(), -1).chunks()] == []


def test_the_standard_streams_are_taken_away_and_given_back(capfd: pytest.CaptureFixture[str]) -> None:
    wire = StandardStreams()
    os.write(1, b"a stray print\n")
    wire.close()
    os.write(1, b"ours\n")
    assert capfd.readouterr() == ("ours\n", "a stray print\n")


async def test_what_can_be_taken_at_once_never_overtakes_what_came_before(pipe: tuple[int, int]) -> None:
    """Lines that begin with `a` are taken at once, the others are not: the order stays that of the wire."""
    source, sink = pipe
    order: list[bytes] = []

    def at_once(chunk: bytes) -> bytes:
        while chunk.startswith(b"a"):
            line, _, chunk = chunk.partition(b"\n")
            order.append(line)
        return chunk

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:

            async def read() -> None:
                async for chunk in Pipes(source, sink).chunks(at_once):
                    # Whoever is busy with a chunk is not overtaken by the next one.
                    await anyio.wait_all_tasks_blocked()
                    order.extend(chunk.splitlines())

            tasks.start_soon(read)
            for written in (b"a1\n", b"a2\nb3\na4\n", b"a5\n", b"b6\na7\n"):
                await anyio.wait_all_tasks_blocked()
                os.write(sink, written)
            os.write(sink, b"a8\n")
            await anyio.wait_all_tasks_blocked()
            os.close(sink)
    assert order == [b"a1", b"a2", b"b3", b"a4", b"a5", b"b6", b"a7", b"a8"]


async def test_a_line_that_has_to_wait_is_not_written_at_once(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    both = Pipes(source, sink)
    assert both.send_at_once(b"one\n")
    assert not both.send_at_once(b"x" * 1_000_000)
    assert os.read(source, 100) == b"one\n"
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(both.send, b"x" * 200_000 + b"\n")
            await anyio.wait_all_tasks_blocked()
            got = os.read(source, 10)
            while not got.endswith(b"\n"):
                # Another thread has begun a line: nothing comes between its parts.
                assert len(got) > 100_000 or not both.send_at_once(b"two\n")
                got += await anyio.to_thread.run_sync(os.read, source, 50_000)
    assert got == b"x" * 200_000 + b"\n"
    both.stop_sending()
    assert not both.send_at_once(b"three\n")

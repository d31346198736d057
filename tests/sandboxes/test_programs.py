"""A program's answer is what it printed, and nothing of it is left afterwards."""

import sys

import anyio
import pytest

from m3bench.sandboxes.programs import Answer, run_program
from tests.children import children


def run(source: str, given: bytes = b"", seconds: float = 20, **environment: str) -> Answer:
    async def call() -> Answer:
        return await run_program([sys.executable, "-S", "-c", source], given, seconds=seconds, environment=environment)

    return anyio.run(call)


def test_input_goes_in_and_output_comes_out() -> None:
    assert run("import sys; print(len(sys.stdin.buffer.read()), end='')", b"x" * 3_000_000) == (0, b"3000000")


def test_the_environment_is_ours_with_what_is_added() -> None:
    assert run("import os; print('PATH' in os.environ, os.environ['WORD'], end='')", WORD="x").output == b"True x"


def test_a_program_that_fails_says_so_by_its_code() -> None:
    assert run("import os; os._exit(3)").code == 3


def test_a_program_that_ends_without_reading_its_input_answers_nothing() -> None:
    assert run("import os; os._exit(0)", b"x" * 3_000_000) == (1, b"")


def test_a_program_that_does_not_end_is_killed() -> None:
    before = children()
    with pytest.raises(TimeoutError):
        run("while True: pass", seconds=0.3)
    assert children() <= before


def test_a_cancelled_call_takes_its_program_along() -> None:
    async def call() -> None:
        with anyio.move_on_after(0.3) as scope:
            await run_program([sys.executable, "-S", "-c", "while True: pass"], seconds=60)
        assert scope.cancelled_caught

    before = children()
    anyio.run(call)
    assert children() <= before


def test_a_program_that_is_not_there_is_an_os_error() -> None:
    async def call() -> None:
        await run_program(["/no/such/program"], seconds=5)

    with pytest.raises(OSError, match="No such file"):
        anyio.run(call)

"""A program's answer is what it printed, and nothing of it is left afterwards."""

import gc
import sys
from functools import partial

import anyio
import anyio.lowlevel
import pytest

from m3bench.sandboxes.programs import OutOfBudgetError, ProgramOutput, run_program
from tests.children import children


def run(source: str, given: bytes = b"", cpu_seconds: float = 20, **environment: str) -> ProgramOutput:
    async def call() -> ProgramOutput:
        command = [sys.executable, "-S", "-c", source]
        with anyio.fail_after(60):
            return await run_program(command, given, cpu_seconds=cpu_seconds, environment=environment)

    return anyio.run(call)


def test_input_goes_in_and_output_comes_out() -> None:
    assert run("import sys; print(len(sys.stdin.buffer.read()), end='')", b"x" * 3_000_000) == (0, b"3000000")


def test_the_environment_is_ours_with_what_is_added() -> None:
    assert run("import os; print('PATH' in os.environ, os.environ['WORD'], end='')", WORD="x").output == b"True x"


def test_a_program_that_fails_says_so_by_its_code() -> None:
    assert run("import os; os._exit(3)").code == 3


def test_a_program_that_ends_without_reading_its_input_answers_nothing() -> None:
    assert run("import os; os._exit(0)", b"x" * 3_000_000) == (1, b"")


def test_a_program_that_computes_too_long_is_ended_and_what_it_printed_is_kept() -> None:
    before = children()
    with pytest.raises(OutOfBudgetError) as caught:
        run("print('so far', end='', flush=True)\nwhile True: pass", cpu_seconds=1)
    assert caught.value.output == b"so far"
    assert children() <= before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere time is what is limited")
def test_a_program_that_gets_no_processor_has_all_the_time_it_needs() -> None:
    """One that rests stands for one that has to wait for its turn: no time passes on its account."""
    assert run("import time; time.sleep(1.6); print('done', end='')", cpu_seconds=1).output == b"done"


def test_a_program_that_prints_more_than_a_pipe_holds_while_it_is_fed_is_read() -> None:
    source = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line * 4)"
    assert len(run(source, b"x" * 999 + b"\n" + (b"y" * 999 + b"\n") * 1000).output) == 4_004_000


@pytest.mark.sample(1)
@pytest.mark.parametrize("turns", range(1, 9))
def test_a_call_cancelled_while_its_program_starts_leaves_nothing(turns: int) -> None:
    """What is left open would be warned of when it is collected, and warnings are errors."""

    async def call() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(run_program, ["cat"], b"x", cpu_seconds=5))
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

    before = children()
    anyio.run(call)
    gc.collect()
    assert children() <= before


def test_a_cancelled_call_takes_its_program_along() -> None:
    async def call() -> None:
        with anyio.move_on_after(0.3) as scope:
            await run_program([sys.executable, "-S", "-c", "while True: pass"], cpu_seconds=60)
        assert scope.cancelled_caught

    before = children()
    anyio.run(call)
    assert children() <= before


def test_a_program_that_is_not_there_is_an_os_error() -> None:
    async def call() -> None:
        await run_program(["/no/such/program"], cpu_seconds=5)

    with pytest.raises(OSError, match="No such file"):
        anyio.run(call)

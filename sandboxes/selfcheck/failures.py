"""Checks of crashes, hangs, kills and ends: they cost what is under way, nothing later, and leave nothing."""

import os
import tempfile
from pathlib import Path

import anyio
from anyio.abc import TaskStatus

from m3bench.sandboxes.backends.base import Sandbox
from m3bench.sandboxes.selfcheck.checks import (
    SHORT_SECONDS,
    Bench,
    Killable,
    check,
    fails,
    nobody_left,
    require,
    text,
    until,
)
from m3bench.tasks.errors import SandboxError


@check("process")
async def a_crash_costs_the_calls_under_way_and_no_other(bench: Bench) -> None:
    """Exit codes and signals alike."""
    async with bench.sandbox() as sandbox:
        for code in (0, 3, -9, -11):
            async with anyio.create_task_group() as tasks:
                await tasks.start(_rest_until_failure, sandbox)
                message = await fails(sandbox, "crash", code=code)
            require("host" in message, f"the message does not say what happened: {message}")
            require(await text(sandbox, "echo", text="x") == "x", "no answer after a crash")


@check("process")
async def a_killed_host_is_replaced(bench: Bench) -> None:
    """From outside, at rest and at work; what was written is still there."""
    async with bench.sandbox() as sandbox:
        await text(sandbox, "write", path="kept.txt", text="kept")
        _kill(sandbox)
        await until(lambda: _answers(sandbox), "no answer after a kill")
        async with anyio.create_task_group() as tasks:
            await tasks.start(_rest_until_failure, sandbox)
            _kill(sandbox)
        require(await text(sandbox, "read", path="kept.txt") == "kept", "a file is lost")


@check("process")
async def a_hanging_host_is_replaced(bench: Bench) -> None:
    """A tool that stops the event loop costs its call, a timeout, and no later call."""
    async with bench.sandbox() as sandbox:
        message = await fails(sandbox, "hang_loop", SHORT_SECONDS)
        require("cut off" in message, f"the message does not say what happened: {message}")
        require(await text(sandbox, "echo", text="x") == "x", "no answer after a hang")


@check("process")
async def a_hanging_tool_leaves_others_alone(bench: Bench) -> None:
    """A tool that never returns costs its call; calls under way are finished and later ones answered."""
    async with bench.sandbox() as sandbox:
        answers: list[str] = []
        sign = bench.workspace() / "sign"

        async def wait(*, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
            task_status.started()
            answers.append(await text(sandbox, "wait_for", path=sign.name))

        async with anyio.create_task_group() as tasks:
            await tasks.start(wait)
            await text(sandbox, "echo", text="x")
            await fails(sandbox, "spin", SHORT_SECONDS)
            require(await text(sandbox, "allocate", size=1) == "1 bytes", "no answer after a hang")
            await anyio.Path(sign).touch()
        require(answers == ["there it is"], "a call beside a hanging one was lost")


@check()
async def a_call_that_waits_can_be_cut_off(bench: Bench) -> None:
    """By its timeout, and nothing else is harmed."""
    async with bench.sandbox() as sandbox:
        await fails(sandbox, "rest", SHORT_SECONDS)
        require(await text(sandbox, "resting") == '{"resting":0}', "a call that was cut off goes on")


@check("process")
async def closing_fails_what_is_under_way(bench: Bench) -> None:
    """And leaves no process, hanging or not."""
    for hang in ("rest", "hang_loop", "hang_thread"):
        async with bench.sandbox() as sandbox:
            await text(sandbox, "echo", text="x")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fails, sandbox, hang)
                await anyio.wait_all_tasks_blocked()
                await sandbox.aclose()
            require("closed" in await fails(sandbox, "echo", text="x"), "a closed sandbox answers")
    await nobody_left(bench)


@check("process")
async def nothing_is_left_behind(bench: Bench) -> None:
    """No process, descriptor or temporary file, after an orderly end, a crash, a kill, with children or without."""
    async with bench.sandbox() as sandbox:
        # The first one may leave what all share.
        await text(sandbox, "echo", text="x")
    before = _descriptors()
    usual, tempfile.tempdir = tempfile.tempdir, str(bench.workspace("temporary"))
    for ending in ("close", "crash", "kill", "children"):
        async with bench.sandbox() as sandbox:
            await text(sandbox, "echo", text="x")
            if ending == "crash":
                await fails(sandbox, "crash", code=1)
            elif ending == "kill":
                _kill(sandbox)
            elif ending == "children":
                await text(sandbox, "fork", times=5)
    await nobody_left(bench)

    async def closed() -> bool:
        return _descriptors() <= before

    await until(closed, "descriptors are left open")
    left = os.listdir(tempfile.gettempdir())
    tempfile.tempdir = usual
    require(not left, f"{left} left among the temporary files")


async def _rest_until_failure(sandbox: Sandbox, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    """A call that must fail; started when it is under way."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(fails, sandbox, "rest")
        await until(lambda: _rests(sandbox), "a call does not begin")
        task_status.started()


async def _rests(sandbox: Sandbox) -> bool:
    return await text(sandbox, "resting") == '{"resting":1}'


async def _answers(sandbox: Sandbox) -> bool:
    try:
        return await text(sandbox, "echo", text="x") == "x"
    except SandboxError:
        return False


def _kill(sandbox: Sandbox) -> None:
    require(isinstance(sandbox, Killable), "the sandbox has a process of its own but cannot be killed")
    if isinstance(sandbox, Killable):
        sandbox.kill()


def _descriptors() -> int:
    folder = Path("/dev/fd")
    return len(os.listdir(folder)) if folder.exists() else 0

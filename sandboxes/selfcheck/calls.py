"""Checks of calls and what comes back: right, whole, at the same time, refused where it must be."""

import anyio

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.dispatcher import MAX_ARGUMENT_BYTES
from m3bench.sandboxes.offer import PROBE
from m3bench.sandboxes.selfcheck.checks import Bench, CheckFailed, call, check, require, text, until, words
from m3bench.tasks.errors import UnknownToolError


@check()
async def a_call_is_answered(bench: Bench) -> None:
    """A sandbox that is open answers a call."""
    async with bench.sandbox() as sandbox:
        require(await text(sandbox, "echo", text="héllo\n\u2028") == "héllo\n\u2028", "the echo differs")
        require(words(await call(sandbox, "refuse", message="no")).endswith("no"), "an error text was lost")


@check()
async def results_are_the_same_bytes_everywhere(bench: Bench) -> None:
    """Whatever the backend, the same call gives the same bytes."""
    calls: list[tuple[str, bytes]] = [
        ("probe/echo", '{"text": "größe \\u0000 \U0001f9ea"}'.encode()),
        ("probe/echo", b'{\n  "text":\n"line ends outside strings"\r\n}'),
        ("probe/echo", b'{"text": "half a pair \\ud83e"}'),
        ("probe/echo", b'{"text": 1}'),
        ("probe/echo", b'{"text": NaN}'),
        ("probe/echo", b'{"text": "x", "stranger": 1}'),
        ("probe/echo", b'["not", "an", "object"]'),
        ("probe/echo", b"[" * 100_000 + b"]" * 100_000),
        ("probe/refuse", b'{"message": "no"}'),
        ("probe/crash", b'{"code": "x"}'),
        ("math/add", b'{"firstNumber": 0.1, "secondNumber": 0.2}'),
        ("math/add", b'{"firstNumber": ' + b"9" * 5000 + b', "secondNumber": 0.2}'),
    ]
    spec = SandboxSpec(workspace=bench.workspace(), servers=(PROBE, "math"))
    plain = await InProcessBackend().open(spec)
    sandbox = await bench.backend.open(spec)
    try:
        for tool, arguments in calls:
            first, second = await sandbox.call(tool, arguments), await plain.call(tool, arguments)
            require(first == second, f"{tool} {arguments[:80]!r} gave {first!r:.300} and {second!r:.300}")
    finally:
        await sandbox.aclose()


@check()
async def an_unknown_tool_is_refused_with_the_nearest(bench: Bench) -> None:
    """The client's mistake, not the sandbox's."""
    async with bench.sandbox() as sandbox:
        for name in ("probe/ecko", "nobody/nothing"):
            try:
                await sandbox.call(name, b"{}")
            except UnknownToolError as error:
                require(error.name == name, f"the error speaks of {error.name!r}")
                require(name != "probe/ecko" or "probe/echo" in error.nearest, "the nearest tool is not offered")
            else:
                raise CheckFailed(f"{name} was answered")


@check()
async def only_the_servers_asked_for_are_offered(bench: Bench) -> None:
    """When the sandbox opens, and after it was configured again."""
    async with bench.sandbox() as sandbox:
        await sandbox.configure(SandboxSpec(workspace=bench.workspace(), servers=("math",)))
        reply = await sandbox.call("math/add", b'{"firstNumber":1,"secondNumber":2}')
        require(words(reply) == "3", "a server that was asked for is not there")
        try:
            await call(sandbox, "echo", text="x")
        except UnknownToolError:
            return
        raise CheckFailed("a server that was not asked for is there")


@check()
async def calls_run_side_by_side(bench: Bench) -> None:
    """32 calls wait at the same time while others are answered; cancelling them reaches the tools."""
    async with bench.sandbox() as sandbox:

        async def resting(count: int) -> bool:
            return await text(sandbox, "resting") == f'{{"resting":{count}}}'

        async with anyio.create_task_group() as tasks:
            for _ in range(32):
                tasks.start_soon(call, sandbox, "rest")
            await until(lambda: resting(32), "32 calls do not run side by side")
            require(await text(sandbox, "echo", text="x") == "x", "no answer beside 32 waiting calls")
            tasks.cancel_scope.cancel()
        await until(lambda: resting(0), "cancelled calls go on")


@check()
async def a_large_result_arrives_whole(bench: Bench) -> None:
    """40 MB."""
    async with bench.sandbox() as sandbox:
        found = await text(sandbox, "repeat", text="0123456789", times=4_000_000)
        require(found == "0123456789" * 4_000_000, "a large result is not what was sent")


@check()
async def a_result_beyond_measure_is_an_error(bench: Bench) -> None:
    """Over the limit on results, and the next call goes on."""
    async with bench.sandbox() as sandbox:
        reply = await call(sandbox, "repeat", text="0123456789", times=7_000_000)
        require(reply.outcome == "invalid_arguments" and len(reply.result) < 1000, "no limit on results")
        await text(sandbox, "echo", text="x")


@check()
async def large_arguments_pass_and_larger_ones_are_refused(bench: Bench) -> None:
    """Just below the limit, and 50 MB."""
    async with bench.sandbox() as sandbox:
        large = "x" * (MAX_ARGUMENT_BYTES - 1000)
        require(await text(sandbox, "echo", text=large) == large, "large arguments are not what was sent")
        reply = await call(sandbox, "echo", text="x" * 50_000_000)
        require(reply.outcome == "invalid_arguments" and len(reply.result) < 1000, "50 MB were not refused")
        await text(sandbox, "echo", text="x")


@check("process")
async def printing_harms_nobody(bench: Bench) -> None:
    """Stray prints, raw writes and forged messages end up elsewhere, and there is nothing to read."""
    async with bench.sandbox() as sandbox:
        require(
            await text(sandbox, "noise", text="x" * 10_000, times=1000) == "0 characters on standard input",
            "a tool could read from the line",
        )
        require(await text(sandbox, "echo", text="x") == "x", "no answer after some printing")

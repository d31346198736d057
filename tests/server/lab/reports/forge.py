"""A record that no polite client would leave, written through the store as the server writes it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from m3bench.proxy.protocol.tool_calls import Caller, ToolAnswer, ToolRequest
from m3bench.server.app import App
from m3bench.server.settings import Settings
from m3bench.server.store.records import RunRecord, now
from m3bench.tasks.outcome import Outcome

CALLS = 3000
MARKUP = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\"'`|</script><!--"
ODD = "\u202eright to left\u202c עברית العربية 🦑👩‍👩‍👧 \u2028 \x1b[31m \ud800 end"
LARGE = 5_000_000


def forge_hostile(data: Path, tasks: Path) -> None:
    """Write the run and score it."""
    anyio.run(partial(_forge, data, tasks))


async def _forge(data: Path, tasks: Path) -> None:
    app = App(Settings.of(data=data, tasks=tasks, sandbox="inprocess"))
    async with app.lifespan():
        seat = app.open_seat()
        run = "f" * 40
        app.store.add_run(
            RunRecord(
                id=run, seat=seat.id, task="sum-1", state="working", mode="practice", started=now(), ended=None,
                answer=None, seal=None, manifest=app.manifest(seat), scorecard=None,
            )
        )  # fmt: skip
        hostile = [
            ("math/sum", {"numbers": [4, 8, 15, 16, 23, 42], MARKUP: MARKUP, "odd": ODD}, "success", MARKUP),
            (MARKUP, {"a": MARKUP * 20, "big": 10**400, "deep": _deep(40)}, "unknown_tool", ODD),
            ("math/add", {"text": "x" * LARGE}, "success", "y" * LARGE),
            ("math/add", {"not a number": float("nan")}, "invalid_arguments", "</script>" * 1000),
        ]
        plain: list[tuple[str, dict[str, Any], str, str]] = [
            ("math/add", {"firstNumber": number, "secondNumber": 1}, "success", str(number + 1))
            for number in range(CALLS - len(hostile))
        ]
        for number, (tool, arguments, outcome, text) in enumerate(hostile + plain):
            await _call(app, seat.id, run, number, tool, arguments, outcome, text)  # type: ignore[arg-type]
        (data / "runs" / run / "workspace").mkdir(parents=True)
        app.store.change_run(
            run, state="submitted", ended=now(), answer=(MARKUP + ODD).replace("\ud800", ""), seal="2:" + "0" * 40
        )
        record = app.store.run(run)
        assert record is not None
        await app.score(record)


async def _call(
    app: App, seat: str, run: str, number: int, tool: str, arguments: dict[str, Any], outcome: Outcome, text: str
) -> None:
    moment = 1_000_000_000 + number * 10_000_000
    meta = {"m3bench/step": number // 2}
    message = {"method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": meta}}
    request = ToolRequest(
        caller=Caller(seat=seat, revision="2025-11-25", client=f"{MARKUP} 1"), id=number,
        raw=json.dumps(message).encode(), name=tool, arguments=arguments, meta=meta, received_ns=moment, wall=now(),
    )  # fmt: skip
    call = await app.store.received(request, run, tool)
    result = json.dumps({"content": [{"type": "text", "text": text}], "isError": outcome != "success"}).encode()
    answer = ToolAnswer(outcome=outcome, result=result, forwarded_ns=moment, returned_ns=moment + 4_000_000)
    await app.store.answered(call, answer)


def _deep(depth: int) -> Any:
    return {"down": _deep(depth - 1)} if depth else MARKUP

"""Result sets on disk, made by rule: what `made_set` says, with a store that has a record of every call."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from m3bench.proxy.protocol.tool_calls import Caller, ToolAnswer, ToolRequest
from m3bench.server.lab.results.resultset import DATA, Result, append_sample, write_header
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.library import Library
from tests.server.lab.reports.made_sets import MANIFEST, made_set


def stored_set(folder: Path, name: str, runs: int, *, ranked: bool = False, **made: Any) -> Path:
    """Write a result set into a folder of its name; its tasks are those of the bundled set. Returns where it is."""
    manifest = {**MANIFEST, "tasks": {"name": "m3", "version": "1", "hash": Library().hash}}
    results = made_set(name, runs, manifest=manifest, **made)
    place = folder / name
    write_header(place, results.header)
    anyio.run(_record, place / DATA, results.results, ranked)
    for result in results.results:
        append_sample(place, result.sample)
    return place


async def _record(folder: Path, results: tuple[Result, ...], ranked: bool) -> None:
    store = SqliteStore(folder)
    try:
        for result in results:
            store.add_run(replace(result.run, mode="ranked" if ranked else "practice"))
            for number, (_, call) in enumerate(result.card.alignment.actual_calls):
                moment = 1_000_000_000 + number * 400_000_000
                params = {"name": call.tool, "arguments": call.arguments}
                request = ToolRequest(
                    caller=Caller(seat=result.run.seat, revision="2025-11-25", client="a client 1.0"), id=number,
                    raw=json.dumps({"method": "tools/call", "params": params}).encode(), name=call.tool,
                    arguments=call.arguments, meta={}, received_ns=moment, wall=result.run.started,
                )  # fmt: skip
                answer = json.dumps({"content": [{"type": "text", "text": f"{number}"}]}).encode()
                at = await store.received(request, result.run.id, call.tool)
                await store.answered(
                    at,
                    ToolAnswer(outcome="success", result=answer, forwarded_ns=moment, returned_ns=moment + 90_000_000),
                )
    finally:
        store.close()

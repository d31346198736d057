"""What a real client did over a real connection, mistakes included, is confirmed from its bundle."""

from pathlib import Path

import anyio
import pytest

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.bundle import pack
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.scoring import Encoder
from m3bench.tasks.library import Library
from tests.server.conftest import over_stdio

NUMBERS = [4, 8, 15, 16, 23, 42]

pytestmark = pytest.mark.anyio


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_client_that_errs_is_confirmed(
    played: Path, tmp_path: Path, library: Library, encoder: Encoder, mode: str
) -> None:
    data = tmp_path / "data"
    arguments = ["--tasks", str(played / "set"), "--data", str(data), "--sandbox", "inprocess"]
    async with over_stdio(arguments, mode) as client:
        await client.call_tool("start_task", {"task_id": "survey-1"})
        async with anyio.create_task_group() as together:
            together.start_soon(client.call_tool, "math__median", {"numbers": NUMBERS})
            together.start_soon(client.call_tool, "math__mean", {"numbers": NUMBERS})
        await client.call_tool("math__subtract", {"minuend": "eighteen"})
        await client.call_tool("list_tasks", {})
        await client.call_tool("math__subtract", {"minuend": 18, "subtrahend": 15.5})
        await client.call_tool("submit", {"answer": "They differ by 2.5."})
        await client.call_tool("score", {})
    pack(data, tmp_path / "client.m3run")
    verdict = verify_bundle(tmp_path / "client.m3run", LocalInstallation(library), encoder)
    assert verdict.confirmed, verdict.differences
    assert verdict.runs == 1

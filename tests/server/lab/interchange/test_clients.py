"""What a real client did over a real connection, mistakes included, is confirmed from its bundle."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import Implementation

from m3bench.server.commands.installed import LocalInstallation
from m3bench.server.lab.interchange.bundle import pack
from m3bench.server.lab.interchange.rescoring import verify_bundle
from m3bench.server.lab.interchange.unpacking import unpack
from m3bench.server.lab.interchange.verdict import BundleVerdict
from m3bench.server.lab.reports.board import BundleBoard
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.scoring import Encoder
from m3bench.tasks.library import Library
from tests.server.conftest import SERVE, over_stdio
from tests.server.lab.interchange.tampering import claim_again, index_again, packed, run_of, unpacked

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


async def test_what_a_submitter_says_of_the_client_narrows_no_range_on_a_board(
    played: Path, tmp_path: Path, library: Library, encoder: Encoder
) -> None:
    data, bundle, installation = tmp_path / "data", tmp_path / "client.m3run", LocalInstallation(library)
    arguments = ["--tasks", str(played / "set"), "--data", str(data), "--sandbox", "inprocess"]
    with anyio.fail_after(300):
        about = Implementation(name="gemini-cli-mcp-client", version="0.61.0")
        server = StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *arguments], env=dict(os.environ))
        async with Client(stdio_client(server), mode="legacy", client_info=about) as client:
            await client.call_tool("start_task", {"task_id": "survey-1"})
            await client.call_tool("math__median", {"numbers": NUMBERS})
            await anyio.sleep(0.7)
            await client.call_tool("math__mean", {"numbers": NUMBERS})
            await anyio.sleep(0.7)
            await client.call_tool("math__subtract", {"minuend": 18, "subtrahend": 15.5})
            await client.call_tool("submit", {"answer": "They differ by 2.5."})
            await client.call_tool("score", {})
    pack(data, bundle)
    members = unpacked(bundle)
    place = run_of(members, "survey-1")
    honest = json.loads(members[f"{place}/card.json"])
    # That nobody is asked to allow a call is what only the client's own files say.
    known = {**honest["client"]["capabilities"], "late": False}
    claim_again(members, installation, encoder, tmp_path, known)
    index_again(members)
    assert width(json.loads(members[f"{place}/card.json"])) < width(honest)
    verdict = verify_bundle(packed(members, tmp_path / "told.m3run"), installation, encoder)
    assert verdict.confirmed, verdict.differences
    assert "By it steps were read, so a board shows such runs as they are read without it." in verdict.notes
    board = BundleBoard(tmp_path / "board", library, encoder)
    assert (
        board.accept(tmp_path / "told.m3run", BundleVerdict.read(verdict.to_json()), "consistent").outcome == "accepted"
    )
    (entry,) = board.write().entries
    assert entry.summary.metrics["average"] == pytest.approx(honest["metrics"]["average"])
    shown = tmp_path / "shown"
    unpack(tmp_path / "told.m3run", shown, library, encoder, None, None, verdict.alone)
    (result,) = read_resultset(shown).results
    assert result.card.range_of("average") == tuple(honest["ranges"]["average"])


def width(card: dict[str, Any]) -> float:
    """Of the range of its average."""
    low, high = card["ranges"]["average"]
    return float(high - low)

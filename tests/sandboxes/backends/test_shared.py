"""Rooms on a few hosts: apart from each other, told of their pictures again after a crash, and gone when they close."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.backends.result_cache import ResultCache
from m3bench.sandboxes.backends.shared import SharedBackend, shared_isolation
from m3bench.sandboxes.pool import Lease, SandboxPool
from m3bench.sandboxes.workspace import STATE
from m3bench.tasks.errors import SandboxError

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def shared(root: Path, **options: Any) -> AsyncIterator[tuple[SharedBackend, SandboxPool]]:
    async with SharedBackend(ProcessBackend(shared_isolation()), root, **options) as backend:
        async with SandboxPool(backend, root) as pool:
            yield backend, pool


async def text_of(sandbox: Any, tool: str, **arguments: Any) -> str:
    reply = await sandbox.call(tool, json.dumps(arguments).encode(), 60)
    return str(json.loads(reply.result)["content"][0]["text"])


async def test_a_room_has_its_own_files_and_no_other(tmp_path: Path) -> None:
    async with shared(tmp_path, hosts=1) as (_, pool):
        first, second = [await pool.lease(servers=("excel",)) for _ in range(2)]
        assert "Created" in await text_of(first, "excel/create_workbook", filepath="./mine.xlsx")
        assert (first.workspace / "mine.xlsx").is_file()
        assert "not found" in (await text_of(second, "excel/get_workbook_metadata", filepath="./mine.xlsx")).lower()
        for path in (f"../{first.workspace.name}/mine.xlsx", str(first.workspace / "mine.xlsx")):
            assert "leaves the workspace" in await text_of(second, "excel/get_workbook_metadata", filepath=path)
        assert "mine" in await text_of(first, "excel/get_workbook_metadata", filepath="/workspace/mine.xlsx")
        with pytest.raises(Exception, match="wiki"):
            await text_of(second, "wiki/search", query="koi")
        await first.release()
        assert not first.workspace.exists()


async def test_a_crash_costs_the_calls_under_way_and_no_room(tmp_path: Path) -> None:
    async with shared(tmp_path, hosts=1) as (backend, pool):
        lease = await pool.lease(servers=("excel", "math"))
        await text_of(lease, "excel/create_workbook", filepath="./mine.xlsx")
        assert backend.kill() == 1
        try:
            await text_of(lease, "math/add", firstNumber=1, secondNumber=2)
        except SandboxError:
            assert "3" in await text_of(lease, "math/add", firstNumber=1, secondNumber=2)
        assert "mine" in await text_of(lease, "excel/get_workbook_metadata", filepath="./mine.xlsx")


async def test_a_host_is_replaced_after_its_rooms(tmp_path: Path) -> None:
    async with shared(tmp_path, hosts=1, rooms=2) as (backend, pool):
        hosts = []
        for _ in range(3):
            lease = await pool.lease(servers=("math",))
            await text_of(lease, "math/add", firstNumber=1, secondNumber=2)
            hosts.append(backend._hosts[0])
            await lease.release()
        assert hosts[0] is hosts[1]
        assert hosts[1] is not hosts[2]
    # Where bubblewrap is not installed, hosts have their temporary files beside the rooms.
    assert [path.name for path in tmp_path.iterdir() if path.name != STATE] == []


async def test_a_room_is_in_the_folder_of_the_hosts(tmp_path: Path) -> None:
    (tmp_path / "rooms").mkdir()
    (tmp_path / "elsewhere").mkdir()
    async with shared(tmp_path / "rooms") as (backend, _):
        with pytest.raises(SandboxError, match="a folder of"):
            await backend.open(SandboxSpec(workspace=tmp_path / "elsewhere"))
        with pytest.raises(SandboxError, match="cannot be used again"):
            await backend.resume(tmp_path / "rooms")


async def test_a_group_that_asks_for_the_same_asks_the_host_once(tmp_path: Path) -> None:
    async with shared(tmp_path, hosts=1, cache=ResultCache()) as (backend, pool):
        await backend.warm()
        leases = [await pool.lease(servers=("wiki",)) for _ in range(8)]
        found: list[str] = []

        async def ask(lease: Lease) -> None:
            found.append(await text_of(lease, "wiki/search", query="koi"))

        async with anyio.create_task_group() as together:
            for lease in leases:
                together.start_soon(ask, lease)
        assert len(found) == 8
        assert len(set(found)) == 1
        assert backend.cache is not None
        assert backend.cache.hits == 7
        assert not backend.asked

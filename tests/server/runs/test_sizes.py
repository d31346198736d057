"""Nothing that a client is sent is larger than it takes, and no picture is lost for it."""

import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from PIL import Image

from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.server.app import App
from m3bench.server.clients.table import KnownClients
from m3bench.server.runs.opening import RECORDING
from m3bench.server.runs.resources import PICTURE, SCORECARD
from m3bench.server.scorecard.pages.app_view import URI
from m3bench.server.settings import Settings
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.task import TaskSet
from tests.photographs import photographs
from tests.server.runs.seats import seated

pytestmark = pytest.mark.anyio

SETS = Path(__file__).parents[3] / "tasks" / "data" / "sets"
CHUNK = 24


def chunks() -> list[tuple[str, tuple[str, ...]]]:
    """The tasks of every set, some at a time; first the largest pictures of all, of two sets."""
    found: list[tuple[str, tuple[str, ...]]] = [("photos", ("tally-2", "tally-1")), ("m3", ("movies-5", "drug-5"))]
    for folder in sorted(SETS.iterdir()):
        ids = [task.id for task in TaskSet.model_validate_json((folder / "tasks.json").read_bytes()).tasks]
        found += [(folder.name, tuple(ids[at : at + CHUNK])) for at in range(0, len(ids), CHUNK)]
    return found


def pictures_of(result: types.CallToolResult) -> list[bytes]:
    return [b64decode(block.data) for block in result.content if isinstance(block, types.ImageContent)]


def sent(result: types.CallToolResult | types.ReadResourceResult) -> int:
    return len(result.model_dump_json(by_alias=True, exclude_none=True).encode())


@pytest.mark.sample(1)
@pytest.mark.all_sample(6)
@pytest.mark.parametrize(
    ("name", "ids"),
    [pytest.param(*chunk, marks=[pytest.mark.slow] * (chunk[0] == "photos")) for chunk in chunks()],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
async def test_every_task_of_every_set_opens_within_the_budget(name: str, ids: tuple[str, ...], tmp_path: Path) -> None:
    if name == "photos":
        photographs()
    app = App(Settings.of(tasks=SETS / name, data=tmp_path, sandbox="inprocess"), clients=KnownClients())
    async with seated(app) as (_, client):
        for id in ids:
            opened = await client.call_tool("start_task", {"task_id": id, "abandon": True})
            task = app.library.task(id)
            assert not opened.is_error
            assert sent(opened) <= MAX_RESULT_BYTES, id
            pictures = pictures_of(opened)
            assert len(pictures) == len(task.pictures), "none is left out"
            for picture in pictures:
                assert min(Image.open(BytesIO(picture)).size) >= 240
            said = opened.model_dump_json()
            assert str(tmp_path) not in said
            assert not re.search(r"bytes[^\"]*left out", said)
            read = await resources(client, opened)
            assert all(sent(each) <= MAX_RESULT_BYTES for each in read.values()), id
            if task.pictures:
                assert blobs(read[PICTURE]) == len(pictures)
            if task.recordings:
                assert blobs(read[RECORDING]) == len(task.recordings)


async def resources(client: Client, opened: types.CallToolResult) -> dict[str, types.ReadResourceResult]:
    """Every resource that a result links to or that is listed, as it is read."""
    linked = [block.uri for block in opened.content if isinstance(block, types.ResourceLink)]
    listed = [resource.uri for resource in (await client.list_resources()).resources]
    return {uri: await client.read_resource(uri) for uri in dict.fromkeys(map(str, [*linked, *listed]))}


def blobs(read: types.ReadResourceResult) -> int:
    return sum(isinstance(part, types.BlobResourceContents) for part in read.contents)


async def test_every_resource_is_within_the_budget_from_the_start_of_a_run_to_its_card(tmp_path: Path) -> None:
    app = App(Settings.of(tasks=SETS / "m3", data=tmp_path, sandbox="inprocess"), clients=KnownClients())
    async with seated(app) as (_, client):
        await client.call_tool("start_task", {"task_id": "movies-5"})
        again = await client.call_tool("start_task", {"task_id": "drug-5"})
        assert again.is_error
        assert "movies-5" in again.model_dump_json(), "the error says which task is running"
        assert sent(again) <= MAX_RESULT_BYTES
        for id in ("drug-5", "movies-5"):
            opened = await client.call_tool("start_task", {"task_id": id, "abandon": True})
            task = app.library.task(id)
            await client.call_tool("submit", {"answer": task.answer, "fields": right_fields(task.fields)})
            scored = await client.call_tool("score", {})
            assert sent(scored) <= MAX_RESULT_BYTES
            read = await resources(client, opened)
            assert SCORECARD in read
            read["page"] = await client.read_resource(URI)
            assert all(sent(each) <= MAX_RESULT_BYTES for each in read.values()), {k: sent(v) for k, v in read.items()}


@pytest.mark.slow
async def test_pictures_that_are_too_large_together_are_made_smaller_and_the_client_is_told(tmp_path: Path) -> None:
    photographs()
    app = App(Settings.of(tasks=SETS / "photos", data=tmp_path, sandbox="inprocess"), clients=KnownClients())
    async with seated(app) as (_, client):
        first = await client.call_tool("start_task", {"task_id": "tally-2"})
        note = first.content[-1]
        assert isinstance(note, types.TextContent)
        assert "made smaller" in note.text
        assert "whole in the workspace" in note.text
        again = await client.call_tool("start_task", {"task_id": "tally-2", "abandon": True})
        assert len(pictures_of(again)) == len(pictures_of(first)) == 3
        assert "Errno" not in again.model_dump_json()
        read = await client.read_resource(PICTURE)
        assert isinstance(read.contents[-1], types.TextResourceContents)
        assert "made smaller" in read.contents[-1].text

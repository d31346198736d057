"""Nothing that a client is sent is larger than it takes, and no picture is lost for it."""

from base64 import b64decode
from io import BytesIO
from pathlib import Path

import mcp_types as types
import pytest
from PIL import Image

from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.server.app import App
from m3bench.server.clients.table import KnownClients
from m3bench.server.runs.resources import PICTURE
from m3bench.server.settings import Settings
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
            assert str(tmp_path) not in opened.model_dump_json()
            if task.pictures:
                read = await client.read_resource(PICTURE)
                assert sent(read) <= MAX_RESULT_BYTES, id
                assert sum(isinstance(part, types.BlobResourceContents) for part in read.contents) == len(pictures)


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

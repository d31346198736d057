"""A run's card says whether the model saw the picture: whether it handed in the mark that its picture alone carries."""

from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from m3bench.server.app import App
from m3bench.server.runs.resources import PICTURE
from m3bench.server.settings import Settings
from m3bench.tasks.picture_mark import FIELD, marked
from tests.pictures import assert_same_bytes
from tests.server.runs.seats import seated
from tests.sets import PICTURE as NOTE

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def playing(tasks: Path, data: Path) -> AsyncIterator[tuple[App, Client]]:
    app = App(Settings.of(tasks=tasks, data=data, sandbox="inprocess"))
    async with seated(app) as (_, client):
        yield app, client


async def started(app: App, client: Client) -> tuple[str, bytes]:
    """The mark of a run that begins, as the record has it, and the picture that the client was sent."""
    opening = await client.call_tool("start_task", {"task_id": "survey-1"})
    assert opening.meta is not None
    record = app.store.run(opening.meta["m3bench/task"]["run"])
    assert record is not None
    mark = record.manifest["mark"]
    assert mark not in opening.content[0].text, "the text does not tell it"
    assert f"`{FIELD}`" in opening.content[0].text
    return mark, b64decode(opening.content[1].data)


async def scored(client: Client, **handed_in: Any) -> tuple[str, str]:
    await client.call_tool("submit", handed_in)
    card = await client.call_tool("score", {})
    assert card.meta is not None
    return card.meta["m3bench/card"]["sight"], card.content[0].text


async def test_who_hands_in_the_mark_has_seen_the_picture(task_set: Path, tmp_path: Path) -> None:
    async with playing(task_set, tmp_path / "data") as (app, client):
        mark, picture = await started(app, client)
        assert picture == marked(NOTE, mark)
        resource = (await client.read_resource(PICTURE)).contents[0]
        assert b64decode(resource.blob) == picture
        (file,) = (tmp_path / "data").rglob("note.png")
        assert_same_bytes(file.read_bytes(), NOTE, "the file that tools read, without the mark")
        sight, card = await scored(client, answer="2.5", fields={FIELD: mark.lower()})
        assert sight == "seen"
        assert "The model saw the picture" in card


async def test_the_mark_of_another_run_shows_nothing(task_set: Path, tmp_path: Path) -> None:
    async with playing(task_set, tmp_path / "data") as (app, client):
        mark, _ = await started(app, client)
        await scored(client, answer="2.5", fields={FIELD: mark})
        other, _ = await started(app, client)
        assert other != mark
        sight, card = await scored(client, answer="2.5", fields={FIELD: mark})
        assert sight == "unseen"
        assert "Nothing shows that anybody looked at the picture" in card


async def test_a_picture_that_only_tools_were_given_is_said_to_be_read_by_them(task_set: Path, tmp_path: Path) -> None:
    async with playing(task_set, tmp_path / "data") as (app, client):
        await started(app, client)
        await client.call_tool(
            "imagesorcery-mcp__change_color", {"input_path": "./media/note.png", "palette": "grayscale"}
        )
        sight, card = await scored(client, answer="picture_mark: none, I cannot see it. 2.5")
        assert sight == "read by tools"
        assert "Tools read it." in card

"""Handing in: what a client is told of the fields, how they may be given, and what is kept of them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from m3bench.server.app import App
from m3bench.server.scorecard.pages.app_view import CARD
from m3bench.server.settings import Settings
from tests.server.runs.seats import seated
from tests.sets import write_set

pytestmark = pytest.mark.anyio

FIELDS = [
    {
        "name": "difference",
        "meaning": "by how much they differ",
        "value": {"type": "number", "unit": "points", "value": 2.75},
    },
    {
        "name": "larger",
        "meaning": "which of the two is larger",
        "value": {"type": "choice", "options": ["middle", "average"], "value": "average"},
    },
]
RIGHT = {"difference": 2.75, "larger": "the average"}


@pytest.fixture
def fields_set(tmp_path: Path) -> Path:
    folder = write_set(tmp_path / "set")
    data = json.loads((folder / "tasks.json").read_text())
    data["schema"] = 2
    data["tasks"][0] |= {"fields": FIELDS, "checks": []}
    (folder / "tasks.json").write_text(json.dumps(data))
    return folder


@asynccontextmanager
async def playing(tasks: Path, data: Path) -> AsyncIterator[tuple[App, Client]]:
    app = App(Settings.of(tasks=tasks, data=data, sandbox="inprocess"))
    async with seated(app) as (_, client):
        yield app, client


async def submit(client: Client, **arguments: Any) -> Any:
    return await client.call_tool("submit", arguments)


async def card_of(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = ((await client.call_tool("score", {})).meta or {})[CARD]
    return found


async def test_a_task_shows_its_fields_and_no_value(fields_set: Path, tmp_path: Path) -> None:
    async with playing(fields_set, tmp_path / "data") as (_, client):
        opening = await client.call_tool("start_task", {"task_id": "survey-1"})
        text, meta = opening.content[0].text, (opening.meta or {})["m3bench/task"]
        assert "`difference` (number, points): by how much they differ" in text
        assert "`larger` (one of: middle, average): which of the two is larger" in text
        assert [field["name"] for field in meta["fields"]] == ["difference", "larger"]
        assert "2.75" not in text + json.dumps(meta)
        assert "value" not in json.dumps(meta["fields"])


@pytest.mark.parametrize(
    "handed_in",
    [
        {"answer": "They differ.", "fields": RIGHT},
        {"answer": "They differ.", "fields": json.dumps(RIGHT)},
        {"answer": "difference: 2.75\nlarger: average"},
        {"answer": f"So: {json.dumps(RIGHT)}"},
        {"answer": "Difference: 2,75 points", "fields": {"Larger": "average"}},
    ],
)
async def test_fields_may_come_as_such_as_text_or_in_prose(handed_in: Any, fields_set: Path, tmp_path: Path) -> None:
    async with playing(fields_set, tmp_path / "data") as (app, client):
        await client.call_tool("start_task", {"task_id": "survey-1"})
        result = await submit(client, **handed_in)
        assert not result.is_error, result
        card = await card_of(client)
        assert card["success"] is True, card["checks"]
        (record,) = app.store.runs()
        assert record.answer == handed_in["answer"]
        sent = handed_in.get("fields")
        assert record.fields == (json.loads(sent) if isinstance(sent, str) else sent)


async def test_missing_fields_are_told_once_and_the_next_answer_is_sealed(fields_set: Path, tmp_path: Path) -> None:
    async with playing(fields_set, tmp_path / "data") as (app, client):
        await client.call_tool("start_task", {"task_id": "survey-1"})
        refused = await submit(client, answer="The average is larger by 2.75.")
        assert refused.is_error
        told = refused.content[0].text
        assert "missing: difference, larger, picture_mark." in told
        assert "by how much they differ" in told
        assert app.store.runs()[0].state == "working"
        await client.call_tool("math__add", {"firstNumber": 1, "secondNumber": 2})
        assert not (await submit(client, answer="The average is larger by 2.75.")).is_error
        card = await card_of(client)
        assert card["success"] is False
        assert [check["reason"] for check in card["checks"]] == ["nothing was given", "nothing was given"]


async def test_every_missing_field_is_named_and_none_that_was_given(fields_set: Path, tmp_path: Path) -> None:
    async with playing(fields_set, tmp_path / "data") as (_, client):
        await client.call_tool("start_task", {"task_id": "survey-1"})
        told = (await submit(client, answer="x", fields={"larger": "average"})).content[0].text
        assert "missing: difference, picture_mark." in told
        await client.call_tool("start_task", {"task_id": "survey-1", "abandon": True})
        told = (await submit(client, answer="picture_mark: ACDE")).content[0].text
        assert "missing: difference, larger." in told
        await client.call_tool("start_task", {"task_id": "survey-1", "abandon": True})
        assert not (await submit(client, answer="x", fields=RIGHT)).is_error, "the mark alone is not asked for again"


async def test_an_answer_that_cannot_be_read_names_the_missing_fields_too(fields_set: Path, tmp_path: Path) -> None:
    async with playing(fields_set, tmp_path / "data") as (_, client):
        assert "missing:" not in (await submit(client)).content[0].text, "no task is running"
        await client.call_tool("start_task", {"task_id": "survey-1"})
        told = (await submit(client, fields={"larger": "average"})).content[0].text
        assert "'answer' is required" in told
        assert "missing: difference, picture_mark." in told
        assert "missing:" not in (await submit(client, fields="?")).content[0].text, "it was told"
        assert not (await submit(client, answer="x", fields=RIGHT)).is_error


async def test_a_field_that_was_not_asked_for_is_told_once(fields_set: Path, tmp_path: Path) -> None:
    async with playing(fields_set, tmp_path / "data") as (_, client):
        await client.call_tool("start_task", {"task_id": "survey-1"})
        refused = await submit(client, answer="x", fields={**RIGHT, "diference": 1})
        assert "not asked for: diference" in refused.content[0].text
        assert not (await submit(client, answer="x", fields={**RIGHT, "diference": 1})).is_error
        assert (await card_of(client))["success"] is True


async def test_what_was_not_seen_is_right_and_not_grounded(fields_set: Path, tmp_path: Path) -> None:
    async with playing(fields_set, tmp_path / "data") as (_, client):
        await client.call_tool("start_task", {"task_id": "survey-1"})
        await submit(client, answer="", fields=RIGHT)
        card = await card_of(client)
        assert (card["success"], card["grounded"], card["ungrounded"]) == (True, False, ["difference"])
        await client.call_tool("start_task", {"task_id": "survey-1"})
        await client.call_tool("math__subtract", {"minuend": 3, "subtrahend": 0.25})
        await submit(client, answer="", fields=RIGHT)
        card = await card_of(client)
        assert (card["success"], card["grounded"]) == (True, True)


async def test_the_seal_covers_the_fields(fields_set: Path, tmp_path: Path) -> None:
    from m3bench.server.store.checkup import examine

    async with playing(fields_set, tmp_path / "data") as (app, client):
        await client.call_tool("start_task", {"task_id": "survey-1"})
        await submit(client, answer="x", fields=RIGHT)
        (record,) = app.store.runs()
        app.store.change_run(record.id, fields={**RIGHT, "difference": 3})
    found = [str(damage) for damage in examine(tmp_path / "data").damage]
    assert any("sealed" in one for one in found), found

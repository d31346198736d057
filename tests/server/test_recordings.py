"""Sound and film reach a client as the protocol's content, as a resource and as a file, over every transport."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from mcp_types import AudioContent, BlobResourceContents, ResourceLink, TextContent

from m3bench.proxy.front import _without_unknown
from m3bench.server.app import App
from m3bench.server.runs.opening import RECORDING, seconds
from m3bench.server.scorecard.perception import HEARING_WORDS
from m3bench.server.settings import Settings
from m3bench.tasks.library import RECORDINGS, Library
from tests.server.conftest import Connect
from tests.server.runs.seats import seated

pytestmark = pytest.mark.anyio

LIBRARY = Library(RECORDINGS)
FILM = next(task for task in LIBRARY.tasks.values() if task.recordings[0].endswith(".mp4"))
SOUND = next(task for task in LIBRARY.tasks.values() if task.recordings[0].endswith(".mp3"))


@pytest.fixture
def task_set() -> Path:
    """The set with sound and film in place of the small one."""
    return RECORDINGS


@pytest.fixture(params=["process"])
def sandbox(request: pytest.FixtureRequest) -> str:
    """The image of the sandbox need not have the extra."""
    chosen: str = request.param
    return chosen


def words(result: Any) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


@pytest.mark.sample(1)
async def test_sound_is_audio_content_a_resource_and_a_file(connect: Connect) -> None:
    (name,), file = SOUND.recordings, LIBRARY.recording(SOUND.recordings[0])
    async with connect() as client:
        opening = await client.call_tool("start_task", {"task_id": SOUND.id})
        (sound,) = (block for block in opening.content if isinstance(block, AudioContent))
        assert (sound.mime_type, b64decode(sound.data)) == ("audio/mpeg", file)
        assert f"./media/{name}" in words(opening)
        assert f"{seconds(name, file):.0f} seconds" in words(opening)
        assert "If you cannot hear it" in words(opening)
        assert opening.meta is not None
        assert opening.meta["m3bench/task"]["recordings"] == [f"./media/{name}"]
        listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
        assert RECORDING in listed
        (held,) = (await client.read_resource(RECORDING)).contents
        assert isinstance(held, BlobResourceContents)
        assert (held.mime_type, b64decode(held.blob)) == ("audio/mpeg", file)
        path = f"./media/{name}"
        played = await client.call_tool("recordings__play_recording", {"path": path, "end": 1})
        (passage,) = (block for block in played.content if isinstance(block, AudioContent))
        assert (passage.mime_type, b64decode(passage.data)[:4]) == ("audio/wav", b"RIFF")
        assert '"kind": "sound"' in words(await client.call_tool("recordings__describe_recording", {"path": path}))


@pytest.mark.sample(1)
async def test_film_is_linked_a_resource_and_a_file(connect: Connect) -> None:
    (name,), file = FILM.recordings, LIBRARY.recording(FILM.recordings[0])
    async with connect() as client:
        opening = await client.call_tool("start_task", {"task_id": FILM.id})
        (link,) = (block for block in opening.content if isinstance(block, ResourceLink))
        assert (str(link.uri), link.mime_type, link.name) == (RECORDING, "video/mp4", name)
        assert f"./media/{name}" in words(opening)
        assert "If you cannot watch it" in words(opening)
        (held,) = (await client.read_resource(RECORDING)).contents
        assert isinstance(held, BlobResourceContents)
        assert (held.mime_type, b64decode(held.blob)) == ("video/mp4", file)
        found = await client.call_tool("recordings__find_changes", {"path": f"./media/{name}"})
        assert "changes" in words(found)


@pytest.mark.parametrize(
    ("tool", "hearing"),
    [("play_recording", "played by a tool"), ("describe_recording", "read by tools"), (None, "sent alone")],
)
async def test_the_card_says_how_the_recording_was_taken_in(tool: str | None, hearing: str, tmp_path: Path) -> None:
    app = App(Settings.of(tasks=RECORDINGS, data=tmp_path / "data", sandbox="inprocess"))
    async with seated(app) as (_, client):
        await client.call_tool("start_task", {"task_id": SOUND.id})
        if tool is not None:
            path = f"./media/{SOUND.recordings[0]}"
            assert not (await client.call_tool(f"recordings__{tool}", {"path": path})).is_error
        for _ in range(2):
            await client.call_tool("submit", {"answer": "I do not know."})
        card = await client.call_tool("score", {})
        assert card.meta is not None
        assert card.meta["m3bench/card"]["hearing"] == hearing
        assert HEARING_WORDS[card.meta["m3bench/card"]["hearing"]] in words(card)


def test_a_client_of_an_old_revision_gets_no_content_that_it_does_not_know() -> None:
    kinds = [b'{"type":"text","text":"a"}', b'{"type":"audio","data":""}', b'{"type":"resource_link","uri":"a:"}']
    result = b'{"content":[%b],"isError":false}' % b",".join(kinds)
    old, newer = (_without_unknown(result, revision) for revision in ("2024-11-05", "2025-03-26"))
    assert (b"audio" in old, b"resource_link" in old) == (False, False)
    assert (b"audio" in newer, b"resource_link" in newer) == (True, False)
    assert b'"text"' in old


@pytest.mark.parametrize("odd", [b'"audio"', b"7", b"null", b'{"type":["audio"]}'])
def test_what_is_no_block_at_all_is_passed_on_as_it_came(odd: bytes) -> None:
    result = b'{"content":[%b,{"type":"audio","data":""}]}' % odd
    assert json.loads(_without_unknown(result, "2024-11-05")) == {"content": [json.loads(odd)]}
    alone = b'{"content":%b,"note":"audio"}' % odd
    assert json.loads(_without_unknown(alone, "2024-11-05")) == json.loads(alone)


def test_the_length_of_every_recording_is_known_without_decoding_it() -> None:
    for task in LIBRARY.tasks.values():
        for name in task.recordings:
            lasts = seconds(name, LIBRARY.recording(name))
            assert lasts is not None
            assert 1 < lasts < 40
    assert seconds("torn.mp3", b"") is None
    assert seconds("torn.mp4", b"mvhd") is None

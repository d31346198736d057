"""What a model is told of a task: everything that a client is told, with the picture of its own run."""

from base64 import b64decode
from collections.abc import Callable
from typing import Any, cast

import pytest
from inspect_ai.model import ChatMessageUser, ContentAudio, ContentImage, ContentText, ContentVideo
from inspect_ai.scorer import SampleScore, Score
from mcp_types import ImageContent

from m3bench.server.lab.headless.inspect_task import mean, prompt, stderr, with_pictures
from m3bench.server.scoring.statistics.estimates import estimate
from m3bench.tasks.library import SETS, Library
from tests.pictures import assert_same_bytes


def test_a_model_is_told_which_fields_to_hand_in() -> None:
    library = Library()
    task = library.task("movies-1")
    told = prompt(library, task, 9)[0]
    assert isinstance(told, ContentText)
    for field in task.fields:
        assert f"- {field.line}" in told.text
    assert "`picture_mark`" in told.text
    blind = prompt(library, task, 9, sighted=False)[0]
    assert isinstance(blind, ContentText)
    assert "`picture_mark`" not in blind.text, "it is not asked for what it cannot see"
    assert f"- {task.fields[0].line}" in blind.text


def test_the_pictures_of_the_run_take_the_place_of_those_of_the_set() -> None:
    library = Library()
    first = ChatMessageUser(content=prompt(library, library.task("movies-1"), 9))
    sent = ImageContent(type="image", data="AAAA", mime_type="image/png")
    (shown,) = with_pictures([first], [sent])
    assert isinstance(shown.content, list)
    images = [part.image for part in shown.content if isinstance(part, ContentImage)]
    assert images == ["data:image/png;base64,AAAA"]
    assert shown.content[0] == first.content[0]
    words = ChatMessageUser(content="Only words.")
    assert with_pictures([words], [sent]) == [words]


@pytest.mark.parametrize(("id", "kind"), [("voicemail-1", ContentAudio), ("glimpse-1", ContentVideo)])
def test_a_recording_is_sent_to_a_model_that_takes_it_and_others_are_told_where_it_is(
    id: str, kind: type[ContentAudio] | type[ContentVideo]
) -> None:
    library = Library(SETS / "recordings")
    task = library.task(id)
    (name,) = task.recordings
    text, played = prompt(library, task, 9, hearing=True)
    assert isinstance(text, ContentText)
    assert isinstance(played, kind)
    url = played.audio if isinstance(played, ContentAudio) else played.video
    head, _, data = url.partition(";base64,")
    assert (head, played.format) == (("data:audio/mpeg", "mp3") if kind is ContentAudio else ("data:video/mp4", "mp4"))
    assert_same_bytes(b64decode(data), library.recording(name), name)
    assert f"The recording is attached; for the tools it lies at ./media/{name}." in text.text
    (told,) = prompt(library, task, 9)
    assert isinstance(told, ContentText)
    assert f"The recording cannot be played to you; tools find it at ./media/{name}." in told.text
    assert "names begin with recordings" in told.text


def test_inspect_shows_the_numbers_of_the_tables() -> None:
    """Repeats are averaged to tasks, and the error is clustered by family."""
    values = {f"{family}-{task}": float((family * task) % 3 == 0) for family in range(10) for task in range(4)}
    families: dict[str, str | None] = {task: task.partition("-")[0] for task in values}
    scores = [
        SampleScore(score=Score(value=value, metadata={"task": task, "family": families[task]}), sample_id=task)
        for task, value in values.items()
        for _ in range(1 + (task == "1-1"))
    ]
    found = estimate(values, families, of="solved")
    assert found is not None
    shown: tuple[Callable[[list[SampleScore]], object], ...] = cast("Any", (mean(), stderr("solved")))
    assert [metric(scores) for metric in shown] == pytest.approx([found.value, found.error])

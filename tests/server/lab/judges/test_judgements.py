"""What is kept of judges, and where."""

import json
from pathlib import Path

import pytest

from m3bench.server.lab.judges.judgements import (
    KeptPrompt,
    RunJudgement,
    Vote,
    read_judgement,
    write_judgement,
)
from m3bench.server.store.layout import judgement
from m3bench.tasks.errors import InputFileError

EMPTY = RunJudgement(run="r1", task="t", seal="s", wording=1, panels={"completion": ("a", "b")})
PROMPT = KeptPrompt(system="rules", user="record \u202e <b>")


def vote(model: str, score: float, prompt: str = "p1") -> Vote:
    return Vote(ask="completion", model=model, prompt=prompt, scores={"score": score})


def test_a_judgement_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    whole = EMPTY.with_vote(vote("a", 3), PROMPT)
    write_judgement(tmp_path, whole)
    assert read_judgement(tmp_path, "r1") == whole
    assert [path.name for path in (tmp_path / "judges").iterdir()] == ["r1.json"]
    assert read_judgement(tmp_path, "r2") is None


def test_a_later_vote_takes_the_place_of_an_earlier_one_and_unused_prompts_go() -> None:
    first = EMPTY.with_vote(vote("b", 3), PROMPT).with_vote(vote("a", 5), PROMPT)
    second = first.with_vote(vote("b", 9, "p2"), PROMPT)
    assert [(one.model, one.scores) for one in second.votes] == [("a", {"score": 5}), ("b", {"score": 9})]
    assert list(second.prompts) == ["p1", "p2"]
    assert list(second.with_vote(vote("a", 5, "p2"), PROMPT).prompts) == ["p2"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{", '{"schema": 2}', "\x00\xff",
        json.dumps({**EMPTY.model_dump(mode="json", by_alias=True), "votes": [
            {"ask": "rubric", "model": "a", "prompt": "p", "scores": {"score": 1}}]}),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = judgement(tmp_path, "r1")
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InputFileError, match=r"r1\.json.*move it away and judge again"):
        read_judgement(tmp_path, "r1")

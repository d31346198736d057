"""The JSON form of a result set."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.scoring import score
from m3bench.server.scoring.aggregate import micro
from m3bench.server.scoring.profiles import OPEN_M3_BENCH
from m3bench.server.scoring.results import Results, Scored, read_results, vision
from m3bench.server.scoring.trajectory_score import TrajectoryScore
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.trajectory import Call, Trajectory
from tests.server.scoring.conftest import TrigramEncoder, call, trajectory


@pytest.fixture
def results(encoder: TrigramEncoder) -> Results:
    owl, frog = (trajectory([call("wiki/summary", title=title)]) for title in ("owl", "frog"))
    scored = [
        Scored(task=name, family=family, card=score(actual, [owl], encoder=encoder))
        for name, family, actual in (("same", "museum", owl), ("other", None, frog), ("none", "museum", trajectory()))
    ]
    return Results(profile="m3", encoder="trigrams", scored=tuple(scored), not_run=("late",))


def test_the_form_is_strict_json_and_reads_back(results: Results, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results.to_json(), allow_nan=False))
    file = read_results(path)
    assert (file.profile, file.encoder) == ("m3", "trigrams")
    assert file.rows == results.rows


def test_the_form_has_aggregate_tasks_and_what_was_not_run(results: Results) -> None:
    data: dict[str, Any] = dict(results.to_json())
    assert data["aggregate"] == micro(results.rows)
    assert list(data["tasks"]) == ["same", "other", "none"]
    assert data["tasks"]["same"]["matches"] == [[0, 0, 1.0]]
    assert data["families"]["museum"]["tasks"] == 2
    assert data["not_run"] == ["late"]
    assert "unreadable" not in data


def test_vision_is_measured_as_in_the_public_repository(encoder: TrigramEncoder) -> None:
    ocr, find = call("ocr/perform_ocr", input_data="a.png"), call("dinox-mcp/detect-all-objects", imageFileUri="a.png")
    search, summary = call("wiki/search", query="owl"), call("wiki/summary", title="owl")
    wanted = trajectory([ocr, find], [search], [summary])

    def card(*made: Call, reference: Trajectory = wanted) -> TrajectoryScore:
        return score(trajectory(list(made)), [reference], encoder=encoder, profile=OPEN_M3_BENCH)

    perfect, half, blind = card(ocr, find, search, summary), card(ocr, search, summary), card(summary)
    assert vision([perfect]) == {"perception_recall": 1, "grounding_similarity": 1, "visual_reasoning": 1}
    # Two of three calls of vision are as they should be, and the other call is: 2/3 is less than 1.
    assert vision([half]) == {"perception_recall": 0.5, "grounding_similarity": 1, "visual_reasoning": 0}
    assert vision([blind]) == {"perception_recall": 0, "grounding_similarity": 0, "visual_reasoning": 0}
    # Nothing is made at all: not less than the others, and yet not above 0.4.
    assert vision([card()])["visual_reasoning"] == 0
    look_alone, no_look = card(ocr, reference=trajectory([ocr])), card(summary, reference=trajectory([summary]))
    assert vision([look_alone]) == {"perception_recall": 1, "grounding_similarity": None, "visual_reasoning": None}
    assert vision([perfect, blind, no_look]) == {
        "perception_recall": 0.5, "grounding_similarity": 0.5, "visual_reasoning": 0.5,
    }  # fmt: skip
    found = Results(profile="open-m3-bench", encoder="t", scored=(Scored(task="a", family=None, card=half),))
    assert found.to_json()["vision"] == vision([half])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: [], "is not a result file"),
        (lambda data: data | {"tasks": []}, "is not a result file"),
        (lambda data: data | {"schema": 99}, "schema: is 99"),
        (lambda data: data | {"encoder": None}, "encoder: is absent"),
        (lambda data: data | {"tasks": {"same": 5}}, "task 'same': is 5"),
        (lambda data: data | {"tasks": {"same": {"recall": "x"}}}, "task 'same', recall: is the string 'x'"),
        (lambda data: data | {"tasks": {"same": {"recall": 1}}}, "task 'same', reference_calls: is absent"),
    ],
)
def test_other_files_are_refused(results: Results, tmp_path: Path, change: Any, message: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(change(results.to_json())))
    with pytest.raises(InputFileError) as caught:
        read_results(path)
    assert message in str(caught.value)

"""The JSON form of a result set."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.scoring import score
from m3bench.server.scoring.aggregate import micro
from m3bench.server.scoring.results import Results, Scored, read_results
from m3bench.tasks.errors import InputFileError
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

"""Leaderboards: ranks with ties, and no mixing of what does not compare."""

import csv
import io
import json
from pathlib import Path

import pytest

from m3bench.server.results.reports.published import PUBLISHED
from m3bench.server.results.reports.site import site, write_site
from m3bench.server.results.reports.standings import leaderboard_document
from m3bench.tasks.errors import UserError
from tests.server.results.reports.made_sets import MANIFEST, made_set


def test_sets_are_ordered_and_those_that_cannot_be_told_apart_share_a_rank() -> None:
    document = leaderboard_document(
        [made_set("low", 60, skill=0.1), made_set("top", 60, skill=0.9), made_set("twin", 60, skill=0.9, seed=2)]
    )
    assert [entry["rank"] for entry in document["entries"]] == [1, 1, 3]
    assert document["entries"][2]["name"] == "low"
    clear = {frozenset((pair["first"], pair["second"])): pair["clear"] for pair in document["pairs"]}
    assert clear == {
        frozenset(("low", "top")): True,
        frozenset(("low", "twin")): True,
        frozenset(("top", "twin")): False,
    }


@pytest.mark.parametrize("field", ["m3bench", "tasks", "catalog", "world", "encoder", "steps", "scores", "upstream"])
def test_sets_under_other_conditions_are_not_mixed_unless_asked_for_and_then_it_is_said(field: str) -> None:
    sets = [made_set("one", 10), made_set("other", 10, manifest={**MANIFEST, field: "another"})]
    with pytest.raises(UserError, match=field):
        leaderboard_document(sets)
    document = leaderboard_document(sets, mixed=True)
    assert [line.partition(" ")[0] for line in document["mixed"]] == [field]


def test_another_sandbox_or_task_profile_is_no_other_condition() -> None:
    other = made_set("other", 10, manifest={**MANIFEST, "sandbox": "docker", "profile": "standard:y", "tools": 41})
    assert leaderboard_document([made_set("one", 10), other])["mixed"] == []


def test_two_sets_of_one_name_and_empty_sets_are_refused() -> None:
    with pytest.raises(UserError, match="called 'one'"):
        leaderboard_document([made_set("one", 5), made_set("one", 5)])
    with pytest.raises(UserError, match="no scored run"):
        leaderboard_document([made_set("one", 0)])


def test_every_file_of_the_site_says_the_same_and_is_the_same_twice(tmp_path: Path) -> None:
    sets = [made_set("one", 20), made_set("=other", 20, skill=0.9)]
    document = write_site(tmp_path, sets)
    assert json.loads((tmp_path / "leaderboard.json").read_text("utf-8")) == json.loads(json.dumps(document))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "leaderboard.csv").read_text("utf-8"))))
    assert [row["name"] for row in rows] == ["'=other", "one"]
    for row, entry in zip(rows, document["entries"], strict=True):
        assert float(row["average"]) == entry["summary"]["metrics"]["average"]
    assert site(sets, document) == site(sets, document)
    assert (tmp_path / "figures" / "averages.png").read_bytes().startswith(b"\x89PNG")


def test_published_figures_are_whole_and_carry_no_rank() -> None:
    assert len(PUBLISHED) == 14
    for row in PUBLISHED:
        assert len(row) == 10
        assert all(0 <= float(value) <= 1 for name, value in row.items() if name != "name")
    entries = leaderboard_document([made_set("one", 5)])["entries"]
    assert [entry["name"] for entry in entries] == ["one"]

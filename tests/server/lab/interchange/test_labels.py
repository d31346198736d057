"""Labels of people: read from CSV and JSON, put to a vote, and refused with the line that is wrong."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.interchange.labels import COLUMNS, read_labels
from m3bench.tasks.errors import InputFileError
from tests.server.lab.reports.conftest import m3bench

ROME = {"tool": "google-maps/geocode", "arguments": {"address": "Rome"}}
ROMA = {"tool": "google-maps/geocode", "arguments": {"address": "Rome, Italy"}}
OSLO = {"tool": "google-maps/geocode", "arguments": {"address": "Oslo"}}
WIKI = {"tool": "wiki/search", "arguments": {"query": "Rome"}}


def pair(first: dict[str, Any], second: dict[str, Any], same: Any) -> dict[str, Any]:
    return {"first": first, "second": second, "same": same}


def as_json(path: Path, *pairs: dict[str, Any]) -> Path:
    path.write_text(json.dumps(pairs), "utf-8")
    return path


def as_csv(path: Path, *pairs: dict[str, Any]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for one in pairs:
            calls = [
                part for name in ("first", "second") for part in (one[name]["tool"], json.dumps(one[name]["arguments"]))
            ]
            table.writerow([*calls, one["same"]])
    return path


def test_csv_and_json_say_the_same(tmp_path: Path) -> None:
    pairs = [pair(ROME, ROMA, "yes"), pair(ROME, OSLO, "no")]
    one = read_labels(as_json(tmp_path / "labels.json", *pairs))
    assert one == read_labels(as_csv(tmp_path / "labels.csv", *pairs))
    assert one.same == (True, False)
    assert one.pairs[0][1].arguments == {"address": "Rome, Italy"}


def test_most_people_decide_and_what_decides_nothing_is_counted(tmp_path: Path) -> None:
    found = read_labels(
        as_json(
            tmp_path / "labels.json",
            *[pair(ROME, ROMA, same) for same in (True, True, False)],
            *[pair(ROME, OSLO, same) for same in (True, False)],
            pair(ROME, WIKI, False),
        )
    )
    assert (len(found.pairs), found.same, found.votes) == (1, (True,), 6)
    assert (found.divided, found.other_tools) == (1, 1)
    assert found.agreement == pytest.approx((2 / 3 + 1 / 2) / 2)


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("[", "a.json", "is not named .csv, and is not JSON"),
        ("{}", "a.json", "a list of pairs"),
        ("[]", "a.json", "no labels"),
        ('[{"first": 1}]', "a.json", "pair 1 must have first, second and same"),
        (json.dumps([pair(ROME, {"tool": 3}, True)]), "a.json", "pair 1"),
        (json.dumps([pair(ROME, ROMA, "perhaps")]), "a.json", "pair 1: same is 'perhaps'"),
        ("first_tool,same\n", "a.csv", "has no column first_arguments"),
        (",".join(COLUMNS) + "\na/b,{,a/b,{},1\n", "a.csv", "line 2: first_arguments is not JSON"),
    ],
)
def test_a_file_that_is_wrong_is_told_where(tmp_path: Path, text: str, name: str, says: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InputFileError, match=says):
        read_labels(tmp_path / name)


@pytest.mark.slow
def test_the_command_fits_a_threshold_and_says_what_the_papers_are_worth(tmp_path: Path) -> None:
    file = as_csv(
        tmp_path / "labels.csv",
        pair(ROME, ROMA, "yes"), pair(ROME, ROME, "yes"), pair(ROME, OSLO, "no"), pair(ROMA, OSLO, "no"),
        pair(ROME, WIKI, "no"),
    )  # fmt: skip
    document = json.loads(m3bench("lab", "thresholds", file, "--json").stdout)
    assert (document["pairs"], document["same"], document["left_out"]["other_tools"]) == (4, 2, 1)
    assert document["fitted"]["accuracy"] == 1.0
    assert document["weak"]["threshold"] == 0.6
    assert document["strong"]["threshold"] == 0.8
    said = m3bench("lab", "thresholds", file)
    assert f"{document['fitted']['threshold']:.3f}" in said.stdout
    assert "1 of different tools" in said.stderr
    only = m3bench("lab", "thresholds", as_csv(tmp_path / "one.csv", pair(ROME, ROMA, "yes")))
    assert only.returncode == 2
    assert "label both" in only.stderr

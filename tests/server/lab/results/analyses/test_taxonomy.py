"""The errors in TOBench's groups: each follows from a card that is made so, and no failed run is without one."""

import re
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.reports.summary import set_document
from m3bench.server.lab.results.analyses.failures import CLASSES, class_of
from m3bench.server.lab.results.analyses.taxonomy import ERRORS, GROUPS, errors, errors_of, looked_at, refusals
from m3bench.server.scorecard.model import ActualCall
from tests.server.lab.reports.made_sets import made_set
from tests.server.lab.results.analyses.test_analyses import GEOCODE, MISSED, aligned, call, reference, result

ROOT = Path(__file__).parents[5]
WRITE = call("excel/write_data_to_excel", filepath="./prices.xlsx", sheet_name="Prices", data=[[1]])
OTHER = call("excel/create_workbook", filepath="./other.xlsx")
ABOUT = call("excel/get_workbook_metadata", filepath="prices.xlsx")
DRAW = call("imagesorcery-mcp/draw_circles", input_path="media/card.png", output_path="marked.png", circles=[])
READ = call("excel/read_data_from_excel", filepath="prices.xlsx", sheet_name="Prices")


def met(*made: dict[str, Any]) -> dict[str, Any]:
    """Everything that was needed was called."""
    return {"alignment": aligned([], list(made), extra=list(range(len(made))))}


def instead(wanted: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    other = [{"reference": 0, "actual": 0, "note": "another"}]
    return {"alignment": aligned([wanted], [made], missed=[0], extra=[0], instead=other)}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"alignment": MISSED}, {"missing tool": 1}),
        ({"alignment": aligned([GEOCODE], [call("wiki/search", query="Rome")], missed=[0], extra=[0])},
         {"wrong tool": 1}),
        ({"alignment": aligned([GEOCODE], [call("google-maps/find", "unknown_tool")], missed=[0], extra=[0])},
         {"wrong tool": 1, "hallucinated tool": 1}),
        ({"alignment": MISSED, "outcomes": {}}, {"missing tool": 1, "poor plan": 1}),
        ({"alignment": MISSED, "fault": "limit"}, {"missing tool": 1, "poor plan": 1}),
        ({"alignment": MISSED, "answer": ""}, {"missing tool": 1, "poor plan": 1}),
        (met(*[call("wiki/search", query="Rome")] * 3), {"poor plan": 1}),
        (met(*[call("wiki/search", query="Rome")] * 2), {"not told": 1}),
        ({"alignment": aligned([GEOCODE], [call(GEOCODE["tool"], "invalid_arguments")], missed=[0], extra=[0])},
         {"parameter missing": 1}),
        ({"alignment": aligned([GEOCODE], [call(GEOCODE["tool"], "not_found", address="Rom")], missed=[0], extra=[0])},
         {"parameter object": 1}),
        (instead(GEOCODE, call(GEOCODE["tool"], address="Oslo")), {"parameter object": 1}),
        (instead(reference("math/subtract", minuend=3, subtrahend=1), call("math/subtract", minuend=3, subtrahend=2)),
         {"parameter range": 1}),
        (met(WRITE, OTHER), {"no verification": 1}),
        (met(WRITE, OTHER, READ), {"incomplete verification": 1}),
        (met(WRITE, READ), {"artefact misjudged": 1}),
        (met(WRITE, READ, WRITE), {"incomplete verification": 1}),
        (met(WRITE, READ, WRITE, READ), {"artefact misjudged": 1}),
        (met(WRITE, ABOUT), {"pseudo-verification": 1}),
        (met(WRITE, ABOUT, READ), {"artefact misjudged": 1}),
        (met(WRITE, READ, ABOUT), {"artefact misjudged": 1}),
        (met(WRITE, OTHER, ABOUT), {"pseudo-verification": 1}),
        (met(WRITE, {**READ, "outcome": "not_found"}), {"no verification": 1, "parameter object": 1}),
        (met(READ, WRITE), {"no verification": 1}),
        (met(DRAW), {"no verification": 1}),
        (met(DRAW, call("ocr/perform_ocr", input_data="media/card.png")), {"no verification": 1}),
        (met(DRAW, call("ocr/perform_ocr", input_data="marked.png")), {"artefact misjudged": 1}),
        (met(call("ppt/save_presentation", file_path="deck.pptx")), {"not told": 1}),
        (met(call("elsewhere/save", path="x.png")), {"not told": 1}),
        ({"alignment": aligned([GEOCODE], [WRITE], missed=[0], extra=[0])}, {"wrong tool": 1, "no verification": 1}),
        ({"alignment": aligned([], [WRITE]), "answer": ""}, {"poor plan": 1}),
        ({"alignment": aligned([], []), "sight": "unseen"}, {"picture unseen": 1}),
        ({"alignment": aligned([], []), "sight": "read by tools"}, {"picture by tools alone": 1}),
        ({"alignment": aligned([], []), "sight": "seen"}, {"not told": 1}),
        ({"alignment": aligned([], []), "hearing": "sent alone"}, {"recording misheard": 1}),
        ({**instead(GEOCODE, call(GEOCODE["tool"], address="Oslo")), "sight": "seen"},
         {"parameter object": 1, "picture misread": 1}),
    ],
)  # fmt: skip
def test_an_error_follows_from_what_was_called(given: dict[str, Any], expected: dict[str, int]) -> None:
    assert dict(errors_of(result(**given))) == expected


@pytest.mark.parametrize(
    "given",
    [
        {"success": True, "alignment": MISSED},
        {"success": None, "alignment": MISSED},
        {"alignment": MISSED, "excluded": {"world": 1}},
    ],
)
def test_a_run_whose_failure_is_not_the_agents_has_no_errors(given: dict[str, Any]) -> None:
    assert not errors_of(result(**given))


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("math/sum", {}, {"parameter missing"}),
        ("math/sum", {"numbers": "many"}, {"parameter type"}),
        ("math/sum", {"numbers": [1, "many"]}, {"parameter type"}),
        ("table-peaks/list", {"limit": 1000}, {"parameter range"}),
        ("table-peaks/sort", {"field": "colour"}, {"parameter range"}),
        ("table-peaks/get", {"key": "everest", "colour": "red"}, {"parameter hallucinated"}),
        ("table-peaks/between", {"field": "metres", "low": "x"}, {"parameter type", "parameter missing"}),
        ("table-peaks/between", {"field": "metres", "low": 2, "high": 1}, {"parameter range"}),
        ("elsewhere/tool", {"a": 1}, {"parameter range"}),
    ],
)
def test_a_refusal_is_told_by_the_schema(tool: str, arguments: dict[str, Any], expected: set[str]) -> None:
    assert refusals(tool, arguments) == expected


def test_a_look_up_has_nothing_to_verify_and_reading_about_a_file_is_no_verification() -> None:
    look_up = [ActualCall(tool="wiki/search", arguments={"query": "report.xlsx"}, outcome="success")]
    assert looked_at(look_up) is None
    made = ActualCall(tool="excel/create_workbook", arguments={"filepath": "a.xlsx"}, outcome="success")
    about = ActualCall(tool="excel/get_workbook_metadata", arguments={"filepath": "a.xlsx"}, outcome="success")
    shown = ActualCall(tool="excel/read_data_from_excel", arguments={"filepath": "a.xlsx"}, outcome="success")
    assert [looked_at(calls) for calls in ([made], [made, about], [made, about, shown])] == [
        "no verification", "pseudo-verification", "verified",
    ]  # fmt: skip
    assert list(GROUPS) == ["multimodal", "tools and plan", "parameters", "verification"]
    assert len(GROUPS["multimodal"]) == 5 + 1, "five classes, and what the record does not tell"


def test_no_failed_run_of_a_set_is_without_an_error_and_none_of_another_has_one() -> None:
    played = made_set("made", 60, skill=0.7)
    for one in played.results:
        assert bool(errors_of(one)) == (CLASSES[class_of(one)][0] is not None)
    found = errors(played.results)
    assert found
    assert list(found) == [name for name in ERRORS if name in found]
    assert all(count.runs <= count.times for count in found.values())


def test_the_document_of_a_set_has_them_by_group() -> None:
    played = made_set("made", 20, skill=0.5)
    rows = set_document(played).errors
    found = errors(played.results)
    assert {row.error: (row.runs, row.times) for row in rows} == {
        name: (count.runs, count.times) for name, count in found.items()
    }
    assert all(row.error in GROUPS[row.group] and row.means == ERRORS[row.error] for row in rows)


def test_every_error_is_in_one_group_and_on_the_page_on_scoring() -> None:
    assert [name for names in GROUPS.values() for name in names] == list(ERRORS)
    text = (ROOT / "docs" / "scoring.md").read_text("utf-8").split("### The errors of TOBench")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+) \| `([^`]+)` \| (.+) \|$", text, re.MULTILINE)
    assert rows == [(group, name, ERRORS[name]) for group, names in GROUPS.items() for name in names]

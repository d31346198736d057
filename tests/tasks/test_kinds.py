"""Every argument of every bundled tool has a kind, and every tool a role."""

from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.kinds import kinds, kinds_of


def test_kinds_and_schemas_speak_of_the_same_tools_and_arguments():
    schemas = {name: set(tool.input_schema.get("properties", {})) for name, tool in load_catalog().by_tool.items()}
    assert {name: set(found.arguments) for name, found in kinds().items()} == schemas


def test_a_tool_that_nobody_described_asks_the_world_about_things():
    assert kinds_of("elsewhere/tool").role == "knowledge"
    assert kinds_of("elsewhere/tool").kind("anything") == "identity"


def test_tools_have_the_role_that_scoring_rests_on():
    roles = {name: found.role for name, found in kinds().items()}
    assert roles["ocr/perform_ocr"] == roles["dinox-mcp/detect-all-objects"] == "perception"
    assert roles["math/sum"] == "computation"
    assert roles["wiki/summary"] == roles["google-maps/geocode"] == "knowledge"
    assert roles["excel/create_workbook"] == roles["imagesorcery-mcp/crop"] == "action"

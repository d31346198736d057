"""The catalog is complete, legal for every client, and the one place where names are coded."""

import subprocess
import sys

import pytest

from m3bench.tasks.catalog import expose, load_catalog, qualify
from m3bench.tasks.errors import InvalidArgumentsError, UnknownToolError
from m3bench.tasks.schema import KEYWORDS

CATALOG = load_catalog()


def test_there_are_27_servers_and_232_tools() -> None:
    assert (len(CATALOG.servers), len(CATALOG.tools)) == (27, 232)
    assert len({tool.exposed for tool in CATALOG.tools}) == 232


def test_a_tool_can_be_shown_to_every_client() -> None:
    for tool in CATALOG.tools:
        assert len(tool.exposed) <= 42, tool.qualified
        assert tool.exposed.replace("_", "").replace("-", "").isalnum(), tool.qualified
        assert 10 <= len(tool.description.encode()) <= 2048, tool.qualified
        assert tool.input_schema["type"] == "object", tool.qualified
        assert {*tool.annotations} >= {"readOnlyHint", "idempotentHint", "openWorldHint"}, tool.qualified
        assert tool.annotations["openWorldHint"] is False, tool.qualified
        assert not (tool.read_only and tool.annotations.get("destructiveHint", False)), tool.qualified


def test_names_survive_the_way_out_and_back() -> None:
    for tool in CATALOG.tools:
        assert qualify(expose(tool.qualified)) == tool.qualified
        assert CATALOG.tool(tool.exposed) is CATALOG.tool(tool.qualified) is tool


def test_schemas_use_only_keywords_that_are_checked() -> None:
    def walk(schema: dict[str, object]) -> None:
        assert set(schema) <= KEYWORDS, set(schema) - KEYWORDS
        for child in schema.get("properties", {}).values():  # type: ignore[attr-defined]
            walk(child)
        for child in schema.get("anyOf", []):  # type: ignore[attr-defined]
            walk(child)
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                walk(schema[key])  # type: ignore[arg-type]

    for tool in CATALOG.tools:
        walk(dict(tool.input_schema))


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownToolError, match="Did you mean wiki__summary"):
        CATALOG.tool("wiki__sumary")
    with pytest.raises(UnknownToolError, match="Did you mean wiki/summary"):
        CATALOG.tool("wiki/sumary")
    with pytest.raises(UnknownToolError, match="tools/list"):
        CATALOG.tool("qqqqqqqq")


def test_problems_name_the_field_and_what_was_expected() -> None:
    tool = CATALOG.tool("imagesorcery-mcp/draw_circles")
    arguments = {"input_path": 3, "circles": [{"center_x": 1, "center_y": "a"}]}
    with pytest.raises(InvalidArgumentsError) as caught:
        tool.check(arguments)
    assert caught.value.problems == (
        "'input_path' is the number 3 (expected string)",
        "'circles[0].radius' is required but missing (expected integer)",
        "'circles[0].center_y' is the string 'a' (expected integer)",
    )


def test_any_change_of_a_definition_changes_the_hash() -> None:
    again = type(CATALOG)(CATALOG.servers[:-1])
    assert again.hash != CATALOG.hash == type(CATALOG)(CATALOG.servers).hash


def test_loading_imports_no_server() -> None:
    code = "import sys, m3bench.tasks.catalog as catalog; catalog.load_catalog(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in loaded if name.startswith("m3bench.sandboxes")]

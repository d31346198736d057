"""What holds for every tool of every server that is ready, driven by the catalog alone."""

import inspect
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessSandbox
from m3bench.sandboxes.servers import SERVERS, load
from m3bench.tasks.catalog import Tool, load_catalog
from m3bench.tasks.examples import load_examples
from tests.sandboxes.servers.conftest import Bench

CATALOG = load_catalog()
every_server = pytest.mark.parametrize("name", sorted(SERVERS))
but_decks = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "ppt" else name for name in sorted(SERVERS)]
)
"""Where each call wants a workspace of its own: preparing decks takes long, and `test_manifest` has their bytes."""


def test_all_27_servers_and_232_tools_of_the_catalog_are_served() -> None:
    served = [(name, tool) for name in SERVERS for tool in load(name).handlers]
    assert (len(SERVERS), len(served)) == (27, 232)
    assert CATALOG.ready == CATALOG


def test_a_server_is_ready_exactly_when_it_has_a_module() -> None:
    assert {server.name for server in CATALOG.servers if server.ready} == set(SERVERS)


@every_server
def test_a_server_has_a_function_for_each_tool_and_no_other(name: str) -> None:
    server = load(name)
    tools = CATALOG.by_name[name].tools
    assert len(server.handlers) == len(tools)
    for tool in tools:
        server.handler(tool.name)


def test_parameters_and_defaults_are_those_of_the_schema() -> None:
    for tool in CATALOG.ready.tools:
        parameters = dict(inspect.signature(load(tool.server).handler(tool.name).function).parameters)
        parameters.pop("context", None)
        declared = tool.input_schema.get("properties", {})
        required = tool.input_schema.get("required", ())
        assert set(parameters) == set(declared), tool.qualified
        for name, parameter in parameters.items():
            where = (tool.qualified, name)
            assert (parameter.default is inspect.Parameter.empty) == (name in required), where
            if "default" in declared[name]:
                assert parameter.default == declared[name]["default"], where


@pytest.mark.sample(6)
@but_decks
def test_a_valid_call_succeeds_with_the_same_bytes_twice(name: str, prepared: Callable[[str], Bench]) -> None:
    untouched = _contents(prepared(name).folder)
    for tool in CATALOG.by_name[name].tools:
        arguments = load_examples(name).calls[tool.name]
        first, second = prepared(name), prepared(name)
        reply = first.reply(tool.qualified, arguments)
        assert reply.outcome == "success", (tool.qualified, reply)
        assert reply.result["isError"] is False, tool.qualified
        same = reply == second.reply(tool.qualified, arguments)
        assert same, f"{tool.qualified} gives other bytes the second time"
        assert _contents(first.folder) == _contents(second.folder), tool.qualified
        if tool.read_only:
            assert _contents(first.folder) == untouched, tool.qualified


@every_server
def test_a_bad_call_is_refused_by_name_of_the_field(name: str, prepared: Callable[[str], Bench]) -> None:
    bench = prepared(name)
    before = _contents(bench.folder)
    for tool in CATALOG.by_name[name].tools:
        for field, arguments in _bad_calls(tool):
            reply = bench.reply(tool.qualified, arguments)
            assert reply.outcome == "invalid_arguments", (tool.qualified, field, reply)
            assert reply.result["isError"] is True, (tool.qualified, field)
            assert f"'{field}'" in reply.result["content"][0]["text"], (tool.qualified, field)
    assert _contents(bench.folder) == before


@pytest.mark.parametrize("arguments", [b'["numbers"]', b'"numbers"', b"{"], ids=["array", "string", "broken"])
def test_arguments_that_are_no_object_are_refused(arguments: bytes, tmp_path: Path) -> None:
    """With these, each tool has at least three bad calls, even one that takes no arguments."""

    async def refused() -> None:
        sandbox = InProcessSandbox(SandboxSpec(workspace=tmp_path))
        for tool in CATALOG.ready.tools:
            reply = await sandbox.call(tool.qualified, arguments)
            assert reply.outcome == "invalid_arguments", tool.qualified
            result = json.loads(reply.result)
            assert result["isError"] is True, tool.qualified
            assert result["content"][0]["text"].startswith(f"Invalid arguments for tool {tool.qualified}: ")

    anyio.run(refused)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sample(5)
@but_decks
def test_undeclared_arguments_are_treated_as_the_server_does(name: str, prepared: Callable[[str], Bench]) -> None:
    for tool in CATALOG.by_name[name].tools:
        arguments = {**load_examples(name).calls[tool.name], "no_such_argument": 1}
        expected = "invalid_arguments" if tool.strict else "success"
        reply = prepared(name).reply(tool.qualified, arguments)
        assert reply.outcome == expected, tool.qualified
        assert "no_such_argument" in reply.result["content"][-1]["text"], tool.qualified


def _bad_calls(tool: Tool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Field and arguments: each required one left out, each one of a wrong type, each enum with a stranger."""
    good = dict(load_examples(tool.server).calls[tool.name])
    properties = tool.input_schema.get("properties", {})
    for field in tool.input_schema.get("required", ()):
        yield field, {name: value for name, value in good.items() if name != field}
    for field, schema in properties.items():
        wrong = next((value for value in ("a string", 12.5, ["x"], {"x": 1}) if not _fits(schema, value)), None)
        if wrong is not None:
            yield field, {**good, field: wrong}
        if "enum" in schema:
            yield field, {**good, field: "no such choice"}


def _fits(schema: dict[str, Any], value: object) -> bool:
    kinds = {branch.get("type") for branch in schema.get("anyOf", [schema])}
    names = {str: "string", float: "number", list: "array", dict: "object"}
    return None in kinds or names[type(value)] in kinds


def _contents(folder: Path) -> dict[str, str]:
    """Every file but the servers' own state, by hash."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }

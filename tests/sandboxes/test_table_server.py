"""The servers of tables: hundreds of tools that compute their answers from the world's records."""

import json
from typing import Any

import pytest

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher
from m3bench.sandboxes.offer import load, offer
from m3bench.sandboxes.workspace import Workspace
from m3bench.sandboxes.world import tables
from m3bench.tasks.table_tools import PREFIX, TableEntry, table_entries, whole_catalog

ENTRIES = list(table_entries().values())
NAMES = [entry.server for entry in ENTRIES]
TOOLS = [tool for server in whole_catalog().servers if server.name.startswith(PREFIX) for tool in server.tools]


@pytest.fixture(scope="module")
def dispatcher(tmp_path_factory: pytest.TempPathFactory) -> Dispatcher:
    return Dispatcher(offer(NAMES), Context(workspace=Workspace(tmp_path_factory.mktemp("tables"))), load)


async def ask(dispatcher: Dispatcher, tool: str, **arguments: Any) -> Any:
    found = await dispatcher.call(tool, arguments)
    assert found.outcome == "success", found.result
    return json.loads(found.result["content"][0]["text"])


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_what_is_said_of_a_table_is_so(entry: TableEntry) -> None:
    records = tables.load(entry.table)
    kinds = {"string": str, "number": int | float, "boolean": bool, "list": list}
    for name, kind in entry.fields.items():
        values = [record[name] for record in records if record.get(name) is not None]
        assert values, f"no record has {name}"
        assert all(isinstance(value, kinds[kind]) for value in values), name
    assert len({str(record[entry.key]) for record in records}) == len(records)


def example(tool: Any, entry: TableEntry) -> dict[str, Any]:
    """Arguments that fit a tool, with a key and a value that are there."""
    first, *_, last = tables.load(entry.table)
    made: dict[str, Any] = {}
    for name, schema in tool.input_schema["properties"].items():
        if "enum" in schema:
            made[name] = schema["enum"][0]
        elif name in ("key", "first", "second"):
            made[name] = str((last if name == "second" else first)[entry.key])
        elif name in ("lat", "lng", "low"):
            made[name] = 0
        elif name == "high":
            made[name] = 1_000_000
        elif name in ("text", "value"):
            made[name] = str(first[entry.key])
    return made


@pytest.mark.sample(8)
@pytest.mark.anyio
@pytest.mark.parametrize("name", NAMES)
async def test_every_tool_of_a_table_answers_twice_alike(dispatcher: Dispatcher, name: str) -> None:
    entry = table_entries()[name]
    for tool in dispatcher.catalog.by_name[name].tools:
        arguments = example(tool, entry)
        first = await dispatcher.call(tool.qualified, arguments)
        assert first.outcome == "success", (tool.qualified, first.result)
        assert (await dispatcher.call(tool.qualified, arguments)).render() == first.render()


@pytest.mark.anyio
async def test_answers_are_computed_from_the_records(dispatcher: Dispatcher) -> None:
    peaks = tables.load("peaks")
    everest = await ask(dispatcher, "table-peaks/get", key="Everest")
    assert (everest["name"], everest["metres"]) == ("Mount Everest", 8849)
    highest = await ask(dispatcher, "table-peaks/sort", field="metres", descending=True, limit=3)
    assert [row["metres"] for row in highest["records"]] == sorted((peak["metres"] for peak in peaks), reverse=True)[:3]
    summary = await ask(dispatcher, "table-peaks/summarize", field="metres")
    assert summary["mean"] == pytest.approx(sum(peak["metres"] for peak in peaks) / len(peaks))
    nepal = await ask(dispatcher, "table-peaks/filter", field="country", value="np", limit=100)
    assert {row["id"] for row in nepal["records"]} == {peak["id"] for peak in peaks if peak.get("country") == "NP"}
    range_ = await ask(dispatcher, "table-peaks/between", field="metres", low=8000, high=9000, limit=100)
    assert range_["found"] == sum(8000 <= peak["metres"] <= 9000 for peak in peaks)
    near = await ask(dispatcher, "table-peaks/nearest", lat=27.99, lng=86.92, limit=1)
    assert (near["records"][0]["id"], near["records"][0]["kilometres"] < 2) == ("everest", True)
    counts = await ask(dispatcher, "table-countries/count", field="continent", limit=1)
    continents = [country["continent"] for country in tables.load("countries") if country.get("continent")]
    assert counts["counts"][0]["count"] == max(map(continents.count, set(continents)))
    found = await ask(dispatcher, "table-countries/find", text="andorra vella")
    assert [row["id"] for row in found["records"]] == ["AD"]
    two = await ask(dispatcher, "table-countries/compare", first="AD", second="FR")
    assert (two["currency"]["same"], two["capital"]["second"]) == (True, "Paris")
    page = await ask(dispatcher, "table-peaks/list", offset=len(peaks) - 1)
    assert [row["id"] for row in page["records"]] == [peaks[-1]["id"]]
    assert (await ask(dispatcher, "table-peaks/describe"))["records"] == len(peaks)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "outcome", "says"),
    [
        ("table-peaks/get", {"key": "Olympus Mons"}, "not_found", "find shows which there are"),
        ("table-peaks/sort", {"field": "colour"}, "invalid_arguments", "colour"),
        ("table-peaks/between", {"field": "metres", "low": 2, "high": 1}, "invalid_arguments", "must not be greater"),
        ("table-peaks/list", {"limit": 1000}, "invalid_arguments", "limit"),
        ("table-peaks/get", {}, "invalid_arguments", "key"),
    ],
)
async def test_what_cannot_be_answered_says_why(
    dispatcher: Dispatcher, tool: str, arguments: dict[str, Any], outcome: str, says: str
) -> None:
    found = await dispatcher.call(tool, arguments)
    assert found.outcome == outcome
    assert found.result["isError"]
    assert says in found.result["content"][0]["text"]


def test_ordinary_sandboxes_offer_no_tables() -> None:
    assert not any(server.name.startswith(PREFIX) for server in offer(None).servers)
    assert len(TOOLS) > 300
    assert set(offer(["math", "table-peaks"]).by_name) == {"math", "table-peaks"}

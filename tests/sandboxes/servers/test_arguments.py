"""Every argument of every tool changes what the tool does, or is listed as one that does not."""

from pathlib import Path

import pytest

from m3bench.tasks.catalog import load_catalog
from tests.sandboxes.servers.arguments import WITHOUT_EFFECT, Pairs, read

TABLE = read()
ROWS = [(tool, name, pair) for tool, arguments in TABLE.items() for name, pair in arguments.items()]

pytestmark = pytest.mark.anyio


def test_the_table_has_every_argument_and_a_reason_for_each_that_changes_nothing() -> None:
    tools = load_catalog().ready.tools
    assert {tool.qualified: set(tool.input_schema.get("properties", {})) for tool in tools} == {
        tool: set(arguments) for tool, arguments in TABLE.items()
    }
    unshown = {
        f"{tool} {name}" for tool, arguments in TABLE.items() for name, pair in arguments.items() if pair is None
    }
    assert unshown == set(WITHOUT_EFFECT)


@pytest.mark.parametrize(
    "server",
    [
        pytest.param(server.name, marks=[] if server.name in ("math", "nationalparks") else pytest.mark.slow)
        for server in load_catalog().ready.servers
    ],
)
async def test_two_values_of_an_argument_do_two_things(server: str, tmp_path: Path) -> None:
    bench = Pairs(server, tmp_path)
    await bench.prepare()
    catalog = load_catalog()
    shown = [row for row in ROWS if row[0].partition("/")[0] == server and row[2] is not None]
    same = [row for row in shown if not await bench.differs(catalog.tool(row[0]), row[1], row[2])]
    assert same == []

"""The MCP server that clients see, through the SDK's own client in memory."""

from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from m3bench.proxy.front import Front, client_name
from m3bench.proxy.protocol.sdk import Context
from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.handlers import is_wanted
from m3bench.proxy.transports.sdk_server import sdk_server
from tests.proxy.house import MODERN, House

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["legacy", MODERN])


def connect(house: House, era: str, **given: Any) -> Client:
    async def seat_of(context: Context) -> Seat:
        return house.seat

    return Client(sdk_server(house.front, seat_of), mode=era, **given)


@ERAS
async def test_tools_are_listed_and_called(era: str) -> None:
    house = House()
    async with connect(house, era) as client:
        listed = (await client.list_tools()).tools
        assert "math__sum" in [tool.name for tool in listed]
        assert listed[0].output_schema is not None
        found = await client.call_tool("math__sum", {"numbers": [4, 8, 15]})
        assert found.content[0].text == "27 — é"
        with pytest.raises(MCPError, match="gone"):
            await client.call_tool("far__error", {})
    assert house.record.requests[0][0].caller.revision == ("2025-11-25" if era == "legacy" else MODERN)


@ERAS
async def test_without_structured_content_none_is_declared_and_none_comes(era: str) -> None:
    house = House(content_only=True)
    async with connect(house, era) as client:
        assert all(tool.output_schema is None for tool in (await client.list_tools()).tools)
        assert (await client.call_tool("start_task", {})).structured_content is None
    async with connect(House(), era) as client:
        assert (await client.call_tool("start_task", {})).structured_content == {"seat": "seat"}


@ERAS
async def test_prompts_resources_and_completions_come_from_whoever_is_served(era: str) -> None:
    house = House()
    async with connect(house, era) as client:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["hello"]
        said = (await client.get_prompt("hello", {"to": "them"})).messages[0].content
        assert said.text == "hello them"
        with pytest.raises(MCPError, match="Unknown prompt 'goodbye'"):
            await client.get_prompt("goodbye")
        assert [str(one.uri) for one in (await client.list_resources()).resources] == ["m3bench://one"]
        assert len((await client.list_resource_templates()).resource_templates) == 1
        assert (await client.read_resource("m3bench://one")).contents[0].text == "one"
        with pytest.raises(MCPError) as missing:
            await client.read_resource("m3bench://two")
        assert missing.value.error.code == (-32002 if era == "legacy" else -32602)
        for begun, values in (("w", ["world"]), ("x", [])):
            argument = {"name": "to", "value": begun}
            found = await client.complete(types.PromptReference(name="hello"), argument)
            assert found.completion.values == values


async def test_the_log_level_is_passed_on() -> None:
    house = House()
    async with connect(house, "legacy") as client:
        with pytest.warns(MCPDeprecationWarning):
            await client.set_logging_level("error")
    assert house.shown.level == "error"


async def test_notifications_of_a_call_reach_the_client() -> None:
    seen: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with connect(House(), "legacy") as client:
        await client.call_tool("far__tool", {}, progress_callback=hear)
    assert seen == [0.5]


def test_a_front_names_its_server() -> None:
    front: Front = House().front
    assert front.stamp == {"name": "m3bench", "title": "m3bench", "version": "0"}


@pytest.mark.parametrize(
    ("info", "name"), [({"name": "a", "version": "1"}, "a 1"), ({"name": "a"}, "a"), (None, ""), ([1], "")]
)
def test_a_client_is_called_by_name_and_version(info: object, name: str) -> None:
    assert client_name(info) == name


def test_log_messages_are_asked_for_in_the_newest_revision() -> None:
    level = {"level": "error"}
    assert is_wanted("notifications/message", level, "2025-11-25", {})
    assert not is_wanted("notifications/message", level, MODERN, {})
    assert is_wanted("notifications/message", level, MODERN, {"io.modelcontextprotocol/logLevel": "info"})
    assert is_wanted("notifications/progress", {}, MODERN, {})

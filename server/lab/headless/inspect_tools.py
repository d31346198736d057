"""The tools of a seat, as Inspect handles tools.

What the model is shown and what is run are two things: it sees the schemas of its profile, and whatever it then calls,
a tool that does not exist or arguments that fit no schema included, goes to the benchmark server, which says what is
wrong and keeps it on record. Inspect by itself would answer such calls and nobody would count them.
"""

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, Content, ContentImage, ContentText, execute_tools
from inspect_ai.tool import Tool as InspectTool
from inspect_ai.tool import ToolCall, ToolDef, ToolError, ToolInfo, ToolParams, ToolSource
from mcp_types import AudioContent, CallToolResult, ImageContent, TextContent, Tool

from m3bench.server.lab.headless.inspect_listen import HEARD, illegal
from m3bench.server.lab.headless.inspect_seat import SampleSeat, text_of
from m3bench.server.lab.headless.replies import WrittenCall
from m3bench.server.store.records import RUN_TOOLS
from m3bench.tasks.catalog import SEPARATOR
from m3bench.tasks.errors import first_cause

SUBMIT = "submit"
"""With this the model ends its work; it is the solver's, and never reaches the server."""

MAX_CHARACTERS = 100_000
"""Of one text in a result; the rest would only push the question out of a model's window."""

MAX_IMAGE_BYTES = 5_000_000
"""What every provider takes."""


def shown(tools: Sequence[Tool]) -> list[ToolInfo]:
    """Tools as a model is shown them."""
    return [
        ToolInfo(
            name=tool.name,
            description=tool.description or tool.name,
            parameters=ToolParams.model_validate(tool.input_schema),
        )
        for tool in tools
    ]


class SeatTools(ToolSource):
    """Whatever the model called last, ready to be run on its seat."""

    def __init__(self, seat: SampleSeat, *, sighted: bool = True) -> None:
        self._seat = seat
        self._sighted = sighted
        self._mounted: frozenset[str] | None = None
        self._names: list[str] = []
        self._sent: dict[tuple[str, str], list[str]] = {}
        """The calls of the last message as they were sent, by tool and what they mean."""
        self._unread: list[tuple[str, str]] = []
        """Calls of the last message that cannot be read: tool and text. They go out together with the others."""

    @property
    def listed(self) -> tuple[Tool, ...]:
        """What the profile shows; of mounted servers alone, where some were chosen."""
        if self._mounted is None:
            return self._seat.tools
        return tuple(tool for tool in self._seat.tools if tool.name.partition(SEPARATOR)[0] in self._mounted)

    def mount(self, servers: Sequence[str]) -> None:
        """Show the tools of these servers alone from now on."""
        self._mounted = frozenset(servers)

    @property
    def step(self) -> int:
        """How many turns with calls there were."""
        return self._seat.step

    async def turn(self, message: ChatMessageAssistant) -> None:
        """A new step begins with what the model has just said."""
        calls = message.tool_calls or []
        heard = HEARD.get()
        sent = heard.arguments if heard is not None else {}
        self._sent, self._unread = {}, []
        self._names = list(dict.fromkeys(call.function for call in calls if call.function != SUBMIT))
        for call in calls:
            self._take(call, sent.get(call.id))
        run = sum(not call.parse_error and call.function not in RUN_TOOLS for call in calls)
        self._seat.turn(len(self._unread) + run)
        if not run:
            await self._send()

    def _take(self, call: ToolCall, text: str | None) -> None:
        """Undo what was repaired of a call: what the model sent is what is run, or what is refused and on record."""
        problem = illegal(text) if text is not None else ""
        if text is not None and not problem:
            call.arguments = json.loads(text) if text.strip() else {}
            call.parse_error = None
            self._sent.setdefault(_meaning(call.function, call.arguments), []).append(text)
        elif problem or call.parse_error:
            call.arguments = {}
            call.parse_error = call.parse_error or problem
            name = "" if call.function in RUN_TOOLS else call.function
            self._unread.append((name, text if text is not None else call.parse_error))

    async def _send(self, tool: str | None = None, arguments: object = None, text: str | None = None) -> CallToolResult:
        """Make a call, and with it those of its turn that cannot be read."""
        unread, self._unread = self._unread, []
        found = CallToolResult(content=[])
        try:
            async with anyio.create_task_group() as together:
                for name, broken in unread:
                    together.start_soon(self._seat.call, name, broken)
                if tool is not None:
                    found = await self._seat.call(tool, arguments, text)
        except BaseExceptionGroup as group:
            raise first_cause(group) from group
        return found

    async def attempt(self, text: str) -> None:
        """A turn in which calls were meant and cannot be read: put that on record, as a step of its own."""
        self._seat.turn(1)
        await self._seat.call("", text)

    async def run(self, message: ChatMessageAssistant) -> list[ChatMessageTool]:
        """Run the calls of a message together; a result for each, in their order."""
        found = await execute_tools([message], self)
        return [result for result in found.messages if isinstance(result, ChatMessageTool)]

    async def tools(self) -> list[InspectTool]:
        """What the last message calls, whether it exists or not."""
        return [self._tool(name) for name in self._names]

    def _tool(self, name: str) -> InspectTool:
        async def execute(**kwargs: Any) -> list[Content]:
            if name in RUN_TOOLS:
                raise ToolError(f"Unknown tool {name!r}.")
            sent = self._sent.get(_meaning(name, kwargs))
            result = await self._send(name, kwargs, sent.pop(0) if sent else None)
            if result.is_error:
                raise ToolError(_clip(text_of(result)))
            return contents(result, sighted=self._sighted)

        return ToolDef(
            execute, name=name, description=name, parameters=ToolParams(additionalProperties=True), parallel=True
        ).as_tool()


def shown_image(block: ImageContent) -> ContentImage:
    """A picture as a model is shown it."""
    return ContentImage(image=f"data:{block.mime_type};base64,{block.data}")


def contents(result: CallToolResult, *, sighted: bool = True) -> list[Content]:
    """A result as a model is shown it; one that sees no pictures is told that there is one."""
    parts: list[Content] = []
    for block in result.content:
        match block:
            case TextContent():
                parts.append(ContentText(text=_clip(block.text)))
            case ImageContent() if not sighted:
                parts.append(ContentText(text=f"({block.mime_type}, a picture that cannot be shown to you)"))
            case ImageContent() if len(b64decode(block.data)) <= MAX_IMAGE_BYTES:
                parts.append(shown_image(block))
            case ImageContent() | AudioContent():
                parts.append(ContentText(text=f"({block.mime_type}, too large or of a kind that cannot be shown)"))
            case _:
                parts.append(ContentText(text=_clip(block.model_dump_json(by_alias=True, exclude_none=True))))
    return parts or [ContentText(text="(the tool returned nothing)")]


def calls_of(calls: Sequence[WrittenCall], step: int) -> list[ToolCall]:
    """Calls that were written as text, as Inspect knows calls."""
    return [
        ToolCall(id=f"call-{step}-{number}", function=tool, arguments=arguments)
        for number, (tool, arguments) in enumerate(calls, 1)
    ]


def _meaning(tool: str, arguments: Mapping[str, object]) -> tuple[str, str]:
    return tool, json.dumps(arguments, sort_keys=True, default=str)


def _clip(text: str) -> str:
    rest = len(text) - MAX_CHARACTERS
    return f"{text[:MAX_CHARACTERS]}\n[{rest} more characters are not shown]" if rest > 0 else text

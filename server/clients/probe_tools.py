"""The probe's tools, and the list that they are shown in.

They lead a model through the probe, call by call, and put code words where clients lose things. To the router they are
an upstream, because what they do needs the call's `_meta` and the way back to the client. Texts are written for the
model that reads them.

The list has the probe's own tools, those of a benchmark profile as padding, and marks between them. Padding makes the
list as long as it will be in the benchmark. A mark is a tool with a code word in its name: a model that types the word
back sees the list at least that far. The list has two pages, the second with one mark alone. It is the same in every
process, because some clients keep tool lists from one day to the next.
"""

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.tool_calls import Relay, ToolAnswer, error_result, input_schema
from m3bench.proxy.seat import Seat
from m3bench.server.clients.probe_notes import CodeWords, Mark, Notes, Secrets, picture
from m3bench.tasks.coercion import read_arguments
from m3bench.tasks.eager import in_task
from m3bench.tasks.errors import InvalidArgumentsError
from m3bench.tasks.schema import problems

PLACES = (40, 80, 128, 200)
"""Where marks are, besides the ends of the pages: near the points at which clients are known to stop."""

MARK = "probe_mark_"
SECOND = "page-2"
"""The cursor of the second page."""

_HINTS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
_WRITING = {**_HINTS, "readOnlyHint": False, "destructiveHint": False}
_EMPTY = {"type": "object", "properties": {}}


def _tool(name: str, description: str, schema: Json | None = None) -> Json:
    return {"name": name, "description": description, "inputSchema": schema or _EMPTY, "annotations": _HINTS}


def _writing(name: str, description: str) -> Json:
    """A tool that says of itself that it is not read-only: many clients send those one by one."""
    return {**_tool(name, description), "annotations": _WRITING}


_FINISH: Json = {
    "type": "object",
    "properties": {
        "words": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Every code word that you saw yourself, in any order; no guesses",
        },
        "tools": {
            "type": "integer",
            "minimum": 0,
            "description": "How many tools of this server you can see, counted as well as you can",
        },
        "long": {
            "type": "string",
            "enum": ["whole", "cut", "file", "nothing"],
            "description": "How the text of probe_long reached you: whole, cut short, as a file to be read, or not",
        },
    },
    "required": ["words"],
}

DEFINITIONS = (
    _tool(
        "probe_start",
        "Begin the probe of this client: what it passes on between you and a server. Call this first, then do what it "
        "says; it takes about eleven calls.",
    ),
    _tool("probe_picture", "Step 1 of the probe: a picture with a code word in it."),
    _tool("probe_mixed", "Step 2 of the probe: a text, a picture and data in one result."),
    _tool("probe_long", "Step 3 of the probe: a long text with markers in it."),
    _tool("probe_pair_a", "Step 4 of the probe: call it together with probe_pair_b, both in one turn."),
    _tool("probe_pair_b", "Step 4 of the probe: call it together with probe_pair_a, both in one turn."),
    _writing(
        "probe_note_a", "Step 5 of the probe: keeps a note. Call it together with probe_note_b, both in one turn."
    ),
    _writing(
        "probe_note_b", "Step 5 of the probe: keeps a note. Call it together with probe_note_a, both in one turn."
    ),
    _tool("probe_slow", "Step 6 of the probe: takes some seconds to answer."),
    _tool("probe_flaky", "Step 7 of the probe: fails on purpose. Call it once and do not repeat it."),
    _tool("probe_finish", "Last step of the probe: tell what you saw, and get the result.", _FINISH),
)

OWN = frozenset(str(tool["name"]) for tool in DEFINITIONS)


@dataclass(frozen=True, kw_only=True)
class ProbeListing:
    """The two pages."""

    pages: tuple[tuple[Json, ...], tuple[Json, ...]]
    marks: tuple[Mark, ...]

    @property
    def names(self) -> frozenset[str]:
        """Every tool that is shown."""
        return frozenset(str(tool["name"]) for page in self.pages for tool in page)


def listing(padding: Sequence[Json]) -> ProbeListing:
    """The list with these tools as padding."""
    words = CodeWords("marks")
    tools = [*DEFINITIONS, *padding]
    marks: list[Mark] = []
    for place in (*(place for place in PLACES if place <= len(tools)), None):
        marks.append(Mark(word=words.next(), place=place or len(tools) + 1, page=1))
        tools.insert(marks[-1].place - 1, _mark(marks[-1]))
    marks.append(Mark(word=words.next(), place=len(tools) + 1, page=2))
    return ProbeListing(pages=(tuple(tools), (_mark(marks[-1]),)), marks=tuple(marks))


def _mark(mark: Mark) -> Json:
    return _tool(f"{MARK}{mark.word.lower()}", "Need not be called: whoever sees its name sees the list this far.")


INSTRUCTIONS = """This server finds out what your client passes on between you and an MCP server: pictures, long \
texts, structured data, calls at once. Call probe_start, then do what it says; it takes about eleven calls. Do nothing \
else with the tools of this server."""

_OPENING = """Let us see what reaches you. Some results hold code words: six capital letters. Keep every one you see; \
you type them back in the end. Do not guess any, and use no other tools than these. The first word is {control}.

Look at the list of this server's tools too: what follows probe_mark_ in a name is a code word as well. Keep those you \
see, and count this server's tools.

Now, in this order:
1. probe_picture
2. probe_mixed
3. probe_long
4. probe_pair_a and probe_pair_b, both in one turn: neither needs the other's result
5. probe_note_a and probe_note_b, both in one turn too
6. probe_slow
7. probe_flaky, once: it fails on purpose, do not repeat it
8. probe_finish with the words and the count, even when some of the steps failed"""

_SCHEMAS = {str(tool["name"]): input_schema(tool) for tool in DEFINITIONS}
_PARTNER = {
    "probe_pair_a": "probe_pair_b",
    "probe_pair_b": "probe_pair_a",
    "probe_note_a": "probe_note_b",
    "probe_note_b": "probe_note_a",
}
_AFTER = {"probe_pair": "probe_note_a and probe_note_b, both in one turn", "probe_note": "probe_slow"}
"""What comes when both of a pair are answered."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a person may choose of a probe."""

    long: int = 100_000
    """Characters of the long text."""
    slow: float = 5.0
    """Seconds the slow tool takes."""
    pair: float = 2.0
    """Seconds one of a pair waits for the other."""
    seed: str = ""
    """Where code words come from."""
    profile: str | None = None
    """The tools that pad the list; what fits the client when left out."""


Finish = Callable[[], list[str]]
"""Draws up the card and keeps it; returns its lines."""


class ProbeTools:
    """Answers the probe's tools to one client.

    Args:
        notes: What is known of the client.
        setup: How the probe was set up.
        announce: Tells subscribers of the newest revision that the tool list has changed.
        finish: Ends the probe.
    """

    def __init__(self, notes: Notes, setup: Setup, announce: Callable[[], Awaitable[None]], finish: Finish) -> None:
        self._notes = notes
        self._setup = setup
        self._announce = announce
        self._finish = finish
        self._arrived = {name: anyio.Event() for name in _PARTNER}

    def owns(self, seat: Seat, name: str) -> bool:
        """Whether a tool is the probe's own."""
        return name in OWN

    def qualified(self, seat: Seat, name: str) -> str:
        """Names have no other form."""
        return name

    def schema(self, name: str) -> Json | None:
        """A tool's input schema."""
        return _SCHEMAS.get(name)

    async def call(
        self, seat: Seat, run: str | None, name: str, params: Mapping[str, Any], relay: Relay | None, seconds: float
    ) -> ToolAnswer:
        """Answer a call. The router's limit does not hold here: how long a client waits is what is measured."""
        params = {**params, "arguments": read_arguments(_SCHEMAS[name], params["arguments"]).arguments}
        found = problems(_SCHEMAS[name], params["arguments"], strict=True)
        if found:
            return ToolAnswer(
                outcome="invalid_arguments", result=error_result(str(InvalidArgumentsError(name, found)))
            )  # fmt: skip
        await in_task()
        if name == "probe_start":
            return await self._start(relay)
        secrets = self._notes.secrets
        if secrets is None:
            return ToolAnswer(outcome="failed", result=error_result("The probe has not begun: call probe_start first."))
        match name:
            case "probe_picture":
                return _result(_text("Read the code word in this picture. Next: probe_mixed."), _image(secrets.picture))
            case "probe_mixed":
                return self._mixed(secrets)
            case "probe_long":
                head = "A long text follows. Keep every MARKER word in it that you see. Next: both of the pair.\n\n"
                return _result(_text(head + secrets.long.text))
            case "probe_pair_a" | "probe_pair_b" | "probe_note_a" | "probe_note_b":
                return await self._pair(name)
            case "probe_slow":
                return await self._slow(secrets, params["_meta"].get("progressToken"), relay)
            case "probe_flaky":
                return self._flaky()
            case _:
                self._notes.said = params["arguments"]
                lines = self._finish()
                return _result(_text("\n".join(["The probe is complete; tell the person what it found.", "", *lines])))

    async def _start(self, relay: Relay | None) -> ToolAnswer:
        notes = self._notes
        taken = [mark.word for mark in notes.marks]
        secrets = Secrets.draw(f"{self._setup.seed}/{notes.client}/{notes.round}", self._setup.long, taken)
        notes.begin(secrets)
        self._arrived = {name: anyio.Event() for name in _PARTNER}
        if notes.revision in MODERN_PROTOCOL_VERSIONS:
            if notes.listens:
                notes.tell()
                await self._announce()
        elif relay is not None:
            notes.tell()
            await relay.notify("notifications/tools/list_changed", {})
        return _result(_text(_OPENING.format(control=secrets.control)))

    def _mixed(self, secrets: Secrets) -> ToolAnswer:
        text = (
            f"This text has the code word {secrets.mixed_text}; the picture beside it and the structured data have one "
            "each, if they reach you. Next: probe_long."
        )
        return _result(
            _text(text), _image(secrets.mixed_picture), data={"code_word": secrets.mixed_data, "next": "probe_long"}
        )

    async def _pair(self, name: str) -> ToolAnswer:
        """Wait a little for the partner: a client that sends both at once gets both answers at once."""
        other = self._arrived[_PARTNER[name]]
        self._arrived[name].set()
        with anyio.move_on_after(self._setup.pair):
            await other.wait()
        return _result(_text(f"Noted. When both of the pair are answered, next: {_AFTER[name[:-2]]}."))

    async def _slow(self, secrets: Secrets, token: object, relay: Relay | None) -> ToolAnswer:
        seconds = self._setup.slow
        begun = anyio.current_time()
        while (left := begun + seconds - anyio.current_time()) > 0:
            await anyio.sleep(min(1.0, left))
            if isinstance(token, int | str) and relay is not None:
                done = min(anyio.current_time() - begun, seconds)
                params = {"progressToken": token, "progress": round(done, 1), "total": seconds}
                await relay.notify("notifications/progress", params)
        return _result(_text(f"That took {seconds:g} seconds. The code word is {secrets.slow}. Next: probe_flaky."))

    def _flaky(self) -> ToolAnswer:
        if len(self._notes.of("probe_flaky")) > 1:
            return _result(_text("This call was repeated; that is noted. Next: probe_finish."))
        text = "This call failed on purpose. Do not repeat it. Next: probe_finish."
        return ToolAnswer(outcome="failed", owner="upstream", result=error_result(text))


class Padding:
    """The tools that are there to be seen alone; to the router they are tools of our own."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, object], client: str = "") -> ToolAnswer:
        """Say what the tool is for."""
        text = "This tool is only shown, so that the list has its usual length: the probe goes on with its own tools."
        return ToolAnswer(outcome="failed", result=error_result(text))


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _image(word: str) -> dict[str, str]:
    return {"type": "image", "data": b64encode(picture(word)).decode(), "mimeType": "image/png"}


def _result(*blocks: dict[str, str], data: Mapping[str, str] | None = None) -> ToolAnswer:
    found: dict[str, object] = {"content": list(blocks), "isError": False}
    if data is not None:
        found["structuredContent"] = data
    return ToolAnswer(outcome="success", result=json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode())

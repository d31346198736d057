"""The probe's tools: they lead a model through the probe, call by call, and put code words where clients lose things.

To the router they are an upstream, because what they do needs the call's `_meta` and the way back to the client.
Texts are written for the model that reads them.
"""

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.call import Answer, Relay, error_result
from m3bench.proxy.seat import Seat
from m3bench.server.clients.probe_listing import DEFINITIONS, OWN
from m3bench.server.clients.probe_notes import Notes, Secrets
from m3bench.server.clients.probe_words import picture
from m3bench.tasks.coercion import read_arguments
from m3bench.tasks.errors import InvalidArgumentsError
from m3bench.tasks.schema import problems

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

_SCHEMAS = {tool["name"]: tool["inputSchema"] for tool in DEFINITIONS}
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

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """A tool's input schema."""
        return _SCHEMAS.get(name)

    async def call(
        self, seat: Seat, run: str | None, name: str, params: Mapping[str, Any], relay: Relay | None, seconds: float
    ) -> Answer:
        """Answer a call. The router's limit does not hold here: how long a client waits is what is measured."""
        params = {**params, "arguments": read_arguments(_SCHEMAS[name], params["arguments"]).arguments}
        found = problems(_SCHEMAS[name], params["arguments"], strict=True)
        if found:
            return Answer(
                outcome="invalid_arguments", result=error_result(str(InvalidArgumentsError(name, found)))
            )  # fmt: skip
        if name == "probe_start":
            return await self._start(relay)
        secrets = self._notes.secrets
        if secrets is None:
            return Answer(outcome="failed", result=error_result("The probe has not begun: call probe_start first."))
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

    async def _start(self, relay: Relay | None) -> Answer:
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

    def _mixed(self, secrets: Secrets) -> Answer:
        text = (
            f"This text has the code word {secrets.mixed_text}; the picture beside it and the structured data have one "
            "each, if they reach you. Next: probe_long."
        )
        return _result(
            _text(text), _image(secrets.mixed_picture), data={"code_word": secrets.mixed_data, "next": "probe_long"}
        )

    async def _pair(self, name: str) -> Answer:
        """Wait a little for the partner: a client that sends both at once gets both answers at once."""
        other = self._arrived[_PARTNER[name]]
        self._arrived[name].set()
        with anyio.move_on_after(self._setup.pair):
            await other.wait()
        return _result(_text(f"Noted. When both of the pair are answered, next: {_AFTER[name[:-2]]}."))

    async def _slow(self, secrets: Secrets, token: object, relay: Relay | None) -> Answer:
        seconds = self._setup.slow
        begun = anyio.current_time()
        while (left := begun + seconds - anyio.current_time()) > 0:
            await anyio.sleep(min(1.0, left))
            if isinstance(token, int | str) and relay is not None:
                done = min(anyio.current_time() - begun, seconds)
                params = {"progressToken": token, "progress": round(done, 1), "total": seconds}
                await relay.notify("notifications/progress", params)
        return _result(_text(f"That took {seconds:g} seconds. The code word is {secrets.slow}. Next: probe_flaky."))

    def _flaky(self) -> Answer:
        if len(self._notes.of("probe_flaky")) > 1:
            return _result(_text("This call was repeated; that is noted. Next: probe_finish."))
        text = "This call failed on purpose. Do not repeat it. Next: probe_finish."
        return Answer(outcome="failed", owner="upstream", result=error_result(text))


class Padding:
    """The tools that are there to be seen alone; to the router they are tools of our own."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, Any], client: str = "") -> Answer:
        """Say what the tool is for."""
        text = "This tool is only shown, so that the list has its usual length: the probe goes on with its own tools."
        return Answer(outcome="failed", result=error_result(text))


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(word: str) -> dict[str, Any]:
    return {"type": "image", "data": b64encode(picture(word)).decode(), "mimeType": "image/png"}


def _result(*blocks: dict[str, Any], data: Mapping[str, Any] | None = None) -> Answer:
    found = {"content": list(blocks), "isError": False} | ({"structuredContent": data} if data is not None else {})
    return Answer(outcome="success", result=json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode())

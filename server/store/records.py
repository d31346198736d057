"""What the store gives back: runs and calls as they were written."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from m3bench.proxy.names import FIND_TOOLS, meant, without_injected
from m3bench.proxy.protocol.tool_calls import WireError
from m3bench.tasks.coercion import Reading
from m3bench.tasks.errors import InvalidArgumentsError
from m3bench.tasks.table_tools import find_tool

State = Literal["working", "submitted", "scored", "abandoned", "void"]
"""Where a run is in its life: `working` from start to submit, `abandoned` when the client ended it without one, `void`
when we did."""

Mode = Literal["practice", "ranked"]

RUN_TOOLS = frozenset({"list_tasks", "start_task", "submit", "score"})
"""The tools that a run is led with, on every seat."""

OWN_TOOLS = RUN_TOOLS | {FIND_TOOLS}
"""The benchmark's own tools: calls of these are recorded and are not what an agent is measured by."""


BESIDE = frozenset({"lacking", "limited_by", "budget", "limits", "mark", "event", "participant", "host"})
"""Fields of a run's manifest that people want to know and that move no number."""


@dataclass(frozen=True, kw_only=True)
class RunSetup:
    """What the manifest of a run says of how it is played; None where it does not say."""

    set_name: str | None
    set_version: str | None
    set_hash: str | None
    profile: str | None
    mark: str
    """What the pictures carry that its client is sent; empty when there are none."""

    @classmethod
    def of(cls, manifest: Mapping[str, object]) -> "RunSetup":
        """The setup that a manifest states."""
        tasks = manifest.get("tasks")
        made_with: Mapping[str, object] = tasks if isinstance(tasks, Mapping) else {}
        return cls(
            set_name=_text(made_with.get("name")),
            set_version=_text(made_with.get("version")),
            set_hash=_text(made_with.get("hash")),
            profile=_text(manifest.get("profile")),
            mark=_text(manifest.get("mark")) or "",
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """One attempt at one task."""

    id: str
    """The run's handle: unguessable."""
    seat: str
    task: str
    state: State
    mode: Mode
    started: str
    ended: str | None
    answer: str | None
    seal: str | None
    """The last link of the hash chain over the run's calls and its answer."""
    manifest: dict[str, Any]
    scorecard: dict[str, Any] | None
    fields: dict[str, Any] | None = None
    """The fields as they were handed in beside the answer; None when there were none."""

    @property
    def setup(self) -> RunSetup:
        """How it is played, as its manifest says."""
        return RunSetup.of(self.manifest)


@dataclass(frozen=True, kw_only=True)
class Resumption:
    """What it takes to continue a run after its server is gone."""

    workspace: str
    """Its folder, relative to the data folder."""
    max_calls: int
    seconds: float
    """From its start, by the clock on the wall."""


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """One call, with its answer when it got one."""

    id: int
    run: str | None
    seat: str
    tool: str
    """Canonical name where the tool is known, else the name as sent."""
    request_id: str
    request: bytes
    revision: str
    client: str
    wall: str
    received_ns: int
    outcome: str | None
    """None while the call is under way."""
    owner: str | None
    result: bytes | None
    error: WireError | None
    full: bytes | None
    """The result before it was cut to the size a client takes."""
    forwarded_ns: int | None
    returned_ns: int | None
    sent_ns: int | None

    @property
    def params(self) -> dict[str, Any]:
        """The request's parameters; empty when the request was not well-formed."""
        message = json.loads(self.request)
        params = message.get("params") if isinstance(message, dict) else None
        return params if isinstance(params, dict) else {}

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as the client sent them; those inside, when the tool was called by way of `call_tool`."""
        arguments = meant(self.tool, self.params)
        return arguments if isinstance(arguments, dict) else {}

    @property
    def taken(self) -> Reading:
        """The arguments as the tool took them: without what clients add, and what was sent as text read as it was.

        Of a call that was refused for its arguments, those that were sent.
        """
        sent = without_injected(self.arguments)
        tool = find_tool(self.tool)
        if tool is None or self.outcome == "invalid_arguments":
            return Reading(sent)
        try:
            return tool.read(sent)
        except InvalidArgumentsError:
            return Reading(sent)

    @property
    def meta(self) -> dict[str, Any]:
        """The request's `_meta`."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def result_json(self) -> dict[str, Any]:
        """The result the client was sent; empty when there was none."""
        found = json.loads(self.result) if self.result else {}
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, kw_only=True)
class Damage:
    """A part of the record that is no longer what was written."""

    run: str | None
    """The affected run; None when there is none or it is not known."""
    call: int | None
    """The call concerned, when it is one."""
    says: str
    """What is wrong with it."""

    def __str__(self) -> str:
        where = [f"run {self.run}"] if self.run is not None else []
        where += [f"call {self.call:x}"] if self.call is not None else []
        return f"{', '.join(where) or 'database'}: {self.says}"


def handed_in(run: RunRecord) -> str:
    """Everything that a run handed in, as one text: the answer, then the fields as JSON."""
    fields = json.dumps(run.fields, ensure_ascii=False) if run.fields else ""
    return "\n".join(part for part in (run.answer, fields) if part)


def now() -> str:
    """This moment, as records say it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")

"""The benchmark's own tools: list_tasks, start_task, submit and score.

They are ordinary MCP tools, so that any client can run the benchmark by talking to it. Texts are written for
the model that reads them: each says what to do next, and is complete in itself. What programs want stands in `_meta`,
which hardly any client shows to its model, and is kept short for those that do; as structured content, too, for the
clients that hide no text or picture behind it.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import anyio.to_thread

from m3bench.proxy.names import FIND_TOOLS
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.tool_calls import ToolAnswer, error_result, input_schema
from m3bench.proxy.seat import Seat
from m3bench.server.runs import retrieval
from m3bench.server.runs.handin import Fields, send_back_once
from m3bench.server.runs.opening import opening
from m3bench.server.runs.retrieval import OwnToolResult
from m3bench.server.runs.run import Runs
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scorecard.pages.app_view import CARD, RUN, SHOWN, TOOL_META
from m3bench.server.store.records import OWN_TOOLS, CallRecord, RunRecord
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.coercion import read_arguments
from m3bench.tasks.errors import InvalidArgumentsError, M3Error, RunError, plain
from m3bench.tasks.fault import owner_of_error
from m3bench.tasks.library import Library
from m3bench.tasks.outcome import Outcome
from m3bench.tasks.profiles import solvable
from m3bench.tasks.schema import problems
from m3bench.tasks.secret import SecretLibrary
from m3bench.tasks.task import Task

Scorer = Callable[[RunRecord], Awaitable[ScoreCard]]
Offers = Callable[[str], Sequence[str] | None]
"""Gives the tasks of a seat by its name."""

Shown = Callable[[RunRecord, Sequence[CallRecord], Library], Mapping[str, object]]
"""What is shown of a run beside its card."""

_HANDLE = {"type": "string", "description": "The run handle that start_task gave. May be left out."}

DEFINITIONS: tuple[Json, ...] = (
    {
        "name": "list_tasks",
        "description": "List the benchmark's tasks that can be solved with the tools shown here: id, family and "
        "difficulty. Call start_task with an id to begin one.",
        "inputSchema": {
            "type": "object",
            "properties": {"family": {"type": "string", "description": "Only tasks of this family"}},
        },
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    },
    {
        "name": "start_task",
        "description": "Begin a benchmark task. Returns the question, the picture (as an image and as a file path that "
        "the other tools accept) and the rules. Work on it with the other tools of this server, then call submit. "
        "Without arguments the next task is chosen.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "task_id": {"type": "string", "description": "A task's id from list_tasks"},
                "family": {"type": "string", "description": "Any task of this family"},
                "abandon": {
                    "type": "boolean",
                    "default": False,
                    "description": "Give up the task that is running, if there is one",
                },
            },
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": False,
            "openWorldHint": False,
        },
    },
    {
        "name": "submit",
        "description": "Hand in the final answer to the running task. A run takes one answer; after that its record is "
        "sealed. Then call score.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "answer": {
                    "type": "string",
                    "description": "The answer to the question, for a person, complete in itself",
                },
                "fields": {
                    "type": "object",
                    "additionalProperties": True,
                    "description": "The values that start_task asked for, by name, such as "
                    '{"title": "Ran", "year": 1985}. May be left out when the task asks for none.',
                },
                "run": _HANDLE,
            },
            "required": ["answer"],
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": False,
            "openWorldHint": False,
        },
    },
    {
        "name": "score",
        "description": "The score card of the run that was submitted last: how the calls compare with a reference "
        "solution, step by step. Works only after submit.",
        "inputSchema": {"type": "object", "properties": {"run": _HANDLE}},
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
        "_meta": TOOL_META,
    },
)

SHOW = "Show this score card to the person as it is, table and all. Call start_task for the next task."

_SCHEMAS = {str(tool["name"]): input_schema(tool) for tool in (*DEFINITIONS, *retrieval.DEFINITIONS)}

MANY = 40
"""Tasks above which the list has a line per family."""


class BenchmarkTools:
    """Answers our own tools.

    Args:
        runs: The runs of this process.
        library: The tasks.
        scorer: Scores a submitted run, once; later calls get the same card.
        limits: A sentence on what a run may use.
        structured: Whether a client, by name and version, takes structured content without hiding anything for it.
        shown: What the answer of `score` has for the page that draws it, beside the card.
        offers: The tasks that a seat is given, in their order; None for all of the set.
    """

    names = OWN_TOOLS

    def __init__(
        self, runs: Runs, library: Library, scorer: Scorer, limits: str,
        structured: Callable[[str], bool] = lambda client: False, shown: Shown | None = None,
        offers: Offers = lambda seat: None,
    ) -> None:  # fmt: skip
        self._runs = runs
        self._library = library
        self._scorer = scorer
        self._limits = limits
        self._structured = structured
        self._shown = shown
        self._offers = offers
        self._loaded = False
        """Whether the tasks were read."""

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, object], client: str = "") -> ToolAnswer:
        """Answer one of our own tools."""
        arguments = _given(name, read_arguments(_SCHEMAS[name], arguments).arguments)
        found = problems(_SCHEMAS[name], arguments, strict=True)
        if found:
            said = [str(InvalidArgumentsError(name, found)), *self._lacks(seat, name, arguments)]
            return _answer(_text(". ".join(said), is_error=True), "invalid_arguments")
        handlers: dict[str, Callable[..., Awaitable[OwnToolResult]]] = {
            "list_tasks": self._list_tasks,
            "start_task": self._start_task,
            "submit": self._submit,
            "score": self._score,
            FIND_TOOLS: self._find_tools,
        }
        try:
            if not self._loaded:
                # It takes a while, and other messages of the client must not wait for it.
                await anyio.to_thread.run_sync(lambda: self._library.tasks)
                self._loaded = True
            result = await handlers[name](seat, **arguments)
            return _answer(_with_structure(result) if self._structured(client) else result)
        except M3Error as error:
            owner = owner_of_error(error)
            if owner == "agent":
                return _answer(_text(str(error), is_error=True), "not_found")
            return ToolAnswer(outcome="failed", owner=owner, result=error_result(plain(error)))

    def _lacks(self, seat: Seat, name: str, arguments: Mapping[str, object]) -> Iterator[str]:
        """What a `submit` that cannot be read lacks beside, so that a client need not find it out one by one."""
        run = self._runs.running(seat) if name == "submit" else None
        answer, fields = arguments.get("answer"), arguments.get("fields")
        if run is not None and arguments.get("run") in (None, run.id):
            try:
                send_back_once(
                    run, answer if isinstance(answer, str) else "", fields if isinstance(fields, dict) else None
                )
            except RunError as lacks:
                yield str(lacks)

    async def _list_tasks(self, seat: Seat, family: str | None = None) -> OwnToolResult:
        if (why := self._runs.shut()) is not None:
            raise RunError(why)
        tasks = self._of_family(seat, family)
        if self._ranked:
            ids = [f"- {task.id}" for task in tasks]
            return _text("\n".join(["Call start_task with a task_id to begin one.", *ids]))
        count = "1 task" if len(tasks) == 1 else f"{len(tasks)} tasks"
        text = "\n".join([f"{count}. Call start_task with a task_id to begin one.", *_lines(tasks)])
        return _text(text)

    async def _start_task(
        self, seat: Seat, task_id: str | None = None, family: str | None = None, abandon: bool = False
    ) -> OwnToolResult:
        if (why := self._runs.shut()) is not None:
            raise RunError(why)
        run = None if abandon else self._runs.running(seat)
        wanted = run is not None and task_id in (None, run.task.id) and family in (None, run.task.family)
        # A person who closed the page comes back to the question; models are told what they left.
        again = self._ranked and task_id is None and self._offers(seat.id) is not None
        if run is None or not (run.unseen or again) or not wanted:
            run = await self._runs.start(seat, self._choose(seat, task_id, family), abandon=abandon)
        more_rules = (retrieval.RULE,) if seat.unlisted else ()
        return await opening(self._library, run, (*more_rules, self._limits), ranked=self._ranked)

    async def _submit(self, seat: Seat, answer: str, fields: Fields = None, run: str | None = None) -> OwnToolResult:
        # JSON can carry half a character, which no file and no database takes.
        record = await self._runs.submit(seat, answer.encode(errors="replace").decode(), run, fields)
        text = f"Submitted and sealed ({record.seal}). Call score next, without arguments, to see how it went."
        if self._ranked:
            # It is sealed whatever happens here: a score that cannot be had now is computed when it is asked for.
            with suppress(M3Error):
                if not self._withheld:
                    await self._scorer(record)
                text += f" {_tally(self._runs.attempts(seat))}"
        return {**_text(text), "_meta": {RUN: record.id}}

    async def _score(self, seat: Seat, run: str | None = None) -> OwnToolResult:
        if self._runs.running(seat) is not None:
            raise RunError("The task is still running: call submit with your final answer first.")
        record = self._runs.latest(seat) if run is None else self._runs.record(seat, run)
        if record is None and run is not None:
            raise RunError("There is no run with that handle: leave it out, or give the one that start_task gave.")
        if record is not None and record.state == "void":
            raise RunError(self._runs.lost(record))
        if record is None or record.state == "abandoned":
            where = "on this seat" if run is None else "in that run"
            raise RunError(f"Nothing was submitted {where}: call start_task, solve the task, then submit.{seat.hint}")
        if record.state == "working":
            raise RunError("That task is still running: call submit with its handle and your final answer first.")
        event = self._runs.event
        if event is not None and not event.closed:
            return _text(f"Sealed ({record.seal}). Results are hidden until the event closes.")
        if self._withheld and (event is None or record.scorecard is None):
            return _text(f"Sealed ({record.seal}). The set is secret: scores are computed when it is opened.")
        card = await self._scorer(record)
        if record.mode == "ranked" and event is None:
            return _text("Scored. This is a ranked run: the score card goes only to the operator.")
        content: list[dict[str, object]] = [
            {"type": "text", "text": text} for text in (markdown(card, record.id), SHOW)
        ]
        meta: dict[str, object] = {CARD: card.to_json(), RUN: record.id}
        if self._shown is not None and record.mode == "practice":
            with suppress(M3Error):
                meta[SHOWN] = await anyio.to_thread.run_sync(self._beside, record)
        return {"content": content, "_meta": meta, "isError": False}

    def _beside(self, record: RunRecord) -> Mapping[str, object]:
        assert self._shown is not None
        return self._shown(record, self._runs.tool_calls(record.id), self._library)

    async def _find_tools(self, seat: Seat, query: str, limit: int = retrieval.FOUND) -> OwnToolResult:
        return retrieval.find_tools(seat, query, limit)

    @property
    def _withheld(self) -> bool:
        """Whether no score may be computed before the set is opened: a score card holds the reference."""
        return isinstance(self._library, SecretLibrary)

    @property
    def _ranked(self) -> bool:
        return self._runs.mode == "ranked"

    def _offered(self, seat: Seat) -> tuple[Task, ...]:
        named = self._offers(seat.id)
        tasks = self._library.tasks.values() if named is None else map(self._library.task, named)
        return solvable(tuple(tasks), tuple(seat.tools.values()))

    def _of_family(self, seat: Seat, family: str | None) -> list[Task]:
        """The tasks that can be solved here, of one family or of all."""
        if self._ranked and family is not None:
            raise RunError("Tasks of a ranked server cannot be chosen by family: leave it out.")
        offered = self._offered(seat)
        tasks = [task for task in offered if family is None or task.family == family]
        if tasks:
            return tasks
        if any(task.family == family for task in self._library.tasks.values()):
            raise RunError(
                f"Every task of the family {family!r} needs tools that the profile {seat.profile!r} does not show: "
                "list_tasks without a family shows what can be solved here."
            )
        if family is not None:
            hint = did_you_mean(family, sorted({task.family for task in offered}))
            raise RunError(f"There is no family {family!r}.{hint} list_tasks without a family shows what there is.")
        raise RunError(
            f"No task can be solved with the tools of the profile {seat.profile!r}: the person who started the server "
            "can choose a larger one."
        )

    def _choose(self, seat: Seat, task_id: str | None, family: str | None) -> Task:
        if task_id is not None:
            named = self._offers(seat.id)
            if named is not None and task_id not in named:
                what = f"the task {named[0]!r} and no other" if len(named) == 1 else "you other tasks"
                raise RunError(f"This server offers {what}: leave the task_id out.")
            task = self._library.task(task_id)
            if not solvable((task,), tuple(seat.tools.values())):
                raise RunError(
                    f"Task {task_id!r} needs tools that the profile {seat.profile!r} does not show: "
                    "list_tasks shows what can be solved here."
                )
            if self._ranked and task_id in self._done(seat):
                raise RunError(
                    f"Task {task_id!r} was started on this seat before, and a ranked task is attempted once: "
                    "call start_task without arguments for the next one."
                )
            return task
        tasks, done = self._of_family(seat, family), self._done(seat)
        left = [task for task in tasks if task.id not in done]
        if self._ranked and not left:
            raise RunError("Every task was started on this seat before, and a ranked task is attempted once.")
        return left[0] if left else tasks[0]

    def _done(self, seat: Seat) -> set[str]:
        """The tasks that a seat is done with: in ranked mode those that it gave up, too."""
        again = {"void"} if self._ranked else {"abandoned", "void"}
        return {run.task for run in self._runs.attempts(seat) if run.state not in again}


def _names(schema: Json, part: str) -> Iterable[object]:
    """What a part of a schema names."""
    found = schema.get(part)
    return found if isinstance(found, dict | list) else ()


def _given(name: str, arguments: Mapping[str, object]) -> dict[str, object]:
    """Without empty texts for what may be left out: some clients have their models fill in every parameter."""
    schema = _SCHEMAS[name]
    optional = set(_names(schema, "properties")) - set(_names(schema, "required"))
    return {field: value for field, value in arguments.items() if value != "" or field not in optional}


def _tally(runs: Sequence[RunRecord]) -> str:
    """What became of the runs of a seat, for whoever reads the record later."""
    submitted = sum(run.state in ("submitted", "scored") for run in runs)
    given_up = sum(run.state == "abandoned" for run in runs)
    return f"On this seat: {len(runs)} started, {submitted} submitted, {given_up} abandoned; all of them are on record."


def _lines(tasks: Sequence[Task]) -> list[str]:
    """A line for each task or, when they are many, for each family."""
    if len(tasks) <= MANY:
        return [f"- {task.id} ({task.family}, {task.difficulty})" for task in tasks]
    families: dict[str, list[Task]] = {}
    for task in tasks:
        families.setdefault(task.family, []).append(task)
    return [f"- {family}: {_ids([task.id for task in members])}" for family, members in families.items()]


def _ids(ids: Sequence[str]) -> str:
    """Ids in a few words: those that are numbered on from 1 by their ends."""
    stem = ids[0].rpartition("-")[0]
    numbered = len(ids) > 2 and list(ids) == [f"{stem}-{number}" for number in range(1, len(ids) + 1)]
    return f"{ids[0]} to {ids[-1]}" if numbered else ", ".join(ids)


def _text(text: str, *, is_error: bool = False) -> OwnToolResult:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def _with_structure(result: OwnToolResult) -> OwnToolResult:
    """A result whose data is structured content too; an image would be hidden behind it in some clients."""
    if any(block["type"] == "image" for block in result["content"]) or "_meta" not in result:
        return result
    data = {name.partition("/")[2]: value for name, value in result["_meta"].items()}
    return {**result, "structuredContent": data.get("card", data)}


def _answer(result: OwnToolResult, outcome: Outcome = "success") -> ToolAnswer:
    return ToolAnswer(outcome=outcome, result=json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode())

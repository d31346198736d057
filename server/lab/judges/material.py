"""What a judge sees of a run: the question, the calls with their results, the answer, and what the run left to look at.

Everything is of limited length, and never the checks or any score: a judge that knew them would only repeat them. The
reference, what depends on what in it and the right answer are shown where a paper's question needs them, and only
there. Text that came from outside loses its control characters and is cut in the middle, where it is longer than a
share of the whole.

What depends on what is the analysis that MCP-Bench gives its judge. There a model writes it when a task is made. Here
it follows from playing the reference: which call uses what another one told or made, and which calls need nothing of
each other. It names tools and no arguments or results.

The list of tools, the number of rounds and the sum of outcomes are what MCP-Bench's judge reads as well.

Pages and pictures in the kept workspace are shown as pictures. Files come from an agent: one that cannot be shown is
named with the reason, and never raises. Decks, workbooks and documents are not shown, since nothing that comes with
Python renders them as they look in an office program.
"""

import io
import json
import unicodedata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from PIL import Image

from m3bench.server.lab.judges.questions import JudgeQuestion, Part
from m3bench.server.scorecard.trajectory import PlayedRun, played_run, result_text
from m3bench.server.store.records import CallRecord
from m3bench.tasks.answers.fields import right_lines
from m3bench.tasks.answers.files import File
from m3bench.tasks.catalog import Tool
from m3bench.tasks.checks import Evidence
from m3bench.tasks.drawing.files import png
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.plan import Plan
from m3bench.tasks.studio.page import FORMS, PageError, pages
from m3bench.tasks.studio.rendering import LARGEST_SIDE
from m3bench.tasks.studio.rendering import png as rendered
from m3bench.tasks.task import MEDIA, Reference, Task
from m3bench.tasks.trajectory import Call

_INTRODUCTION = "One way to solve the task makes these calls:"


def dependencies(reference: Reference, plan: Plan) -> str:
    """The calls of a reference by the earliest round in which each could be made, with what it needs."""
    tools = [call.tool for step in reference.steps for call in step]
    rounds = {place: plan.fewest_steps({place, *plan.before[place]}) for place in range(len(tools))}
    lines = [_INTRODUCTION]
    for number in range(1, max(rounds.values(), default=0) + 1):
        members = [place for place, found in rounds.items() if found == number]
        together = ", which need nothing of each other and can be made together" if len(members) > 1 else ""
        lines.append(f"Round {number}{together}:")
        lines += [f"- call {place + 1}, {tools[place]}{_needed(plan, place)}" for place in members]
    servers = list(dict.fromkeys(tool.partition("/")[0] for tool in tools))
    lines.append(f"It uses {len(servers)} server{'' if len(servers) == 1 else 's'}: {', '.join(servers)}.")
    return "\n".join(lines)


def _needed(plan: Plan, place: int) -> str:
    needs = sorted(plan.calls[place].needs)
    waits = sorted(set(plan.calls[place].waits) - set(needs))
    said = f", needs the result of {_numbered(needs)}" if needs else ", needs no other result"
    return said + (f", may be chosen by what {_numbered(waits)} told" if waits else "")


def _numbered(places: list[int]) -> str:
    numbers = [str(place + 1) for place in places]
    return f"call{'' if len(numbers) == 1 else 's'} {', '.join(numbers)}"


MAX_ANSWER = 20_000
MAX_RESULTS = 80_000
"""Characters of all results and arguments together."""
MAX_PART, MIN_PART = 4_000, 200
"""Characters of one result, or of the arguments of one call."""
MAX_DESCRIPTION = 500
"""Characters of what a tool says of itself."""
MAX_NAME = 400
"""Characters of what is said about one file."""
MAX_CALLS = 200
"""Calls shown; of more, the first and last half of this number."""


@dataclass(frozen=True, kw_only=True)
class ShownPicture:
    """A picture of the task, or of something that the run left."""

    name: str
    data: bytes

    @property
    def mime(self) -> str:
        """Its type, by its first bytes."""
        if self.data.startswith(b"\xff\xd8"):
            return "image/jpeg"
        return "image/webp" if self.data[8:12] == b"WEBP" else "image/png"


@dataclass(frozen=True, kw_only=True)
class Section:
    """A piece of text with a title of ours: whatever the text says, it cannot pass for another section."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class JudgeMaterial:
    """What there is to judge."""

    question: str
    wording: str
    calls: tuple[Section, ...]
    answer: str
    made: int
    """How many calls there were; of very many, not all are shown."""
    excluded: int = 0
    """Calls that are neither shown nor counted, because they failed through no fault of the agent."""
    pictures: tuple[ShownPicture, ...] = ()
    reference: str = ""
    """The steps of the reference."""
    dependencies: str = ""
    """Which calls of the reference need which."""
    truth: str = ""
    """The right answer."""
    execution: str = ""
    """How many rounds and calls there were, and how these ended."""
    tools: str = ""
    """The tools that the agent could call."""
    left: tuple[ShownPicture, ...] = ()
    """What the run left, as pictures; only for questions that are answered by looking."""
    left_unseen: tuple[str, ...] = ()
    """What it left that cannot be shown, and why."""

    def sections(self, ask: JudgeQuestion) -> tuple[Section, ...]:
        """What an ask shows."""
        parts: dict[Part, tuple[str, str]] = {
            "wording": ("exact request", self.wording),
            "reference": ("reference", self.reference),
            "dependencies": ("dependency analysis", self.dependencies),
            "truth": ("correct answer", self.truth),
            "execution": ("execution", self.execution),
            "tools": ("available tools", self.tools),
        }
        request = (
            Section(title="request", text=self.question),
            *(Section(title=title, text=text) for title, text in (parts[part] for part in ask.shows) if text),
        )
        if ask.looks:
            return *request, Section(title="what the agent left", text=self._left())
        return *request, *(() if ask.answer_only else self.calls), Section(title="answer", text=self.answer)

    def _left(self) -> str:
        """Which picture shows what; names come from the agent and stay on their lines."""
        first = len(self.pictures) + 1
        shown = [f"picture {first + place}: {_quoted(picture.name)}" for place, picture in enumerate(self.left)]
        return "\n".join([*shown, *(f"not shown: {_quoted(line)}" for line in self.left_unseen)]) or "(nothing)"


def material(
    task: Task,
    records: Sequence[CallRecord],
    answer: str,
    pictures: Sequence[ShownPicture] = (),
    *,
    reference: int = 0,
    plan: Plan | None = None,
    tools: Sequence[Tool] = (),
) -> JudgeMaterial:
    """The material of a submitted run, with what only some questions show.

    Args:
        task: The task.
        records: Its calls.
        answer: What was handed in.
        pictures: Of the task.
        reference: Index of the reference that is shown.
        plan: Of that reference.
        tools: Those the agent could call.
    """
    found = played_run(records, task.question)
    return JudgeMaterial(
        question=readable(task.question, MAX_ANSWER),
        wording=readable(task.wording, MAX_ANSWER),
        calls=tuple(_calls(found)),
        answer=readable(answer, MAX_ANSWER) or "(the agent submitted an empty answer)",
        made=len(found.calls),
        excluded=len(found.excluded),
        pictures=tuple(pictures),
        reference=readable(_steps(task.references[reference]), MAX_ANSWER),
        dependencies=dependencies(task.references[reference], plan) if plan is not None else "",
        truth=readable("\n".join(part for part in (task.answer, right_lines(task.fields)) if part), MAX_ANSWER),
        execution=_execution(found),
        tools=_tools(tools),
    )


def _execution(found: PlayedRun) -> str:
    """The sums of a run."""
    outcomes = [call.record.outcome == "success" for call in found.calls]
    if not outcomes:
        return "Rounds: 0. No tool was called."
    made, done = len(outcomes), sum(outcomes)
    return f"Rounds: {len(found.segmentation.steps)}. Calls: {made}. Successful: {done}. Failed: {made - done}."


def _tools(tools: Sequence[Tool]) -> str:
    """Every tool with what it does, by server."""
    servers: dict[str, list[Tool]] = {}
    for tool in tools:
        servers.setdefault(tool.server, []).append(tool)
    lines: list[str] = []
    for server, members in sorted(servers.items()):
        lines.append(f"{server}, {len(members)} tool{'' if len(members) == 1 else 's'}:")
        lines += [f"- {tool.name}: {' '.join(tool.description.split())[:MAX_DESCRIPTION]}" for tool in members]
    return "\n".join(lines)


def readable(text: str, limit: int) -> str:
    """The text without control characters, the middle left out where it is too long."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
    return "".join(_shown(character) for character in text.replace("\r\n", "\n")).strip()


def _shown(character: str) -> str:
    """The character, unless it could hide or reorder text."""
    if character in "\n\t":
        return character
    return "\ufffd" if unicodedata.category(character)[0] == "C" or character in "\u2028\u2029" else character


def _steps(reference: Reference) -> str:
    """The calls of a reference by step, as the calls of a run are shown."""
    lines = []
    for number, step in enumerate(reference.steps, 1):
        lines.append(f"step {number} of {len(reference.steps)}:")
        for call in step:
            arguments = json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)
            lines.append(f"- tool: {json.dumps(call.tool)} arguments: {readable(arguments, MAX_PART)}")
    return "\n".join(lines)


def _calls(found: PlayedRun) -> Iterator[Section]:
    calls, count = found.trajectory.calls, len(found.calls)
    limit = max(MIN_PART, min(MAX_PART, MAX_RESULTS // (2 * max(1, min(count, MAX_CALLS)))))
    place = 0
    for number, step in enumerate(found.segmentation.steps, 1):
        for index in step:
            place += 1
            if MAX_CALLS // 2 < place <= count - MAX_CALLS // 2:
                continue
            record = found.calls[index].record
            together = f"step {number}" + (f" of {len(step)} calls" if len(step) > 1 else "")
            yield Section(
                title=f"call {place} of {count}, {together}, outcome {record.outcome or 'none'}",
                text=_call(calls[place - 1], limit),
            )
            yield Section(title=f"result of call {place}", text=_result(record, limit))


def _quoted(text: str) -> str:
    return readable(json.dumps(text, ensure_ascii=False), MAX_NAME)


def _call(call: Call, limit: int) -> str:
    """Tool and arguments as JSON: a name or value with line breaks stays on its line."""
    tool, arguments = (json.dumps(part, ensure_ascii=False, sort_keys=True) for part in (call.tool, call.arguments))
    return f"tool: {readable(tool, MIN_PART)}\narguments: {readable(arguments, limit)}"


def _result(record: CallRecord, limit: int) -> str:
    if record.error is not None:
        return readable(str(record.error[1]), limit)
    others = [str(block.get("type")) for block in _blocks(record) if block.get("type") != "text"]
    text = readable(result_text(record), limit)
    return "\n".join([*([text] if text else []), *(f"[{kind} not shown]" for kind in others)]) or "(empty)"


def _blocks(record: CallRecord) -> list[dict[str, object]]:
    blocks = record.result_json.get("content", ())
    return [block for block in blocks if isinstance(block, dict)]


MAX_SHOWN = 8
"""Pictures of one run."""
MAX_PIXELS = 40_000_000
"""Of a picture file, before it is made smaller."""
PHOTOGRAPHS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".webp")
"""Endings of picture files; of several frames the first is shown."""


@dataclass(frozen=True, kw_only=True)
class Artefacts:
    """What a run left."""

    shown: tuple[ShownPicture, ...] = ()
    unseen: tuple[str, ...] = ()
    """Files that cannot be shown, and why."""


def artefacts(task: Task, workspace: Path, brought: Mapping[str, bytes]) -> Artefacts:
    """What a run left to look at, in order of path.

    Where the task asks for files, these are the files of the kinds it asks for; else every page and picture.

    Args:
        task: The task.
        workspace: The files of the run.
        brought: What came with the task, by name in the folder of media: it is nobody's work.
    """
    wanted = {f".{field.value.form}" for field in task.fields if isinstance(field.value, File)}
    shown: list[ShownPicture] = []
    unseen: list[str] = []
    files = {
        path.relative_to(workspace).as_posix(): path for path in Evidence(answer="", workspace=workspace).find("*")
    }
    for name, path in sorted(files.items()):
        form = PurePosixPath(name).suffix.casefold()
        if form not in (wanted or {*FORMS, *PHOTOGRAPHS}) or _was_brought(name, path, brought):
            continue
        try:
            found = _pictures(name, form, path.read_bytes())
        except Exception as error:  # whatever an agent's file makes a library raise
            why = str(error) if isinstance(error, PageError) else f"it cannot be read ({type(error).__name__})"
            unseen.append(f"{name}: {why}")
            continue
        room = MAX_SHOWN - len(shown)
        shown += found[:room]
        unseen += [f"{picture.name}: {MAX_SHOWN} pictures are shown, and no more" for picture in found[room:]]
    return Artefacts(shown=tuple(shown), unseen=tuple(unseen))


def _was_brought(name: str, path: Path, brought: Mapping[str, bytes]) -> bool:
    folder, _, base = name.rpartition("/")
    return folder == MEDIA and base in brought and path.read_bytes() == brought[base]


def _pictures(name: str, form: str, data: bytes) -> list[ShownPicture]:
    """A file as pictures, one for each page."""
    if form in PHOTOGRAPHS:
        return [ShownPicture(name=name, data=_photograph(data))]
    found = pages(name, data)
    titles = [name] if len(found) == 1 else [f"{name}, page {number}" for number in range(1, len(found) + 1)]
    return [ShownPicture(name=title, data=rendered(page)) for title, page in zip(titles, found, strict=True)]


def _photograph(data: bytes) -> bytes:
    """A picture on white ground, no larger than a page and without what a file holds beside its pixels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with Image.open(io.BytesIO(data), formats=READABLE) as file:
            if file.width * file.height > MAX_PIXELS:
                raise PageError(f"a picture of {file.width} × {file.height} pixels is too large to be shown")
            seen = file.convert("RGBA")
    ground = Image.new("RGBA", seen.size, "white")
    ground.alpha_composite(seen)
    ground.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    return png(ground.convert("RGB"))

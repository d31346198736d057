"""What each model of a study can do, known before the first sample costs anything, and what follows for its cells.

What the plan says under `can` comes first, then what Inspect knows of the model, then what the provider's interface is
known to refuse. What nobody knows is not assumed: the plan is played as written, and the dry run says what is unknown.
A cell that cannot be played as written is changed as little as possible, and says so: a narrower tool profile, calls in
text, or a task without its picture, whose results are ranked apart.

What neither the plan nor a look-up knows, a model is asked once in a study, with a few short requests: the answers lie
in `abilities.json` beside the cells, and a model of which a cell was begun is played as it was. When a provider does
not answer, what was not learned stays unknown, and is asked another time.
"""

import io
import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from PIL import Image, ImageDraw, ImageFont

from m3bench.server.lab.headless.inspect_run import find_model
from m3bench.server.lab.headless.plan import ModelOptions, select
from m3bench.server.lab.headless.providers.failures import Failure, read_failure
from m3bench.server.lab.headless.replies import ReplyError, read_plan
from m3bench.server.lab.results.resultset import HEADER
from m3bench.server.lab.studies.cells import Cell, cells_of
from m3bench.server.lab.studies.forecast import Spent
from m3bench.server.lab.studies.plan_file import Abilities, StudyModel, StudyPlan
from m3bench.server.runs.profile_budget import CHARACTERS
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.profiles import profile_of, tools_of

# Inspect is an extra, and takes seconds to import.
if TYPE_CHECKING:
    from inspect_ai import model as inspect_model
    from inspect_ai import tool as inspect_tool
    from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage
    from inspect_ai.tool import ToolInfo

    from m3bench.server.lab.headless import inspect_listen
else:
    inspect_model = LazyModule("inspect_ai.model")
    inspect_tool = LazyModule("inspect_ai.tool")
    inspect_listen = LazyModule("m3bench.server.lab.headless.inspect_listen")

TOOL_CAPS = {"openai": 128, "azureai": 128}
"""By provider: more tools than this are refused."""

CONVERSATION = 12_000
"""Tokens of a window that are kept for the question, the picture, results and replies."""

NARROWER = ("standard", "task")
"""What is tried in place of a profile that shows too much."""

TEXT = "text"


def abilities(model: StudyModel) -> Abilities:
    """What is known of a model."""
    found = model.can
    if found.context is None:
        found = found.model_copy(update={"context": _window(model.model)})
    if found.tool_cap is None:
        found = found.model_copy(update={"tool_cap": TOOL_CAPS.get(model.provider)})
    return found


def not_known(model: StudyModel) -> list[str]:
    """What is unknown of a model and would be worth saying in the plan."""
    found = abilities(model)
    return [name for name in ("tools", "vision", "context") if getattr(found, name) is None]


def adapted(cells: Sequence[Cell]) -> list[Cell]:
    """The cells as they can be played; of two that become the same, the first stays.

    Raises:
        UserError: A set of tasks or a profile does not exist.
    """
    libraries: dict[str, Library] = {}
    found: dict[str, Cell] = {}
    for cell in cells:
        changed = cell if cell.model is None else _changed(cell, cell.model, libraries)
        if (first := found.get(changed.name)) is not None:
            note = f"stands for {cell.name} too, which would be played the same way"
            found[changed.name] = replace(first, notes=(*first.notes, note))
        else:
            found[changed.name] = changed
    return list(found.values())


def most_tools(plan: StudyPlan, model: StudyModel) -> int:
    """The most tools that a cell of a model would list."""
    libraries: dict[str, Library] = {}
    most = 0
    for cell in cells_of(plan):
        if cell.model == model and cell.choice.solver == "react":
            library = libraries.setdefault(str(cell.choice.tasks or ""), Library(cell.choice.tasks or BUNDLED))
            most = max(most, _shown(cell, cell.choice.profile, library)[0])
    return most


def _changed(cell: Cell, model: StudyModel, libraries: dict[str, Library]) -> Cell:
    can, notes = abilities(model), []
    assert cell.options is not None
    options = cell.options
    if can.tools is False and options.calling != TEXT:
        options = replace(options, calling=TEXT)
        notes.append("the model has no tool calls of its own: calls are written as text")
    if can.vision is False:
        options = replace(options, sight=TEXT)
        notes.append("the model sees no pictures: it is told so, and its results are ranked apart")
    if can.parallel_calls is False and options.calling != TEXT:
        notes.append("the model makes one call at a time, which costs step coherence")
    if can.structured_output is False and (options.solver != "react" or options.calling == TEXT):
        notes.append("the model is not held to JSON: what cannot be read is put right once or counts as a bad call")
    cell = replace(
        cell, options=options, choice=replace(cell.choice, options=options.recorded()), notes=tuple(notes)
    )  # fmt: skip
    return _narrowed(cell, can, libraries)


def _narrowed(cell: Cell, can: Abilities, libraries: dict[str, Library]) -> Cell:
    """With a narrower profile, when the one planned shows more than the model takes."""
    assert cell.options is not None
    # The executor shows the schemas of the few tools that were chosen; calls in text are no list of tools.
    counted = can.tool_cap if cell.options.solver == "react" and cell.options.calling != TEXT else None
    if counted is None and can.context is None:
        return cell
    key = str(cell.choice.tasks or "")
    if key not in libraries:
        libraries[key] = Library(cell.choice.tasks or BUNDLED)
    library = libraries[key]
    planned = cell.choice.profile
    why = ""
    for profile in (planned, *(narrower for narrower in NARROWER if narrower != planned)):
        tools, tokens = _shown(cell, profile, library)
        over = counted is not None and tools > counted
        full = can.context is not None and tokens + CONVERSATION > can.context
        if not over and not full:
            return cell if profile == planned else _renamed(cell, profile, why)
        why = why or (
            f"the profile {planned} shows {tools} tools, and the model takes {counted}"
            if over
            else f"the tools of the profile {planned} take about {tokens:,} tokens, and the window has {can.context:,}"
        )
    short = "even that is more than it takes, so its samples may be cut short"
    narrowest = _renamed(cell, NARROWER[-1], why) if planned != NARROWER[-1] else cell
    return replace(narrowest, notes=(*narrowest.notes, short if narrowest is not cell else f"{why}; {short}"))


def _shown(cell: Cell, profile: str, library: Library) -> tuple[int, int]:
    """The most tools that a task of the cell shows, with the one to submit with, and their tokens."""
    catalog = load_catalog().ready
    tasks = select(library, cell.choice.families, cell.choice.ids, None)
    lists = {
        shown: tools_of(shown, catalog, library) for shown in dict.fromkeys(profile_of(profile, task) for task in tasks)
    }
    most = max(map(len, lists.values()), default=0) + 1
    sizes = {
        tool.qualified: len(json.dumps(tool.wire(), ensure_ascii=False)) for tools in lists.values() for tool in tools
    }
    largest = max((sum(sizes[tool.qualified] for tool in tools) for tools in lists.values()), default=0)
    return most, largest // CHARACTERS


def _renamed(cell: Cell, profile: str, why: str) -> Cell:
    who, solver, _, tasks = cell.name.split(".")
    name = ".".join((who, solver, profile, tasks))
    choice = replace(cell.choice, name=name, profile=profile, folder=cell.choice.folder.parent / name)
    return replace(cell, name=name, choice=choice, notes=(*cell.notes, f"{why}: played with the profile {profile}"))


def _window(model: str) -> int | None:
    """The tokens of a model's window, as Inspect knows it."""
    try:
        known = inspect_model.get_model_info(model)
    except ImportError:
        return None
    return known.context_length if known is not None else None


ANSWERS = "abilities.json"
SCRIPTED = ("m3bench", "mockllm")
"""Providers without a model that could be asked."""
NUMBER = "4719"
"""What stands on the picture that is shown."""
FEW = 20
"""Every provider accepts this many tools."""
REPLY_TOKENS = 2000
"""Tokens of a reply, reasoning included."""
SECONDS = 120.0
"""For a request."""

_PLAN = 'Reply with one JSON object and nothing else: {"done": true, "why": "a few words", "tools": []}'
_CALLS = "What is the weather in Oslo, and what in Rome? Call the tool once for each city, both calls in this one turn."
_PICTURE = "Which number stands on the picture? Reply with the number alone."
_MANY = "Reply with the word yes."
_OURS = ("too many tools", "refused picture", "refused request", "context overflow")
"""Refusals of what was in a request; other failures say nothing about the model."""
_WINDOW = ("context_length", "max_model_len", "context_window", "max_context_length", "n_ctx")
"""What lists of models call the tokens of a window."""


class KeptAnswers(TypedDict):
    """What a model answered, as `abilities.json` has it."""

    model: str
    can: dict[str, bool | int]
    said: list[str]
    tokens: int
    cost: float


@dataclass(kw_only=True)
class AbilityAnswers:
    """What a model was found to do."""

    found: dict[str, bool | int] = field(default_factory=dict)
    """Fields of `Abilities`."""
    said: list[str] = field(default_factory=list)
    tokens: int = 0
    cost: float = 0.0
    trouble: str = ""
    """Why it could not be asked."""


def with_answers(plan: StudyPlan) -> StudyPlan:
    """The plan, with what its models answered before; what the plan says itself stays."""
    kept = _kept(plan)
    return plan.model_copy(update={"models": tuple(_told(model, kept.get(_key(model))) for model in plan.models)})


def spent_asking(plan: StudyPlan) -> Spent:
    """What asking has cost."""
    kept = _kept(plan).values()
    return Spent(
        tokens=sum(answers.get("tokens", 0) for answers in kept), cost=sum(answers.get("cost", 0.0) for answers in kept)
    )


def to_ask(plan: StudyPlan, wanted: Sequence[str] = ()) -> list[StudyModel]:
    """The models that are to be asked before the first sample: of them something is unknown and nothing was begun."""
    if not plan.ask:
        return []
    kept, cells = _kept(plan), [(_key(cell.model), cell) for cell in cells_of(plan) if cell.model is not None]
    begun = {key for key, cell in cells if (cell.choice.folder / HEADER).exists()}
    chosen = {key for key, cell in cells if cell.name in wanted} if wanted else {key for key, _ in cells}
    return [
        model
        for model in plan.models
        if model.provider not in SCRIPTED
        and _key(model) in chosen - begun - kept.keys()
        and None in abilities(model).model_dump(exclude={"tool_cap"}).values()
    ]


async def ask_models(plan: StudyPlan, models: Sequence[StudyModel], say: Callable[[str], None]) -> None:
    """Ask models, keep what they answered, and say it.

    Raises:
        UserError: A model cannot be used at all.
    """
    kept = _kept(plan)
    for model in models:
        options = ModelOptions(
            model=model.model,
            arguments=model.arguments,
            generate=model.generate,
            price=model.price,
            retry_minutes=plan.retry_minutes,
        )
        answers = await _ask(find_model(options), abilities(model), partial(most_tools, plan, model))
        if answers.trouble:
            say(f"{_key(model)} could not be asked what it can do: {answers.trouble}")
            continue
        kept[_key(model)] = {"model": model.model, "can": answers.found, "said": answers.said, "tokens": answers.tokens,
                           "cost": answers.cost}  # fmt: skip
        say(f"{_key(model)} was asked: {'; '.join(answers.said) or 'nothing new'} ({answers.tokens} tokens)")
        assert plan.folder is not None
        plan.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(plan.folder / ANSWERS, f"{json.dumps(kept, indent=1, ensure_ascii=False)}\n".encode())


async def _ask(model: "Model", known: Abilities, most: Callable[[], int]) -> AbilityAnswers:
    """Ask one model what is not known of it."""
    answers = AbilityAnswers()
    await _look_up(model, known, answers)
    plain = await _request(model, answers, [inspect_model.ChatMessageUser(content=_PLAN)])
    if isinstance(plain, Failure):
        answers.trouble = str(plain)
        return answers
    if known.structured_output is None:
        answers.found["structured_output"] = _is_plan(plain.completion)
        answers.said.append("it writes JSON" if _is_plan(plain.completion) else "what it wrote was not JSON")
    if known.tools is None or (known.tools and known.parallel_calls is None):
        _calls(
            await _request(model, answers, [inspect_model.ChatMessageUser(content=_CALLS)], _tools(1)), known, answers
        )
    if known.vision is None and "vision" not in answers.found:
        shown = inspect_model.ContentImage(image=f"data:image/png;base64,{b64encode(number_picture()).decode()}")
        reply = await _request(
            model, answers, [inspect_model.ChatMessageUser(content=[inspect_model.ContentText(text=_PICTURE), shown])]
        )
        if isinstance(reply, Failure):
            _refused(reply, "vision", "pictures are refused", answers)
        elif NUMBER in re.sub(r"\D", "", reply.completion):
            answers.found["vision"] = True
            answers.said.append("it reads pictures")
        else:
            answers.said.append("it takes pictures, and did not read the number on one: played with pictures")
    if known.tool_cap is None and answers.found.get("tools", known.tools) is not False and (count := most()) > FEW:
        reply = await _request(model, answers, [inspect_model.ChatMessageUser(content=_MANY)], _tools(count))
        if isinstance(reply, Failure) and reply.kind in _OURS:
            answers.found["tool_cap"] = cap = _cap(reply.message, count)
            answers.said.append(f"{count} tools are refused: at most {cap}")
    return answers


async def _look_up(model: "Model", known: Abilities, answers: AbilityAnswers) -> None:
    """What the provider's list of models tells, where it has one that says so; it costs nothing."""
    client: Any = getattr(model.api, "client", None)
    wanted = str(getattr(model.api, "service_model_name", lambda: model.name)())
    try:
        listed = [entry.model_dump() async for entry in client.models.list(timeout=SECONDS)]
    except Exception:  # other clients, other lists, or none: whatever it is, the model is asked instead
        return
    entry = next((listing for listing in listed if listing.get("id") == wanted), listed[0] if len(listed) == 1 else {})
    places = [
        entry,
        *(inner for name in ("meta", "top_provider", "architecture") if isinstance(inner := entry.get(name), dict)),
    ]
    window = next((place[name] for name in _WINDOW for place in places if isinstance(place.get(name), int)), None)
    if known.context is None and window:
        answers.found["context"] = window
        answers.said.append(f"its window has {window:,} tokens")
    takes = next(
        (place["input_modalities"] for place in places if isinstance(place.get("input_modalities"), list)), None
    )
    if known.vision is None and takes is not None and "image" not in takes:
        answers.found["vision"] = False
        answers.said.append("it takes no pictures")


async def _request(
    model: "Model", answers: AbilityAnswers, messages: "list[ChatMessage]", tools: "Sequence[ToolInfo]" = ()
) -> "ModelOutput | Failure":
    """One request; a failure is what the provider said."""
    inspect_listen.listen(model)
    heard = inspect_listen.Heard()
    token = inspect_listen.HEARD.set(heard)
    try:
        config = inspect_model.GenerateConfig(max_tokens=REPLY_TOKENS, timeout=int(SECONDS))
        output = await model.generate(messages, list(tools), config=config)
    except Exception as error:
        return heard.failure or read_failure(error)
    finally:
        inspect_listen.HEARD.reset(token)
    if output.usage is not None:
        answers.tokens += used_tokens(output.usage)
        answers.cost += output.usage.total_cost or 0.0
    return output


def used_tokens(usage: "ModelUsage") -> int:
    """Tokens read and written; Inspect counts those that a provider had in its cache apart."""
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached + usage.output_tokens


def _calls(reply: "ModelOutput | Failure", known: Abilities, answers: AbilityAnswers) -> None:
    if isinstance(reply, Failure):
        _refused(reply, "tools", "tool calls are refused", answers)
        return
    made = len(reply.message.tool_calls or ())
    if known.tools is None:
        answers.found["tools"] = made > 0
    if made and known.parallel_calls is None:
        answers.found["parallel_calls"] = made > 1
    answers.said.append("it makes calls, several at once" if made > 1 else "it makes calls, one at a time" if made
                        else "told to make calls, it made none")  # fmt: skip


def _refused(failure: Failure, name: str, words: str, answers: AbilityAnswers) -> None:
    """A request without this succeeded just before, so the refusal is because of it."""
    if failure.kind in _OURS:
        answers.found[name] = False
        answers.said.append(words)


def _cap(message: str, count: int) -> int:
    """The most tools that are taken, as the refusal says it; else fewer than were refused."""
    named = [int(number) for number in re.findall(r"\d+", message)]
    return max((number for number in named if 0 < number < count), default=count - 1)


def _is_plan(text: str) -> bool:
    try:
        return read_plan(text).done
    except ReplyError:
        return False


def _tools(count: int) -> "list[ToolInfo]":
    """So many tools: one that tells the weather, and others of no use."""
    city = inspect_tool.ToolParams(
        properties={"city": inspect_tool.ToolParam(type="string", description="Name of a city")}, required=["city"]
    )
    weather = inspect_tool.ToolInfo(name="weather", description="Tells the weather in a city.", parameters=city)
    return [
        weather,
        *(inspect_tool.ToolInfo(name=f"unused_{n}", description="Does nothing.") for n in range(2, count + 1)),
    ]


def number_picture() -> bytes:
    """A picture with a number on it, large and black on white."""
    picture = Image.new("RGB", (320, 160), "white")
    ImageDraw.Draw(picture).text((30, 30), NUMBER, fill="black", font=ImageFont.load_default(96))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _told(model: StudyModel, kept: KeptAnswers | None) -> StudyModel:
    answered = {
        name: value
        for name, value in (kept["can"] if kept is not None else {}).items()
        if getattr(model.can, name) is None
    }
    return model.model_copy(update={"can": model.can.model_copy(update=answered)}) if answered else model


def _key(model: StudyModel) -> str:
    return model.name or model.model


def _kept(plan: StudyPlan) -> dict[str, KeptAnswers]:
    assert plan.folder is not None
    path = plan.folder / ANSWERS
    try:
        found = json.loads(path.read_bytes())
        assert isinstance(found, dict)
        for answers in found.values():
            Abilities.model_validate(answers["can"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AssertionError, TypeError, KeyError) as error:
        raise InputFileError(path, "cannot be read; delete it, and the models are asked again") from error
    known = {(_key(model), model.model) for model in plan.models}
    return {name: one for name, one in found.items() if (name, one.get("model")) in known}

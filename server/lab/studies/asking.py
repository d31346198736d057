"""Asks models what they can do, before the first sample of any: a few short requests, and the answers are kept.

What the plan says or a look-up knows is not asked. A model is asked once in a study: the answers lie in
`abilities.json` beside the cells, and a model of which a cell was begun is played as it was. When a provider does not
answer, what was not learned stays unknown, and is asked another time.
"""

import io
import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from m3bench.server.lab.headless.executor_replies import ReplyError, read_plan
from m3bench.server.lab.headless.plan import ModelOptions
from m3bench.server.lab.headless.provider import Failure, read_failure
from m3bench.server.lab.results.resultset import HEADER
from m3bench.server.lab.studies.capabilities import abilities, most_tools
from m3bench.server.lab.studies.cells import cells_of
from m3bench.server.lab.studies.forecast import Spent
from m3bench.server.lab.studies.plan_file import Abilities, StudyModel, StudyPlan
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage
    from inspect_ai.tool import ToolInfo

ANSWERS = "abilities.json"
SCRIPTED = ("m3bench", "mockllm")
"""Providers that have nobody to ask."""
NUMBER = "4719"
"""What stands on the picture that is shown."""
FEW = 20
"""So many tools every provider takes."""
REPLY_TOKENS = 2000
"""Of a reply, with whatever the model thinks before it."""
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


@dataclass(kw_only=True)
class Answers:
    """What a model was found to do."""

    found: dict[str, Any] = field(default_factory=dict)
    """Fields of `Abilities`."""
    said: list[str] = field(default_factory=list)
    tokens: int = 0
    cost: float = 0.0
    trouble: str = ""
    """Why it could not be asked."""


def with_answers(plan: StudyPlan) -> StudyPlan:
    """The plan, with what its models answered before; what the plan says itself stays."""
    kept = _kept(plan)
    return plan.model_copy(update={"models": tuple(_told(model, kept.get(_key(model), {})) for model in plan.models)})


def spent_asking(plan: StudyPlan) -> Spent:
    """What asking has cost."""
    kept = _kept(plan).values()
    return Spent(tokens=sum(one.get("tokens", 0) for one in kept), cost=sum(one.get("cost", 0.0) for one in kept))


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
    from m3bench.server.lab.headless.inspect_run import find_model

    kept = _kept(plan)
    for one in models:
        options = ModelOptions(model=one.model, arguments=one.arguments, generate=one.generate, price=one.price)
        answers = await _ask(find_model(options), abilities(one), partial(most_tools, plan, one))
        if answers.trouble:
            say(f"{_key(one)} could not be asked what it can do: {answers.trouble}")
            continue
        kept[_key(one)] = {"model": one.model, "can": answers.found, "said": answers.said, "tokens": answers.tokens,
                           "cost": answers.cost}  # fmt: skip
        say(f"{_key(one)} was asked: {'; '.join(answers.said) or 'nothing new'} ({answers.tokens} tokens)")
        assert plan.folder is not None
        plan.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(plan.folder / ANSWERS, f"{json.dumps(kept, indent=1, ensure_ascii=False)}\n".encode())


async def _ask(model: "Model", known: Abilities, most: Callable[[], int]) -> Answers:
    """Ask one model what is not known of it."""
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

    answers = Answers()
    await _look_up(model, known, answers)
    plain = await _request(model, answers, [ChatMessageUser(content=_PLAN)])
    if isinstance(plain, Failure):
        answers.trouble = str(plain)
        return answers
    if known.structured_output is None:
        answers.found["structured_output"] = _is_plan(plain.completion)
        answers.said.append("it writes JSON" if _is_plan(plain.completion) else "what it wrote was not JSON")
    if known.tools is None or (known.tools and known.parallel_calls is None):
        _calls(await _request(model, answers, [ChatMessageUser(content=_CALLS)], _tools(1)), known, answers)
    if known.vision is None and "vision" not in answers.found:
        shown = ContentImage(image=f"data:image/png;base64,{b64encode(number_picture()).decode()}")
        reply = await _request(model, answers, [ChatMessageUser(content=[ContentText(text=_PICTURE), shown])])
        if isinstance(reply, Failure):
            _refused(reply, "vision", "pictures are refused", answers)
        elif NUMBER in re.sub(r"\D", "", reply.completion):
            answers.found["vision"] = True
            answers.said.append("it reads pictures")
        else:
            answers.said.append("it takes pictures, and did not read the number on one: played with pictures")
    if known.tool_cap is None and answers.found.get("tools", known.tools) is not False and (count := most()) > FEW:
        reply = await _request(model, answers, [ChatMessageUser(content=_MANY)], _tools(count))
        if isinstance(reply, Failure) and reply.kind in _OURS:
            answers.found["tool_cap"] = cap = _cap(reply.message, count)
            answers.said.append(f"{count} tools are refused: at most {cap}")
    return answers


async def _look_up(model: "Model", known: Abilities, answers: Answers) -> None:
    """What the provider's list of models tells, where it has one that says so; it costs nothing."""
    client: Any = getattr(model.api, "client", None)
    wanted = str(getattr(model.api, "service_model_name", lambda: model.name)())
    try:
        listed = [one.model_dump() async for one in client.models.list(timeout=SECONDS)]
    except Exception:  # other clients, other lists, or none: whatever it is, the model is asked instead
        return
    entry = next((one for one in listed if one.get("id") == wanted), listed[0] if len(listed) == 1 else {})
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
    model: "Model", answers: Answers, messages: "list[ChatMessage]", tools: "Sequence[ToolInfo]" = ()
) -> "ModelOutput | Failure":
    """One request; a failure is what the provider said."""
    from inspect_ai.model import GenerateConfig

    from m3bench.server.lab.headless.inspect_listen import HEARD, Heard, listen

    listen(model)
    heard = Heard()
    token = HEARD.set(heard)
    try:
        config = GenerateConfig(max_tokens=REPLY_TOKENS, max_retries=1, timeout=int(SECONDS))
        output = await model.generate(messages, list(tools), config=config)
    except Exception as error:
        return heard.failure or read_failure(error)
    finally:
        HEARD.reset(token)
    if output.usage is not None:
        answers.tokens += used_tokens(output.usage)
        answers.cost += output.usage.total_cost or 0.0
    return output


def used_tokens(usage: "ModelUsage") -> int:
    """Tokens read and written; Inspect counts those that a provider had in its cache apart."""
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached + usage.output_tokens


def _calls(reply: "ModelOutput | Failure", known: Abilities, answers: Answers) -> None:
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


def _refused(failure: Failure, name: str, words: str, answers: Answers) -> None:
    """A request without this went through just before, so a refusal is of this."""
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
    from inspect_ai.tool import ToolInfo, ToolParam, ToolParams

    city = ToolParams(properties={"city": ToolParam(type="string", description="Name of a city")}, required=["city"])
    weather = ToolInfo(name="weather", description="Tells the weather in a city.", parameters=city)
    return [weather, *(ToolInfo(name=f"unused_{n}", description="Does nothing.") for n in range(2, count + 1))]


def number_picture() -> bytes:
    """A picture with a number on it, large and black on white."""
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (320, 160), "white")
    ImageDraw.Draw(picture).text((30, 30), NUMBER, fill="black", font=ImageFont.load_default(96))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _told(model: StudyModel, kept: Mapping[str, Any]) -> StudyModel:
    answered = {name: value for name, value in kept.get("can", {}).items() if getattr(model.can, name) is None}
    return model.model_copy(update={"can": model.can.model_copy(update=answered)}) if answered else model


def _key(model: StudyModel) -> str:
    return model.name or model.model


def _kept(plan: StudyPlan) -> dict[str, dict[str, Any]]:
    assert plan.folder is not None
    path = plan.folder / ANSWERS
    try:
        found = json.loads(path.read_bytes())
        assert isinstance(found, dict)
        for one in found.values():
            Abilities.model_validate(one["can"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AssertionError, TypeError, KeyError) as error:
        raise InputFileError(path, "cannot be read; delete it, and the models are asked again") from error
    known = {(_key(model), model.model) for model in plan.models}
    return {name: one for name, one in found.items() if (name, one.get("model")) in known}

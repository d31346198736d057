"""A judge: a model behind Inspect, asked one question at a time, with no tools and at temperature 0.

Its reply must be JSON of the form that was asked for: code fences and prose around the object are ignored, and a number
may be a string. If there is no object, or several that differ, the reply is answered with a correction, a limited
number of times; a number off the scale is a missing vote. If anything else goes wrong, the vote is missing and says
why: a judge never fails a run and never raises. The only module here that uses Inspect.
"""

import json
import math
import re
import sys
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from m3bench.server.lab.headless.providers.failures import Failure, read_failure
from m3bench.server.lab.headless.providers.retries import RetryPolicy, leave_to_us, patiently
from m3bench.server.lab.judges.judgements import JudgeUsage, Try, Vote
from m3bench.server.lab.judges.material import readable
from m3bench.server.lab.judges.prompts import Prompt, correction
from m3bench.server.lab.judges.questions import SCORE, JudgeQuestion
from m3bench.server.scoring.words import printable
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

# Inspect is an extra, and takes seconds to import.
if TYPE_CHECKING:
    from inspect_ai import model as inspect_model
    from inspect_ai import util as inspect_util
    from inspect_ai.model import ChatMessage, Model, ModelOutput
else:
    inspect_model = LazyModule("inspect_ai.model")
    inspect_util = LazyModule("inspect_ai.util")

MAX_REASON = 600
MAX_REPLY = 50_000

_NUMBER = re.compile(r"\s*([+-]?\d+(?:\.\d+)?|\.\d+)\s*(?:(?:/|out of)\s*(\d+(?:\.0+)?))?\s*")


@dataclass(frozen=True, kw_only=True)
class ReplyVerdict:
    """What a reply says: a score and a sentence for each thing that was asked."""

    scores: Mapping[str, float]
    reasons: Mapping[str, str]


class Unreadable(Exception):
    """The reply is not of the form; worth asking again."""


class OffScale(Exception):
    """The reply is of the form, and a number in it is not on the scale."""


def read(ask: JudgeQuestion, reply: str) -> ReplyVerdict:
    """What a reply says.

    Raises:
        Unreadable: It holds no object of the form, or several that differ, or is too long.
        OffScale: A score is not on the scale.
    """
    if len(reply) > MAX_REPLY:
        raise Unreadable(f"it is longer than {MAX_REPLY} characters")
    problems: list[str] = []
    found: list[ReplyVerdict] = []
    for item in _objects(reply):
        try:
            found.append(_verdict(ask, item))
        except Unreadable as error:
            problems.append(str(error))
    if not found:
        raise Unreadable(problems[0] if problems else "there is no JSON object in it")
    if any(other.scores != found[0].scores for other in found):
        raise Unreadable("it holds several JSON objects with different scores")
    for name, score in found[0].scores.items():
        if not ask.low <= score <= ask.high:
            raise OffScale(f"{name} is {score:g}, and the scale goes from {ask.low:g} to {ask.high:g}")
        if ask.whole and not score.is_integer():
            raise OffScale(f"{name} is {score:g}, and only {ask.low:g} or {ask.high:g} can be given")
    return found[0]


def _objects(text: str) -> Iterator[dict[str, object]]:
    """The JSON objects in a text that are not part of another one."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict):
                yield value
        place = text.find("{", end)


def _verdict(ask: JudgeQuestion, item: Mapping[str, object]) -> ReplyVerdict:
    if not ask.is_rubric:
        return ReplyVerdict(scores={SCORE: _score(item, "", ask)}, reasons={SCORE: _reason(item)})
    parts = {name: part for name in ask.criteria if isinstance(part := item.get(name), dict)}
    missing = [name for name in ask.criteria if name not in parts]
    if missing:
        raise Unreadable(f"it has no object for {', '.join(missing)}")
    return ReplyVerdict(
        scores={name: _score(parts[name], f" of {name}", ask) for name in ask.criteria},
        reasons={name: _reason(parts[name]) for name in ask.criteria},
    )


def _score(item: Mapping[str, object], of: str, ask: JudgeQuestion) -> float:
    if SCORE not in item:
        raise Unreadable(f"the score{of} is missing")
    value = item[SCORE]
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        if match is None or (match[2] is not None and float(match[2]) != ask.high):
            raise Unreadable(f"the score{of} is not a number")
        value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable(f"the score{of} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number):
        raise Unreadable(f"the score{of} is not a number")
    return number


def _reason(item: Mapping[str, object]) -> str:
    reason = item.get("reason")
    return readable(reason, MAX_REASON) if isinstance(reason, str) else ""


TRIES = 3
MAX_TOKENS = 8_192
MAX_PROBLEM = 300
SCHEMA_WORDS = ("response_format", "json_schema", "response_schema")
"""What an endpoint complains about that takes no schema; the form is in the prompt as well."""

_MARKUP = re.compile(r"\[/?(?:bold|blue|italic|link)[^\]]*\]")
"""What Inspect puts into messages for a terminal."""


class JudgeGone(Exception):
    """The provider of a judge no longer answers requests.

    Args:
        says: What the provider said.
        vote: The missing vote.
    """

    def __init__(self, says: str, vote: Vote) -> None:
        self.vote = vote
        super().__init__(says)


class BudgetReached(Exception):
    """No other request may be made."""


@dataclass(kw_only=True)
class JudgeBudget:
    """What a panel may use, counted request by request."""

    requests: int | None = None
    """Requests that may be made, corrections and further tries included; None for any number."""
    cost: float | None = None
    """Dollars after which no other request is made."""
    made: int = 0
    spent: float = 0.0

    @property
    def is_used_up(self) -> bool:
        """Whether no other request may be made."""
        return (self.requests is not None and self.made >= self.requests) or (
            self.cost is not None and self.spent >= self.cost
        )

    def take(self) -> None:
        """Make a request.

        Raises:
            BudgetReached: None may be made.
        """
        if self.is_used_up:
            raise BudgetReached
        self.made += 1


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One model.

    Args:
        name: As Inspect calls it, such as `openai/gpt-5`.
        sighted: Whether it is shown the pictures.
        model: Inspect's model; None when it could not be opened.
        problem: Why it could not be opened.
        seconds: Time for one question, tries and retries together.
        budget: What it may use, together with the others.
    """

    name: str
    sighted: bool = True
    model: "Model | None" = None
    problem: str = ""
    seconds: float = 180.0
    budget: JudgeBudget = field(default_factory=JudgeBudget)

    async def vote(self, ask: JudgeQuestion, prompt: Prompt) -> Vote:
        """What the model says to a question.

        Raises:
            BudgetReached: It was not asked, or not asked again, because no other request may be made.
            JudgeGone: Its provider no longer answers requests.
        """
        tries: list[Try] = []
        blank = Vote(ask=ask.name, shuffle=ask.shuffle, model=self.name, prompt=prompt.hash, scores=None)
        if self.model is None:
            return blank.model_copy(update={"missing": self.problem})
        began = time.monotonic()
        try:
            with anyio.fail_after(self.seconds):
                changes = await self._converse(self.model, ask, prompt, tries)
        except TimeoutError:
            why = f"no answer within {self.seconds:g} s"
            changes = {"missing": why}
            tries.append(Try(reply=None, problem=why, seconds=time.monotonic() - began))
        except BudgetReached:
            raise
        except Exception as error:  # whatever a provider's library raises
            changes = {"missing": words(error)}
            tries.append(Try(reply=None, problem=words(error), seconds=time.monotonic() - began))
            if read_failure(error).gone:
                missing = blank.model_copy(update={**changes, "tries": tuple(tries)})
                raise JudgeGone(str(read_failure(error)), missing) from error
        return blank.model_copy(update={**changes, "tries": tuple(tries)})

    async def _converse(
        self, model: "Model", ask: JudgeQuestion, prompt: Prompt, tries: list[Try]
    ) -> dict[str, object]:
        messages = _messages(prompt)
        problem = ""
        for _ in range(TRIES):
            began = time.monotonic()
            output = await _generate(model, messages, ask)
            self.budget.spent += (output.usage.total_cost or 0.0) if output.usage is not None else 0.0
            reply = _reply(output)
            refused = _refusal(output)
            if refused:
                tries.append(_try(output, reply, refused, began))
                return {"missing": refused}
            try:
                verdict = read(ask, reply)
            except OffScale as error:
                tries.append(_try(output, reply, str(error), began))
                return {"missing": f"off the scale: {error}"}
            except Unreadable as error:
                problem = str(error)
                tries.append(_try(output, reply, problem, began))
            else:
                tries.append(_try(output, reply, "", began))
                return {"scores": dict(verdict.scores), "reasons": dict(verdict.reasons)}
            messages = [
                *messages,
                inspect_model.ChatMessageAssistant(content=reply[:MAX_REPLY] or "(empty)"),
                inspect_model.ChatMessageUser(content=correction(ask, problem)),
            ]
        return {"missing": f"no usable reply in {TRIES} tries: {problem}"}


@asynccontextmanager
async def opened(
    names: list[str], *, text_only: frozenset[str], seconds: float, budget: JudgeBudget | None = None
) -> AsyncIterator[list[Judge]]:
    """Judges of these names, closed in the end; one that cannot be opened has a problem in place of a model."""
    get_model = _inspect()
    judges: list[Judge] = []
    budget = budget or JudgeBudget()
    try:
        for name in names:
            sighted = name not in text_only
            try:
                model = get_model(name, memoize=False)
            except Exception as error:  # a key, a package or a provider that is not there
                judges.append(Judge(name=name, sighted=sighted, problem=f"it cannot be opened: {words(error)}"))
            else:
                _ask_by_budget(model, name, budget, RetryPolicy(minutes=seconds / 60))
                judges.append(Judge(name=name, sighted=sighted, model=model, seconds=seconds, budget=budget))
        yield judges
    finally:
        with anyio.CancelScope(shield=True):
            for judge in judges:
                if judge.model is not None:
                    await judge.model.api.aclose()


def _ask_by_budget(model: "Model", name: str, budget: JudgeBudget, policy: RetryPolicy) -> None:
    """Have every request of a model counted, and tried again by us alone, visibly."""
    api: Any = model.api
    generate = api.generate

    async def counted(**request: Any) -> Any:
        async def once() -> Any:
            budget.take()
            leave_to_us(api)
            return await generate(**request)

        return await patiently(once, policy, told)

    def told(failure: Failure, pause: float) -> None:
        print(
            f"m3bench: judge {name}: {printable(str(failure))}. Next try in {pause:.0f} s.", file=sys.stderr, flush=True
        )

    api.generate = counted


def words(error: BaseException) -> str:
    """An error on one line, the last attempt's when it was retried."""
    attempt = getattr(error, "last_attempt", None)
    inner = attempt.exception() if attempt is not None and attempt.failed else None
    cause = inner or error
    message = str(getattr(cause, "message", None) or cause)
    text = " ".join(_MARKUP.sub("", message).split()) or type(cause).__name__
    return printable(text if len(text) <= MAX_PROBLEM else f"{text[: MAX_PROBLEM - 1]}…")


def _inspect() -> Callable[..., "Model"]:
    try:
        return inspect_model.get_model
    except ImportError as error:
        raise UserError("Judges are models reached through Inspect: pip install 'm3bench[agents]'.") from error


def _messages(prompt: Prompt) -> "list[ChatMessage]":
    pictures = [
        inspect_model.ContentImage(image=f"data:{picture.mime};base64,{b64encode(picture.data).decode()}")
        for picture in prompt.pictures
    ]
    return [
        inspect_model.ChatMessageSystem(content=prompt.system),
        inspect_model.ChatMessageUser(
            content=[*pictures, inspect_model.ContentText(text=prompt.user)] if pictures else prompt.user
        ),
    ]


async def _generate(model: "Model", messages: "list[ChatMessage]", ask: JudgeQuestion) -> "ModelOutput":
    """One reply, bound to the schema where the endpoint knows such a thing."""
    plain = inspect_model.GenerateConfig(temperature=0, max_tokens=MAX_TOKENS, max_retries=0)
    schema = inspect_model.ResponseSchema(
        name=ask.name, json_schema=inspect_util.JSONSchema.model_validate(ask.schema), strict=True
    )
    try:
        return await model.generate(messages, config=plain.merge(inspect_model.GenerateConfig(response_schema=schema)))
    except Exception as error:
        if not any(word in words(error) for word in SCHEMA_WORDS):
            raise
        return await model.generate(messages, config=plain)


def _reply(output: "ModelOutput") -> str:
    """The text, in characters that a file can hold."""
    return output.completion.encode("utf-8", "replace").decode()


def _refusal(output: "ModelOutput") -> str:
    """Why a reply is a refusal; empty when it is none."""
    if output.empty:
        return f"an error: {printable(output.error[:MAX_PROBLEM])}" if output.error else "an empty output"
    content = output.message.content
    said = not isinstance(content, str) and any(getattr(part, "refusal", None) for part in content)
    return "the model refused" if said or output.stop_reason == "content_filter" else ""


def _try(output: "ModelOutput", reply: str, problem: str, began: float) -> Try:
    used = output.usage
    usage = JudgeUsage()
    if used is not None:
        cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
        usage = JudgeUsage(
            input_tokens=used.input_tokens + cached, output_tokens=used.output_tokens, cost=used.total_cost
        )
    stop = "" if output.empty else output.stop_reason
    return Try(reply=reply[:MAX_REPLY], problem=problem, stop=stop, seconds=time.monotonic() - began, usage=usage)

"""Listens in on a model of Inspect: which requests were answered, which failed and how, and what was sent, untouched.

Inspect repeats failed requests, turns some errors into replies and repairs arguments before a solver sees them. All of
that comes after the provider's `generate`, so this stands around it. What is heard belongs to the sample whose task
is asking.
"""

import json
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import Model, ModelOutput

from m3bench.server.lab.headless.provider import Failure, read_failure, verdict
from m3bench.tasks.errors import ProviderError

_LISTENING = "m3bench_listens"

_CUT_SHORT = ("model_length", "content_filter")
"""How Inspect marks a reply that it made of a provider's error."""


@dataclass
class Heard:
    """What was heard of the model in one sample."""

    replies: int = 0
    failures: int = 0
    """Requests that failed, those that were made good by another try too."""
    failure: Failure | None = None
    """The last request, when it failed."""
    last_failure: Failure | None = None
    """The last one that failed, whether another try made it good or not."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The arguments of the last reply's calls by the id of the call, as the provider sent them."""

    def failed(self, error: BaseException) -> None:
        """A request failed."""
        self.failures += 1
        self.failure = self.last_failure = read_failure(error)

    def replied(self, response: object) -> None:
        """The model answered."""
        self.replies += 1
        self.failure = None
        self.arguments = dict(sent_arguments(response))

    def ended(self, limit: str = "") -> ProviderError | None:
        """What the provider made of a run that is over, ended by a kind of limit or not; None when it had no part."""
        if self.failure is not None or not self.replies:
            return verdict(self.failure, self.replies, limit)
        if limit == "time" and self.last_failure is not None:
            return ProviderError(
                f"{self.failures} requests to the model failed and took their time before the time limit ended the "
                f"sample. Its provider says: {self.last_failure}"
            )
        return None


HEARD: ContextVar[Heard | None] = ContextVar("m3bench_heard", default=None)


def spare_tokenizer(model: Model) -> None:
    """Keep Inspect's mock model from fetching a tokenizer: it counts four characters as a token instead."""
    if type(model.api).__name__ == "MockLLM":

        async def count_text_tokens(text: str) -> int:
            return (len(text) + 3) // 4

        vars(model.api)["count_text_tokens"] = count_text_tokens


def listen(model: Model) -> None:
    """Listen to a model from now on; doing it twice is fine."""
    api: Any = model.api
    if getattr(api, _LISTENING, False):
        return
    generate = api.generate

    async def heard_generate(**request: Any) -> Any:
        heard = HEARD.get()
        if heard is None:
            return await generate(**request)
        try:
            result = await generate(**request)
        except Exception as error:
            heard.failed(error)
            raise
        output, call = result if isinstance(result, tuple) else (result, None)
        if isinstance(output, Exception):
            heard.failed(output)
        elif not output.choices:
            heard.failed(empty := ProviderError("It answered, and the answer holds no reply."))
            raise empty
        elif is_error(output):
            heard.failed(_Converted(output))
            raise ProviderError(output.completion)
        else:
            heard.replied(call.response if call is not None else None)
        return result

    api.generate = heard_generate
    setattr(api, _LISTENING, True)


def is_error(output: ModelOutput) -> bool:
    """Whether a reply is the provider's error and nothing that the model said."""
    written = output.usage.output_tokens if output.usage is not None else 0
    return output.stop_reason in _CUT_SHORT and not written and not output.message.tool_calls


class _Converted(Exception):
    """An error that Inspect has made a reply of; what it was is known by the reason for the reply's end."""

    def __init__(self, output: ModelOutput) -> None:
        kind = "context_length_exceeded" if output.stop_reason == "model_length" else "content_filter"
        self.body = {"error": {"message": output.completion, "code": kind}}
        super().__init__(output.completion)


def sent_arguments(response: object) -> Iterator[tuple[str, str]]:
    """Id and arguments of the calls in a provider's response, where it has them as text."""
    if isinstance(response, Mapping):
        id = response.get("call_id") or response.get("id")
        call = response.get("function", response)
        if isinstance(id, str) and isinstance(call, Mapping) and isinstance(call.get("arguments"), str):
            yield id, call["arguments"]
            return
        for value in response.values():
            yield from sent_arguments(value)
    elif isinstance(response, list):
        for value in response:
            yield from sent_arguments(value)


def illegal(text: str) -> str:
    """What is wrong with arguments as they were sent; empty when they are an object in JSON, or nothing at all."""
    if not text.strip():
        return ""
    try:
        found = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        return "The arguments are nested too deeply."
    except ValueError as error:
        return f"The arguments are not JSON: {error}"
    return "" if isinstance(found, dict) else f"The arguments must be a JSON object, not {type(found).__name__}."


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")

"""Listens in on a model of Inspect: which requests were answered, which failed and how, and what was sent, untouched.

Inspect turns some errors into replies and repairs arguments before a solver sees them. That comes after the provider's
`generate`, so this stands around it, and tries failed requests again where that can help. What is heard belongs to the
sample whose task is asking.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from inspect_ai.model import Model, ModelOutput

from m3bench.server.lab.headless.providers.failures import Failure, read_failure, verdict
from m3bench.server.lab.headless.providers.retries import RetryPolicy, leave_to_us, patiently
from m3bench.server.lab.results.resultset import SampleRetry
from m3bench.tasks.errors import ProviderError

_LISTENING = "m3bench_listens"

_CUT_SHORT = ("model_length", "content_filter")
"""How Inspect marks a reply that it made of a provider's error."""


@dataclass
class Heard:
    """What was heard of the model in one sample."""

    replies: int = 0
    failures: int = 0
    """Requests that failed, also those that another try made good."""
    failure: Failure | None = None
    """The last request, when it failed."""
    last_failure: Failure | None = None
    """The last one that failed, whether another try made it good or not."""
    retries: list[SampleRetry] = field(default_factory=list)
    """Requests that were tried again, with what had failed."""
    task: str = ""
    """What is being played, for people to read."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The arguments of the last reply's calls by the id of the call, as the provider sent them."""

    def failed(self, error: BaseException) -> None:
        """A request failed."""
        self.failures += 1
        self.failure = self.last_failure = read_failure(error)

    def retried(self, model: str, failure: Failure, pause: float) -> None:
        """A request failed and is tried again after so many seconds."""
        self.retries.append(SampleRetry(failure=str(failure), wait=round(pause, 3)))
        of = f", {self.task}" if self.task else ""
        print(f"{model}{of}: {failure}. Next try in {pause:.0f} s.", file=sys.stderr, flush=True)

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


def listen(model: Model, policy: RetryPolicy | None = None) -> None:
    """Listen to a model from now on; doing it again changes nothing.

    Args:
        model: The model.
        policy: When a failed request is tried again.
    """
    api: Any = model.api
    if getattr(api, _LISTENING, False):
        return
    generate, policy = api.generate, policy or RetryPolicy()

    async def heard_generate(**request: Any) -> Any:
        heard = HEARD.get() or Heard()
        refused: Any = None

        async def once() -> Any:
            nonlocal refused
            leave_to_us(api)
            refused = None
            try:
                result = await generate(**request)
                output = result[0] if isinstance(result, tuple) else result
                if isinstance(output, Exception):
                    refused = result
                    raise output
                _check(output)
            except Exception as error:
                heard.failed(error)
                raise
            heard.replied(result[1].response if isinstance(result, tuple) else None)
            return result

        try:
            return await patiently(once, policy, partial(heard.retried, str(model)))
        except Exception:
            if refused is None:
                raise
            # Inspect keeps the request in its log with an error that is returned.
            return refused

    api.generate = heard_generate
    setattr(api, _LISTENING, True)


def _check(output: ModelOutput) -> None:
    """Raise the error that an answer holds in place of a reply of the model."""
    if not output.choices:
        raise ProviderError("It answered, but without a reply.")
    if is_error(output):
        raise _Converted(output)


def is_error(output: ModelOutput) -> bool:
    """Whether a reply is the provider's error, and not something that the model said."""
    written = output.usage.output_tokens if output.usage is not None else 0
    return output.stop_reason in _CUT_SHORT and not written and not output.message.tool_calls


class _Converted(ProviderError):
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

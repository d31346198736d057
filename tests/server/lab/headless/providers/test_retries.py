"""Failed requests are tried again by us alone: where it can help, visibly, and for a bounded time."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from m3bench.server.lab.headless.providers.failures import Failure, read_failure
from m3bench.server.lab.headless.providers.retries import RetryPolicy, patiently
from tests.server.lab.headless.providers.test_failures import ERRORS, StatusError
from tests.server.lab.judges.doubles import Endpoint, endpoint

AT_ONCE = RetryPolicy(first_seconds=0.0)
PASSING = {"rate limit", "overload", "server error", "timeout", "unreachable"}


@pytest.mark.sample(12)
@pytest.mark.parametrize("known", ERRORS, ids=lambda known: f"{known['dialect']}-{known['status']}-{known['kind']}")
def test_only_what_may_pass_is_tried_again(known: dict[str, Any]) -> None:
    failure = read_failure(StatusError(known["status"], known["body"]))
    passing = known["kind"] in PASSING and "Request too large" not in failure.message
    assert failure.is_permanent is not passing
    assert (RetryPolicy().pause(failure, 1, 0.0) is not None) is passing


@pytest.mark.parametrize(
    ("status", "message", "gone"),
    [
        (401, "Incorrect API key provided.", "provider"),
        (429, "You exceeded your current quota, please check your plan and billing details.", "provider"),
        (402, "Payment required", "provider"),
        (404, "The model `gpt-nine` does not exist.", "model"),
        (403, "Project does not have access to model gpt-5.", "model"),
        (400, "messages.0.content.1.image: image exceeds 5 MB maximum", ""),
        (503, "The model is overloaded.", ""),
    ],
)
def test_what_answers_nothing_any_more_is_told_from_one_bad_request(status: int, message: str, gone: str) -> None:
    assert read_failure(StatusError(status, {"error": {"message": message}})).gone == gone


def test_waits_grow_and_end_with_the_time_for_them() -> None:
    busy = Failure(kind="overload", status=503, message="Overloaded")
    waits = [RetryPolicy(minutes=60).pause(busy, tries, 0.0) or 0.0 for tries in (1, 2, 3, 9)]
    assert all(low <= wait <= high for wait, (low, high) in zip(waits, [(0.8, 1.2), (1.6, 2.4), (3.2, 4.8), (24, 36)],
                                                                strict=True))  # fmt: skip
    assert RetryPolicy(minutes=1).pause(busy, 9, 50.0) is None
    assert RetryPolicy(minutes=0).pause(busy, 1, 0.1) is None
    told = Failure(kind="rate limit", status=429, message="Slow down", retry_after=7.0)
    assert RetryPolicy().pause(told, 1, 0.0) == 7.0


def test_the_wait_that_a_provider_asks_for_is_read_from_its_headers() -> None:
    error = StatusError(429, {"error": {"message": "Slow down"}})
    error.response = SimpleNamespace(headers={"retry-after": "12"})  # type: ignore[attr-defined]
    assert read_failure(error).retry_after == 12.0


def test_a_request_is_made_until_it_is_answered() -> None:
    answers: Iterator[Any] = iter([StatusError(503, "busy"), StatusError(429, "slow down"), "here"])
    told: list[str] = []

    async def request() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    async def main() -> str:
        with anyio.fail_after(10):
            return await patiently(request, AT_ONCE, lambda failure, pause: told.append(failure.kind))

    assert anyio.run(main) == "here"
    assert told == ["overload", "rate limit"]


@pytest.fixture(scope="module")
def provider() -> Iterator[Endpoint]:
    with endpoint(lambda body: (200, "hello")) as place, pytest.MonkeyPatch.context() as patch:
        for name, value in place.env.items():
            patch.setenv(name, value)
        yield place


@pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")  # of Inspect's own retries
@pytest.mark.parametrize(
    ("statuses", "policy", "requests"),
    [
        ([401], AT_ONCE, 1),
        ([404], AT_ONCE, 1),
        ([503], RetryPolicy(minutes=0), 1),
        ([502, 503, 200], AT_ONCE, 3),
        ([429, 401], AT_ONCE, 2),
    ],
)
def test_neither_inspect_nor_the_client_makes_a_request_of_its_own(
    provider: Endpoint, statuses: list[int], policy: RetryPolicy, requests: int, capsys: pytest.CaptureFixture[str]
) -> None:
    from inspect_ai.model import get_model

    from m3bench.server.lab.headless.inspect_listen import HEARD, Heard, listen

    left = iter([*statuses, *[statuses[-1]] * 30])
    provider.requests.clear()
    provider.answer = lambda body: (next(left), "words of the provider")
    heard = Heard(task="movies-1")
    answered = statuses[-1] == 200

    async def main() -> None:
        model = get_model("openai-api/local/m", memoize=False)
        listen(model, policy)
        token = HEARD.set(heard)
        try:
            with anyio.fail_after(60), nullcontext() if answered else pytest.raises(Exception, match="provider"):
                await model.generate("hi")
        finally:
            HEARD.reset(token)
            await model.api.aclose()

    anyio.run(main)
    assert len(provider.requests) == requests
    assert (heard.failure is None) is answered
    assert len(heard.retries) == requests - 1
    said = capsys.readouterr().err
    assert said.count("Next try in 0 s.") == requests - 1
    assert json.dumps([retry.failure for retry in heard.retries]).count("words of the provider") == requests - 1

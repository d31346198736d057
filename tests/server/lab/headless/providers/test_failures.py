"""What a provider's error is, in whatever dialect it comes and however a client reports it.

`provider_errors.json` has error bodies as three kinds of API write them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.headless.providers.failures import Failure, read_failure, verdict
from m3bench.tasks.fault import MAX_WORDS, RULES, fault_of_error

ERRORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "provider_errors.json").read_text())
IDS = [f"{one['dialect']}-{one['status']}-{one['kind']}" for one in ERRORS]


class StatusError(Exception):
    """As the clients of OpenAI and Anthropic report an answer that is an error."""

    def __init__(self, status: int, body: Any) -> None:
        self.status_code, self.body = status, body
        super().__init__(f"Error code: {status} - {body}")


class CodeError(Exception):
    """As Google's client does."""

    def __init__(self, status: int, body: Any) -> None:
        self.code, self.details = status, body
        super().__init__(f"{status} {body}")


class Response:
    def __init__(self, status: int, body: Any) -> None:
        self.status_code, self.text = status, json.dumps(body)


class PlainError(Exception):
    """As an HTTP client does."""

    def __init__(self, status: int, body: Any) -> None:
        self.response = Response(status, body)
        super().__init__(f"Client error '{status}' for url 'https://api.example/v1'")


class TextError(Exception):
    """Of which nothing is left but text."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"HTTP {status}: {json.dumps(body)}")


def dumped(error: Exception) -> Exception:
    """As an engine reports it that shows the whole request beside it."""
    wrapped = RuntimeError("\nRequest:\n" + "the maximum context length of all tools and images\n" * 100 + repr(error))
    wrapped.__cause__ = error
    return wrapped


@pytest.mark.sample(24)
@pytest.mark.parametrize("one", ERRORS, ids=IDS)
@pytest.mark.parametrize("report", [StatusError, CodeError, PlainError])
def test_the_kind_and_the_words_are_those_of_the_provider(one: dict[str, Any], report: Any) -> None:
    for error in (report(one["status"], one["body"]), dumped(report(one["status"], one["body"]))):
        failure = read_failure(error)
        assert (failure.kind, failure.status) == (one["kind"], one["status"])
        assert one["says"] in failure.message
        assert "Request:" not in failure.message
        assert "{" not in failure.message


@pytest.mark.parametrize("one", [one for one in ERRORS if one["dialect"] == "google"], ids=lambda one: one["kind"])
def test_a_body_that_is_left_as_text_is_read(one: dict[str, Any]) -> None:
    failure = read_failure(TextError(one["status"], one["body"]))
    assert (failure.kind, failure.status) == (one["kind"], one["status"])
    assert failure.message == one["body"]["error"]["message"]


@pytest.mark.sample(12)
@pytest.mark.parametrize("one", ERRORS, ids=IDS)
@pytest.mark.parametrize("replies", [0, 3])
def test_only_a_window_that_is_full_in_the_middle_of_play_is_the_models(one: dict[str, Any], replies: int) -> None:
    ended = verdict(read_failure(StatusError(one["status"], one["body"])), replies)
    fault = fault_of_error(ended)
    assert fault == ("limit" if one["kind"] == "context overflow" and replies else "provider")
    assert RULES[fault].voids is (fault == "provider")
    assert one["says"] in str(ended)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ConnectionRefusedError(111, "Connection refused"), "unreachable"),
        (OSError(-2, "Temporary failure in name resolution"), "unreachable"),
        (ValueError("whatever"), "refused request"),
    ],
)
def test_a_provider_that_does_not_answer_is_told_from_one_that_refuses(error: Exception, kind: str) -> None:
    assert read_failure(error).kind == kind


def test_a_page_in_place_of_an_answer_is_not_shown() -> None:
    failure = read_failure(StatusError(503, "<html><body>" + "x" * 5000))
    assert failure.kind == "overload"
    assert len(failure.message) <= MAX_WORDS


def test_silence_until_a_limit_is_the_providers() -> None:
    assert fault_of_error(verdict(None, 0, "time")) == "provider"
    said = str(verdict(Failure(kind="overload", status=503, message="Overloaded"), 0, "message"))
    assert said == (
        "The model gave no reply until the message limit ended the sample. "
        "Its provider says: overload (503): Overloaded"
    )

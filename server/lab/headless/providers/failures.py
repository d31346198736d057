"""Reads a provider's failures: of what kind each is, and the provider's own message.

Providers differ in status codes, bodies and words, and so do the clients that report them. What is told apart here is
the same for all: a status where there is one, codes and types, and last the words. Nothing is asked of a provider's own
package, which may not be installed. What follows from a failure is said in `verdict`.
"""

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from m3bench.tasks.errors import ProviderError
from m3bench.tasks.fault import cut

Kind = Literal[
    "authentication", "credit", "rate limit", "overload", "server error", "timeout", "unreachable", "context overflow",
    "too many tools", "refused picture", "refused request",
]  # fmt: skip

Gone = Literal["", "model", "provider"]

_PASSING: frozenset[Kind] = frozenset({"rate limit", "overload", "server error", "timeout", "unreachable"})
_PASSING_STATUS = (409, 425)
"""A conflict with another request, and one that came too early."""
_NEVER_FITS = re.compile(r"(?i)request too large")
"""A single request that is larger than what may be sent in a minute."""
_UNKNOWN_MODEL = re.compile(r"model.{0,60}(not exist|not found|unknown|no access)|no such model|unknown model")

_BY_STATUS: Mapping[int, Kind] = {
    401: "authentication", 402: "credit", 403: "authentication", 407: "authentication", 408: "timeout",
    413: "context overflow", 429: "rate limit", 502: "overload", 503: "overload", 504: "timeout", 529: "overload",
}  # fmt: skip

_TOO_MUCH = r"(too (many|long|large)|at most|maximum|exceed|limit|more than|array_above_max)"
_REFUSED = (
    r"(not (support|enabl|allow|accept|process|valid)|unsupport|invalid|cannot|could not|unable|only (text|support)"
    r"|refus|no endpoints)"
)

_BY_CODE: tuple[tuple[Kind, str], ...] = (
    ("credit", r"insufficient_quota|billing|credit balance|payment required|insufficient (balance|credit|funds)"),
    ("authentication", r"api[ _-]?key|authentication|unauthori[sz]ed|permission_denied|invalid x-api-key"),
    ("rate limit", r"rate[ _-]?limit|resource_exhausted|too many requests|tokens per min|quota"),
    ("overload", r"overloaded|unavailable|at capacity|try again later"),
    ("timeout", r"timed? ?out|deadline[ _]exceeded"),
)
"""What a status or a code does not tell is read from words, in this order."""

_A_TOOL_LIST = r"(tools\b|function.?declarations?|functions\b)"
_TOOLS = re.compile(
    rf"{_A_TOOL_LIST}.*{_TOO_MUCH}|{_TOO_MUCH}.*{_A_TOOL_LIST}"
    r"|(tool|function)[ -]?(use|calling|calls?|s)?\b.{0,40}not support|support.{0,30}(tool|function)[ -]?(use|call)"
)
_A_PICTURE = r"(image|picture|vision|inline_?data|multimodal|modalit)"
_PICTURE = re.compile(rf"{_A_PICTURE}.*({_REFUSED}|{_TOO_MUCH})|({_REFUSED}|{_TOO_MUCH}).*{_A_PICTURE}")
_CONTEXT = re.compile(
    r"context[ _-]?(length|window|size|limit)|maximum context|request_too_large|reduce the length"
    r"|(prompt|input|conversation|messages?)( is| are| was)? too (long|large)|too many (input )?tokens"
    r"|token count.{0,60}exceed|exceed.{0,60}(input|prompt|maximum number of|token).{0,20}tokens?\b"
    r"|max(imum)? (input|prompt|sequence) (length|tokens)"
)
_OUTPUT = re.compile(r"(max_tokens|max_completion_tokens|output tokens).{0,80}(maximum|at most|exceed|>|supports)")
"""A setting that asks for longer replies than the model gives: nothing overflowed."""

_UNREACHABLE = re.compile(r"connect|network|dns|name resolution|socket|ssl|proxyerror")


@dataclass(frozen=True, kw_only=True)
class Failure:
    """One failed request to a provider."""

    kind: Kind
    status: int | None
    """The HTTP status, when the provider answered."""
    message: str
    """What the provider said, without the request it was about."""
    retry_after: float | None = None
    """Seconds after which the provider wants to be asked again, where it says so."""

    @property
    def is_permanent(self) -> bool:
        """Whether the same request would fail again after any wait."""
        if self.kind == "credit":
            return self.retry_after is None
        if self.kind == "rate limit":
            return bool(_NEVER_FITS.search(self.message))
        return self.kind not in _PASSING and self.status not in _PASSING_STATUS

    @property
    def gone(self) -> Gone:
        """What no longer answers any request: the provider to this account, one model of it, or neither."""
        if not self.is_permanent:
            return ""
        if self.status in (403, 404) or _UNKNOWN_MODEL.search(self.message.lower()):
            return "model" if self.kind in ("authentication", "refused request") else ""
        return "provider" if self.kind in ("authentication", "credit") else ""

    def __str__(self) -> str:
        status = f" ({self.status})" if self.status is not None else ""
        return f"{self.kind}{status}: {self.message}"


def read_failure(error: BaseException) -> Failure:
    """What a failed request came to, from whatever exception reports it."""
    chain = list(_chain(error))
    bodies = [body for error in chain for body in _bodies(error)]
    told = [*map(_status, chain), *map(_status_in, bodies)]
    status = next((found for found in told if found is not None), None)
    message = next(filter(None, map(_message, bodies)), "") or _first_words(chain)
    codes = " ".join(text for body in bodies for text in _codes(body))
    kinds = " ".join(type(error).__name__ for error in chain)
    return Failure(
        kind=_kind(status, f"{codes} {message}".lower(), kinds.lower()),
        status=status,
        message=cut(message),
        retry_after=next((found for error in chain if (found := _retry_after(error)) is not None), None),
    )


def verdict(failure: Failure | None, replies: int, limit: str = "") -> ProviderError:
    """What a failure that ended a run, or the silence until a limit did, makes of the run.

    A model whose window is full after it began to play has reached a limit of its own and is scored on what it did,
    in whatever words its provider says so. Everything else is the provider's, or of how it was set up, and void: also a
    first request that does not fit, because then nothing of the model was seen.

    Args:
        failure: The last failed request, when it was not made good since.
        replies: How often the model has answered.
        limit: The kind of limit that ended the run, if one did.
    """
    if failure is not None and failure.kind == "context overflow" and replies:
        return ProviderError(f"The model's context window was full: {failure.message}", fault="limit")
    until = f" until the {limit} limit ended the sample" if limit else ""
    if failure is None:
        return ProviderError(f"The model gave no reply{until}.")
    silence = "The model gave no reply" if not replies else "The model was not heard from again"
    return ProviderError(f"{silence}{until}. Its provider says: {failure}", gone=failure.gone)


def _kind(status: int | None, words: str, names: str) -> Kind:
    by_status = _BY_STATUS.get(status) if status is not None else None
    if status in (401, 402, 403, 407, 429) and by_status is not None:
        return "credit" if re.search(_BY_CODE[0][1], words) else by_status
    if _CONTEXT.search(words) and ("context" in words or not _OUTPUT.search(words)):
        return "context overflow"
    if status is not None and status >= 500:
        return by_status or "server error"
    if _TOOLS.search(words):
        return "too many tools"
    if _PICTURE.search(words):
        return "refused picture"
    for kind, pattern in _BY_CODE:
        if re.search(pattern, words):
            return kind
    if status is not None:
        return by_status or "refused request"
    if "timeout" in names:
        return "timeout"
    return "unreachable" if _UNREACHABLE.search(f"{names} {words}") else "refused request"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and what it was raised from, the outermost first; those inside groups and retries too."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        last = getattr(one, "last_attempt", None)
        if last is not None and callable(getattr(last, "exception", None)):
            waiting.append(last.exception())
        waiting += [one.__cause__, one.__context__]


def _status(error: BaseException) -> int | None:
    places = (error, getattr(error, "response", None))
    for place in places:
        for name in ("status_code", "http_status", "status", "code"):
            found = getattr(place, name, None)
            if isinstance(found, int) and not isinstance(found, bool) and 400 <= found < 600:
                return found
    return None


def _status_in(body: object) -> int | None:
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    found = inner.get("code", inner.get("status")) if isinstance(inner, Mapping) else None
    return found if isinstance(found, int) and 400 <= found < 600 else None


def _retry_after(error: BaseException) -> float | None:
    """Seconds that a response's headers ask to wait; a date is not read."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name) or "nan") * scale
        except ValueError:
            continue
        if 0 <= seconds < math.inf:
            return seconds
    return None


def _bodies(error: BaseException) -> Iterator[object]:
    """What an exception holds of the provider's answer, parsed where that can be done."""
    for name in ("body", "details", "response_json", "provider_message"):
        found = getattr(error, name, None)
        if found:
            yield _parsed(found)
    response = getattr(error, "response", None)
    try:
        text = getattr(response, "text", None)
    except Exception:  # a stream that was not read
        text = None
    if isinstance(text, str) and text:
        yield _parsed(text)
    said = str(error)
    if "{" in said and "\nRequest:" not in said:
        yield _parsed(said[said.index("{") :])


def _parsed(found: object) -> object:
    if isinstance(found, bytes):
        found = found.decode(errors="replace")
    if not isinstance(found, str):
        return found
    start = found.find("{")
    for read in (json.loads, ast.literal_eval):
        try:
            return read(found[max(start, 0) :].strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return found if start < 0 else None


def _message(body: object) -> str:
    """The sentence for people in a body of any dialect."""
    match body:
        case str():
            return "" if body.lstrip().startswith("<") else body
        case [first, *_]:
            return _message(first)
        case Mapping():
            for name in ("error", "message", "detail", "error_message", "errors", "msg"):
                found = _message(body.get(name))
                if found:
                    return found
    return ""


def _codes(body: object) -> Iterator[str]:
    """Everything short in a body that names a kind of failure."""
    if isinstance(body, Mapping):
        for name, value in body.items():
            if isinstance(value, str) and name in ("code", "type", "status", "reason", "param"):
                yield value
            elif isinstance(value, Mapping | list):
                yield from _codes(value)
    elif isinstance(body, list):
        for value in body:
            yield from _codes(value)


def _first_words(chain: list[BaseException]) -> str:
    """What the exceptions themselves say, when nothing of an answer is left; never the dump of a request."""
    for error in reversed(chain):
        said = str(error)
        if said and "\nRequest:" not in said:
            return said
    return type(chain[-1]).__name__

"""Tries a request to a model's provider again, where that can help: the only place that does.

What fails for good (a key, a quota, a model that is not there, a request that is refused) is not tried again. What may
pass (an overload, a rate limit, a lost connection) is, after waits that grow, until the time for it is over. Inspect
and the clients of providers have retries of their own, silent and without such a bound: `leave_to_us` turns them off.
"""

import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

import anyio

from m3bench.server.lab.headless.providers.failures import Failure, read_failure

T = TypeVar("T")

RETRY_MINUTES = 3.0
"""How long a request is tried again, unless somebody says otherwise."""


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How long and how often a request is tried again."""

    minutes: float = RETRY_MINUTES
    """Counted from the first try; 0 for no other."""
    first_seconds: float = 1.0
    """The first wait; each is twice the one before."""
    longest_seconds: float = 30.0

    def pause(self, failure: Failure, tries: int, elapsed: float) -> float | None:
        """Seconds until the next attempt; None when there is none.

        Args:
            failure: How the last try failed.
            tries: How many there were.
            elapsed: Seconds since the first began.
        """
        if failure.is_permanent:
            return None
        # Requests that failed together must not be repeated together.
        usual = min(self.longest_seconds, self.first_seconds * 2 ** min(tries - 1, 16)) * random.uniform(0.8, 1.2)
        pause = usual if failure.retry_after is None else failure.retry_after
        return pause if elapsed + pause <= self.minutes * 60 else None


async def patiently(
    request: Callable[[], Awaitable[T]], policy: RetryPolicy, told: Callable[[Failure, float], None]
) -> T:
    """The result of a request, which is tried again as the policy says.

    Args:
        request: Makes the request; raises what went wrong.
        policy: When it is made again.
        told: Called with every failure that another try follows, and the seconds until then.
    """
    began = time.monotonic()
    for tries in count(1):
        try:
            return await request()
        except Exception as error:
            failure = read_failure(error)
            pause = policy.pause(failure, tries, time.monotonic() - began)
            if pause is None:
                raise
            told(failure, pause)
        await anyio.sleep(pause)
    raise AssertionError


def leave_to_us(api: Any) -> None:
    """Turn off the retries of Inspect for a model, and those of its provider's client, which may be a new one."""
    api.should_retry = lambda error: False
    for client in list(vars(api).values()):
        if isinstance(getattr(client, "max_retries", None), int):
            with suppress(AttributeError):
                client.max_retries = 0

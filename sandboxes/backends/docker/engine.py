"""The line to a Docker engine: its SDK, called in threads, and its failures in plain words with the remedy.

Which engine is said by whoever asks, or by the environment, as for the `docker` command: `DOCKER_HOST` and its
companions, else the local socket. The SDK is imported with the first question.
"""

import math
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from m3bench.sandboxes.backends.docker import image
from m3bench.tasks.errors import SandboxError

Client = Any
"""The SDK's `APIClient`."""

Answer = TypeVar("Answer")

ANSWER_SECONDS = 30.0
"""Time for the engine to answer a question; together with the next, less than clients wait for a call."""
KNOCK_SECONDS = 5.0
"""Time for the engine to take a connection."""
GRUDGE_SECONDS = 10.0
"""How long an engine that gave no answer is not asked again: those who wait meanwhile would wait for nothing."""

QUESTIONS = 16
"""Questions asked at the same time."""

BUILD = "run `m3bench image build`"

_OTHERWISE = "or use --sandbox process"


class Engine:
    """A Docker engine; nothing is connected before the first question.

    Args:
        place: Where it is, as in `DOCKER_HOST`, or the name of a Docker context; as the environment says when None.
    """

    def __init__(self, place: str | None = None) -> None:
        self._place = place
        self._client: Client | None = None
        self._connecting = Lock()
        self._limiter: anyio.CapacityLimiter | None = None
        self._silent_since = -math.inf

    @property
    def is_silent(self) -> bool:
        """Whether the engine gave no answer a short time ago."""
        return time.monotonic() - self._silent_since < GRUDGE_SECONDS

    @property
    def address(self) -> str:
        """Where the engine is."""
        return self._place or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"

    async def ask(self, question: Callable[[Client], Answer]) -> Answer:
        """The answer to a question that is put in a thread; whoever is cancelled waits for it all the same.

        Raises:
            SandboxError: There is none; the message has the remedy.
        """
        self._limiter = self._limiter or anyio.CapacityLimiter(QUESTIONS)
        return await anyio.to_thread.run_sync(self.answer, question, limiter=self._limiter)

    def answer(self, question: Callable[[Client], Answer]) -> Answer:
        """The same, here and now."""
        import docker.errors
        import requests.exceptions
        import urllib3.exceptions

        if self.is_silent:
            raise SandboxError(self._silence())
        try:
            self._knock()
            return question(self._connected())
        except (
            docker.errors.DockerException,
            requests.exceptions.RequestException,
            urllib3.exceptions.HTTPError,
            OSError,
        ) as error:
            if isinstance(error, requests.exceptions.Timeout | TimeoutError):
                self._silent_since = time.monotonic()
            raise SandboxError(self._story(error)) from error

    def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _knock(self) -> None:
        """See whether somebody is at the door: where nobody is, the SDK leaves sockets behind."""
        kind, _, path = self.address.partition("://")
        if kind == "unix":
            with socket.socket(socket.AF_UNIX) as door:
                door.settimeout(KNOCK_SECONDS)
                door.connect(path)

    def _connected(self) -> Client:
        with self._connecting:
            if self._client is None:
                # Any version will do to ask which one the engine speaks.
                first = _client("1.41", self._place)
                try:
                    self._client = _client(first.version(api_version=False)["ApiVersion"], self._place)
                finally:
                    first.close()
            return self._client

    def _story(self, error: BaseException) -> str:
        """What happened and what to do next."""
        import docker.errors
        import requests.exceptions

        words = _words(error)
        if isinstance(error, docker.errors.ImageNotFound):
            return f"The engine has no image {image.reference()}: {BUILD}."
        for sign, story in _STORIES.items():
            if sign in words.lower():
                return story.format(address=self.address)
        if isinstance(error, requests.exceptions.Timeout | TimeoutError):
            return self._silence()
        return f"The Docker engine at {self.address} says: {words[:500]}."

    def _silence(self) -> str:
        waited = f"{ANSWER_SECONDS:g} seconds"
        return f"The Docker engine at {self.address} gave no answer within {waited}: restart it, {_OTHERWISE}."


_ABSENT = f"No Docker engine answers at {{address}}: start it, set DOCKER_HOST, {_OTHERWISE}."
_FULL = (
    "The disk of the Docker engine at {address} is full: `docker system df` shows what is on it, "
    "`docker system prune` makes room."
)
_STRANGE = (
    "The Docker engine at {address} does not know the runtime asked for: install it (gVisor: "
    "https://gvisor.dev/docs/user_guide/install) and name it in the engine's daemon.json, or leave --runtime out."
)
_RESTARTED = "The Docker engine at {address} hung up, as it does when it is restarted: the next call tries again."

_STORIES = {
    "permission denied": (
        "You may not use the Docker engine at {address}: join its group (`sudo usermod -aG docker $USER`, then log in "
        f"again), {_OTHERWISE}."
    ),
    "no space left on device": _FULL,
    "disk quota exceeded": _FULL,
    "unknown runtime": _STRANGE,
    "unknown or invalid runtime": _STRANGE,
    "connection refused": _ABSENT,
    "no such file or directory": _ABSENT,
    "filenotfounderror": _ABSENT,
    "name or service not known": _ABSENT,
    "connection aborted": _RESTARTED,
    "connection reset": _RESTARTED,
    "remotedisconnected": _RESTARTED,
}
"""Signs in what the SDK or the engine says, and what is said in its place."""


def _client(version: str, place: str | None) -> Client:
    """A client of the SDK that speaks a version of the API."""
    from docker.api import APIClient

    client = APIClient(version=version, timeout=ANSWER_SECONDS, **_way(place))
    # Else certificates and proxies that are meant for the web would come before those of the engine.
    client.trust_env = False
    # Else the SDK keeps a connection for every address it ever asked, and trips over those that an engine that was
    # restarted has closed.
    client.headers["Connection"] = "close"
    return client


def _way(place: str | None) -> dict[str, Any]:
    """How the SDK gets to an engine."""
    from docker.context import ContextAPI
    from docker.utils import kwargs_from_env

    if place is None or "://" in place:
        # Certificates are those of the environment, wherever the engine is.
        return dict(kwargs_from_env({**os.environ, "DOCKER_HOST": place} if place else None))
    found = ContextAPI.get_context(place)
    if found is None:
        raise SandboxError(f"There is no Docker context {place!r}: `docker context ls` shows those there are.")
    return {"base_url": found.Host, "tls": found.TLSConfig}


def _words(error: BaseException) -> str:
    """What an error says, the engine's own explanation first."""
    explanation = getattr(error, "explanation", None)
    if isinstance(explanation, bytes):
        explanation = explanation.decode(errors="replace")
    return str(explanation or error)


def is_gone(error: BaseException) -> bool:
    """Whether the engine says that something is not there, or is on its way out."""
    with suppress(AttributeError):
        return bool(error.response.status_code in (404, 409))  # type: ignore[attr-defined]
    return False

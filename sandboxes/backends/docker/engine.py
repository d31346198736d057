"""The connection to a Docker engine: its SDK, called in threads, and its failures in plain words with the remedy.

Which engine is said by whoever asks, or by the environment, as for the `docker` command: `DOCKER_HOST` and its
companions, else the local socket. The SDK is imported with the first question. `survey` finds out what must be known
before containers can be made: whether the right image is there, and what the engine can limit.
"""

import math
import os
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread

from m3bench.sandboxes.backends.base import LACKING, Guard
from m3bench.sandboxes.backends.docker import image
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.lazy_modules import LazyModule

# It takes a third of a second to import, and most who name an engine never ask it anything.
if TYPE_CHECKING:
    from m3bench.sandboxes.backends.docker import sdk
else:
    sdk = LazyModule("m3bench.sandboxes.backends.docker.sdk")

Client = Any
"""The SDK's `APIClient`."""

Answer = TypeVar("Answer")

ANSWER_SECONDS = 30.0
"""Time for the engine to answer a question; together with the next, less than clients wait for a call."""
CONNECT_SECONDS = 5.0
"""Time for the engine to accept a connection."""
BACKOFF_SECONDS = 10.0
"""How long an engine that gave no answer is not asked again, so that nobody waits for nothing."""

QUESTIONS = 16
"""Questions asked at the same time."""

BUILD = "run `m3bench image build`"

_OTHERWISE = "or use --sandbox process"


class DockerEngine:
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
        return time.monotonic() - self._silent_since < BACKOFF_SECONDS

    @property
    def address(self) -> str:
        """Where the engine is."""
        return self._place or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"

    async def ask(self, question: Callable[[Client], Answer]) -> Answer:
        """Put a question to the engine in a thread; even a cancelled caller waits for the answer.

        Raises:
            SandboxError: The engine gave none; the message has the remedy.
        """
        self._limiter = self._limiter or anyio.CapacityLimiter(QUESTIONS)
        return await anyio.to_thread.run_sync(self.answer, question, limiter=self._limiter)

    def answer(self, question: Callable[[Client], Answer]) -> Answer:
        """The same, in the calling thread."""
        if self.is_silent:
            raise SandboxError(self._silence())
        try:
            self._check_socket()
            return question(self._connected())
        except sdk.FAILURES as error:
            if sdk.is_timeout(error):
                self._silent_since = time.monotonic()
            raise SandboxError(self._story(error)) from error

    def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _check_socket(self) -> None:
        """Try the local socket first: where nobody listens, the SDK leaves sockets open."""
        kind, _, path = self.address.partition("://")
        if kind == "unix":
            with socket.socket(socket.AF_UNIX) as door:
                door.settimeout(CONNECT_SECONDS)
                door.connect(path)

    def _connected(self) -> Client:
        with self._connecting:
            if self._client is None:
                # Any version will do to ask which one the engine speaks.
                first = sdk.client_of(self._place, "1.41", ANSWER_SECONDS)
                try:
                    version = first.version(api_version=False)["ApiVersion"]
                    self._client = sdk.client_of(self._place, version, ANSWER_SECONDS)
                finally:
                    first.close()
            return self._client

    def _story(self, error: BaseException) -> str:
        """What happened and what to do next."""
        words = _words(error)
        if sdk.is_missing_image(error):
            return f"The engine has no image {image.reference()}: {BUILD}."
        for sign, story in _STORIES.items():
            if sign in words.lower():
                return story.format(address=self.address)
        if sdk.is_timeout(error):
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


def _words(error: BaseException) -> str:
    """What an error says, the engine's own explanation first."""
    explanation = getattr(error, "explanation", None)
    if isinstance(explanation, bytes):
        explanation = explanation.decode(errors="replace")
    return str(explanation or error)


def is_refusal(error: BaseException) -> bool:
    """Whether an error is an answer of the engine, and not the lack of one."""
    return _status(error) is not None


def is_missing(error: BaseException) -> bool:
    """Whether the engine says that something is not there."""
    return _status(error) == 404


def is_gone(error: BaseException) -> bool:
    """Whether the engine says that something is not there, or is on its way out."""
    return _status(error) in (404, 409)


def _status(error: BaseException) -> int | None:
    """The HTTP status of an answer; None for an error without one."""
    with suppress(AttributeError):
        return int(error.response.status_code)  # type: ignore[attr-defined]
    return None


_MAPPING = ("name=rootless", "name=userns")
"""What an engine says that maps users of containers to others outside."""


@dataclass(frozen=True, kw_only=True)
class EngineFacts:
    """An engine, as far as sandboxes are concerned."""

    image: str
    """The id of the image: what was checked is what runs, even if its name moves on."""
    environment: tuple[str, ...]
    """Names of the variables that the image sets."""
    lacking: tuple[Guard, ...]
    """What containers do not keep tools from."""
    cpu_quota: bool
    """Whether CPU time can be limited."""
    maps_users: bool
    """Whether the engine maps users of containers to others outside, so that files cannot be shared."""

    @property
    def guards(self) -> frozenset[Guard]:
        """What holds in every container."""
        return frozenset(LACKING) - set(self.lacking)


def survey(client: Client) -> EngineFacts:
    """Look at an engine.

    Raises:
        SandboxError: It cannot run sandboxes of this m3bench; the message has the remedy.
    """
    info: dict[str, Any] = client.info()
    if info.get("OSType", "linux") != "linux":
        raise SandboxError(f"The Docker engine runs {info['OSType']} containers: switch it to Linux containers.")
    found: dict[str, Any] = client.inspect_image(image.reference())
    config = found.get("Config") or {}
    _compare(config.get("Labels") or {})
    options = info.get("SecurityOptions") or ()
    return EngineFacts(
        image=found["Id"],
        environment=tuple(entry.partition("=")[0] for entry in config.get("Env") or ()),
        lacking=(
            *(("memory",) if not info.get("MemoryLimit", True) else ()),
            *(("forks",) if not info.get("PidsLimit", True) else ()),
            *(("sockets", "kernel") if options and not _filters(options) else ()),
        ),
        cpu_quota=bool(info.get("CpuCfsQuota", True)),
        maps_users=any(option.startswith(_MAPPING) for option in options),
    )


def _filters(options: Iterable[str]) -> bool:
    """Whether the engine's kernel filters system calls."""
    return any(option.startswith("name=seccomp") for option in options)


def _compare(labels: dict[str, str]) -> None:
    """Refuse an image of another m3bench: it would answer differently from every other backend."""
    theirs = labels.get(image.VERSION_LABEL)
    if theirs != image.installed_version():
        raise SandboxError(
            f"The image {image.reference()} was built for m3bench {theirs or 'of an unknown version'}, "
            f"this is {image.installed_version()}: {BUILD}."
        )
    if labels.get(image.MANIFEST_LABEL) != image.manifest():
        raise SandboxError(f"The image {image.reference()} holds other servers or data than this m3bench: {BUILD}.")

"""The Docker SDK: clients for an engine, and the exceptions that mean the engine failed.

Importing this takes a third of a second, so only `engine` does, with the first question.
"""

import os

import requests.exceptions
import urllib3.exceptions
from docker.api import APIClient
from docker.context import ContextAPI
from docker.errors import DockerException, ImageNotFound
from docker.utils import kwargs_from_env

from m3bench.tasks.errors import SandboxError

FAILURES = (DockerException, requests.exceptions.RequestException, urllib3.exceptions.HTTPError, OSError)
"""What a question to an engine may raise."""


def client_of(place: str | None, version: str, seconds: float) -> APIClient:
    """A client that speaks a version of the API.

    Args:
        place: An address, the name of a Docker context, or None for what the environment says.
        version: Of the API.
        seconds: Time for an answer.
    """
    client = APIClient(version=version, timeout=seconds, **_connection(place))
    # Else certificates and proxies that are meant for the web would come before those of the engine.
    client.trust_env = False
    # Else the SDK keeps a connection for every address it ever asked, and trips over those that an engine that was
    # restarted has closed.
    client.headers["Connection"] = "close"
    return client


def is_timeout(error: BaseException) -> bool:
    """Whether an engine gave no answer in time."""
    return isinstance(error, requests.exceptions.Timeout | TimeoutError)


def is_missing_image(error: BaseException) -> bool:
    """Whether an engine does not have the image that was named."""
    return isinstance(error, ImageNotFound)


def _connection(place: str | None) -> dict[str, object]:
    if place is None or "://" in place:
        # Certificates are those of the environment, wherever the engine is.
        return dict(kwargs_from_env({**os.environ, "DOCKER_HOST": place} if place else None))
    found = ContextAPI.get_context(place)
    if found is None:
        raise SandboxError(f"There is no Docker context {place!r}: `docker context ls` shows those there are.")
    return {"base_url": found.Host, "tls": found.TLSConfig}

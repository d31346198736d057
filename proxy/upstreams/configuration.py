"""The file that names third-party servers: the usual `mcpServers` form, with a few words of our own.

What is in it is checked when it is read; nothing is started here.
"""

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from m3bench.tasks.errors import InputFileError


class UpstreamEntry(BaseModel):
    """A server in the usual `mcpServers` form."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    image: str | None = None
    """A container image to run; `args` and `env` are for it."""
    egress: bool = False
    """Whether an image may reach public addresses; private ones it never reaches."""
    stateful: bool = True
    """Whether a call can change what a later one answers: such a server is started for each run, others are shared."""


def read_servers(path: Path) -> dict[str, UpstreamEntry]:
    """The entries of a configuration file, by name."""
    try:
        data = json.loads(path.read_bytes())
        found = data["mcpServers"] if isinstance(data, dict) and "mcpServers" in data else data
        entries = {str(name): UpstreamEntry.model_validate(entry) for name, entry in dict(found).items()}
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InputFileError(path, first["msg"], field=".".join(map(str, first["loc"]))) from error
    except (ValueError, TypeError) as error:
        raise InputFileError(path, 'is not of the form {"mcpServers": {"name": {"command": …}}}') from error
    for name, entry in entries.items():
        field = f"mcpServers.{name}"
        if [entry.command, entry.url, entry.image].count(None) != 2:
            raise InputFileError(path, "needs exactly one of command, url and image", field=field)
        if entry.egress and entry.image is None:
            raise InputFileError(path, "is for images: a command or a url reaches any address", field=f"{field}.egress")
    return entries

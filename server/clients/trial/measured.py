"""What trials found of the clients with a command line, as it is kept for the documentation.

`measured.json` beside this file holds it by client; `make measure-clients` writes it anew. Of the findings only what is
the client's own is kept: the task and the number of tools change with ours.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from m3bench.server.clients.trial.findings import Card, Findings, Picture, Sending, Tools


class Measured(BaseModel):
    """What was measured of one client."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    client: str
    """What it calls itself, with its version."""
    tools: Tools
    picture: Picture
    card: Card
    reading: Sending | None
    writing: Sending | None

    @classmethod
    def of(cls, found: Findings) -> "Measured":
        """What is kept of findings."""
        return cls.model_validate({name: getattr(found, name) for name in cls.model_fields})


@cache
def measured() -> Mapping[str, Measured]:
    """By the client's key."""
    text = (files("m3bench.server.clients.trial") / "measured.json").read_text(encoding="utf-8")
    return {key: Measured.model_validate(entry) for key, entry in json.loads(text).items()}


def written(found: Mapping[str, Measured]) -> str:
    """The content of the file."""
    return json.dumps({key: found[key].model_dump() for key in sorted(found)}, indent=2) + "\n"

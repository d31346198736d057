"""What trials found of the clients with a command line, and of frameworks, as it is kept for the documentation.

`measured.json` beside this file holds it by client, `newest.json` what came of eight tasks with the newest version, and
`frameworks.json` what was found by framework; `make measure-clients`, `make test-clients-newest ONLY=--keep` and `make
measure-frameworks` write them anew. Of the findings only what is the client's own is kept: the task and the number of
tools change with ours.
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

    def short(self, version: str) -> dict[str, object]:
        """In the short form of a capability card."""
        return {
            "probed": version,
            "images": self.picture == "shown",
            "overlap": self.reading,
            "overlap_others": self.writing,
        }


class Newest(BaseModel):
    """What came of eight tasks that the newest version of a client played perfectly."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    tasks: int
    perfect: int
    """Tasks that scored 1.000, or whose range is narrow and holds it."""
    widest: float
    """The widest range of an average."""


class Framework(BaseModel):
    """A framework for agents at a version."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    packages: tuple[str, ...]
    """What was installed; nothing for one that m3bench itself needs."""
    stdio: Measured
    http: Measured


@cache
def measured() -> Mapping[str, Measured]:
    """By the client's key."""
    return {key: Measured.model_validate(entry) for key, entry in _kept("measured.json").items()}


@cache
def newest() -> Mapping[str, Newest]:
    """By the client's key."""
    return {key: Newest.model_validate(entry) for key, entry in _kept("newest.json").items()}


@cache
def frameworks() -> Mapping[str, Framework]:
    """By the framework's name."""
    return {name: Framework.model_validate(entry) for name, entry in _kept("frameworks.json").items()}


def _kept(name: str) -> dict[str, object]:
    kept: dict[str, object] = json.loads((files("m3bench.server.clients.trial") / name).read_text(encoding="utf-8"))
    return kept


def written(found: Mapping[str, Measured] | Mapping[str, Newest] | Mapping[str, Framework]) -> str:
    """The content of the file."""
    return json.dumps({key: found[key].model_dump() for key in sorted(found)}, indent=2) + "\n"

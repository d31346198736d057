"""The words that comparing answers needs to know, read once from `tasks/data/words.toml`."""

import tomllib
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict


class Words(BaseModel):
    """What the file holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hedges: dict[str, str]
    names: dict[str, str]
    same: dict[str, str]
    units: dict[str, dict[str, float]]
    currencies: dict[str, str]


@cache
def words() -> Words:
    """The file."""
    path = files("m3bench.tasks") / "data" / "words.toml"
    return Words.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


@cache
def hedges() -> frozenset[str]:
    """Words that turn a value into several, into none, or into a guess."""
    return frozenset(words().hedges["words"].split())


@cache
def same() -> dict[str, str]:
    """Words with another spelling, and the one that they are read as."""
    return {word: first for first, others in words().same.items() for word in others.split()}

"""What each tool is for and what each of its arguments means: the part of the catalog that schemas do not say.

A tool has a role. *Perception* reads a picture or a file of the workspace, *computation* works something out,
*knowledge* asks the world, *action* changes the workspace. An argument has a kind:

    identity      names one thing among many: an id, a code, a ticker, a date, a path, one of a list
    quantity      an amount that the answer depends on
    place         coordinates, or the name of a place
    text          words to search with
    content       what is put into a file: cells, slides, strokes
    presentation  how a thing looks, where it lies, how much of it is shown: free unless the question says otherwise
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

Role = Literal["perception", "computation", "knowledge", "action"]
Kind = Literal["identity", "quantity", "place", "text", "content", "presentation"]

_FILE = Path(__file__).parent / "data" / "kinds.json"


class ToolKinds(BaseModel):
    """A tool's role and the kinds of its arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Role
    arguments: Mapping[str, Kind]

    def kind(self, argument: str) -> Kind:
        """The kind of an argument; one that is not known names a thing until somebody says otherwise."""
        return self.arguments.get(argument, "identity")


UNKNOWN = ToolKinds(role="knowledge", arguments={})
"""Of a tool that is not in the catalog, such as one of a third-party server."""


@cache
def kinds() -> Mapping[str, ToolKinds]:
    """What is known of every bundled tool, by its canonical name."""
    return TypeAdapter(dict[str, ToolKinds]).validate_python(json.loads(_FILE.read_bytes()))


def kinds_of(tool: str) -> ToolKinds:
    """What is known of a tool."""
    return kinds().get(tool, UNKNOWN)

"""Drafts: the artefacts that a task brings, as they are before anybody has looked at them.

They belong to a scene, so they reach a sandbox as scenes do and lie in no workspace before a tool hands them out.
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass

from m3bench.tasks.json_types import Record


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An artefact that is to be revised."""

    name: str
    """Of the file, with its ending."""
    title: str
    """What it is, in a few words."""
    data: bytes
    """The file."""

    def to_json(self) -> dict[str, str]:
        """The draft as JSON data: text where it is text."""
        try:
            content = {"text": self.data.decode()}
        except UnicodeDecodeError:
            content = {"base64": b64encode(self.data).decode()}
        return {"name": self.name, "title": self.title, **content}

    @classmethod
    def from_json(cls, data: Record) -> "Draft":
        """The draft written by `to_json`."""
        content = data["text"].encode() if "text" in data else b64decode(data["base64"])
        return cls(name=data["name"], title=data["title"], data=content)

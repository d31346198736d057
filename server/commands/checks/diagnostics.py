"""What a check of one thing came to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from m3bench.server.settings import Settings

State = Literal["ok", "note", "wrong"]
"""Well; works, but worth knowing; does not work."""

Need = Literal["always", "process", "docker"]
"""Who cannot do without it: everybody, or those who use a backend."""


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """What a check found."""

    subject: str
    state: State
    says: str
    """What was found and, unless all is well, what to do about it."""
    need: Need


Check = Callable[[Settings], list[Diagnostic]]
"""Looks at one thing, or at several where one look tells of all of them; bounded in time, leaves nothing."""

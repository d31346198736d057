"""What a tool works on: the run's workspace, what is known of its pictures, and the world.

One context belongs to one sandbox. Nothing a tool keeps may live in its module: several sandboxes share a
process in tests, and a host may be restarted in the middle of a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.scene import Scene


@dataclass(frozen=True, kw_only=True)
class Context:
    """The surroundings of a tool call."""

    workspace: Workspace
    scenes: tuple[Scene, ...] = ()
    """What the detector knows of the run's pictures; handed over at start, never in the workspace."""
    links: Mapping[str, bytes] = field(default_factory=dict)
    """Page id or address to picture file: the pages that this run brings itself, before those of the world."""
    memory: dict[str, Any] = field(default_factory=dict)
    """Caches only: a host that starts again has an empty one."""

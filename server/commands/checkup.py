"""Does a server work here? Starts it in a sandbox of its own and makes one real call.

The call is the first of the server's examples, in a workspace prepared as they ask. This is for a person who
wants to know whether an installation is whole; the tests drive every tool.
"""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from m3bench.sandboxes.backends.base import Backend, SandboxSpec
from m3bench.server.lab.authoring.replay import play
from m3bench.tasks.catalog import Catalog, Server
from m3bench.tasks.errors import SandboxError
from m3bench.tasks.examples import load_examples
from m3bench.tasks.trajectory import Call, Step, Trajectory


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What became of one server."""

    server: str
    tool: str
    """The tool that was called."""
    seconds: float
    """From nothing to the answer: the start of the sandbox and the loading of the server count."""
    problem: str = ""
    """Why it does not work; empty when it does."""

    @property
    def ok(self) -> bool:
        """Whether the server works."""
        return not self.problem

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON data."""
        return {
            "server": self.server,
            "tool": self.tool,
            "ok": self.ok,
            "seconds": round(self.seconds, 3),
            "problem": self.problem,
        }


async def check(server: Server, backend: Backend) -> Finding:
    """Start a server and call one of its tools."""
    examples = load_examples(server.name)
    tool, arguments = next(iter(examples.calls.items()))
    calls = [*examples.setup, (f"{server.name}/{tool}", arguments)]
    trajectory = Trajectory(steps=tuple(Step(calls=(Call(tool=name, arguments=given),)) for name, given in calls))

    def furnish(workspace: Path) -> SandboxSpec:
        examples.write_files(workspace)
        return SandboxSpec(workspace=workspace, servers=(server.name,), scenes=examples.scenes)

    began = perf_counter()
    problem = ""
    try:
        async for played in play(server.name, trajectory, backend=backend, catalog=Catalog((server,)), furnish=furnish):
            if not (played.succeeded or problem):
                text = " ".join(played.text.split()) or "no text"
                problem = f"{played.call.tool}: {played.outcome.replace('_', ' ')}: {text}"
    except SandboxError as error:
        problem = str(error)
    return Finding(server=server.name, tool=tool, seconds=perf_counter() - began, problem=problem)

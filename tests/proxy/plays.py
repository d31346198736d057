"""One task of each family with every reference played once: what was asked, called and answered.

Recorded, so that thousands of simulated clients can play them in no time. `python -m tests.proxy.plays` records them
anew from the bundled set; nothing here depends on what the set has become since.
"""

import json
import lzma
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from m3bench.tasks.plan import Plan
from m3bench.tasks.trajectory import Call, Step, Trajectory

FILE = Path(__file__).parent / "data" / "plays.json.xz"


@dataclass(frozen=True, kw_only=True)
class PlayedCall:
    """A call and its answer."""

    tool: str
    arguments: dict[str, Any]
    text: str
    read_only: bool


@dataclass(frozen=True, kw_only=True)
class Play:
    """A task and its references."""

    task: str
    question: str
    references: tuple[tuple[tuple[PlayedCall, ...], ...], ...]
    plans: tuple[Plan, ...]
    """What the calls of each reference give and need."""

    @cached_property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """The references as values that can be scored against."""
        return tuple(trajectory(reference) for reference in self.references)


def trajectory(steps: tuple[tuple[PlayedCall, ...], ...]) -> Trajectory:
    """Steps of played calls as a value that can be scored."""
    return Trajectory(
        steps=tuple(
            Step(calls=tuple(Call(tool=call.tool, arguments=call.arguments) for call in step)) for step in steps
        )
    )


@cache
def plays() -> tuple[Play, ...]:
    """The recorded tasks, one of each family."""
    data = json.loads(lzma.decompress(FILE.read_bytes()))

    def call(entry: dict[str, Any]) -> PlayedCall:
        return PlayedCall(**entry | {"text": data["texts"][entry["text"]]})

    return tuple(
        Play(
            task=entry["task"],
            question=entry["question"],
            references=tuple(tuple(tuple(map(call, step)) for step in steps) for steps in entry["references"]),
            plans=tuple(map(Plan.model_validate, entry["plans"])),
        )
        for entry in data["plays"]
    )


async def _record() -> None:
    from m3bench.sandboxes.backends.inprocess import InProcessBackend
    from m3bench.server.lab.authoring.replay import perform
    from m3bench.tasks.catalog import load_catalog
    from m3bench.tasks.library import Library

    library, catalog = Library(), load_catalog()
    texts: dict[str, int] = {}
    found = []
    families: set[str] = set()
    for task in library.tasks.values():
        if task.family in families:
            continue
        families.add(task.family)
        references = []
        for reference in task.references:
            answers = iter((await perform(library, task, reference, InProcessBackend())).calls)
            references.append(
                [
                    [
                        {
                            "tool": call.tool,
                            "arguments": call.arguments,
                            "text": texts.setdefault(next(answers).text, len(texts)),
                            "read_only": catalog.tool(call.tool).read_only,
                        }
                        for call in step
                    ]
                    for step in reference.steps
                ]
            )
        plans = [plan.model_dump(mode="json") for plan in library.plans(task)]
        found.append({"task": task.id, "question": task.question, "references": references, "plans": plans})
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(lzma.compress(json.dumps({"texts": list(texts), "plays": found}, ensure_ascii=False).encode()))


if __name__ == "__main__":
    import anyio

    anyio.run(_record)

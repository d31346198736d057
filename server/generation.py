"""Makes sets of tasks: composes pictures, plays the tasks in sandboxes, writes the set.

The families know what to draw and to ask; this knows how to play. A reference that does not run, or whose own
answer would not pass its checks' preconditions, never reaches a set.
"""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from m3bench.proxy.call import text_of
from m3bench.sandboxes.backends.base import Backend, Sandbox, SandboxSpec
from m3bench.sandboxes.wire import decode, dump
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import Family, Script, Wanted, frame, media
from m3bench.tasks.render.art import Art
from m3bench.tasks.task import MEDIA, SCHEMA, Task

CALL_SECONDS = 50.0


async def generate(
    families: Iterable[Family],
    *,
    seed: int,
    per_family: int,
    art: Art,
    backend: Backend,
    out: Path,
    name: str,
    version: str,
) -> list[Task]:
    """Write a set of tasks into a folder and return them."""
    for part in ("pictures", "scenes"):
        (out / part).mkdir(parents=True, exist_ok=True)
    tasks = []
    for family in families:
        for number in range(1, per_family + 1):
            tasks.append(
                await _task(family, number, random.Random(f"{family.name} {seed} {number}"), art, backend, out)
            )
    data = {
        "schema": SCHEMA,
        "name": name,
        "version": version,
        "tasks": [task.model_dump(mode="json") for task in tasks],
    }
    (out / "tasks.json").write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return tasks


async def _task(family: Family, number: int, rng: random.Random, art: Art, backend: Backend, out: Path) -> Task:
    id = f"{family.name}-{number}"
    picture = f"{id}.png"
    composition = family.compose(rng, art)
    with TemporaryDirectory(prefix="m3bench-") as name:
        workspace = Path(name)
        (workspace / MEDIA).mkdir()
        (workspace / MEDIA / picture).write_bytes(composition.picture)
        sandbox = await backend.open(
            SandboxSpec(workspace=workspace, servers=family.servers, scenes=(composition.scene,))
        )
        try:
            script = Script(_Player(sandbox, id))
            solution = await family.solve(rng, composition, media(picture), script)
        finally:
            with anyio.CancelScope(shield=True):
                await sandbox.aclose()
    (out / "pictures" / picture).write_bytes(composition.picture)
    scene = json.dumps(composition.scene.to_json(), ensure_ascii=False)
    (out / "scenes" / f"{picture}.json").write_text(scene + "\n", "utf-8")
    return frame(family, id, picture, solution, script)


class _Player:
    """Makes calls that must succeed."""

    def __init__(self, sandbox: Sandbox, task: str) -> None:
        self._sandbox = sandbox
        self._task = task

    async def __call__(self, calls: Sequence[Wanted]) -> list[str]:
        texts = []
        for tool, arguments in calls:
            reply = await self._sandbox.call(tool, dump(arguments), CALL_SECONDS)
            text = text_of(decode(reply.result))
            if reply.outcome != "success":
                raise UserError(f"The reference of {self._task} does not run: {tool}: {text}")
            texts.append(text)
        return texts

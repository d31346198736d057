"""What can be wrong with a task without running it."""

import io
import re
from collections import Counter
from collections.abc import Iterator

from PIL import Image

from m3bench.server.lab.authoring.ambiguity import ambiguities
from m3bench.tasks.catalog import Catalog
from m3bench.tasks.checks import CallMade
from m3bench.tasks.errors import InvalidArgumentsError, UnknownToolError
from m3bench.tasks.families.base import DISTRACTORS
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.library import Library
from m3bench.tasks.task import Reference, Task

LEAST_CHECKS = 3
SIDES = (800, 1600)
"""Pixels of a picture's longer side."""
MAX_PICTURE_BYTES = 400_000
MAX_RECORDING_BYTES = 200_000


def lint_set(library: Library) -> Iterator[str]:
    """What is wrong with a set as a whole."""
    for id, count in Counter(task.id for task in library.set.tasks).items():
        if count > 1:
            yield f"{id}: {count} tasks have this id"


def lint(task: Task, library: Library, catalog: Catalog) -> Iterator[str]:
    """What is wrong with a task, one sentence each."""
    leaked = sorted(name for name in _names(catalog) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", task.question))
    if leaked:
        yield f"the question names {leaked[0]}"
    if not task.fields:
        if len(task.checks) < LEAST_CHECKS:
            yield f"{len(task.checks)} checks, at least {LEAST_CHECKS} are wanted"
        if all(isinstance(check, CallMade) for check in task.checks):
            yield "no check looks at the outcome"
    yield from ambiguities(task, library.scenes(task))
    used = {tool.partition("/")[0] for tool in task.tools}
    for server in sorted(used - set(task.servers)):
        yield f"references use {server}, which the task does not name"
    for server in sorted(set(task.servers) - used):
        yield f"no reference uses {server}"
    yield from _distractors(task, catalog)
    for reference in task.references:
        yield from _calls(reference, catalog)
    for name in task.pictures:
        yield from _picture(name, library.picture(name))
    for name in task.recordings:
        size = len(library.recording(name))
        if size > MAX_RECORDING_BYTES:
            yield f"{name} has {size} bytes, at most {MAX_RECORDING_BYTES} are wanted"


def _names(catalog: Catalog) -> set[str]:
    """Names of tools that are not ordinary words."""
    return {
        word
        for tool in catalog.tools
        for word in (tool.name, tool.exposed, tool.qualified)
        if "_" in word or "-" in word
    }


def _distractors(task: Task, catalog: Catalog) -> Iterator[str]:
    known = {tool.server for tool in catalog.tools}
    if len(set(task.distractors)) != DISTRACTORS:
        yield f"{len(set(task.distractors))} distractors, {DISTRACTORS} are wanted"
    for server in sorted(set(task.distractors) & set(task.servers)):
        yield f"the distractor {server} is needed"
    for server in sorted(set(task.distractors) - known):
        yield f"the distractor {server} does not exist"


def _calls(reference: Reference, catalog: Catalog) -> Iterator[str]:
    made = Counter()  # type: Counter[tuple[str, int]]
    acted = Counter()  # type: Counter[str]
    for step in reference.steps:
        for call in step:
            # Who looks again after a change sees something else.
            server = call.tool.partition("/")[0]
            made[f"{call.tool} {sorted(call.arguments.items())}", acted[server]] += 1
            try:
                catalog.tool(call.tool).check(call.arguments)
            except (InvalidArgumentsError, UnknownToolError) as error:
                yield f"{call.tool}: {error}"
        changed = {call.tool.partition("/")[0] for call in step if kinds_of(call.tool).role == "action"}
        acted.update(changed)
    for (text, _), count in made.items():
        if count > 1:
            yield f"the reference is longer than needed: {text[:120]} is called {count} times"


def _picture(name: str, data: bytes) -> Iterator[str]:
    if len(data) > MAX_PICTURE_BYTES:
        yield f"{name} has {len(data)} bytes, at most {MAX_PICTURE_BYTES} are wanted"
    with Image.open(io.BytesIO(data), formats=READABLE) as picture:
        side = max(picture.size)
    if not SIDES[0] <= side <= SIDES[1]:
        yield f"{name} has a side of {side} pixels, {SIDES[0]} to {SIDES[1]} are wanted"

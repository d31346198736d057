"""Sets of tasks for tests: a small one that needs the `math` server alone, and parts of others."""

import json
from collections.abc import Sequence
from pathlib import Path

from m3bench.tasks.library import Library, MadeLibrary
from m3bench.tasks.secret import Secret, SecretLibrary
from m3bench.tasks.task import Task, TaskSet

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c636060606000000005000165f7b2c40000000049454e44ae426082"
)
"""A PNG of one pixel."""


def write_set(folder: Path) -> Path:
    """Write the set into a folder and return it."""
    numbers = [4, 8, 15, 16, 23, 42]
    survey = {
        "id": "survey-1",
        "family": "survey",
        "question": "What are the middle and the average of the figures on the note?",
        "wording": "Compute the median and the mean of 4, 8, 15, 16, 23, 42, then their difference.",
        "pictures": ["note.png"],
        "servers": ["math"],
        "references": [
            {
                "steps": [
                    [
                        {"tool": "math/median", "arguments": {"numbers": numbers}},
                        {"tool": "math/mean", "arguments": {"numbers": numbers}},
                    ],
                    [{"tool": "math/subtract", "arguments": {"minuend": 18, "subtrahend": 15.5}}],
                ]
            }
        ],
        "checks": [{"kind": "answer_number", "value": 2.5}],
        "difficulty": "easy",
    }
    sums = {
        "id": "sum-1",
        "family": "sums",
        "question": "How much is everything together?",
        "wording": "Add 4, 8, 15, 16, 23, 42.",
        "pictures": ["note.png"],
        "servers": ["math"],
        "references": [{"steps": [[{"tool": "math/sum", "arguments": {"numbers": numbers}}]]}],
        "checks": [{"kind": "answer_names", "all_of": [["108"]]}],
        "difficulty": "easy",
    }
    (folder / "pictures").mkdir(parents=True)
    (folder / "pictures" / "note.png").write_bytes(PICTURE)
    tasks = {"schema": 1, "name": "tests", "version": "1", "tasks": [survey, sums]}
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return folder


def part(library: Library, tasks: Sequence[Task]) -> MadeLibrary:
    """A set of some tasks of another one."""
    names = {name for task in tasks for name in (*task.pictures, *task.recordings)}
    files = {path: data for path, data in library.files() if Path(path).name.removesuffix(".json") in names}
    plans = {task.id: library.plans(task) for task in tasks}
    return MadeLibrary(TaskSet(schema=2, name="part", version="1", tasks=tuple(tasks)), files, plans)


def hidden(library: Library, secret: Secret) -> SecretLibrary:
    """A set under the names that a secret gives, for sets that were not made from it."""
    names = {task.id: secret.name(task.id) for task in library.set.tasks}
    pictures = {task.pictures[0]: f"{names[task.id]}.png" for task in library.set.tasks}
    tasks = tuple(
        task.model_copy(update={"id": names[task.id], "pictures": (pictures[task.pictures[0]],)})
        for task in library.set.tasks
    )
    files = {f"pictures/{new}": library.picture(old) for old, new in pictures.items()}
    return SecretLibrary.of(MadeLibrary(TaskSet(schema=2, name="private", version="1", tasks=tasks), files))

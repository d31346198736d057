"""Makes tasks for training with trajectories to copy: references that were played, as chat messages.

Tasks come in shards, each a set of its own from one seed, so that an interrupted run goes on where it stopped. A row
has `messages` in the form that chat templates take (calls as `tool_calls`, results as messages of `tool`), and names
pictures by their files. JSON Lines always; Parquet where duckdb is installed.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from m3bench.sandboxes.backends.result_cache import SEEN
from m3bench.server.lab.authoring.sets import SetRequest, make_set
from m3bench.server.lab.training.environment import Environment, EnvironmentOptions, EpisodeTurn
from m3bench.server.lab.training.episodes import LearnerCall
from m3bench.server.lab.training.splits import KeptApart, Split, keep_apart, seeds_of, split_of_seed
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.catalog import expose
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task

SETS = "sets"
SHARDS = "shards"
UNFINISHED = ".unfinished"
PER_FAMILY = 8
"""Tasks of a family in a shard."""
FLIGHT = 16


@dataclass(frozen=True, kw_only=True)
class TrainSetRequest:
    """What is made: the same request gives the same rows."""

    number: int
    """How many tasks."""
    seed: int
    """Where the seeds begin; its split decides which follow."""
    families: Sequence[str]
    art: Path
    per_family: int = PER_FAMILY
    parallel: int | None = None


@dataclass(frozen=True, kw_only=True)
class TrainSetReport:
    """What was made."""

    split: Split
    rows: int
    seeds: tuple[int, ...]
    families: dict[str, int]
    """Rows of each family."""
    dropped: int
    """Tasks left out, because a test task asks for the same entity."""
    shared: dict[str, int]
    """Families in which that was not possible, and how many of their tasks share one."""
    files: tuple[str, ...]


def make_train_set(
    request: TrainSetRequest, out: Path, tested: Iterable[Task], progress: Callable[[str], None] = lambda shard: None
) -> TrainSetReport:
    """Make shards until there are enough rows, and join them.

    Args:
        request: What is wanted.
        out: A folder; what is finished there is kept.
        tested: Tasks whose entities are not to be asked for.
        progress: Told of every finished shard.

    Raises:
        UserError: No family is left, or a family cannot be made.
    """
    if not request.families:
        raise UserError("No family is left: name one that is not held out.")
    split = split_of_seed(request.seed)
    known = tuple(tested) if split == "train" else ()
    for part in (SETS, SHARDS):
        (out / part).mkdir(parents=True, exist_ok=True)
    rows = 0
    seeds: list[int] = []
    apart: list[KeptApart] = []
    for seed in seeds_of(split, request.seed):
        if rows >= request.number:
            break
        folder = out / SETS / f"seed-{seed}"
        if not (folder / "tasks.json").exists():
            _made(request, seed, folder)
        library = Library(folder)
        kept = keep_apart(library.tasks.values(), known)
        shard = out / SHARDS / f"seed-{seed}.jsonl"
        if not shard.exists():
            lines = played(library, kept.tasks, seed, split, out / SEEN)
            write_atomically(shard, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in lines).encode())
        rows += len(kept.tasks)
        seeds.append(seed)
        apart.append(kept)
        progress(shard.stem)
    return _join(request, out, split, seeds, apart)


def played(library: Library, tasks: Sequence[Task], seed: int, split: Split, answers: Path) -> list[dict[str, Any]]:
    """A row for each task, in their order, with what its reference came to."""
    options = EnvironmentOptions(split=split, tools="full", answers=answers)
    with Environment(library.folder, options) as environment, ThreadPoolExecutor(FLIGHT) as pool:
        return list(pool.map(partial(_row, environment, seed, split), tasks))


def _row(environment: Environment, seed: int, split: Split, task: Task) -> dict[str, Any]:
    episode = environment.reset(task.id, attempt=0, pictures=False)
    content = episode.opening["content"]
    text = "\n".join(block["text"] for block in content if block["type"] == "text")
    messages = [_message("user", text)]
    turn: EpisodeTurn | None = None
    steps: list[list[dict[str, Any]]] = [
        [{"name": call.name, "arguments": call.arguments} for call in calls] for calls in oracle_turns(task)
    ]
    steps.append([{"name": "submit", "arguments": oracle_answer(task)}])
    for number, made in enumerate(steps):
        turn = episode.step(made)
        messages += _turn_messages(number, made, turn)
    assert turn is not None
    if turn.reward.total != 1.0:
        raise UserError(f"The reference of {task.id} of seed {seed} does not solve it: {turn.reward}. Report this.")
    return {
        "id": f"{seed}/{task.id}", "family": task.family, "seed": seed, "split": split,
        "tools": sorted({str(call["name"]) for step in steps for call in step}),
        "images": [f"{SETS}/seed-{seed}/pictures/{name}" for name in task.pictures], "messages": messages,
    }  # fmt: skip


def _turn_messages(number: int, calls: Sequence[Mapping[str, Any]], turn: EpisodeTurn) -> Iterator[dict[str, Any]]:
    ids = [f"call_{number}_{place}" for place in range(len(calls))]
    yield _message("assistant", "", calls=[
        {
            "id": id, "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)},
        }
        for id, call in zip(ids, calls, strict=True)
    ])  # fmt: skip
    for id, call, text in zip(ids, calls, turn.texts, strict=True):
        yield _message("tool", text, call=id, name=str(call["name"]))


def _message(
    role: str, content: str, *, calls: Sequence[Mapping[str, Any]] = (), call: str = "", name: str = ""
) -> dict[str, Any]:
    """Every message has the same columns, or tables of them could not be read."""
    return {"role": role, "content": content, "tool_calls": list(calls), "tool_call_id": call, "name": name}


def _made(request: TrainSetRequest, seed: int, folder: Path) -> None:
    keep = folder.with_name(f"{folder.name}{UNFINISHED}")
    made = make_set(
        SetRequest(
            families=request.families, seed=seed, per_family=request.per_family, art=request.art,
            name=f"{split_of_seed(seed)}-{seed}", version="1", seen=folder.parents[1] / SEEN,
        ),
        parallel=request.parallel, keep=keep,
    )  # fmt: skip
    draft = folder.with_name(f"{folder.name}.draft")
    draft.mkdir(exist_ok=True)
    made.write(draft)
    draft.rename(folder)
    with suppress(OSError):
        for file in sorted(keep.rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        keep.rmdir()


def _join(
    request: TrainSetRequest, out: Path, split: Split, seeds: Sequence[int], apart: Sequence[KeptApart]
) -> TrainSetReport:
    lines = [line for seed in seeds for line in (out / SHARDS / f"seed-{seed}.jsonl").read_text("utf-8").splitlines()][
        : request.number
    ]
    table = out / f"{split}.jsonl"
    write_atomically(table, "".join(f"{line}\n" for line in lines).encode())
    files = [table.name]
    if find_spec("duckdb") is not None:
        files.append(_parquet(table))
    families = Counter(json.loads(line)["family"] for line in lines)
    shared: Counter[str] = Counter()
    for kept in apart:
        shared.update(kept.shared)
    report = TrainSetReport(
        split=split, rows=len(lines), seeds=tuple(seeds), families=dict(sorted(families.items())),
        dropped=sum(len(kept.dropped) for kept in apart), shared=dict(sorted(shared.items())), files=tuple(files),
    )  # fmt: skip
    write_atomically(out / "report.json", f"{json.dumps(asdict(report), indent=2)}\n".encode())
    return report


def _parquet(table: Path) -> str:
    duckdb = import_module("duckdb")
    found = table.with_suffix(".parquet")
    with duckdb.connect(config={"threads": 1}) as link:
        rows = link.read_json(str(table), format="newline_delimited", maximum_object_size=64 * 1024 * 1024)
        rows.write_parquet(str(found))
    return found.name


# References as a learner would play them: the ceiling of a reward


def oracle_turns(task: Task, reference: int = 0) -> list[list[LearnerCall]]:
    """The calls of a reference, turn by turn."""
    return [
        [LearnerCall(name=expose(call.tool), arguments=dict(call.arguments)) for call in step.calls]
        for step in task.references[reference].trajectory.steps
    ]


def oracle_answer(task: Task) -> dict[str, object]:
    """What somebody who knows everything hands in."""
    fields = right_fields(task.fields)
    return {"answer": task.answer, **({"fields": fields} if fields else {})}

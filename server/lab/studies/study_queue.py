"""A study's cells as a queue keeps them: put in, read back by workers, and gathered again when they are played.

A study is known to a queue by its name and a mark of its folder, so that two studies of one name do not mix and the
same command finds its own again. Sets of tasks that do not come with the program travel through the queue. What workers
hand in goes to the folders of the cells, where it is what a study leaves that plays by itself: a sample is put on
record first, then noted in its cell, then ticked off in the queue, so whoever is stopped in between goes on there, and
nothing is noted twice.
"""

import io
import json
import secrets
import tarfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from m3bench.server.lab.headless.agents.registry import BaselineAgent, find_agents
from m3bench.server.lab.headless.plan import ModelOptions, RunChoice, RunPlan, SampleAttempt, make_plan
from m3bench.server.lab.results.resultset import DATA, Sample, append_sample, read_samples
from m3bench.server.lab.studies.cells import Cell
from m3bench.server.lab.studies.plan_file import StudyPlan
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.store.postgres.queue import ATTEMPTS, Counts, Finished, Key, Queue, QueuedCell
from m3bench.server.store.transfer import unpack, unpack_files
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError, UserError

MARK = "queue.json"
"""Where a study's folder has the name that queues know it by."""

_CHOICE, _OPTIONS = TypeAdapter(RunChoice), TypeAdapter(ModelOptions)


def identity(meant: StudyPlan) -> str:
    """What queues call a study, the same for as long as its folder is there.

    Raises:
        InputFileError: It was written down and cannot be read.
    """
    assert meant.folder is not None
    path = meant.folder / MARK
    try:
        return str(json.loads(path.read_bytes())["study"])
    except FileNotFoundError:
        name = f"{meant.name}-{secrets.token_hex(4)}"
        meant.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{json.dumps({'study': name})}\n".encode())
        return name
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputFileError(path, "cannot be read; delete it, and samples are queued again") from error


def put(queue: Queue, study: str, meant: StudyPlan, chosen: Sequence[tuple[Cell, RunPlan]]) -> None:
    """Put what is left of cells into a queue; what is there already stays as it is."""
    left = [(cell, plan) for cell, plan in chosen if plan.todo]
    for cell, plan in left:
        if cell.choice.tasks is not None:
            queue.put_set(plan.library.hash, _packed(plan.library.folder))
    queue.put(
        [_queued(study, meant, cell, plan) for cell, plan in left],
        [Key(study, cell.name, *attempt) for cell, plan in left for attempt in plan.todo],
    )


def _queued(study: str, meant: StudyPlan, cell: Cell, plan: RunPlan) -> QueuedCell:
    provider = "" if cell.model is None else cell.model.provider
    wanted = {
        "version": version("m3bench"),
        "set": plan.library.hash,
        "choice": _CHOICE.dump_python(replace(cell.choice, folder=Path(cell.name)), mode="json"),
        "options": None if cell.options is None else _OPTIONS.dump_python(cell.options, mode="json"),
    }
    return QueuedCell(study, cell.name, json.dumps(wanted), provider, meant.providers.get(provider))


class Wanted:
    """A cell as a worker plays it.

    Args:
        queue: Where its set of tasks is, if it is not the program's own.
        cell: As it was put into the queue.
        folder: An empty folder for whatever is written.
        slots: Samples at a time.

    Raises:
        UserError: It cannot be played by this installation.
    """

    def __init__(self, queue: Queue, cell: QueuedCell, folder: Path, slots: int) -> None:
        wanted: dict[str, Any] = json.loads(cell.wanted)
        if wanted["version"] != version("m3bench"):
            raise UserError(
                f"The study was made with m3bench {wanted['version']}, this worker is {version('m3bench')}: "
                "install the same."
            )
        choice = _CHOICE.validate_python(wanted["choice"])
        tasks = None if choice.tasks is None else _unpacked(queue, wanted["set"], folder / "set")
        choice = replace(choice, folder=folder / "results", tasks=tasks, parallel=slots)
        self.plan = make_plan(choice)
        if self.plan.library.hash != wanted["set"]:
            raise UserError("The tasks of this worker are not those of the study: install the same m3bench.")
        self.agent: BaselineAgent | None = find_agents([choice.agent])[0] if wanted["options"] is None else None
        self.options = None if wanted["options"] is None else _OPTIONS.validate_python(wanted["options"])

    def places(self, count: int) -> RunPlan:
        """The plan for so many samples of which it is not known yet which they are."""
        return replace(self.plan, todo=tuple(SampleAttempt("", number) for number in range(1, count + 1)))


def text_of(sample: Sample) -> str:
    """A sample as the queue keeps it."""
    return json.dumps(sample.model_dump(mode="json"), ensure_ascii=False)


def _packed(folder: Path) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as archive:
        archive.add(folder, ".")
    return file.getvalue()


def _unpacked(queue: Queue, hash: str, folder: Path) -> Path:
    found = queue.set_archive(hash)
    if found is None:
        raise UserError("The study's set of tasks is not in the queue: start the study again.")
    with tarfile.open(fileobj=io.BytesIO(found)) as archive:
        unpack_files(archive, folder)
    return folder


WORN_OUT = f"{ATTEMPTS} workers took this sample, and all were gone before it was done."

Told = Callable[[Cell, Sample, ScoreCard | None], None]
"""Called with every sample that is noted."""


class Gathering:
    """The samples of a study as they come in.

    Args:
        queue: Where they come from.
        study: What the queue calls the study.
        chosen: The cells, whose folders are held by this process.
        told: Called with every sample that is noted.
    """

    def __init__(self, queue: Queue, study: str, chosen: Sequence[tuple[Cell, RunPlan]], told: Told) -> None:
        self._queue = queue
        self._study = study
        self._cells = {cell.name: (cell, plan) for cell, plan in chosen}
        self._told = told
        self._there = {cell.name: read_samples(plan.folder) for cell, plan in chosen}

    def gather(self) -> Counts:
        """Take over what is done by now; how the study stands."""
        names = list(self._cells)
        for key in self._queue.worn_out(self._study):
            void = Sample(task=key.task, repeat=key.repeat, state="void", fault="sandbox", reason=WORN_OUT)
            self._queue.settle(key, text_of(void))
        # Before the look for results, so that of what is counted as done nothing is left behind.
        counts = self._queue.counts(self._study, names)
        while found := self._queue.finished(self._study, names):
            by_cell: dict[str, list[Finished]] = {}
            for finished in found:
                by_cell.setdefault(finished.key.cell, []).append(finished)
            for name, ones in by_cell.items():
                self._take_over(*self._cells[name], ones)
            self._queue.gathered(finished.key for finished in found)
        return counts

    def _take_over(self, cell: Cell, plan: RunPlan, found: Iterable[Finished]) -> None:
        there = self._there[cell.name]
        new = [finished for finished in found if _state(there, finished) != "scored"]
        cards = unpack(plan.folder / DATA, [finished.parcel for finished in new if finished.parcel is not None])
        for finished in new:
            sample = Sample.model_validate_json(finished.sample)
            append_sample(plan.folder, sample)
            there[sample.task, sample.repeat] = sample
            run = cards.get(sample.run or "")
            self._told(cell, sample, None if run is None else card_of(run))


def _state(there: dict[tuple[str, int], Sample], one: Finished) -> str:
    sample = there.get((one.key.task, one.key.repeat))
    return "" if sample is None else sample.state

"""What a headless run is to do: which samples of which tasks, into which folder.

A plan is made once, from what the person chose and from what the folder holds already: a result set that was
interrupted goes on where it stopped. Whoever plays the samples, baseline agents in this process or a model driven by
Inspect, takes a plan, works on its `todo`, and reports each sample to a `SampleDone` as soon as it is over.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from m3bench.server.lab.headless.providers.retries import RETRY_MINUTES
from m3bench.server.lab.results.resultset import (
    DATA,
    HEADER,
    Header,
    Kind,
    Sample,
    mend_samples,
    read_header,
    read_samples,
    write_header,
)
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.settings import MAX_CALLS, Settings, numbered_weather
from m3bench.server.store.owners import OwnerLock, dead
from m3bench.server.store.records import now
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog, nearest
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.levels import of_kind
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.profiles import MCPVERSE, profile_of, solvable, tools_of
from m3bench.tasks.task import Task

Sandboxes = Literal["process", "docker", "inprocess"]

LOCK = "run"
"""Name of the lock of the process that is at work in a folder."""


class SampleAttempt(NamedTuple):
    """A sample that is to be made."""

    task: str
    repeat: int
    """From 1."""


class SampleDone(Protocol):
    """Is told of every sample that is over, scored or void; when it returns the sample is on disk."""

    def __call__(self, sample: Sample, card: ScoreCard | None) -> None:
        """Keep a sample; `card` is its score card, None when it is void."""
        ...


class SampleSource(Protocol):
    """Where samples come from when they are not all known in advance: a queue that others take from, too."""

    async def __call__(self) -> SampleAttempt | None:
        """The next sample to play; None when there is none."""
        ...


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How a model is driven; `inspect_run.run_model(plan, options, done)` takes these."""

    model: str
    """`PROVIDER/NAME`, as Inspect names models."""
    solver: str = "react"
    """`react`, `executor`, `m3-bench`, `mcp-bench` or `mcpverse`."""
    calling: str | None = None
    """How the model calls tools; the solver's own way when left out."""
    sight: str | None = None
    """`text` for a model that is shown no pictures and told so."""
    hearing: bool = False
    """Whether the model is sent the sound and film of a task; else it is told where tools find them."""
    max_steps: int | None = None
    """Turns a sample may take; the solver's own bound when left out."""
    batch: int | None = None
    """Calls in one step, for solvers that work in steps; its own bound when left out."""
    planning: str | None = None
    """`rounds` or `one-shot`, for the solver `mcp-bench`."""
    compress: int | None = None
    """Characters above which the solver `mcp-bench` has a result shortened; its own bound when left out."""
    max_minutes: float | None = None
    """Time a sample may take."""
    max_messages: int | None = None
    """Messages a conversation may have."""
    max_tokens: int | None = None
    """Tokens a sample may use, read and written."""
    retry_minutes: float = RETRY_MINUTES
    """Time for which a failed request is tried again; it affects no number, so it may change in between."""
    price: str | None = None
    """Dollars for a million tokens: `IN,OUT` or `IN,OUT,CACHED`; what Inspect knows when left out."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """For the provider of the model, as Inspect takes them (`-M`)."""
    generate: Mapping[str, Any] = field(default_factory=dict)
    """How the model writes, as Inspect takes it: `temperature`, `reasoning_effort` and the like."""

    def recorded(self) -> dict[str, object]:
        """What a result set keeps: of the provider's arguments only the names, since a value may be a key."""
        kept = {
            "calling": self.calling,
            "sight": self.sight,
            "hearing": self.hearing or None,
            "max_steps": self.max_steps,
            "batch": self.batch,
            "planning": self.planning,
            "compress": self.compress,
            "max_minutes": self.max_minutes,
            "max_messages": self.max_messages,
            "max_tokens": self.max_tokens,
            "arguments": sorted(self.arguments),
            "generate": dict(self.generate),
        }
        return {name: value for name, value in kept.items() if value not in (None, {}, [])}


@dataclass(frozen=True, kw_only=True)
class RunChoice:
    """A person's choices, before they are checked against the set of tasks and the folder."""

    agent: str
    """`openai/gpt-5`, or a baseline's name."""
    name: str = ""
    """The name of the results in tables; the agent's name when left out."""
    kind: Kind
    folder: Path
    tasks: Path | None = None
    """A folder with a set of tasks; the bundled set when left out."""
    families: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    setting: str | None = None
    """Only tasks of this setting of MCP-Bench."""
    levels: tuple[str, ...] = ()
    """Only tasks of these levels of MCPVerse."""
    limit: int | None = None
    profile: str = "standard"
    repeats: int = 1
    parallel: int = 2
    sandbox: Sandboxes = "process"
    encoder: str = "minilm"
    max_calls: int = MAX_CALLS
    weather: str = "fair"
    seed: int = 0
    resume: bool = False
    solver: str = ""
    """What drives a model; empty for a baseline."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Whatever else makes two runs of the agent different, as plain data."""


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """What is to be done."""

    folder: Path
    header: Header
    library: Library
    settings: Settings
    """For the `App` that the samples are played on; its data folder is the result set's."""
    parallel: int
    """Samples at a time."""
    seed: int
    todo: tuple[SampleAttempt, ...]
    """What is neither scored nor given up yet, in the order to play it; void samples are tried again."""
    unsolvable: int
    """Tasks that were chosen and that the profile's tools cannot solve; they are left out."""

    @contextmanager
    def begin(self) -> Iterator[None]:
        """While this holds, the folder is ready to take samples of this process, and of no other.

        Raises:
            UserError: Another process is at work there.
        """
        if not dead(self.folder, LOCK):
            raise UserError(f"Another m3bench run is using {self.folder}: wait for it, or choose another with -o.")
        write_header(self.folder, self.header)
        mend_samples(self.folder)
        lock = OwnerLock(self.folder, LOCK)
        try:
            self._forget_unfinished()
            yield
        finally:
            lock.close()

    def _forget_unfinished(self) -> None:
        """Give up runs of samples that must be repeated, such as one that was killed before it was noted."""
        if not (self.folder / DATA).exists():
            return
        kept = {sample.run for sample in read_samples(self.folder).values() if sample.state == "scored"}
        store = SqliteStore(self.folder / DATA)
        try:
            for run in store.runs():
                if run.id not in kept and run.state != "abandoned":
                    store.change_run(run.id, state="abandoned")
        finally:
            store.close()

    @property
    def total(self) -> int:
        """Samples of the whole set, including earlier ones."""
        return len(self.header.tasks) * self.header.repeats

    def task(self, attempt: SampleAttempt) -> Task:
        """The task of an attempt."""
        return self.library.task(attempt.task)

    def profile(self, task: str) -> str:
        """The profile of the seat that a task is played on."""
        return profile_of(self.header.profile, self.library.task(task))


def make_plan(choice: RunChoice) -> RunPlan:
    """Check a choice against the set of tasks and the folder. Nothing is written yet: `RunPlan.begin` does.

    Raises:
        UserError: No task is left, the folder is not free, or it holds the results of something else.
    """
    choice = replace(choice, profile=MCPVERSE.get(choice.profile, choice.profile))
    library = Library(choice.tasks or BUNDLED)
    chosen = of_kind(select(library, choice.families, choice.ids, None), choice.setting, choice.levels)
    fit = [task for task in chosen if _fits(task, choice.profile, library)]
    tasks = _spread(fit, choice.limit)
    if not tasks:
        raise UserError(
            f"None of the {len(chosen)} chosen tasks can be solved with the tools of the profile {choice.profile!r}: "
            "take a larger one, such as --profile full."
        )
    header = _header(choice, library, tasks)
    there = _there(choice.folder, header, resume=choice.resume)
    done = {key for key, sample in read_samples(choice.folder).items() if sample.state == "scored"}
    wanted = (SampleAttempt(id, repeat) for repeat in range(1, header.repeats + 1) for id in header.tasks)
    return RunPlan(
        folder=choice.folder,
        header=there or header,
        library=library,
        settings=Settings.of(
            data=choice.folder / DATA,
            tasks=choice.tasks,
            sandbox=choice.sandbox,
            max_calls=choice.max_calls,
            weather=choice.weather,
            encoder=choice.encoder,
        ),
        parallel=choice.parallel,
        seed=choice.seed,
        todo=tuple(attempt for attempt in wanted if attempt not in done),
        unsolvable=len(chosen) - len(fit),
    )


def listed_ids(given: Iterable[str], folder: Path = Path()) -> tuple[str, ...]:
    """Ids of tasks, with those of a file in place of `@FILE`: one to a line, and what follows a # is left out.

    Args:
        given: Ids and files.
        folder: From where files are meant.

    Raises:
        InputFileError: A file cannot be read, or names no task.
    """
    found: list[str] = []
    for name in given:
        if not name.startswith("@"):
            found.append(name)
            continue
        path = folder / Path(name[1:]).expanduser()
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputFileError(path, "cannot be read: name a text file with the id of a task on each line") from error
        ids = [id for line in lines if (id := line.partition("#")[0].strip())]
        if not ids:
            raise InputFileError(path, "names no task: write an id on each line")
        found += ids
    return tuple(found)


def select(library: Library, families: Iterable[str], ids: Iterable[str], limit: int | None) -> list[Task]:
    """The tasks of these families and with these ids, in the set's order; all of them when neither is given.

    Raises:
        UserError: There is no such family or task.
    """
    wanted = {library.task(id).id for id in ids}
    known = {task.family for task in library.tasks.values()}
    for family in families:
        if family not in known:
            raise UserError(f"There is no family {family!r}: try {', '.join(nearest(family, known) or sorted(known))}.")
    everything = not wanted and not families
    families = set(families)
    found = [task for task in library.tasks.values() if everything or task.id in wanted or task.family in families]
    return _spread(found, limit)


def _spread(tasks: list[Task], limit: int | None) -> list[Task]:
    """That many tasks of the list, taken from its families in turn: a few tasks of one family say little."""
    if limit is None:
        return tasks
    seen: dict[str, int] = {}
    rounds: dict[str, int] = {}
    for task in tasks:
        rounds[task.id] = seen[task.family] = seen.get(task.family, -1) + 1
    kept = {task.id for task in sorted(tasks, key=lambda task: rounds[task.id])[:limit]}
    return [task for task in tasks if task.id in kept]


def _fits(task: Task, profile: str, library: Library) -> bool:
    return bool(solvable((task,), tools_of(profile_of(profile, task), load_catalog().ready, library)))


def _header(choice: RunChoice, library: Library, tasks: list[Task]) -> Header:
    options = {"max_calls": choice.max_calls, "sandbox": choice.sandbox, "seed": choice.seed, **choice.options}
    if choice.encoder != "minilm":
        options["encoder"] = choice.encoder
    if choice.weather != "fair":
        options["weather"] = numbered_weather(choice.weather)
    return Header(
        name=choice.name or choice.agent,
        kind=choice.kind,
        agent=choice.agent,
        solver=choice.solver,
        profile=choice.profile,
        repeats=choice.repeats,
        tasks=tuple(task.id for task in tasks),
        set_hash=library.hash,
        options=dict(sorted(options.items())),
        started=now(),
    )


def _there(folder: Path, header: Header, *, resume: bool) -> Header | None:
    """The header of the result set to be continued; None when a new one begins."""
    if not (folder / HEADER).exists():
        if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
            raise UserError(f"{folder} is not empty and holds no results of a run: choose another folder with -o.")
        return None
    if not resume:
        raise UserError(f"{folder} holds results already: add --resume to continue them, or choose another with -o.")
    there = read_header(folder)
    for name, old, new in _differences(there, header):
        raise UserError(
            f"{folder} holds results of another run ({name}: {old!r} there, {new!r} now): "
            "resume with the options it was started with, or choose another folder with -o."
        )
    return there


def _differences(there: Header, now: Header) -> Iterable[tuple[str, object, object]]:
    """What makes the results of two headers different things, by name."""
    for name in ("kind", "agent", "solver", "profile", "repeats", "set_hash"):
        if getattr(there, name) != getattr(now, name):
            yield name.replace("_", " "), getattr(there, name), getattr(now, name)
    for name in sorted({*there.options, *now.options}):
        if there.options.get(name) != now.options.get(name):
            yield name.replace("_", " "), there.options.get(name), now.options.get(name)
    if there.tasks != now.tasks:
        yield "the number of tasks", len(there.tasks), len(now.tasks)

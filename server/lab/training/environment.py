"""The environment that a trainer has: episodes over processes of their own, from any thread, many at a time.

    options = EnvironmentOptions(split="train", weights={"solved": 1.0, "shaping": 0.5})
    with Environment("my-tasks", options) as environment:
        episode = environment.reset("fish-1")
        turn = episode.step([{"name": "wiki__search", "arguments": {"query": "koi"}}])
        turn = episode.submit("A koi.", {"fish": "koi"})

Nothing that a learner calls or writes is run or read in this process. Every request can also be begun and waited for
later: what ends in `_soon` gives a future, which `asyncio.wrap_future` makes one to await.
"""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from m3bench.server.lab.training.rewards import Reward, RewardWeights
from m3bench.server.lab.training.splits import Split
from m3bench.server.settings import MAX_CALLS, MAX_MINUTES
from m3bench.tasks.errors import RunError, SandboxError, UserError
from m3bench.tasks.library import BUNDLED, SETS, Library

PROGRAM = (sys.executable, "-P", "-X", "utf8", "-m", "m3bench.server.lab.training.worker")
READY_SECONDS = 300.0
"""Time for a worker to start, with its hosts; on a busy machine it takes a minute."""
LEAVE_SECONDS = 60.0
"""Time for a worker to end its sandboxes and remove its folder."""
AHEAD = 8
"""Episodes that a worker which knows what is asked may have more than another, before the other one is chosen."""

Call = Mapping[str, object]
"""A call: `name`, and `arguments`, an object."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentOptions:
    """How episodes are played."""

    split: Split = "test"
    """Only on `train` is there a reward before an episode has ended."""
    weights: Mapping[str, float] | None = None
    """What each part of the reward counts; `solved` alone, with 1, when left out."""
    tools: str = "full"
    """The profile of tools, where an episode does not name its own."""
    workers: int | None = None
    """Processes; one per core when left out."""
    hosts: int = 1
    """Sandbox hosts of each."""
    max_turns: int = 50
    max_calls: int = MAX_CALLS
    max_minutes: float = MAX_MINUTES
    cache_bytes: int = 256 * 1024 * 1024
    """Of answers that are remembered, in each worker; 0 for none."""
    answers: Path | None = None
    """A file in which what tools see in pictures is kept for the next environment; what they saw when the set was made
    is beside it, and known in any case."""
    sandbox: Literal["process", "inprocess"] = "process"
    """`inprocess` isolates nothing, and is for tests."""


@dataclass(frozen=True, kw_only=True)
class EpisodeTurn:
    """What a turn came to."""

    results: tuple[Mapping[str, Any], ...]
    """The answer to each call, in their order: `result`, as MCP has it, or `error`."""
    reward: Reward
    done: bool
    card: Mapping[str, Any] | None = None
    """The score card at the end, where it was asked for."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each answer."""
        return tuple(_text(result) for result in self.results)


class Environment:
    """Episodes of a set of tasks; a context manager, at whose end nothing of it is left.

    Args:
        tasks: A folder with a set, as `m3bench tasks generate` makes it, or the name of one that comes with m3bench.
        options: How episodes are played.

    Raises:
        UserError: There is no such set or weight, or a set that comes with m3bench is to be trained on.
    """

    def __init__(self, tasks: Path | str = BUNDLED, options: EnvironmentOptions | None = None) -> None:
        self.options = options or EnvironmentOptions()
        self.library = Library(Path(tasks))
        if self.options.split == "train" and self.library.folder.resolve().is_relative_to(SETS.resolve()):
            raise UserError(
                "The sets that come with m3bench are for testing: make one to train on with m3bench tasks generate "
                "--seed N, where N ends in a digit from 0 to 7."
            )
        RewardWeights.of(self.options.weights or {})
        _ = self.library.tasks
        self._workers: list[_Worker] = []
        self._attempts = Counter[str]()
        self._homes: dict[str, int] = {}
        """Which worker played a task last, and which a family first: it has read what they ask for."""
        self._turn = threading.Lock()
        self._listings: dict[str, list[dict[str, Any]]] = {}

    def __enter__(self) -> Self:
        number = self.options.workers or os.cpu_count() or 1
        try:
            self._workers += [_Worker(self._settings()) for _ in range(number)]
            for worker in self._workers:
                worker.wait()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The ids of the tasks."""
        return tuple(self.library.tasks)

    def tools(self, profile: str | None = None) -> list[dict[str, Any]]:
        """The tools of a profile, and `submit`, as MCP lists them."""
        profile = profile or self.options.tools
        if profile not in self._listings:
            self._listings[profile] = self._worker().ask({"op": "tools", "tools": profile}).result()["tools"]
        return self._listings[profile]

    def reset(
        self, task: str, *, tools: str | None = None, attempt: int | None = None, pictures: bool = True
    ) -> "RemoteEpisode":
        """Begin an episode; see `Episodes.reset`."""
        return self.reset_soon(task, tools=tools, attempt=attempt, pictures=pictures).result()

    def reset_soon(
        self, task: str, *, tools: str | None = None, attempt: int | None = None, pictures: bool = True
    ) -> "Future[RemoteEpisode]":
        """The same, as a future."""
        with self._turn:
            if attempt is None:
                attempt = self._attempts[task]
                self._attempts[task] += 1
        worker = self._worker(task)
        asked = {
            "op": "reset", "task": task, "tools": tools or self.options.tools, "attempt": attempt,
            "pictures": pictures,
        }  # fmt: skip
        # From now on: many are asked for before the first has begun.
        worker.count(1)
        begun = worker.ask(asked)
        begun.add_done_callback(lambda future: worker.count(-1) if future.exception() is not None else None)
        return _mapped(begun, lambda found: RemoteEpisode(worker, task, found["id"], found["opening"]))

    def kill_hosts(self) -> int:
        """Kill the sandbox hosts, as a test does; how many there were."""
        return sum(worker.ask({"op": "kill"}).result()["killed"] for worker in self._workers)

    def close(self) -> None:
        """End every worker."""
        for worker in self._workers:
            worker.leave()
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    def _worker(self, task: str | None = None) -> "_Worker":
        """The one with the fewest episodes, or one that knows the task and has few more; a dead one is replaced."""
        with self._turn:
            if not self._workers:
                raise RunError("The environment is closed: use it in a with statement.")
            for place, worker in enumerate(self._workers):
                if worker.dead:
                    worker.close()
                    self._workers[place] = _Worker(self._settings())
            chosen = self._workers[self._place(task)]
        chosen.wait()
        return chosen

    def _place(self, task: str | None) -> int:
        found = [worker.episodes for worker in self._workers]
        fewest = found.index(min(found))
        if task is None or task not in self.library.tasks:
            return fewest
        family = f"family {self.library.tasks[task].family}"
        known = task in self._homes
        place = self._homes.get(task if known else family, fewest)
        # The members of a group all ask for the same: they stay together, as long as no worker is idle for it.
        if found[place] >= AHEAD + found[fewest] * (2 if known else 1):
            place = fewest
        self._homes[task] = place
        self._homes.setdefault(family, place)
        return place

    def _settings(self) -> dict[str, Any]:
        options = self.options
        return {
            "tasks": str(self.library.folder.resolve()), "weights": dict(options.weights or {}),
            "split": options.split, "hosts": options.hosts, "max_turns": options.max_turns,
            "max_calls": options.max_calls, "max_minutes": options.max_minutes, "cache_bytes": options.cache_bytes,
            "sandbox": options.sandbox, "answers": str(options.answers.resolve()) if options.answers else None,
        }  # fmt: skip


class RemoteEpisode:
    """An episode in a worker."""

    def __init__(self, worker: "_Worker", task: str, number: int, opening: Mapping[str, Any]) -> None:
        self.task = task
        self.opening = opening
        """The result of `start_task`: content for the model, and facts for programs in `_meta`."""
        self._worker = worker
        self._number = number
        self._over = False

    @property
    def facts(self) -> Mapping[str, Any]:
        """Task, family, question, paths of pictures and the fields to hand in, for programs."""
        found: Mapping[str, Any] = self.opening["_meta"]["m3bench/task"]
        return found

    def step(self, calls: Sequence[Call]) -> EpisodeTurn:
        """Make the calls of one turn together. A call of `submit` is carried out after the others."""
        return self.step_soon(calls).result()

    def step_soon(self, calls: Sequence[Call]) -> "Future[EpisodeTurn]":
        """The same, as a future."""
        listed = [{"name": str(call["name"]), "arguments": call.get("arguments")} for call in calls]
        return self._ask({"op": "step", "calls": listed})

    def submit(self, answer: str, fields: Mapping[str, object] | None = None, *, card: bool = False) -> EpisodeTurn:
        """Hand in an answer. The first one that lacks fields is sent back.

        Args:
            answer: For a person.
            fields: The values that were asked for.
            card: Whether the turn has the score card.
        """
        return self.submit_soon(answer, fields, card=card).result()

    def submit_soon(
        self, answer: str, fields: Mapping[str, object] | None = None, *, card: bool = False
    ) -> "Future[EpisodeTurn]":
        """The same, as a future."""
        given = None if fields is None else dict(fields)
        return self._ask({"op": "submit", "answer": answer, "fields": given, "card": card})

    def close(self) -> None:
        """Give the episode up, if it is not over."""
        if self._finish() and not self._worker.dead:
            self._worker.ask({"op": "close", "episode": self._number})

    def _ask(self, message: dict[str, Any]) -> "Future[EpisodeTurn]":
        if self._over:
            raise RunError("This episode is over: begin another with reset.")

        def turn(found: dict[str, Any]) -> EpisodeTurn:
            if found["done"]:
                self._finish()
            return EpisodeTurn(
                results=tuple(found["results"]), reward=Reward.from_json(found["reward"]), done=found["done"],
                card=found["card"],
            )  # fmt: skip

        def void(error: BaseException) -> EpisodeTurn:
            self._finish()
            return EpisodeTurn(results=(), reward=Reward(total=None, void=str(error)), done=True)

        return _mapped(self._worker.ask({**message, "episode": self._number}), turn, void)

    def _finish(self) -> bool:
        over, self._over = self._over, True
        if not over:
            self._worker.count(-1)
        return not over


class _Worker:
    """A process that plays episodes, and the thread that reads what it says."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._process = subprocess.Popen(
            PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, cwd="/"
        )
        self.episodes = 0
        self.dead = False
        self._numbers = count(1)
        self._turn = threading.Lock()
        self._ready: Future[dict[str, Any]] = Future()
        self._pending: dict[int, Future[dict[str, Any]]] = {0: self._ready}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._write(settings)
        self._reader.start()

    def wait(self) -> None:
        """Until it answers."""
        try:
            self._ready.result(READY_SECONDS)
        except TimeoutError:
            text = f"A process that plays episodes gave no sign of life within {READY_SECONDS:g} seconds."
            raise SandboxError(text) from None

    def count(self, more: int) -> None:
        """One episode more, or less."""
        with self._turn:
            self.episodes += more

    def ask(self, message: dict[str, Any]) -> "Future[dict[str, Any]]":
        """Send a request."""
        answer: Future[dict[str, Any]] = Future()
        with self._turn:
            number = next(self._numbers)
            if self.dead:
                answer.set_exception(SandboxError("The process that played this episode has ended."))
                return answer
            self._pending[number] = answer
        self._write({"id": number, **message})
        return answer

    def leave(self) -> None:
        """End it."""
        with self._turn:
            assert self._process.stdin is not None
            try:
                self._process.stdin.close()
            except OSError:
                return

    def close(self) -> None:
        """Make sure that it has ended."""
        self.leave()
        try:
            self._process.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="replace") + b"\n"
        try:
            with self._turn:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        except (OSError, ValueError):
            return  # The reader says that it is gone.

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            answer = self._pending.pop(message["id"], None)
            if answer is None:
                continue
            problem = message.get("error")
            if problem is None:
                answer.set_result(message)
            else:
                kinds = {"user": UserError, "run": RunError}
                answer.set_exception(kinds.get(problem["kind"], SandboxError)(problem["says"]))
        with self._turn:
            self.dead = True
            waiting, self._pending = list(self._pending.values()), {}
        for answer in waiting:
            answer.set_exception(SandboxError("The process that played this episode has ended."))


def _mapped(found: "Future[Any]", into: Any, failed: Any = None) -> "Future[Any]":
    """A future of what is made of another one's result; `failed` makes it of a fault that is ours."""
    made: Future[Any] = Future()

    def done(future: "Future[Any]") -> None:
        error = future.exception()
        try:
            if error is None:
                made.set_result(into(future.result()))
            elif failed is not None and isinstance(error, SandboxError):
                made.set_result(failed(error))
            else:
                made.set_exception(error)
        except BaseException as problem:
            made.set_exception(problem)

    found.add_done_callback(done)
    return made


def _text(answer: Mapping[str, Any]) -> str:
    if "error" in answer:
        return str(answer["error"].get("message", ""))
    return "\n".join(block["text"] for block in answer["result"]["content"] if block["type"] == "text")

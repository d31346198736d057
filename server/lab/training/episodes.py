"""Episodes in this process: a run that begins with `reset`, goes on turn by turn, and ends with its reward.

The way of a call is that of any client's: the router reads its name and arguments, the run's sandbox answers, and the
record is scored by the rules of every other run. What is left out is what an episode does not need: a protocol, a
database, a seal. Tools work in sandboxes; what a learner wrote is read here when it is scored, so that a trainer keeps
this in processes of its own (`environment`).
"""

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread

from m3bench.proxy.names import FIND_TOOLS
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.tool_calls import (
    AnswerDelivery,
    Caller,
    ToolAnswer,
    ToolRequest,
    error_object,
    error_result,
)
from m3bench.proxy.router import Router
from m3bench.proxy.seat import Seat
from m3bench.proxy.steps.hints import HINT
from m3bench.sandboxes.backends.base import Backend
from m3bench.sandboxes.backends.shared import SharedBackend
from m3bench.sandboxes.pool import Lease, SandboxPool
from m3bench.server.lab.training.rewards import Reward, RewardWeights, final_parts, weighted
from m3bench.server.lab.training.splits import Split
from m3bench.server.runs import retrieval
from m3bench.server.runs.handin import Fields, send_back_once
from m3bench.server.runs.opening import limits_rule, opening
from m3bench.server.runs.run import Run, RunLimits, RunUse
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.server.scorecard.building import recall_so_far, score_run
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.settings import MAX_CALLS, MAX_MINUTES
from m3bench.server.store.records import OWN_TOOLS, CallRecord, RunRecord, now
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import M3Error, RunError, UserError
from m3bench.tasks.library import Library
from m3bench.tasks.picture_mark import LENGTH, LETTERS
from m3bench.tasks.profiles import RETRIEVE, tools_of
from m3bench.tasks.scene import Scene
from m3bench.tasks.secret import SecretLibrary
from m3bench.tasks.task import MEDIA, Task


class MemoryJournal:
    """The calls of episodes under way, in memory, in the form in which a store gives them back.

    They are kept by seat, of which every episode has its own: episodes that are told the same have runs of one name.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self._seats: dict[str, dict[int, CallRecord]] = {}
        self._seat_of: dict[int, str] = {}

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """Take in a call; one that belongs to no run is not kept."""
        number = next(self._numbers)
        if run is not None:
            caller = request.caller
            self._seat_of[number] = caller.seat
            self._seats.setdefault(caller.seat, {})[number] = CallRecord(
                id=number, run=run, seat=caller.seat, tool=tool, request_id=str(request.id), request=request.raw,
                revision=caller.revision, client=caller.client, wall=request.wall, received_ns=request.received_ns,
                outcome=None, owner=None, result=None, error=None, full=None, forwarded_ns=None, returned_ns=None,
                sent_ns=None,
            )  # fmt: skip
        return number

    async def answered(self, call: int, answer: ToolAnswer, delivery: AnswerDelivery | None = None) -> None:
        """Put an answer beside its call."""
        calls = self._seats.get(self._seat_of.get(call, ""), {})
        if call in calls:
            calls[call] = replace(
                calls[call], outcome=answer.outcome, owner=answer.owner, result=answer.result or None,
                error=answer.error, full=answer.full or None, forwarded_ns=answer.forwarded_ns or None,
                returned_ns=answer.returned_ns or None,
            )  # fmt: skip

    def sent(self, call: int, sent_ns: int) -> None:
        """Nothing: an answer leaves with the others of its turn."""

    def deliver(self, seat: str, sent_ns: int) -> None:
        """The answers of a turn left, all of them at the same moment."""
        calls = self._seats.get(seat, {})
        for number, call in calls.items():
            if call.sent_ns is None:
                calls[number] = replace(call, sent_ns=sent_ns)

    def calls(self, seat: str) -> list[CallRecord]:
        """The calls of a seat, in order of arrival."""
        return list(self._seats.get(seat, {}).values())

    def forget(self, seat: str) -> None:
        """Drop the calls of a seat."""
        for number in self._seats.pop(seat, {}):
            self._seat_of.pop(number, None)

    @property
    def held(self) -> int:
        """Calls in memory."""
        return len(self._seat_of)


CLIENT = "m3bench-training 1"
REVISION = "2026-07-28"
SUBMIT = "submit"


@dataclass(frozen=True, kw_only=True)
class EpisodeRules:
    """What holds for every episode of a trainer."""

    weights: RewardWeights = field(default_factory=RewardWeights)
    split: Split = "test"
    """Only on `train` is a learner told of rewards before its episode ends."""
    max_turns: int = 50
    """After so many an episode ends without an answer."""
    max_calls: int = MAX_CALLS
    max_minutes: float = MAX_MINUTES


@dataclass(frozen=True, kw_only=True)
class LearnerCall:
    """A call that a learner makes."""

    name: str
    """As the tools of the episode are named."""
    arguments: object
    """An object; anything else is a mistake of the learner, and answered as one."""


@dataclass(frozen=True, kw_only=True)
class EpisodeOpening:
    """What a learner is told when an episode begins."""

    opening: Json
    """The result of `start_task`: content for the model, and facts for programs in `_meta`."""
    tools: tuple[Json, ...]
    """The tools it may call, and `submit`, as MCP lists them."""


@dataclass(frozen=True, kw_only=True)
class LocalTurn:
    """What the calls of one turn came to."""

    results: tuple[bytes, ...]
    """The raw JSON of each answer, in the order of the calls: `{"result": …}` or `{"error": …}`."""
    reward: Reward
    done: bool
    card: ScoreCard | None = None
    """Once the episode is over and was scored."""


class Episodes:
    """Opens episodes of one set; an async context manager.

    Args:
        library: The tasks.
        backend: Opens sandboxes; entered and left with this.
        root: The folder of their workspaces; exists.
        rules: What holds for every episode.
    """

    def __init__(self, library: Library, backend: Backend, root: Path, rules: EpisodeRules | None = None) -> None:
        if isinstance(library, SecretLibrary):
            raise UserError("A secret set is not for training: make tasks from a seed with m3bench tasks generate.")
        self.library = library
        self.rules = rules or EpisodeRules()
        self.journal = MemoryJournal()
        self.router = Router(self.journal, _OwnTools())
        self._backend = backend
        self._pool = SandboxPool(backend, root)
        self._stack = AsyncExitStack()
        self._attempts = Counter[str]()
        self._numbers = count(1)
        self._seats: dict[str, Seat] = {}
        self._open: set[LocalEpisode] = set()
        self.scoring = anyio.CapacityLimiter(1)

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._backend)
        await self._stack.enter_async_context(self._pool)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            for episode in list(self._open):
                await episode.close()
        await self._stack.__aexit__(kind, error, trace)

    @property
    def in_flight(self) -> int:
        """Episodes that are open."""
        return len(self._open)

    async def reset(
        self, task: str, tools: str = "full", *, attempt: int | None = None, pictures: bool = True
    ) -> tuple["LocalEpisode", EpisodeOpening]:
        """Begin an episode.

        Args:
            task: The id of its task.
            tools: The profile of its tools, as `serve --profile` takes it.
            attempt: Which episode of this task it is; the same one is told the same bytes. The next when left out.
            pictures: Whether the observation has the task's pictures.

        Raises:
            UserError: There is no such task or profile.
            SandboxError: No workspace can be made.
        """
        chosen = self.library.task(task)
        if attempt is None:
            attempt = self._attempts[task]
            self._attempts[task] += 1
        seat = self._seat(tools)
        scenes = self.library.scenes(chosen)
        lease = await self._pool.lease(servers=seat.servers, scenes=scenes)
        try:
            for name, data in self.library.media(chosen):
                lease.put(f"{MEDIA}/{name}", data)
            episode = LocalEpisode(self, chosen, scenes, lease, seat, _handle(task, attempt))
            rule = (retrieval.RULE,) if seat.unlisted else ()
            limits = limits_rule(self.rules.max_calls, self.rules.max_minutes)
            told = await opening(self.library, episode.run, (*rule, limits), pictures=pictures)
        except BaseException:
            await lease.release()
            raise
        self._open.add(episode)
        return episode, EpisodeOpening(opening=dict(told), tools=seat.listing)

    def listing(self, tools: str) -> tuple[Json, ...]:
        """The tools of a profile, and `submit`, as MCP lists them."""
        return self._seat(tools).listing

    def kill(self) -> int:
        """Kill the hosts of the sandboxes, as a test does; how many there were."""
        return self._backend.kill() if isinstance(self._backend, SharedBackend) else 0

    def closed(self, episode: "LocalEpisode") -> None:
        """Forget an episode."""
        self._open.discard(episode)
        self.journal.forget(episode.seat)

    def _seat(self, profile: str) -> Seat:
        if profile not in self._seats:
            tools = tools_of(profile, load_catalog().ready, self.library)
            everything = tuple(tool.wire() for tool in tools)
            own = tuple(tool for tool in DEFINITIONS if tool["name"] == SUBMIT)
            self._seats[profile] = Seat(
                id=profile,
                profile=profile,
                tools={tool.exposed: tool for tool in tools},
                listing=(*own, *retrieval.listed(profile, everything)),
                unlisted=everything if profile == RETRIEVE else (),
            )
        seat = self._seats[profile]
        return Seat(
            id=f"{profile} {next(self._numbers)}", profile=profile, tools=seat.tools, listing=seat.listing,
            unlisted=seat.unlisted,
        )  # fmt: skip


class LocalEpisode:
    """One attempt at a task by a learner."""

    def __init__(
        self, episodes: Episodes, task: Task, scenes: tuple[Scene, ...], lease: Lease, seat: Seat, handle: str
    ) -> None:
        rules = episodes.rules
        limits = RunLimits(max_calls=rules.max_calls, seconds=rules.max_minutes * 60)
        self.run = Run(
            id=handle, task=task, lease=lease, limits=limits, used=RunUse(), mark=_mark(task, seed=handle)
        )  # fmt: skip
        self.task = task
        self._scenes = scenes
        self._episodes = episodes
        self._rules = rules
        self._seat = seat
        self._began = now()
        self._turns = 0
        self._potential = 0.0
        self._over = False
        seat.run, self.run.seat = self.run, seat

    @property
    def seat(self) -> str:
        """The name of its seat, which no other episode has."""
        return self._seat.id

    @property
    def calls(self) -> list[CallRecord]:
        """The calls so far."""
        return self._episodes.journal.calls(self.seat)

    async def step(self, calls: Sequence[LearnerCall]) -> LocalTurn:
        """Make the calls of one turn together. One of `submit` is carried out after the others.

        Raises:
            RunError: The episode is over.
        """
        self._check()
        self._turns += 1
        answers: list[bytes] = [b""] * len(calls)
        handing_in = next((place for place, call in enumerate(calls) if call.name == SUBMIT), None)
        made = [(place, call) for place, call in enumerate(calls) if place != handing_in]
        if len(made) == 1:
            await self._call(answers, *made[0])
        elif made:
            async with anyio.create_task_group() as together:
                for place, call in made:
                    together.start_soon(self._call, answers, place, call)
        self._episodes.journal.deliver(self.seat, time.monotonic_ns())
        reward = self._step_reward()
        if handing_in is not None:
            turn = await self._submit_call(calls[handing_in].arguments)
            answers[handing_in] = turn.results[0]
            return replace(turn, results=tuple(answers), reward=self._together(reward, turn.reward))
        if self._turns >= self._rules.max_turns:
            last = await self._end("", None)
            return replace(last, results=tuple(answers), reward=self._together(reward, last.reward))
        return LocalTurn(results=tuple(answers), reward=reward, done=False)

    async def submit(self, answer: str, fields: Fields = None, *, advice: bool = False) -> LocalTurn:
        """Hand in an answer. The first one that lacks fields is sent back, as it is for any client.

        Args:
            answer: For a person.
            fields: The values that were asked for.
            advice: Whether the card says what would have been better.

        Raises:
            RunError: The episode is over.
        """
        self._check()
        try:
            send_back_once(self.run, answer, fields)
        except RunError as error:
            return LocalTurn(results=(_result(error_result(str(error))),), reward=Reward(), done=False)
        return await self._end(answer, fields, advice=advice)

    async def close(self) -> None:
        """Give the episode up, if it is not over, and let go of what it had."""
        self._over = True
        await self.run.lease.release()
        self._episodes.closed(self)

    async def _submit_call(self, arguments: object) -> LocalTurn:
        given = arguments if isinstance(arguments, dict) else {}
        answer, fields = given.get("answer"), given.get("fields")
        if not isinstance(answer, str) or not (fields is None or isinstance(fields, dict)):
            text = "submit needs an answer, a text, and takes fields, an object with the values asked for by name."
            return LocalTurn(results=(_result(error_result(text)),), reward=Reward(), done=False)
        return await self.submit(answer.encode(errors="replace").decode(), fields)

    async def _call(self, answers: list[bytes], place: int, call: LearnerCall) -> None:
        meta = {HINT: str(self._turns)}
        params = {"name": call.name, "arguments": call.arguments, "_meta": meta}
        number = f"{self._turns}.{place}"
        try:
            raw = _dump({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        except (ValueError, TypeError, RecursionError):
            raw = _dump({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": call.name}})
        request = ToolRequest(
            caller=Caller(seat=self._seat.id, revision=REVISION, client=CLIENT), id=number, raw=raw, name=call.name,
            arguments=call.arguments, meta=meta, received_ns=time.monotonic_ns(), wall=now(),
        )  # fmt: skip
        answer = await self._episodes.router.call(self._seat, request)
        answers[place] = (
            _result(answer.result) if answer.error is None else _dump({"error": error_object(answer.error)})
        )

    def _together(self, turn: Reward, end: Reward) -> Reward:
        """The reward of a turn after which an answer was handed in; none when the episode is void."""
        parts = Counter(turn.parts)
        parts.update(end.parts)
        return end if end.void else weighted(parts, self._rules.weights)

    def _step_reward(self) -> Reward:
        """The change of the potential, where a learner may be told of it."""
        if not self._rules.weights.shaping or self._rules.split != "train":
            return Reward()
        before = self._potential
        self._potential = recall_so_far(self.task, self.calls, self._plans)
        return weighted({"shaping": self._potential - before}, self._rules.weights)

    @cached_property
    def _plans(self) -> tuple[Any, ...]:
        return self._episodes.library.plans(self.task)

    async def _end(self, answer: str, fields: Fields, *, advice: bool = False) -> LocalTurn:
        self._over = True
        self._seat.run = None
        episodes, calls = self._episodes, self.calls
        record = RunRecord(
            id=self.run.id, seat=self._seat.id, task=self.task.id, state="submitted", mode="practice",
            started=self._began, ended=now(), answer=answer, seal=None, manifest={"mark": self.run.mark},
            scorecard=None, fields=fields,
        )  # fmt: skip
        text = "Submitted. The episode is over."
        told = _result(_dump({"content": [{"type": "text", "text": text}], "isError": False}))
        try:
            score = partial(score_run, scenes=self._scenes, advice=advice)
            card = await anyio.to_thread.run_sync(
                score, record, self.task, calls, self.run.lease.workspace, None, None, self._plans,
                limiter=episodes.scoring,
            )  # fmt: skip
        except (M3Error, OSError) as error:
            return LocalTurn(
                results=(told,), reward=Reward(total=None, void=f"It could not be scored: {error}"), done=True
            )
        finally:
            await self.close()
        if card.void is not None:
            return LocalTurn(results=(told,), reward=Reward(total=None, void=card.void.words), done=True, card=card)
        parts = final_parts(card, self._potential, len(calls), self._rules.max_calls)
        return LocalTurn(results=(told,), reward=weighted(parts, self._rules.weights), done=True, card=card)

    def _check(self) -> None:
        if self._over:
            raise RunError("This episode is over: begin another with reset.")


class _OwnTools:
    """The benchmark's own tools in an episode: nothing but a search for tools."""

    names = OWN_TOOLS

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, object], client: str = "") -> ToolAnswer:
        """Answer one of them."""
        query, limit = arguments.get("query"), arguments.get("limit", retrieval.FOUND)
        if name == FIND_TOOLS and isinstance(query, str) and isinstance(limit, int):
            return ToolAnswer(outcome="success", result=_dump(retrieval.find_tools(seat, query, limit)))
        text = f"{name} cannot be called here: solve the task with the other tools, then call submit."
        return ToolAnswer(outcome="invalid_arguments", result=error_result(text))


def _handle(task: str, attempt: int) -> str:
    """The handle of an episode, which follows from what it is: the same episode is told the same bytes."""
    return sha256(f"{task}\0{attempt}".encode()).hexdigest()[:40]


def _mark(task: Task, seed: str) -> str:
    return "".join(Random(seed).choices(LETTERS, k=LENGTH)) if task.pictures else ""


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(errors="replace")


def _result(raw: bytes) -> bytes:
    return b'{"result":' + raw + b"}"

"""Makes the calls of a submitted run again in a fresh sandbox and compares: what was invented does not come out again.

Calls take the way that they took then, through the router, so that refusals and cut results are compared like answers
of tools. Nothing here looks at scores, and that a run can be made again says nothing about who made it first.
"""

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import anyio

from m3bench.proxy.protocol.tool_calls import AnswerDelivery, Caller, ToolAnswer, ToolRequest
from m3bench.proxy.router import Router
from m3bench.proxy.seat import Seat
from m3bench.proxy.weather import FAIR, RunWeather, weather_of
from m3bench.sandboxes.backends.base import Backend
from m3bench.sandboxes.pool import Lease, SandboxPool
from m3bench.sandboxes.workspace import RESULTS
from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES
from m3bench.server.lab.interchange.rescoring import LocalInstallation
from m3bench.server.lab.interchange.submission import Submission, SubmittedRun
from m3bench.server.lab.interchange.verdict import BundleVerdict, Odd
from m3bench.server.store.records import OWN_TOOLS, CallRecord
from m3bench.server.store.seal import file_hashes
from m3bench.tasks.errors import M3Error
from m3bench.tasks.fault import voids
from m3bench.tasks.library import Library
from m3bench.tasks.outcome import CALL_SECONDS, Reply, text_of
from m3bench.tasks.table_tools import whole_catalog
from m3bench.tasks.task import MEDIA, Task
from m3bench.tasks.trap import StrayOrder

PATIENCE = 4 * CALL_SECONDS
"""Seconds for a call that is made again: this machine may be slower than the one it was made on."""

_OVER_TIME = re.compile(r"This run has used its ([\d.e+]{1,20}) minutes: submit what you have\.")
_SHUT = re.compile(
    r"The event .{1,1000} (opens at .{1,60}: nothing can be played until then|closed at .{1,60}: nothing can be played "
    r"anymore)\."
)
"""A refusal that says that an event is not open."""
_CALLS_MADE = "This run has made its "


@dataclass(kw_only=True)
class Replay:
    """The result of replaying a run's calls."""

    calls: int = 0
    """How many were made again and came out the same."""
    of: int = 0
    """How many there are, without those that third-party servers answered."""
    upstream: int = 0
    """How many third-party servers answered."""
    differences: list[Odd] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    """What could not be made again, and why; the run is replayed only when there is none."""
    unlike: int = 0
    """Results and files that came out differently, and may depend on a call that cannot be made again."""


AT_ONCE = 4
"""Runs that are replayed at the same time."""

SHOWN = 5
"""Calls that could not be made again which are named; the others are counted."""


async def replay_bundle(
    path: Path, verdict: BundleVerdict, installation: LocalInstallation, backend: Backend, tell: Callable[[str], None]
) -> None:
    """Make the calls of all scored runs of a bundle again, and add what came of it to the verdict.

    Args:
        path: The bundle.
        verdict: What was found out before; nothing is replayed of a bundle that is refuted.
        installation: What is installed here.
        backend: Opens the sandboxes; entered.
        tell: Called with the task of each run that is done.

    Raises:
        InputFileError: The file is not a bundle, or not a whole one.
        SandboxError: No sandbox can be opened here.
    """
    if not verdict.confirmed:
        return
    found: dict[int, tuple[str, Replay]] = {}
    turns = anyio.CapacityLimiter(min(AT_ONCE, os.cpu_count() or 1))
    with Archive(path, NAMES) as archive:
        submission = Submission(archive)

        async def replay(number: int, id: str) -> None:
            async with turns:
                run = submission.run(id)
                seat, _ = installation.served(run.record.manifest)
                task = installation.library.task(run.record.task)
                where = f"run {id[:12]} ({run.record.task})"
                try:
                    found[number] = where, await replay_run(run, task, seat, installation.library, backend)
                except (M3Error, OSError):
                    raise
                except Exception as error:
                    odd = ("record", "one that can be replayed", type(error).__name__)
                    found[number] = where, Replay(differences=[odd])
                tell(run.record.task)

        async with anyio.create_task_group() as tasks:
            for number, sample in enumerate(submission.samples):
                if sample.state == "scored" and sample.run is not None:
                    tasks.start_soon(replay, number, sample.run)
    _add(verdict, [found[number] for number in sorted(found)])


def _add(verdict: BundleVerdict, replays: Sequence[tuple[str, "Replay"]]) -> None:
    unproven: list[str] = []
    for where, replay in replays:
        for odd in replay.differences:
            verdict.differ(where, *odd)
        unproven += [f"{where}: {text}" for text in replay.unproven]
        verdict.calls += replay.calls
        verdict.of_calls += replay.of
        verdict.upstream += replay.upstream
        verdict.unlike += replay.unlike
        verdict.replayed += not (replay.differences or replay.unproven)
        verdict.tried += 1
    for text in unproven[:SHOWN]:
        verdict.note(f"Not replayed: {text}")
    if len(unproven) > SHOWN:
        verdict.note(f"Not replayed: {len(unproven) - SHOWN} more.")


async def replay_run(run: SubmittedRun, task: Task, seat: Seat, library: Library, backend: Backend) -> Replay:
    """Make a run's calls again.

    Args:
        run: The run.
        task: What was to be solved.
        seat: What a server here would give it.
        library: The tasks, with their pictures.
        backend: Opens the sandbox.
    """
    calls = [call for call in run.calls if call.tool not in OWN_TOOLS]
    servers = _third_parties(run.record.manifest)
    upstream = [call for call in calls if _server(call) in servers]
    lost = {call.id for call in calls if _is_lost(call) and call not in upstream}

    async def attempt(order: Callable[[CallRecord], int], left_out: Collection[int] = ()) -> Replay:
        found = await _Attempt(run, task, seat, library, backend).play(sorted(calls, key=order), left_out)
        found.of, found.upstream = len(calls) - len(upstream), len(upstream)
        return found

    # Of calls that were under way together, nobody knows which one the sandbox finished first, and of those that were
    # cut off, whether they took effect.
    orders = [_began, _ended] if _overlap(calls) else [_began]
    attempts: list[Replay] = []
    for order, left_out in [(order, out) for out in ([(), lost] if lost else [()]) for order in orders]:
        found = await attempt(order, left_out)
        if not found.differences:
            return found
        attempts.append(found)
    if not lost:
        return attempts[0]
    return _despite(attempts[0], attempts[len(orders)])


def _despite(made: Replay, left_out: Replay) -> Replay:
    """What differs whether the calls that were cut off are made or not does not depend on them: it refutes."""
    either = [odd for odd in made.differences if odd in left_out.differences]
    either_way = {what for what, *_ in either}
    other = [what for what, *_ in made.differences if what not in either_way]
    depends = [f"{what}: came out differently, and may depend on a call that was cut off" for what in other]
    return replace(made, differences=either, unproven=[*made.unproven, *depends], unlike=made.unlike + len(other))


class _Attempt:
    """One fresh sandbox in which the calls of a run are made again, one after the other."""

    def __init__(self, run: SubmittedRun, task: Task, seat: Seat, library: Library, backend: Backend) -> None:
        self._run = run
        self._task = task
        self._seat = seat
        self._library = library
        self._backend = backend
        self._found = Replay()
        self._disturbed: str | None = None
        """The first call that may have had side effects which cannot be reproduced."""

    async def play(self, calls: Sequence[CallRecord], left_out: Collection[int] = ()) -> Replay:
        """Make the calls in this order, leaving some out, and look at the files that they leave."""
        with TemporaryDirectory(prefix="m3bench-verify-", ignore_cleanup_errors=True) as name:
            root = Path(name)
            async with SandboxPool(self._backend, root) as pool:
                lease = await pool.lease(servers=self._seat.servers, scenes=self._library.scenes(self._task))
                for name, data in self._library.media(self._task):
                    lease.put(f"{MEDIA}/{name}", data)
                await self._play(calls, left_out, lease)
                await lease.finish(root / "left")
            real = file_hashes(root / "left")
            self._compare_files(real)
            self._compare_order([(name, (root / "left" / name).stat().st_mtime_ns) for name in real])
        return self._found

    async def _play(self, calls: Sequence[CallRecord], left_out: Collection[int], lease: Lease) -> None:
        journal = _Numbers()
        router = Router(journal, _NoTools(), timeout=PATIENCE)
        record = self._run.record
        stage = self._seat.run = _Stage(record.id, lease, _limit(record.manifest, "calls"), self._task.order)
        stage.weather = weather_of(str(record.manifest.get("weather", FAIR)), record.task, sleep=_at_once)
        try:
            for call in calls:
                journal.number = call.id
                await self._again(router, stage, call, left_out)
        finally:
            self._seat.run = None

    async def _again(self, router: Router, stage: "_Stage", call: CallRecord, left_out: Collection[int]) -> None:
        what = f"call {call.id} ({call.tool})"
        manifest = self._run.record.manifest
        if _server(call) in _third_parties(manifest):
            if call.owner != "weather":
                stage.admit()
            self._found.unproven.append(f"{what}: a third-party server answered it")
            return
        if call.owner == "limit" and (said := _text(call.result or b"")) and not said.startswith(_CALLS_MADE):
            self._refused(what, said, call)
            return
        if call.owner == "limit" and stage.limit is None:
            self._found.unproven.append(f"{what}: its manifest states no limit")
            return
        if call.id in left_out:
            stage.admit()
            self._found.unproven.append(f"{what}: {_WHY_LOST}")
            return
        answer = await router.call(self._seat, _request(call))
        if _is_lost(call):
            self._found.unproven.append(f"{what}: {_WHY_LOST}")
            return
        if call.outcome == "unknown_tool" and _third_parties(manifest) and answer.outcome == "unknown_tool":
            self._found.unproven.append(f"{what}: the words may name tools of third-party servers")
            return
        if voids(answer.owner):
            self._cannot(what, f"it failed here: {_text(answer.result)}")
            return
        differences = list(_unequal(what, call, answer))
        self._found.calls += not differences
        self._report(differences)

    def _refused(self, what: str, said: str, call: CallRecord) -> None:
        """A call that was refused because of the time, which is not the same again."""
        minutes = _limit(self._run.record.manifest, "minutes")
        over = _OVER_TIME.fullmatch(said)
        if over is not None and minutes is not None:
            used = _minutes(self._run.record.started, call.wall)
            if said != f"This run has used its {minutes:g} minutes: submit what you have.":
                self._found.differences.append((f"{what}: limit", f"{over[1]} minutes", f"{minutes:g} minutes"))
            elif used < minutes - 0.1:
                self._found.differences.append(
                    (f"{what}: limit", f"{over[1]} minutes used", f"{used:.1f} minutes used")
                )
        elif over is None and not (_SHUT.fullmatch(said) and "event" in self._run.record.manifest):
            self._found.differences.append((f"{what}: result", said, "the words of a limit"))
        self._found.unproven.append(f"{what}: it was refused because of the time")

    def _cannot(self, what: str, why: str) -> None:
        self._found.unproven.append(f"{what}: {why}")
        self._disturbed = self._disturbed or what

    def _compare_files(self, real: Mapping[str, str]) -> None:
        claimed = {file.path: file.value for file in self._run.files}
        self._report(
            [
                (f"file {path}", claimed.get(path, "not there"), real.get(path, "not there"))
                for path in sorted({*claimed, *real})
                if claimed.get(path) != real.get(path)
            ]
        )

    def _compare_order(self, real: Sequence[tuple[str, int]]) -> None:
        """Of several files of a kind a check may take the one that was changed last: that must be the same one."""
        claimed = {file.path: file.changed_ns for file in self._run.files if not file.path.startswith(f"{MEDIA}/")}
        kinds: dict[str, list[tuple[str, int]]] = {}
        for name, changed in real:
            if name in claimed:
                kinds.setdefault(PurePosixPath(name).suffix, []).append((name, changed))
        self._report(
            [
                (f"file {name}", f"changed after {later}", f"changed before {later}")
                for files in kinds.values()
                for (name, before), (later, after) in pairwise(files)
                if before < after and claimed[name] > claimed[later]
            ]
        )

    def _report(self, differences: Sequence[Odd]) -> None:
        """Differences; after a call whose side effects are not known, they refute nothing."""
        if self._disturbed is None:
            self._found.differences += differences
        else:
            self._found.unlike += len(differences)
            self._found.unproven += [
                f"{what}: came out differently, after {self._disturbed}" for what, *_ in differences
            ]


class _Stage:
    """The run, as a router needs it."""

    def __init__(self, id: str, lease: Lease, limit: float | None, order: StrayOrder | None) -> None:
        self.id = id
        self.limit, self.order = limit, order
        self.weather: RunWeather | None = None
        self._lease = lease
        self._calls = 0

    def enter(self) -> None:
        """A call of this run has arrived."""

    def leave(self) -> None:
        """That call is answered."""

    def admit(self) -> str | None:
        """Count a call; the reason when the limit that its manifest states allows no more."""
        if self.limit is not None and self._calls >= self.limit:
            return f"{_CALLS_MADE}{self.limit:g} calls: submit what you have."
        self._calls += 1
        return None

    def lose(self, request: ToolRequest, tool: str, answer: ToolAnswer) -> None:
        """Nothing is recorded, so nothing gets lost."""

    async def call(self, tool: str, arguments: bytes, seconds: float) -> Reply:
        """Run a tool in the sandbox."""
        return await self._lease.call(tool, arguments, seconds)

    def keep(self, call: int, result: bytes) -> str:
        """Keep a result that is too large for a client where it was kept the first time."""
        name = f"{RESULTS}/{call:x}.json"
        self._lease.put(name, result)
        return f"./{name}"


class _Numbers:
    """A journal that records nothing and gives calls the numbers that they had: cut results name them."""

    number = 0

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """The number of the call."""
        return self.number

    async def answered(self, call: int, answer: ToolAnswer, delivery: AnswerDelivery | None = None) -> None:
        """Nothing is recorded."""

    def sent(self, call: int, sent_ns: int) -> None:
        """Nothing is recorded."""


class _NoTools:
    """The benchmark's own tools, which are not called again."""

    names = OWN_TOOLS

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, object], client: str = "") -> ToolAnswer:
        """Never asked: calls of these are left out."""
        raise NotImplementedError(name)


def _request(call: CallRecord) -> ToolRequest:
    return ToolRequest(
        caller=Caller(seat=call.seat, revision=call.revision, client=call.client),
        id=json.loads(call.request_id),
        raw=call.request,
        name=call.params.get("name"),
        arguments=call.params.get("arguments"),
        meta=call.meta,
        received_ns=call.received_ns,
        wall=call.wall,
    )


async def _at_once(seconds: float) -> None:
    """Time that need not pass a second time."""


_WHY_LOST = "it was cut off, and how far it got is not known"


def _is_lost(call: CallRecord) -> bool:
    """Whether a call was cut off, or lost through no fault of the client."""
    return call.outcome is None or call.owner == "client" or voids(call.owner)


def _server(call: CallRecord) -> str:
    return call.tool.partition("/")[0]


def _third_parties(manifest: Mapping[str, object]) -> set[str]:
    """The third-party servers that a manifest names; what bears the name of a bundled one is asked here."""
    upstream = manifest.get("upstream")
    return set(upstream) - set(whole_catalog().by_name) if isinstance(upstream, Mapping) else set()


def _limit(manifest: Mapping[str, object], name: str) -> float | None:
    """A limit of a run, as its manifest states it, when that is one that a server can have."""
    limits = manifest.get("limits")
    limit = limits.get(name) if isinstance(limits, Mapping) else None
    return limit if isinstance(limit, int | float) and not isinstance(limit, bool) and 0 < limit < math.inf else None


def _unequal(what: str, call: CallRecord, answer: ToolAnswer) -> Iterator[Odd]:
    for name, claimed, real in (
        ("outcome", call.outcome, answer.outcome),
        ("owner", call.owner, answer.owner),
        ("error", _plain(call.error), _plain(answer.error)),
    ):
        if claimed != real:
            yield f"{what}: {name}", claimed, real
    for name, result, other in (("result", call.result, answer.result), ("whole result", call.full, answer.full)):
        if (result or b"") != other:
            yield f"{what}: {name}", _text(result or b""), _text(other)


def _minutes(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() / 60


def _plain(error: object) -> object:
    """As JSON represents it: lists for tuples."""
    plain: object = json.loads(json.dumps(error))
    return plain


def _text(result: bytes) -> str:
    """What a result says, pictures and data by their JSON."""
    try:
        data = json.loads(result)
        only_text = set(data) <= {"content", "isError"} and all(block["type"] == "text" for block in data["content"])
        return text_of(data) if only_text else json.dumps(data, sort_keys=True)
    except (ValueError, TypeError, KeyError, AttributeError):
        return result.decode(errors="replace")


def _began(call: CallRecord) -> int:
    return call.forwarded_ns or call.received_ns


def _ended(call: CallRecord) -> int:
    return call.returned_ns or call.received_ns


def _overlap(calls: Sequence[CallRecord]) -> bool:
    """Whether calls were under way at the same time."""
    ordered = sorted(calls, key=_began)
    return any(_ended(before) > _began(after) for before, after in pairwise(ordered))

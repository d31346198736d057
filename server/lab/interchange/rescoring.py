"""Holds a bundle against its own log: is the log the sealed one, and does it give the numbers that are claimed?

Every run is scored again from its raw calls and files, with the tasks, the scorer and the encoder that are installed
here; whatever comes out otherwise than claimed is a difference. Nothing of a bundle is executed: files are read by the
checks that read them after any run.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from m3bench.proxy.seat import Seat
from m3bench.proxy.weather import FAIR, NEW, weather_of
from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES, claims_of
from m3bench.server.lab.interchange.consistency import RunTimes, is_coarse, odd_times, oddities
from m3bench.server.lab.interchange.submission import Submission, SubmittedRun
from m3bench.server.lab.interchange.verdict import BundleVerdict, Coverage, Odd
from m3bench.server.lab.results.resultset import Result, Sample, task_set_of
from m3bench.server.scorecard.building import score_run
from m3bench.server.scorecard.migration import upgraded
from m3bench.server.scorecard.model import Client, ScoreCard
from m3bench.server.scorecard.trajectory import without_repetitions
from m3bench.server.scoring import Encoder
from m3bench.server.scoring.weights import find
from m3bench.server.store.capability import ClientTable, client_facts
from m3bench.server.store.records import BESIDE, OWN_TOOLS, CallRecord, RunRecord
from m3bench.server.store.seal import file_hashes, seal
from m3bench.tasks.errors import M3Error, StoreError
from m3bench.tasks.fault import voids
from m3bench.tasks.library import Library

TOLERANCE = 1e-6
"""How far a number may be off: processors do not all add in the same order."""


class LocalInstallation(Protocol):
    """The installation that a bundle is checked against."""

    @property
    def library(self) -> Library:
        """The tasks."""
        ...

    @property
    def public(self) -> bool:
        """Whether everybody has the tasks with their references."""
        ...

    def served(self, manifest: Mapping[str, object]) -> tuple[Seat, dict[str, object]]:
        """The seat that a server here would give a run with such a manifest, and the manifest that run would have.

        Raises:
            M3Error: There is no such profile here.
        """
        ...

    @property
    def clients(self) -> ClientTable:
        """What is known of clients beforehand."""
        ...


def verify_bundle(path: Path, installation: LocalInstallation, encoder: Encoder) -> BundleVerdict:
    """Score a bundle again and compare.

    Args:
        path: The file.
        installation: What is installed here.
        encoder: To score with.

    Raises:
        InputFileError: The file is not a bundle, or not a whole one.
    """
    with Archive(path, NAMES) as archive:
        return _Rescoring(Submission(archive), installation, encoder).verdict()


def needed(library: Library) -> list[Path]:
    """What is read on the way, beside the bundle and this package: the tasks, and the weights of the encoder.

    Raises:
        WeightsError: There are no weights, and none can be had.
    """
    folder = find().folder
    # What a cache holds may be links to elsewhere.
    linked = [path.resolve() for path in folder.iterdir() if path.is_symlink()]
    return [*library.places, folder, *linked]


class _Rescoring:
    """A bundle being checked against its log."""

    def __init__(self, submission: Submission, installation: LocalInstallation, encoder: Encoder) -> None:
        self._submission = submission
        self._installation = installation
        self._library = installation.library
        self._encoder = encoder
        self._verdict = BundleVerdict(name=submission.header.name, public=installation.public)
        self._calls: dict[int, str] = {}
        """The run of every call seen so far."""
        self._times = RunTimes()

    def verdict(self) -> BundleVerdict:
        """Everything that is not as claimed."""
        self._compare_hashes()
        self._compare_plan()
        samples = list(self._samples())
        results = [result for sample in samples for result in self._checked(sample)]
        self._compare_claims(len(samples), results)
        named = {sample.run for sample in self._submission.samples}
        if stray := [run for run in self._submission.runs if run not in named]:
            self._differ("bundle", "runs that no sample names", 0, len(stray))
        return self._verdict

    def _compare_hashes(self) -> None:
        for name, claimed, real in self._submission.hashes():
            own = name.removeprefix("values/") if name.startswith("values/") else claimed
            if not claimed == own == real:
                self._differ("bundle", f"hash of {name}", claimed, real)

    def _compare_plan(self) -> None:
        """The plan of a set names tasks that there are, each once."""
        planned = Counter(self._submission.header.tasks)
        for task, times in planned.items():
            if task not in self._library.tasks:
                self._differ("bundle", f"task {task}", "planned", "no task of this set")
            elif times > 1:
                self._differ("bundle", f"task {task}", "planned once", f"{times} times")

    def _samples(self) -> Iterator[Sample]:
        """The scored samples, each once and each with a run of its own."""
        header = self._submission.header
        seen: set[tuple[str, int]] = set()
        runs: set[str | None] = set()
        for sample in self._submission.samples:
            where = f"sample {sample.task} #{sample.repeat}"
            if (sample.task, sample.repeat) in seen:
                self._differ("bundle", where, "once", "more than once")
            elif sample.task not in header.tasks or not 1 <= sample.repeat <= header.repeats:
                self._differ("bundle", where, "a sample of this set", "not in its plan")
            elif sample.state == "scored" and sample.run in runs:
                self._differ("bundle", where, "a run of its own", "another sample's run")
            elif sample.state == "scored":
                yield sample
            elif sample.run in self._submission.runs and sample.run is not None:
                self._checked_void(where, sample.run)
            seen.add((sample.task, sample.repeat))
            runs.add(sample.run)

    def _checked_void(self, where: str, id: str) -> None:
        try:
            self._check_void(where, self._submission.run(id))
        except M3Error:
            raise
        except Exception as error:
            self._differ(where, "record", "one that can be checked", type(error).__name__)

    def _check_void(self, where: str, run: SubmittedRun) -> None:
        """A run that was scored or sealed and whose log shows no fault is not void, whatever is said of its state."""
        if run.record.seal is not None:
            with TemporaryDirectory(prefix="m3bench-verify-") as name:
                self._submission.furnish(run, Path(name))
                self._compare_seal(where, run, Path(name))
        # One that was handed in and could not be scored is void through no call.
        ended = run.record.state == "scored" or (run.record.seal is not None and run.record.state != "submitted")
        if ended and not shows_fault(run):
            self._differ("bundle", where, "void", "handed in, and no call was lost through the fault of others")

    def _checked(self, sample: Sample) -> list[Result]:
        """The sample rescored; a record that makes the checks themselves fail is none of ours."""
        try:
            return list(self._rescored(sample))
        except M3Error:
            raise
        except Exception as error:
            where = f"run {(sample.run or '')[:12]} ({sample.task})"
            self._differ(where, "record", "one that can be checked", type(error).__name__)
            return []

    def _rescored(self, sample: Sample) -> Iterator[Result]:
        """The sample with the card that its log gives, when it gives one."""
        where = f"run {(sample.run or '')[:12]} ({sample.task})"
        if sample.run not in self._submission.runs:
            self._differ(where, "record", "packed", "not there")
            return
        assert sample.run is not None
        run = self._submission.run(sample.run)
        record = run.record
        for what, claimed, real in self._said(sample, record):
            if claimed != real:
                self._differ(where, what, claimed, real)
        for call in run.calls:
            if self._calls.setdefault(call.id, sample.run) != sample.run:
                self._differ(where, f"call {call.id}", "this run's", "another run's as well")
        with TemporaryDirectory(prefix="m3bench-verify-") as name:
            workspace = Path(name)
            self._submission.furnish(run, workspace)
            self._compare_seal(where, run, workspace)
            for what, claimed, real in (*odd_times(run, self._submission.header.started), *self._times.odd(run)):
                self._differ(where, what, claimed, real)
            if record.mode == "ranked":
                self._note("That runs were ranked is the submitter's word, unless a key that you trust signed them.")
            if (said := run.judged) is not None:
                if (said.run, said.task, said.seal) != (record.id, record.task, record.seal):
                    self._differ(where, "what judges said", f"of run {said.run[:12]} ({said.task})", "of another run")
                self._note("What judges said is the submitter's word: nobody was asked again.")
            if is_coarse(run.calls):
                self._note("Some times were rounded, or come from a coarse clock: they prove little.")
            here = self._here(where, record.manifest)
            if here is None:
                return
            (seat, manifest), upstream = here, bool(record.manifest.get("upstream"))
            tools = {shown: tool.qualified for shown, tool in seat.tools.items()}
            if (weather := weather_of(str(manifest.get("weather", FAIR)), record.task)) is not None:
                drifted = [shown for shown, tool in tools.items() if weather.plan.replaces(tool)]
                tools |= {f"{shown}{NEW}": tools[shown] for shown in drifted}
            for what, claimed, real in oddities(run, tools, upstream=upstream, listed=not seat.unlisted):
                self._differ(where, what, claimed, real)
            if record.manifest.get("tasks") != manifest["tasks"]:
                return
            client, alone = self._clients(run, workspace)
            card = self._card(where, run, workspace, client)
            if card is not None and client != alone:
                self._read_alone(record.id, card, self._card(where, run, workspace, alone))
        if card is not None:
            self._verdict.runs += 1
            claim, found = _claimed(record), json.loads(json.dumps(card.to_json()))
            for part in ("conduct", "perception"):
                if claim is not None and part not in claim:
                    found.pop(part, None)  # A card of an earlier version, or one that keeps it to itself.
            for path, claimed, real in self._unequal(claim, found):
                self._differ(where, f"score card{path}", claimed, real)
            if card.void is not None:
                self._differ(where, "state", "scored", f"void: {card.void.words}")
                return
            yield Result(sample=sample, run=record, card=card)

    def _said(self, sample: Sample, record: RunRecord) -> Iterator[Odd]:
        """What the result set says of a run, beside what the run says of itself."""
        header = self._submission.header
        yield "handle", sample.run, record.id
        yield "task", sample.task, record.task
        yield "state", "scored", record.state
        profile = record.manifest.get("profile")
        if profile not in (*header.profile.split(", "), f"{header.profile}:{record.task}"):
            yield "profile", header.profile, profile
        if "participant" in record.manifest:
            yield "participant", header.name, record.manifest["participant"]
        if header.set_hash and (tasks := task_set_of(record.manifest)):
            yield "hash of the set", header.set_hash, tasks.get("hash")

    def _compare_seal(self, where: str, run: SubmittedRun, workspace: Path) -> None:
        made = seal(run.record, _of_agent(run), file_hashes(workspace), run.record.answer or "", run.record.fields)
        if made != run.record.seal:
            self._differ(where, "seal over manifest, calls, files and answer", run.record.seal, made)

    def _here(self, where: str, manifest: Mapping[str, object]) -> tuple[Seat, dict[str, object]] | None:
        """The seat and manifest that a server here would give such a run; the manifest must be the claimed one."""
        try:
            seat, here = self._installation.served(manifest)
        except M3Error as error:
            self._differ(where, "manifest", "can be had here", str(error))
            return None
        if manifest.get("upstream"):
            # Third-party servers are not here to be counted or asked.
            here |= {name: manifest.get(name) for name in ("upstream", "tools")}
            self._note("Third-party servers took part: what they answered is the submitter's word.")
        if manifest.get("m3bench") != here["m3bench"]:
            self._note(f"Made with m3bench {manifest.get('m3bench')}, verified with {here['m3bench']}.")
        # What sandboxes lacked there says nothing of those here.
        claims = {field: value for field, value in manifest.items() if field not in BESIDE}
        for path, claimed, real in self._unequal({**claims, "m3bench": here["m3bench"]}, here):
            self._differ(where, f"manifest{path}", claimed, real)
        return seat, here

    def _card(self, where: str, run: SubmittedRun, workspace: Path, client: Client | None) -> ScoreCard | None:
        try:
            task = self._library.task(run.record.task)
            return score_run(
                run.record,
                task,
                _of_agent(run),
                workspace,
                self._encoder,
                client,
                self._library.plans(task),
                self._library.scenes(task),
                self._library.truth(task),
            )
        except M3Error as error:
            problem = str(error)
        except Exception as error:  # whatever a forged record makes the scorer raise
            problem = f"cannot be computed from this log ({type(error).__name__})"
        self._differ(where, "score card", "follows from the log", problem)
        return None

    def _clients(self, run: SubmittedRun, workspace: Path) -> tuple[Client | None, Client | None]:
        """The client that played: as the run's card describes it, and as it is known here.

        What a probe found of it, and whether anybody allowed its calls, stands in files that no verifier has.
        """
        if not run.calls:
            return None, None
        last = run.calls[-1]
        facts = client_facts(workspace / "nothing", last.client, last.revision, self._installation.clients)
        here = Client(**facts)
        client = (run.record.scorecard or {}).get("client")
        found = client.get("capabilities") if isinstance(client, dict) else None
        told = found if isinstance(found, dict) else None
        self._verdict.told[run.record.id] = told
        if told == here.capabilities:
            return here, here
        self._verdict.doubted.add(run.record.id)
        self._note("What is said of the client is the submitter's word, unless a server signed it.")
        return here.model_copy(update={"capabilities": told}), here

    def _read_alone(self, run: str, claimed: ScoreCard, alone: ScoreCard | None) -> None:
        """Keep the card that a run has without its submitter's word on the client, where a number is another."""
        if alone is None:
            return
        numbers, others = (json.loads(json.dumps(card.to_json())) for card in (claimed, alone))
        if {**numbers, "client": None} != {**others, "client": None}:
            self._verdict.alone[run] = others
            self._note("By it steps were read, so a board shows such runs as they are read without it.")

    def _compare_claims(self, scored: int, results: Sequence[Result]) -> None:
        """The numbers of the whole set; what a run that could not be scored again would give is not known."""
        samples, header = self._submission.samples, self._submission.header
        void = sum(sample.state == "void" for sample in samples)
        planned = len(header.tasks) * header.repeats
        missing = planned - void - scored
        claimed = self._submission.index.claims
        rows, paper = [result.row for result in results], [result.paper_row for result in results]
        here = claims_of(rows, paper, _solved(results), void, missing)
        if len(results) < scored:
            unknown = {"solved": claimed.solved, "metrics": claimed.metrics, "paper": claimed.paper}
            here = here.model_copy(update={**unknown, "scored": scored})
        for path, said, real in self._unequal(claimed.model_dump(), here.model_dump()):
            self._differ("bundle", f"claims{path}", said, real)
        self._verdict.coverage = Coverage(
            tasks=len(header.tasks), of=len(self._library.tasks), planned=planned, scored=scored, void=void,
            missing=missing,
        )  # fmt: skip
        if (chosen := len(set(header.tasks))) < len(self._library.tasks):
            self._note(f"{chosen} of the {len(self._library.tasks)} tasks of the set: which is the submitter's choice.")
        if void:
            self._note(f"{void} of {planned} samples are void: those that no server signed count as not solved.")
        if missing > 0:
            self._note(f"{missing} of {planned} samples were not made.")
        if any(sample.usage.input_tokens or sample.usage.cost for sample in samples):
            self._note("Tokens and costs are the submitter's word.")

    def _unequal(self, claimed: object, real: object, path: str = "") -> Iterator[Odd]:
        """Where two values differ, with the path to each difference."""
        if isinstance(claimed, dict) and isinstance(real, dict):
            for key in sorted({*claimed, *real}):
                yield from self._unequal(claimed.get(key, _ABSENT), real.get(key, _ABSENT), f"{path}.{key}")
        elif isinstance(claimed, list) and isinstance(real, list) and len(claimed) == len(real):
            for index, (item, other) in enumerate(zip(claimed, real, strict=True)):
                yield from self._unequal(item, other, f"{path}[{index}]")
        else:
            self._verdict.values += 1
            if not _equal(claimed, real):
                yield path, claimed, real

    def _differ(self, where: str, what: str, claimed: object, recomputed: object) -> None:
        self._verdict.differ(where, what, claimed, recomputed)

    def _note(self, text: str) -> None:
        self._verdict.note(text)


def shows_fault(run: SubmittedRun) -> bool:
    """Whether a call of a run was lost through the fault of others, by its log."""
    return any(voids(call.owner) for call in without_repetitions(_of_agent(run)))


_ABSENT = "(absent)"


def _claimed(record: RunRecord) -> Mapping[str, object] | None:
    """The score card that a run claims, in the form of this version; one of an unknown form stays as it is."""
    try:
        return upgraded(record.scorecard) if record.scorecard is not None else None
    except StoreError:
        return record.scorecard


def _solved(results: Sequence[Result]) -> int:
    return sum(result.card.success is True for result in results)


def _of_agent(run: SubmittedRun) -> list[CallRecord]:
    return [call for call in run.calls if call.tool not in OWN_TOOLS]


def _equal(claimed: object, real: object) -> bool:
    if isinstance(claimed, bool) or isinstance(real, bool):
        return claimed is real
    if isinstance(claimed, int | float) and isinstance(real, int | float):
        try:
            return math.isclose(claimed, real, rel_tol=0, abs_tol=TOLERANCE)
        except OverflowError:
            return False
    return type(claimed) is type(real) and bool(claimed == real)

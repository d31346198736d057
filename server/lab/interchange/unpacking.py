"""A bundle as a result set again, so that everything that reads result sets reads bundles too.

What was to be played and was not counts as not solved here: whoever leaves out what is hard must not gain by it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES
from m3bench.server.lab.interchange.submission import Submission
from m3bench.server.lab.results.resultset import DATA, Header, Sample, append_sample, write_header
from m3bench.server.scorecard.building import score_run
from m3bench.server.scoring import Encoder
from m3bench.server.store.layout import judgement, run_workspace
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.transfer import import_runs
from m3bench.tasks.library import Library

NOT_SUBMITTED = "not submitted"
"""Why a sample has a run that nobody made."""


def unpack(
    path: Path,
    folder: Path,
    library: Library,
    encoder: Encoder,
    name: str | None = None,
    unsolved: Mapping[str, int] | None = None,
    cards: Mapping[str, Mapping[str, object]] | None = None,
) -> None:
    """Write a bundle's result set into a folder.

    Args:
        path: A bundle that was verified, with the same tasks.
        folder: A folder that is not there yet.
        library: The tasks.
        encoder: To score with what was not played.
        name: What the set is called; as the bundle says when left out.
        unsolved: By task, the attempts that count as not solved; what is planned and not scored when None.
        cards: By run: score cards that take the place of the bundle's own.

    Raises:
        InputFileError: The file is not a bundle, or not a whole one.
    """
    with Archive(path, NAMES) as archive:
        submission = Submission(archive)
        header = submission.header
        tasks = (
            *header.tasks,
            *(task for task in unsolved or () if task not in header.tasks and task in library.tasks),
        )
        write_header(folder, header.model_copy(update={"name": name or header.name, "tasks": tasks}))
        skipped = list(_skipped(submission, library, encoder, unsolved))
        import_runs(
            folder / DATA, (*_packed(submission, folder / DATA, cards or {}), *((run, ()) for _, run in skipped))
        )
        for sample in (*submission.samples, *(sample for sample, _ in skipped)):
            append_sample(folder, sample)


def _packed(
    submission: Submission, data: Path, cards: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[RunRecord, Sequence[CallRecord]]]:
    for id in submission.runs:
        run = submission.run(id)
        submission.furnish(run, run_workspace(data, id))
        if run.judged is not None:
            place = judgement(data, id)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(run.judged.model_dump_json(), "utf-8")
        yield replace(run.record, scorecard=dict(cards[id])) if id in cards else run.record, run.calls


def _skipped(
    submission: Submission, library: Library, encoder: Encoder, unsolved: Mapping[str, int] | None
) -> Iterator[tuple[Sample, RunRecord]]:
    """What was to be played and was not."""
    header = submission.header
    # What nobody signed as void is void by the submitter's word, and counts like what is not there.
    there = {
        (sample.task, sample.repeat)
        for sample in submission.samples
        if sample.state == "scored" or unsolved is not None
    }
    manifest = submission.run(submission.runs[0]).record.manifest if submission.runs else {}
    cards: dict[str, RunRecord] = {}

    def skipped(task: str, repeat: int) -> tuple[Sample, RunRecord]:
        sample, run = nothing_done(header, task, repeat, manifest, library, encoder, cards.get(task))
        cards[task] = run
        return sample, run

    if unsolved is not None:
        for task, number in unsolved.items():
            free = (repeat for repeat in count(1) if (task, repeat) not in there)
            for repeat in islice(free, number if task in library.tasks else 0):
                yield skipped(task, repeat)
        return
    for task in header.tasks:
        for repeat in range(1, header.repeats + 1):
            if (task, repeat) not in there:
                yield skipped(task, repeat)


def nothing_done(
    header: Header,
    task: str,
    repeat: int,
    manifest: Mapping[str, object],
    library: Library,
    encoder: Encoder,
    like: RunRecord | None = None,
) -> tuple[Sample, RunRecord]:
    """A sample for which no answer was handed in, as a run in which nothing was done.

    Args:
        header: The set that it is of.
        task: The task's id.
        repeat: Which attempt at it, from 1.
        manifest: That of the other runs of the set.
        library: The tasks.
        encoder: To score with.
        like: Such a run of the same task, whose score card this one has as well.
    """
    id = sha256(f"{NOT_SUBMITTED} {header.name} {task} {repeat}".encode()).hexdigest()[:40]
    run = RunRecord(
        id=id, seat="", task=task, state="scored", mode="ranked", started=header.started, ended=header.started,
        answer="", seal=None, manifest=dict(manifest), scorecard=None if like is None else like.scorecard,
    )  # fmt: skip
    sample = Sample(task=task, repeat=repeat, state="scored", run=id, reason=NOT_SUBMITTED)
    return sample, run if like is not None else _scored(run, library, encoder)


def _scored(run: RunRecord, library: Library, encoder: Encoder) -> RunRecord:
    task = library.task(run.task)
    with TemporaryDirectory(prefix="m3bench-nothing-") as name:
        known = (library.plans(task), library.scenes(task), library.truth(task))
        card = score_run(run, task, [], Path(name), encoder, None, *known)
    return replace(run, scorecard=card.to_json())

"""Holds a bundle against the keys that somebody trusts, and adds what came of it to the verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES
from m3bench.server.lab.interchange.rescoring import shows_fault
from m3bench.server.lab.interchange.signatures import SignedTally
from m3bench.server.lab.interchange.submission import Submission, SubmittedRun
from m3bench.server.lab.interchange.verdict import BundleVerdict
from m3bench.server.runs.attestation.keys import PublicKey
from m3bench.tasks.errors import UserError
from m3bench.tasks.task import MEDIA


def attest_bundle(path: Path, verdict: BundleVerdict, trusted: Sequence[PublicKey]) -> None:
    """Check the signatures of a bundle.

    Args:
        path: The bundle.
        verdict: What was found out before; nothing more is to be learned of a bundle that is refuted.
        trusted: The keys whose signatures count.

    Raises:
        InputFileError: The file is not a bundle, or not a whole one.
    """
    if not verdict.confirmed:
        return
    with Archive(path, NAMES) as archive:
        submission = Submission(archive)
        signatures = submission.signatures
        if signatures is None:
            if trusted:
                verdict.note("Nobody signed this bundle.")
            return
        try:
            claimed = PublicKey.read(signatures.key)
        except UserError:
            verdict.note("It is signed by something that is not a key.")
            return
        if claimed not in trusted:
            verdict.note(f"It says that {claimed.fingerprint} signed it, which is not a key that you trust (--trust).")
            return
        _check(submission, SignedTally(signatures, claimed), claimed, verdict)


def _account(submission: Submission, starts: Mapping[str, tuple[str, str]], verdict: BundleVerdict) -> None:
    """Every start is scored, void through a fault that the server recorded, or counts as not solved."""
    header = submission.header
    scored: Counter[str] = Counter()
    planned = Counter(dict.fromkeys(header.tasks, header.repeats))
    void = {run for run, (_, state) in starts.items() if state == "void"}
    named: set[str] = set()
    for sample in submission.samples:
        if sample.state == "scored":
            scored[sample.task] += 1
            continue
        where, run = f"sample {sample.task} #{sample.repeat}", sample.run or ""
        task, state = starts.get(run, (sample.task, None))
        if task != sample.task:
            verdict.differ(where, "task that was signed", sample.task, task)
        if run and run in named:
            verdict.differ(where, "a run of its own", run[:12], "another sample's run")
        if state == "scored" and run in submission.runs and shows_fault(submission.run(run)):
            # Its log is signed.
            void.add(run)
        elif state == "scored":
            verdict.differ(where, "state that was signed", "void", state)
        if run in void and run not in named:
            planned[sample.task] -= 1
        named.add(run)
    made = Counter(task for run, (task, _) in starts.items() if run not in void)
    unsolved = {task: max(planned[task], made[task]) - scored[task] for task in {*planned, *made}}
    verdict.unsolved = {task: number for task, number in sorted(unsolved.items()) if number > 0}
    missing = sum(verdict.unsolved.values())
    verdict.coverage = replace(
        verdict.coverage,
        planned=scored.total() + len(void) + missing,
        scored=scored.total(),
        void=len(void),
        missing=missing,
    )
    if missing:
        verdict.note(f"{missing} attempts were started or planned and are not here: a board counts them as not solved.")


def _has_choice(run: SubmittedRun) -> bool:
    """Whether a run left several files of one kind, of which a check may take the last."""
    kinds = Counter(PurePosixPath(file.path).suffix for file in run.files if not file.path.startswith(f"{MEDIA}/"))
    return any(count > 1 for count in kinds.values())


def _check(submission: Submission, tally: SignedTally, key: PublicKey, verdict: BundleVerdict) -> None:
    if not tally.signed:
        verdict.differ("bundle", "tally", f"signed by {key.fingerprint}", "not by that key")
        return
    unordered = False
    for id in submission.runs:
        run = submission.run(id)
        unordered |= _has_choice(run) and not tally.orders(id)
        files = {file.path: file.value for file in sorted(run.files, key=lambda file: (file.changed_ns, file.path))}
        if run.record.seal is None and id not in tally.sealed:
            continue
        for odd in tally.odd(run.record, run.calls, files):
            verdict.differ(f"run {id[:12]} ({run.record.task})", *odd)
    verdict.starts = dict(tally.counts)
    told = ", ".join(f"{count} {state}" for state, count in tally.counts.items())
    verdict.note(f"The server that signed counts all runs of {tally.whose}: {told}.")
    if left := tally.left_out(submission.runs):
        verdict.note(f"{left} runs that it sealed are not in this bundle.")
    if tally.starts is None:
        verdict.note("The server that signed did not list what it started: what is left out here is not known.")
        return
    _account(submission, tally.starts, verdict)
    if any(
        _has_choice(submission.run(run)) and not tally.orders(run) for run in tally.sealed if run in submission.runs
    ):
        verdict.note("The server did not sign which file was changed last: a check may have taken another one.")
        return
    if not all(tally.says(run, told, unsaid=run not in verdict.doubted) for run, told in verdict.told.items()):
        verdict.note("What is said of the client is not what the server knew of it: steps may have been read by it.")
        return
    if verdict.confirmed:
        verdict.signers.append(key.fingerprint)
        verdict.alone.clear()

"""Holds a bundle against the keys that somebody trusts, and adds what came of it to the verdict."""

from collections.abc import Sequence
from pathlib import Path

from m3bench.server.lab.interchange.archive import Archive
from m3bench.server.lab.interchange.bundle import NAMES
from m3bench.server.lab.interchange.signatures import SignedTally
from m3bench.server.lab.interchange.submission import Submission
from m3bench.server.lab.interchange.verdict import BundleVerdict
from m3bench.server.runs.attestation.keys import PublicKey
from m3bench.tasks.errors import UserError


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
            verdict.note("It is signed by something that is no key.")
            return
        if claimed not in trusted:
            verdict.note(f"It says that {claimed.fingerprint} signed it, which is not a key that you trust (--trust).")
            return
        _check(submission, SignedTally(signatures, claimed), claimed, verdict)


def _check(submission: Submission, tally: SignedTally, key: PublicKey, verdict: BundleVerdict) -> None:
    if not tally.signed:
        verdict.differ("bundle", "tally", f"signed by {key.fingerprint}", "not by that key")
        return
    for id in submission.runs:
        run = submission.run(id)
        files = {file.path: file.value for file in run.files}
        if run.record.seal is None:
            continue
        for odd in tally.odd(run.record, run.calls, files):
            verdict.differ(f"run {id[:12]} ({run.record.task})", *odd)
    verdict.starts = dict(tally.counts)
    told = ", ".join(f"{count} {state}" for state, count in tally.counts.items())
    verdict.note(f"The server that signed counts all runs of {tally.whose}: {told}.")
    if left := tally.left_out(submission.runs):
        verdict.note(f"{left} runs that it sealed are not in this bundle.")
    if verdict.confirmed:
        verdict.signers.append(key.fingerprint)

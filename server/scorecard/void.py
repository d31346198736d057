"""Takes the numbers off the score card of a run that a fault of ours, or of a tool server, may have changed.

What was done stays on the card for people to see; nothing that could be averaged or ranked does. Which faults make a
run void says `m3bench.tasks.fault`.
"""

from collections.abc import Sequence

from m3bench.server.scorecard.model import PaperScore, ScoreCard, VoidReason
from m3bench.server.store.records import CallRecord
from m3bench.tasks.fault import void_run
from m3bench.tasks.outcome import text_of


def without_numbers_if_void(card: ScoreCard, lost: Sequence[CallRecord]) -> ScoreCard:
    """The card as it counts, given the calls that failed through no fault of the agent."""
    found = void_run((record.owner, _words(record)) for record in lost)
    if found is None:
        return card
    return card.model_copy(
        update={
            "metrics": dict.fromkeys(card.metrics),
            "ranges": {},
            "paper": _without_numbers(card.paper),
            "success": None,
            "grounded": None,
            "ungrounded": (),
            "reasons": {},
            "improvements": (),
            "void": VoidReason(fault=found.fault, words=found.words),
        }
    )


def _without_numbers(paper: PaperScore | None) -> PaperScore | None:
    return paper and paper.model_copy(update={"metrics": dict.fromkeys(paper.metrics), "ranges": {}})


def _words(record: CallRecord) -> str:
    """What the client was told of a call; one without an answer was lost with the process."""
    if record.error is not None:
        return str(record.error[1])
    return text_of(record.result_json) or "The call has no answer on record."

"""The benchmark's score card as an Inspect score: every metric by name, means in the log's header.

The card is computed once, by the server that recorded the calls; nothing is scored again here. A metric without a
value is NaN, which Inspect leaves out of its means and does not take for 0.
"""

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.tasks.errors import RunError

CARD, RUN, ANSWER = "m3bench/card", "m3bench/run", "m3bench/answer"
"""Where a sample's store has the score card, the run's handle and the answer that was handed in."""

FACTS = ("task", "family", "checks", "outcomes", "excluded", "reference", "ranges", "scoring_profile")
"""Fields of a score card that go along with its numbers."""

VALUES = (*AVERAGED, "average", "success", "m3_average")


@scorer(metrics={"*": [mean(), stderr()]})
def scorecard() -> Scorer:
    """The score card of the sample's run."""

    async def score(state: TaskState, target: Target) -> Score:
        found = state.store.get(CARD)
        if found is None:
            raise RunError("The sample ended before its answer could be handed in: there is nothing to score.")
        return score_of(read_card(found), state.store.get(RUN), state.store.get(ANSWER))

    return score


def score_of(card: ScoreCard, run: str, answer: str) -> Score:
    """A score card as a score."""
    data = card.to_json()
    numbers = {**card.numbers, "success": card.success}
    return Score(
        value={name: float("nan") if (value := numbers.get(name)) is None else float(value) for name in VALUES},
        answer=answer,
        explanation=markdown(card),
        metadata={
            "run": run,
            **{name: data[name] for name in FACTS},
        },
    )

"""Score cards for tests: made of steps, with real scores and without a run around them."""

from typing import Any

from m3bench.server.scorecard import building
from m3bench.server.scorecard.improvements import improvements
from m3bench.server.scorecard.model import (
    ActualCall,
    Alignment,
    BestReference,
    Match,
    ReferenceCall,
    ScoreCard,
)
from m3bench.server.scoring import TrajectoryScore, open_encoder, score
from m3bench.tasks.trajectory import Call, Step, Trajectory

Steps = list[list[tuple[str, dict[str, Any]]]]


def made_card(**fields: Any) -> ScoreCard:
    """A card of a run with one call, which was right."""
    call = {"tool": "math/sum", "arguments": {"numbers": [1, 2]}}
    given: dict[str, Any] = {
        "scoring_version": building.VERSION,
        "scoring_profile": "m3",
        "task": "a-1",
        "family": "a",
        "metrics": {"average": 1.0},
        "ranges": {},
        "success": True,
        "checks": [],
        "outcomes": {"success": 1},
        "excluded": {},
        "reference": {"index": 0, "of": 1},
        "alignment": {
            "reference_steps": [[call]],
            "actual_steps": [[{**call, "outcome": "success"}]],
            "matches": [{"reference": 0, "actual": 0, "similarity": 1.0, "strong": True, "differences": []}],
            "missed": [],
            "extra": [],
        },
        "evidence": ["first"],
        "reasons": {},
        **fields,
    }
    return ScoreCard.model_validate(given)


def scored_card(steps: Steps, reference: Steps, *, outcome: str = "success", **fields: Any) -> ScoreCard:
    """The card of a run that made these calls; the last of them ended with `outcome`."""
    best: TrajectoryScore = score(_trajectory(steps), [_trajectory(reference)], encoder=open_encoder())
    actual = [[ActualCall(tool=tool, arguments=given, outcome="success") for tool, given in step] for step in steps]
    if actual:
        actual[-1][-1] = actual[-1][-1].model_copy(update={"outcome": outcome})
    card = made_card().model_copy(
        update={
            "metrics": dict(best.metrics),
            "success": None,
            "outcomes": {"success": sum(map(len, steps))} if steps else {},
            "reference": BestReference(index=0, of=1),
            "alignment": Alignment(
                reference_steps=tuple(
                    tuple(ReferenceCall(tool=tool, arguments=given) for tool, given in step) for step in reference
                ),
                actual_steps=tuple(map(tuple, actual)),
                matches=tuple(
                    Match(
                        reference=match.reference.index,
                        actual=match.actual.index,
                        similarity=match.similarity,
                        strong=match.strong,
                        differences=tuple(map(building.difference_of, match.differences)),
                    )
                    for match in best.matches
                ),
                missed=tuple(placed.index for placed in best.missed),
                extra=tuple(placed.index for placed in best.extra),
            ),
            **fields,
        }
    )
    return card.model_copy(update={"improvements": improvements(card)})


def _trajectory(steps: Steps) -> Trajectory:
    return Trajectory(
        steps=tuple(Step(calls=tuple(Call(tool=tool, arguments=given) for tool, given in step)) for step in steps)
    )

"""Numbers that must not move.

`golden.json` holds a generated set and what an independent implementation makes of it: sentence-transformers, scipy
and plain loops (`bench/scoring.py --golden`). The public evaluator's own numbers are compared as well where its data
lies beside the checkout, or where M3BENCH_PARITY says.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.scoring import ScorableRun, open_encoder, score_many
from m3bench.server.scoring.aggregate import Row, micro
from m3bench.server.scoring.cache import CachedEncoder
from m3bench.server.scoring.profiles import OPEN_M3_BENCH
from m3bench.server.scoring.trajectory_score import TrajectoryScore
from m3bench.tasks.trajectory_files import read_tasks

TOLERANCE = 1e-4
PARITY = Path(os.environ.get("M3BENCH_PARITY", Path(__file__).parents[4] / "shared" / "parity"))
PUBLIC_NAMES = {
    "recall": "recall",
    "precision": "precision",
    "argument_similarity_all": "avg_sim_all_cov",
    "argument_similarity_strong": "avg_sim_strong_cov",
    "step_coherence": "step_coherence_cov",
    "order_consistency": "order_consistency_cov",
    "merge_purity": "merge_purity_cov",
}


@pytest.fixture(scope="module")
def minilm() -> CachedEncoder:
    return open_encoder()


def scored(encoder: CachedEncoder, references: Path, actual: Path) -> dict[str, TrajectoryScore]:
    expected, runs = read_tasks(references).tasks, read_tasks(actual).tasks
    attempts = [
        ScorableRun(actual=runs[name].trajectories[0], references=task.trajectories) for name, task in expected.items()
    ]
    return dict(zip(expected, score_many(attempts, encoder=encoder, profile=OPEN_M3_BENCH), strict=True))


def check(cards: dict[str, TrajectoryScore], expected: dict[str, Any], names: dict[str, str]) -> None:
    assert cards.keys() == expected.keys()
    for task, card in cards.items():
        pairs = {(match.reference.index, match.actual.index) for match in card.matches}
        assert pairs == {(reference, actual) for reference, actual, _ in expected[task]["matches"]}, task
        for ours, theirs in names.items():
            assert card.metrics[ours] == pytest.approx(expected[task][theirs], abs=TOLERANCE), (task, ours)


def test_the_golden_set_keeps_its_numbers(minilm: CachedEncoder, tmp_path: Path) -> None:
    data = json.loads(Path(__file__).with_name("golden.json").read_text("utf-8"))
    for name in ("references", "actual"):
        (tmp_path / f"{name}.json").write_text(json.dumps(data[name]), "utf-8")
    cards = scored(minilm, tmp_path / "references.json", tmp_path / "actual.json")
    check(cards, data["expected"], {name: name for name in PUBLIC_NAMES})


@pytest.mark.slow
@pytest.mark.skipif(not PARITY.is_dir(), reason="the public evaluator's numbers are not here")
@pytest.mark.parametrize("name", ["a", "b"])
def test_numbers_equal_the_public_evaluators(minilm: CachedEncoder, name: str) -> None:
    expected = json.loads((PARITY / f"expected_{name}.json").read_text("utf-8"))
    cards = scored(minilm, PARITY / "references.json", PARITY / f"actual_{name}.json")
    check(cards, expected["per_id"], PUBLIC_NAMES)
    total = micro([Row.from_score(task, None, card) for task, card in cards.items()])
    for ours, theirs in PUBLIC_NAMES.items():
        assert total[ours] == pytest.approx(expected["aggregate"][theirs], abs=TOLERANCE)

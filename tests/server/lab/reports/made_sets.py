"""Result sets made by rule, as large as a test wants them."""

import random
from pathlib import Path
from typing import Any

from m3bench.server.lab.results.resultset import Header, Result, ResultSet, Sample, SampleUsage
from m3bench.server.scorecard.model import Improvement
from m3bench.server.store.records import RunRecord
from m3bench.tasks.families.registry import FAMILIES
from tests.server.scorecard.cards import made_card

MANIFEST: dict[str, Any] = {
    "m3bench": "0.1.0", "tasks": {"name": "m3", "version": "1", "hash": "t"}, "catalog": "c", "world": "w",
    "encoder": "e", "profile": "standard:x", "tools": 40, "sandbox": "process", "upstream": {}, "content_only": False,
    "steps": 1, "scores": 2,
}  # fmt: skip


def made_set(
    name: str, runs: int, *, skill: float = 0.5, repeats: int = 1, manifest: dict[str, Any] | None = None, seed: int = 1
) -> ResultSet:
    """A set whose runs are as good as `skill`, with seeded luck."""
    dice = random.Random(f"{name} {seed}")
    tasks = [f"{family}-{number}" for number in range(1, 100) for family in FAMILIES][: runs // repeats]
    samples = [(task, repeat) for task in tasks for repeat in range(1, repeats + 1)]
    results = tuple(_result(name, task, repeat, skill, dice, manifest or MANIFEST) for task, repeat in samples)
    header = Header(
        name=name, kind="model", agent=f"mock/{name}", solver="react", profile="standard", repeats=repeats,
        tasks=tuple(tasks), started="2026-01-01T00:00:00+00:00",
    )  # fmt: skip
    return ResultSet(
        folder=Path(name), header=header, results=results, void=(), manifests=(manifest or MANIFEST,)
    )  # fmt: skip


def _result(
    name: str, task: str, repeat: int, skill: float, dice: random.Random, manifest: dict[str, Any]
) -> Result:  # fmt: skip
    needed = dice.randint(4, 10)
    matched = sum(dice.random() < skill for _ in range(needed))
    made = matched + dice.randint(0, 3)
    recall, precision = matched / needed, matched / made if made else 0.0
    others = dict.fromkeys(("argument_similarity", "step_coherence", "order_consistency", "merge_purity"), recall * 0.9)
    metrics = {"recall": recall, "precision": precision, **others}
    metrics["average"] = sum(metrics.values()) / 6
    call = {"tool": "math/sum", "arguments": {"numbers": [1, 2]}}
    solved = recall > 0.8
    run = f"{dice.getrandbits(160):040x}"
    missed = Improvement(
        kind="missed", gain=0.1, average=0.9, reference=(0,), actual=(), text="math/sum is missing."
    )  # fmt: skip
    card = made_card(
        task=task, family=task.rpartition("-")[0], metrics=metrics, success=solved,
        checks=[{"check": "the answer names it", "passed": solved, "reason": "it does not"}],
        outcomes={"success": made}, improvements=[] if solved else [missed],
        alignment={
            "reference_steps": [[call] * needed], "actual_steps": [[{**call, "outcome": "success"}] * made],
            "matches": [
                {"reference": at, "actual": at, "similarity": 1.0, "strong": True, "differences": []}
                for at in range(matched)
            ],
            "missed": list(range(matched, needed)), "extra": list(range(matched, made)),
        },
    )  # fmt: skip
    record = RunRecord(
        id=run, seat="s", task=task, state="scored", mode="practice", started="2026-01-01T00:00:00+00:00",
        ended="2026-01-01T00:00:09+00:00", answer="an answer", seal="s", manifest=manifest,
        scorecard=card.to_json(),
    )  # fmt: skip
    sample = Sample(
        task=task, repeat=repeat, state="scored", run=run, seconds=9.0,
        usage=SampleUsage(input_tokens=100, output_tokens=10, cost=0.01),
    )  # fmt: skip
    return Result(sample=sample, run=record, card=card)

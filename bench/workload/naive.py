"""The naive way to score: sentence-transformers, one encode per task, every call embedded, plain loops.

Stands for the public evaluator in the bench, and gives the tests numbers that owe nothing to the product's code: it
shares only the reading of files with it. Profile open-m3-bench.
"""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from m3bench.tasks.trajectory import Trajectory
from m3bench.tasks.trajectory_files import read_tasks


def naive(references: Path, runs: Path, model: str, cache: Path | None = None) -> dict[str, Any]:
    """The naive way, start to end: metrics and matches per task."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model, device="cpu")
    known: dict[str, list[float]] = json.loads(cache.read_text()) if cache and cache.exists() else {}
    expected, actual = read_tasks(references).tasks, read_tasks(runs).tasks
    results = {}
    for name, task in expected.items():
        sides = [list(_flat(side.trajectories[0])) for side in (task, actual[name])]
        texts = [[_text(arguments) for _, _, arguments in side] for side in sides]
        missing = [text for text in texts[0] + texts[1] if text not in known]
        if missing:
            known |= dict(zip(missing, encoder.encode(missing, show_progress_bar=False).tolist(), strict=True))
        matches: list[tuple[int, int, float]] = []
        if texts[0] and texts[1]:
            left, right = (np.array([known[text] for text in side], np.float32) for side in texts)
            left /= np.linalg.norm(left, axis=1, keepdims=True)
            right /= np.linalg.norm(right, axis=1, keepdims=True)
            table = np.clip(left @ right.T, -1, 1)
            for tool in dict.fromkeys(tool for _, tool, _ in sides[0]):
                rows = [place for place, call in enumerate(sides[0]) if call[1] == tool]
                columns = [place for place, call in enumerate(sides[1]) if call[1] == tool]
                if columns:
                    part = table[np.ix_(rows, columns)]
                    for row, column in zip(*linear_sum_assignment(np.where(part < 0.6, 1e6, 1 - part)), strict=True):
                        if part[row, column] >= 0.6:
                            matches.append((rows[row], columns[column], float(part[row, column])))
        results[name] = _metrics(sides, sorted(matches))
    if cache:
        cache.write_text(json.dumps(known))
    return results


def _flat(trajectory: Trajectory) -> Iterator[tuple[int, str, Any]]:
    for number, step in enumerate(trajectory.steps):
        for call in step.calls:
            yield number, call.tool, None if call.bare else dict(call.arguments)


def _text(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _metrics(sides: Sequence[Sequence[tuple[int, str, Any]]], matches: list[tuple[int, int, float]]) -> dict[str, Any]:
    """Profile open-m3-bench, pair by pair, in plain loops."""
    references, actuals = sides
    links = [(references[i][0], actuals[j][0], s) for i, j, s in matches]
    recall = len(links) / len(references) if references else 0.0
    strong = [s for _, _, s in links if s >= 0.8]
    pairs = [(one, other) for place, one in enumerate(links) for other in links[place + 1 :]]
    comparable = [(a, b) for a, b in pairs if a[0] != b[0] and a[1] != b[1]]
    inverted = [1 for a, b in comparable if (a[0] < b[0]) != (a[1] < b[1])]
    crossing = sum(a[0] != b[0] for place, a in enumerate(references) for b in references[place + 1 :])
    crossed = sum(a[0] != b[0] for a, b in pairs)
    coherence = 0.0
    for step in {link[0] for link in links}:
        touched = {link[1] for link in links if link[0] == step}
        coherence += sum(link[0] == step for link in links) / len(touched)
    entropy, total = 0.0, sum(s for _, _, s in links)
    for column in {link[1] for link in links}:
        mass = sum(s for _, b, s in links if b == column)
        for row in {link[0] for link in links if link[1] == column}:
            share = sum(s for a, b, s in links if (a, b) == (row, column)) / mass
            entropy -= mass / total * share * math.log(share)
    active = len({link[0] for link in links})
    purity = 1 - entropy / math.log(active) if active > 1 else 1.0
    order = 1 - len(inverted) / len(comparable) if comparable else 1.0
    return {
        "recall": recall,
        "precision": len(links) / len(actuals) if actuals else 0.0,
        "argument_similarity_all": recall * sum(s for _, _, s in links) / len(links) if links else 0.0,
        "argument_similarity_strong": sum(strong) / len(references) if references else 0.0,
        "step_coherence": coherence / len(references) if references else 0.0,
        "order_consistency": order * crossed / crossing if crossing else 0.0,
        "merge_purity": purity * recall,
        "matches": matches,
    }

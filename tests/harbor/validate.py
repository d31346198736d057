"""Runs in Harbor's environment: what Harbor's own models find in a dataset or in a file of trajectories, as JSON."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from harbor.models.task.task import Task  # type: ignore[import-not-found]
from harbor.models.task.verifier_mode import resolve_task_verifier_mode  # type: ignore[import-not-found]
from harbor.models.trajectories import Trajectory  # type: ignore[import-not-found]


def tasks(dataset: Path) -> Iterator[dict[str, object]]:
    """Every task of a dataset."""
    for folder in sorted(dataset.iterdir()):
        task = Task(folder)
        yield {
            "name": task.name,
            "valid": Task.is_valid_dir(folder),
            "mode": resolve_task_verifier_mode(task.config).value,
            "servers": [server.name for server in task.config.environment.mcp_servers],
            "instruction": task.instruction,
        }


def trajectories(file: Path) -> Iterator[dict[str, object]]:
    """Every trajectory of a file, one on each line."""
    for line in file.read_text("utf-8").splitlines():
        trajectory = Trajectory.model_validate_json(line)
        metrics = [step.metrics for step in trajectory.steps if step.metrics is not None]
        total = trajectory.final_metrics
        yield {
            "pictures": trajectory.has_multimodal_content(),
            "tokens": sum(turn.prompt_tokens + turn.completion_tokens for turn in metrics),
            "total": (total.total_prompt_tokens or 0) + (total.total_completion_tokens or 0),
        }


given = Path(sys.argv[1])
print(json.dumps(list(tasks(given) if given.is_dir() else trajectories(given))))

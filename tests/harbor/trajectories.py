"""Runs in Harbor's environment: reads trajectories with Harbor's own models and prints what they found."""

import json
import sys
from pathlib import Path

from harbor.models.trajectories import Trajectory  # type: ignore[import-not-found]

found = []
for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
    trajectory = Trajectory.model_validate_json(line)
    metrics = [step.metrics for step in trajectory.steps if step.metrics is not None]
    found.append(
        {
            "pictures": trajectory.has_multimodal_content(),
            "tokens": sum(turn.prompt_tokens + turn.completion_tokens for turn in metrics),
            "total": (trajectory.final_metrics.total_prompt_tokens or 0)
            + (trajectory.final_metrics.total_completion_tokens or 0),
        }
    )
print(json.dumps(found))

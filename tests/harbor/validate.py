"""Runs in Harbor's environment: reads every task of a dataset with Harbor's own models and prints what they found."""

import json
import sys
from pathlib import Path

from harbor.models.task.task import Task  # type: ignore[import-not-found]
from harbor.models.task.verifier_mode import resolve_task_verifier_mode  # type: ignore[import-not-found]

found = []
for folder in sorted(Path(sys.argv[1]).iterdir()):
    task = Task(folder)
    found.append(
        {
            "name": task.name,
            "valid": Task.is_valid_dir(folder),
            "mode": resolve_task_verifier_mode(task.config).value,
            "servers": [server.name for server in task.config.environment.mcp_servers],
            "instruction": task.instruction,
        }
    )
print(json.dumps(found))

"""Looks at a workspace that m3bench cannot see, from a container of its own beside the sandbox, where no tool runs.

Answers each line of standard input with one line of JSON: `problem` with the limit that is exceeded, or null; `trim`
with null, once the latest writes beyond the limits are removed. Ends when its input ends.
"""

import json
import sys
from pathlib import Path

from m3bench.sandboxes.backends.watch import ResourceWatch


def main() -> None:
    """Answer until the input ends."""
    watch = ResourceWatch(workspace=Path(sys.argv[1]))
    for line in sys.stdin:
        answer = None
        if line.strip() == "problem":
            answer = watch.problem()
        elif line.strip() == "trim":
            watch.trim()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

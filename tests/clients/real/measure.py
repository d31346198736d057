"""Has every client play, writes what was found to `measured.json`, and with that the page on clients in the docs.

With `--docs` it writes the page alone. The part on the probe is written by hand and stays.
"""

import sys
from pathlib import Path

from m3bench.server.clients.guide import page
from m3bench.server.clients.table import clients
from m3bench.server.clients.trial import measured
from m3bench.server.clients.trial.starts import STARTS
from m3bench.server.clients.trial.trial import try_client
from tests.clients.real.programs import install, missing, search_path

PAGE = Path(__file__).parents[3] / "docs" / "clients.md"
BY_HAND = "## Probe\n"


def main() -> str | None:
    """Why nothing was written; None when it was."""
    if sys.argv[1:] != ["--docs"]:
        if problem := install():
            return problem
        measure()
    write_page()
    return None


def write_page() -> None:
    """Write the page on clients from what is kept."""
    _, heading, rest = PAGE.read_text("utf-8").partition(BY_HAND)
    PAGE.write_text(page() + heading + rest, encoding="utf-8")


def measure() -> None:
    """Have every client play, and keep what was found."""
    found = dict(measured.measured())
    for key, start in STARTS.items():
        if reason := missing(start.program):
            print(f"{key} stays as it was measured: {reason}", file=sys.stderr)
            continue
        print(f"{key} …", file=sys.stderr, flush=True)
        found[key] = measured.Measured.of(try_client(clients()[key], path=search_path()))
    Path(measured.__file__).with_suffix(".json").write_text(measured.written(found), encoding="utf-8")
    measured.measured.cache_clear()


if __name__ == "__main__":
    sys.exit(main())

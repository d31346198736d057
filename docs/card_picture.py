"""Draws the score card of the README from a real run: `make pictures`; with --check, tells whether it is current.

The run is the one that the README names; a card says the same every time, so the same bytes come out.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from m3bench.server.results.reports.picture import card_svg
from m3bench.server.results.reports.run import TaskShown, run_document
from m3bench.server.results.resultset import read_resultset
from m3bench.tasks.library import Library

CARD = Path(__file__).parent / "pictures" / "card.svg"
RUN = ("run", "--agent", "sloppy", "--task", "movies-1")


def card_of_set(folder: Path) -> str:
    """The picture of the only run of a result set."""
    (result,) = read_resultset(folder).results
    library = Library()
    task = library.task(result.sample.task)
    at_hand = TaskShown(task=task, pictures=tuple((name, library.picture(name)) for name in task.pictures))
    return card_svg(run_document(result.run, [], at_hand), result.card)


def main() -> int:
    """Draw, or compare."""
    with TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "m3bench.server.cli"]
        subprocess.run([*program, *RUN, "-o", str(Path(folder) / "set")], check=True, capture_output=True)
        drawn = card_of_set(Path(folder) / "set")
    if sys.argv[1:] == ["--check"]:
        current = CARD.exists() and CARD.read_text("utf-8") == drawn
        print("current" if current else f"{CARD} is not current: make pictures")
        return not current
    CARD.parent.mkdir(exist_ok=True)
    CARD.write_text(drawn, "utf-8")
    print(f"Written to {CARD}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

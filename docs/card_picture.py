"""Draws the score card of the README from a real run, and writes it into the page about reports: `make pictures`.

The run is the one that the README names; a card says the same every time, so the same bytes come out.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.pages.picture import card_svg
from m3bench.server.scorecard.pages.run import TaskShown, run_document
from m3bench.tasks.library import Library

CARD = Path(__file__).parent / "pictures" / "card.svg"
PAGE = Path(__file__).parent / "reports.md"
RUN = ("run", "--agent", "sloppy", "--task", "movies-1")


def card_of_set(folder: Path) -> str:
    """The picture of the only run of a result set."""
    (result,) = read_resultset(folder).results
    library = Library()
    task = library.task(result.sample.task)
    at_hand = TaskShown(task=task, pictures=tuple((name, library.picture(name)) for name in task.pictures))
    return card_svg(run_document(result.run, [], at_hand), result.card)


def page_with(folder: Path) -> str:
    """The page about reports, with the card of a result set's only run as it appears in a chat."""
    (result,) = read_resultset(folder).results
    card = markdown(result.card).strip().replace("## m3bench", "### m3bench", 1)
    before, begin, rest = PAGE.read_text("utf-8").partition("<!-- card -->\n")
    return before + begin + card + rest[rest.index("\n<!-- /card -->") :]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "m3bench.server.cli"]
        subprocess.run([*program, *RUN, "-o", str(Path(folder) / "set")], check=True, capture_output=True)
        CARD.write_text(card_of_set(Path(folder) / "set"), "utf-8")
        PAGE.write_text(page_with(Path(folder) / "set"), "utf-8")
    print(f"Written to {CARD} and {PAGE}")

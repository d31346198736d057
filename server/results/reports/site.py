"""A leaderboard as a folder: a page, the same numbers as JSON and CSV, a page for every set, and figures."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from m3bench.server.results.reports import figures
from m3bench.server.results.reports.page import page
from m3bench.server.results.reports.standings import leaderboard_document
from m3bench.server.results.reports.summary import set_document, set_page
from m3bench.server.results.resultset import ResultSet
from m3bench.server.scoring.aggregate import METRICS
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError

SCRIPTS, STYLES = ("card.js", "statistics.js", "leaderboard.js"), ("card.css", "set.css", "leaderboard.css")


def leaderboard_page(document: Mapping[str, Any]) -> str:
    """The page of a leaderboard's document."""
    return page("Leaderboard · m3bench", document, SCRIPTS, styles=STYLES)


def site(sets: Sequence[ResultSet], document: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a leaderboard by name."""
    files = {
        "index.html": leaderboard_page(document).encode(),
        "leaderboard.json": f"{json.dumps(document, ensure_ascii=False, indent=1)}\n".encode(),
        "leaderboard.csv": _csv(document["entries"]).encode(),
    }
    for name, (drawing, height) in (
        ("averages", figures.averages(document["entries"])),
        ("families", figures.families(document["entries"])),
    ):
        files[f"figures/{name}.svg"] = drawing.svg(height).encode()
        files[f"figures/{name}.png"] = drawing.png(height)
    for number, one in enumerate(sets, 1):
        files[f"sets/{number}.html"] = set_page(set_document(one)).encode()
    return files


def write_site(folder: Path, sets: Sequence[ResultSet], *, mixed: bool = False, common: bool = False) -> dict[str, Any]:
    """Write a leaderboard into a folder; returns its document.

    Raises:
        InputFileError: The folder cannot be written.
        UserError: The sets do not belong together.
    """
    document = leaderboard_document(sets, mixed=mixed, common=common)
    for name, data in site(sets, document).items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, data)
        except OSError as error:
            raise InputFileError(path, f"cannot be written ({error.strerror})") from error
    return document


def _csv(entries: Iterable[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    names = [name for name in (*METRICS, "average") if not name.startswith("argument_similarity_")]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["rank", "name", "kind", "agent", "solver", "profile", "scored", "void", "success", "success_low",
         "success_high", "average_rank", *names, "average_low", "average_high", "m3_average", "input_tokens",
         "output_tokens", "cost", "manifest"]
    )  # fmt: skip
    for entry in entries:
        summary, usage = entry["summary"], entry["usage"]
        low, high = summary["intervals"].get("average", ("", ""))
        writer.writerow(
            [entry["rank"], _safe(entry["name"]), entry["kind"], _safe(entry["agent"]), entry["solver"],
             entry["profile"], entry["counts"]["scored"], entry["counts"]["void"], summary["success"],
             *(summary["success_interval"] or ("", "")), entry["ranks"].get("average", {}).get("rank"),
             *(summary["metrics"].get(name) for name in names), low, high, summary["paper"], usage["input_tokens"],
             usage["output_tokens"], usage["cost"], " ".join(entry["manifest"])]
        )  # fmt: skip
    return text.getvalue()


def _safe(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text

"""How a site of a thousand runs in fifty sets is written and opens: weight, first paint, longest task, elements.

    python bench/site.py [--sets N] [--runs N]

The runs are made by rule. Times are this machine's and say little while it does other things; weights and numbers of
elements are the same everywhere. Opening is measured where Chromium is installed.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from m3bench.server.lab.reports.site.files import write_site
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.tasks.library import Library
from tests.server.lab.reports.site.stored import stored_set

WATCH = """window.tasks = [];
new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask", buffered: true });"""
SEEN = """() => ({
    paint: (performance.getEntriesByName("first-contentful-paint")[0] || {}).startTime || null,
    longest: Math.max(0, ...window.tasks), elements: document.querySelectorAll("*").length })"""


def main() -> None:
    """Write the site, open a page of every kind, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="m3bench-site-") as scratch:
        folder = Path(scratch)
        sets = [
            read_resultset(stored_set(folder, f"model {number}", options.runs, skill=0.2 + 0.7 * number / options.sets))
            for number in range(options.sets)
        ]
        began, out = time.process_time(), folder / "out"
        write_site(out, sets, libraries=[Library()])
        print(f"{options.sets} sets of {options.runs} runs written in {time.process_time() - began:.1f} CPU s")
        print(f"{'page':12} {'weight':>9} {'elements':>9} {'first paint':>12} {'longest task':>13}")
        for path, seen in opened(list(pages(out))):
            shown = f"{seen['elements']:>9} {seen['paint'] or 0:>9.0f} ms {seen['longest']:>10.0f} ms" if seen else ""
            print(f"{path.relative_to(out).parts[0]:12} {path.stat().st_size / 1000:>6.0f} kB {shown}")


def pages(out: Path) -> Iterator[Path]:
    """The pages of which there is one, and the largest of every other kind."""
    yield from (out / name for name in ("index.html", "board.html", "tasks.html"))
    for kind in ("sets", "runs", "tasks"):
        yield max((out / kind).glob("*.html"), key=lambda path: path.stat().st_size)


def opened(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """What a browser tells of each page."""
    program = shutil.which("chromium")
    if program is None:
        yield from ((path, None) for path in paths)
        return
    from playwright.sync_api import sync_playwright

    from tests.browser import OPTIONS

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(OPTIONS))
        for path in paths:
            page = browser.new_page()
            page.set_default_timeout(300_000)
            page.add_init_script(WATCH)
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
            yield path, page.evaluate(SEEN)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()

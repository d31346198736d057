"""How long the page of a large result set takes to write and to open, beside one of a hundred runs.

Usage: python bench/reports.py. Opening is measured when Chromium is installed; the numbers are this machine's, the
ratio is what to compare.
"""

import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent))

from m3bench.server.lab.reports.summary import set_document, set_page
from tests.server.lab.reports.made_sets import made_set

SIZES = (100, 1000)


def main() -> None:
    """Measure and print."""
    print(f"{'runs':>5}  {'page':>9}  {'written in':>10}  {'first row after':>15}")
    with TemporaryDirectory() as folder:
        for size in SIZES:
            results = made_set("many", size)
            began = time.perf_counter()
            path = Path(folder) / f"{size}.html"
            path.write_text(set_page(set_document(results)), "utf-8")
            written = time.perf_counter() - began
            opened = _opened(path)
            shown = f"{opened:.2f} s" if opened is not None else "no chromium"
            print(f"{size:>5}  {path.stat().st_size / 1000:>6.0f} kB  {written:>8.2f} s  {shown:>15}")


def _opened(path: Path) -> float | None:
    """Seconds from asking for the page to its first row, the best of five."""
    program = shutil.which("chromium")
    if program is None:
        return None
    from playwright.sync_api import sync_playwright

    from tests.browser import OPTIONS

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(OPTIONS))
        times = []
        for _ in range(5):
            page = browser.new_page()
            began = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("#runs tr.row")
            times.append(time.perf_counter() - began)
            page.close()
        browser.close()
    return min(times)


if __name__ == "__main__":
    main()

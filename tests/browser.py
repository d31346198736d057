"""A headless Chromium for tests of pages: one for the session, watched for anything a page must not do.

It lives in a thread of its own, because the driver's loop would stand in the way of tests that run one; a test hands
over a function that looks at the page. A page that asks the network for anything, or that complains on the console,
fails the test.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pytest

from tests.clients.node import find_node, install_locked

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Frame, Page

_Seen = TypeVar("_Seen")

OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
)  # fmt: skip

AXE = Path(__file__).parent / "server" / "lab" / "reports" / "site" / "axe"

SECONDS = 30.0
"""How long a page may take to be ready, on a machine that does other things too."""


class Browser:
    """A browser that opens pages one at a time."""

    def __init__(self, program: str) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._thread.submit(self._launch, program).result()

    def visit(
        self,
        address: Path | str,
        look: "Callable[[Page], _Seen]",
        *,
        width: int = 1400,
        height: int = 900,
        scheme: Literal["light", "dark"] = "light",
        allowed: Sequence[str] = (),
        complaints: str | None = None,
        ready: str = "html[data-ready]",
    ) -> _Seen:
        """Open a page, look at it, and close it.

        Args:
            address: A file, or a URL.
            look: Gets the page once it is ready.
            width: Of the window.
            height: Of the window.
            scheme: The colours that the person prefers.
            allowed: How addresses begin that the page may ask for, beside its own.
            complaints: A pattern of what the console may say; nothing when left out.
            ready: What there is on the page when it has drawn itself.
        """
        url = address.resolve().as_uri() if isinstance(address, Path) else address

        def work() -> _Seen:
            context = self._browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            try:
                return _watched(context, url, look, tuple(allowed), complaints, ready)
            finally:
                context.close()

        return self._thread.submit(work).result()

    def close(self) -> None:
        """End it."""
        self._thread.submit(self._end).result()
        self._thread.shutdown()

    def _launch(self, program: str) -> None:
        from playwright.sync_api import sync_playwright

        self._driver = sync_playwright().start()
        self._browser = self._driver.chromium.launch(executable_path=program, args=list(OPTIONS))

    def _end(self) -> None:
        self._browser.close()
        self._driver.stop()


def _watched(
    context: "BrowserContext",
    url: str,
    look: "Callable[[Page], _Seen]",
    allowed: tuple[str, ...],
    complaints: str | None,
    ready: str,
) -> _Seen:
    asked: list[str] = []
    said: list[str] = []
    refused: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("requestfailed", lambda request: refused.append(request.url) if request.failure == "csp" else None)
    context.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    context.on("weberror", lambda error: said.append(f"error: {error.error}"))
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1000)
    page.goto(url)
    try:
        page.wait_for_selector(ready, state="attached")
    except Exception as error:
        raise AssertionError(f"the page was never ready: {said}") from error
    seen = look(page)
    harmless = ("data:", "about:", *allowed)
    strange = [one for one in asked if one not in (url, *refused) and not one.startswith(harmless)]
    assert strange == [], "the page asked the network"
    complained = [one for one in said if complaints is None or not re.search(complaints, one)]
    assert complained == [], f"the page complained: {complained[:5]}"
    return seen


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; tests that need it are skipped where there is none, but never in CI."""
    program = shutil.which("chromium")
    if program is None:
        problem = "chromium is not installed: tests of pages need it"
        if os.environ.get("CI") == "true":
            pytest.fail(problem, pytrace=False)
        pytest.skip(problem)
    found = Browser(program)
    yield found
    found.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, at the version of the lock; tests that take it belong to the group `site`, so that
    it is installed once."""
    script = AXE / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists() and (problem := install_locked(find_node(), AXE)):
        if os.environ.get("CI"):
            pytest.fail(problem, pytrace=False)
        pytest.skip(problem)
    return script.read_text("utf-8")


def serious(found: "Page | Frame", axe: str) -> list[Any]:
    """What axe finds that is serious. It is no script of the page, whose policy allows ours alone."""
    found.evaluate(axe)
    rules = found.evaluate("async () => (await axe.run(document, {resultTypes: [], preload: false})).violations")
    return [
        (rule["id"], [node["target"] for node in rule["nodes"]][:5], rule["nodes"][0].get("failureSummary"))
        for rule in rules
        if rule["impact"] in ("serious", "critical")
    ]


INTERACTIVE = "a[href], button, summary, input, select, textarea, [tabindex='0']"


def fits(page: "Page") -> bool:
    """Whether nothing sticks out sideways."""
    found: bool = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    return found


BROKEN = """() => {
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
        if (!node.parentElement.closest("td, th") || !node.parentElement.checkVisibility()) continue;
        // For screen readers alone, where rows are laid out as cards.
        if ((node.parentElement.closest("thead, .visually-hidden") || {}).offsetWidth <= 1) continue;
        for (const word of node.data.matchAll(/[\\p{L}\\p{N}.,%]+/gu)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            const lines = [...range.getClientRects()].filter((box) => box.width > 0);
            const isParted = lines.length > 1 && lines[lines.length - 1].top > lines[0].top + 2;
            if (word[0].length < 40 && isParted) found.push(word[0]);
        }
    }
    return found;
}"""


def broken(page: "Page") -> list[str]:
    """The words in tables that go over two lines; hashes may, and names such as `get_price` at what is no letter."""
    found: list[str] = page.evaluate(BROKEN)
    return found


def _settled(page: "Page") -> bool:
    """Whether nothing sticks out sideways, once what moves with the width has moved."""
    from playwright.sync_api import TimeoutError as NeverHeld

    try:
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth", timeout=SETTLED * 1000)
    except NeverHeld:
        return False
    return True


SETTLED = 5.0
"""Seconds for menus to fold and unfold."""

WIDTHS = (390, 768, 1280, 2000)
"""Of a telephone, a tablet, a laptop and a large screen."""


def unsound(page: "Page", axe: str) -> list[Any]:
    """What is wrong with how a page is laid out at any width, and what axe finds that is serious."""
    found: list[Any] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{width}: sticks out"] if not _settled(page) else []
        found += [f"{width}: {word}" for word in broken(page)]
    return found + serious(page, axe)


def walk(page: "Page") -> tuple[int, list[Any]]:
    """Press Tab through the whole page: how many things can be focused, and those that were not, or not visibly."""
    total: int = page.evaluate(
        """(what) => [...document.querySelectorAll(what)].filter((node) => node.checkVisibility())
            .map((node, index) => node.dataset.walk = index).length""",
        INTERACTIVE,
    )
    reached: set[str] = set()
    hidden: list[Any] = []
    for _ in range(total + 2):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => { const node = document.activeElement; const style = getComputedStyle(node);
                return [node.dataset.walk ?? null, style.outlineStyle !== "none" && style.outlineWidth !== "0px"]; }"""
        )
        if found[0] is not None:
            reached.add(found[0])
            if not found[1]:
                hidden.append(found[0])
    return total, [str(index) for index in range(total) if str(index) not in reached] + hidden

"""The score card as an MCP App: named by the tool, served to whoever asks, drawn from what the client hands it."""

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client

from m3bench.server.app import App
from m3bench.server.results.reports import app_view
from m3bench.server.scorecard.app import REVISION
from m3bench.server.settings import Settings
from tests.browser import Browser
from tests.server.results.reports.conftest import Played
from tests.server.results.reports.stage import play
from tests.sets import write_set

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

HOST = """<!doctype html><html data-ready><body><script>
const result = {result}, seen = [];
window.addEventListener("message", (event) => {{
  const message = event.data;
  const post = (answer) => event.source.postMessage({{ jsonrpc: "2.0", ...answer }}, "*");
  seen.push(message);
  if (message.method === "ui/initialize") post({{ id: message.id, result: {{ protocolVersion: "2026-01-26",
    hostInfo: {{ name: "host", version: "1" }}, hostCapabilities: {{}}, hostContext: {{ theme: "dark" }} }} }});
  if (message.method === "ui/notifications/initialized") {{
    post({{ method: "ui/notifications/tool-input", params: {{ arguments: {{}} }} }});
    post({{ method: "ui/notifications/tool-result", params: result }});
    post({{ id: 7, method: "ui/resource-teardown", params: {{}} }});
  }}
}});
window.seen = seen;
</script><iframe sandbox="allow-scripts" width="{width}" height="600" srcdoc="{app}"></iframe></body></html>"""
"""It listens before the page in it can speak, as a host does."""


def hosted(folder: Path, app: str, result: dict[str, Any], width: int = 700) -> Path:
    """A page that does what a host does."""
    path = folder / "host.html"
    data = json.dumps(result).replace("<", "\\u003c")
    path.write_text(HOST.format(app=html.escape(app), result=data, width=width), "utf-8")
    return path


def inside(page: "Page") -> "Frame":
    frame = page.frames[1]
    frame.wait_for_selector(".headline, .plain-result")
    return frame


async def read(app: App, seat: Any) -> tuple[str, Any]:
    """The page as a client gets it, and what the list says of the tool."""

    async def seat_of(context: object) -> Any:
        return seat

    async with Client(app.front.server(seat_of)) as client:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "score"]
        assert tool.meta is not None
        (content,) = (await client.read_resource(tool.meta["ui"]["resourceUri"])).contents
        assert content.mime_type == "text/html;profile=mcp-app"
        return content.text, tool.meta  # type: ignore[union-attr]


@pytest.mark.parametrize("ranked", [False, True])
def test_the_tool_names_a_page_that_any_seat_can_read_and_that_holds_no_run(tmp_path: Path, ranked: bool) -> None:
    tasks = write_set(tmp_path / "set")
    data = tmp_path / "data"
    app = App(Settings.of(data=data, tasks=tasks, ranked=ranked))
    text, meta = anyio.run(read, app, app.open_seat())
    assert meta["ui"] == {"resourceUri": "ui://m3bench/scorecard"}
    assert text == app_view.scorecard_page()
    assert not [word for word in ("sum-1", "survey", "108") if word in text]
    assert not data.exists()


@pytest.mark.parametrize("width", [360, 900])
def test_a_host_hands_over_the_answer_and_the_card_is_drawn(
    browser: Browser, sloppy: Played, tmp_path: Path, width: int
) -> None:
    answer = sloppy.answer.model_dump(mode="json", by_alias=True)

    def look(page: "Page") -> None:
        frame = inside(page)
        average = f"{answer['_meta']['m3bench/card']['metrics']['average']:.3f}"
        assert frame.locator(".figure").inner_text() == average
        assert frame.locator(".call").count() == 7
        frame.locator(".call.strong").first.click()
        assert frame.locator(".call.chosen").count() == 2
        assert frame.evaluate("document.documentElement.dataset.theme") == "dark"
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.wait_for_function("seen.some((message) => message.id === 7 && message.result)")
        page.wait_for_function("seen.some((message) => message.method === 'ui/notifications/size-changed')")
        first = page.evaluate("seen[0]")
        assert (first["method"], first["params"]["protocolVersion"]) == ("ui/initialize", REVISION)

    browser.visit(hosted(tmp_path, app_view.scorecard_page(), answer, width), look)


def test_a_ranked_run_shows_what_its_answer_says_and_nothing_more(browser: Browser, tmp_path: Path) -> None:
    tasks = write_set(tmp_path / "set")
    steps = [[("math/sum", {"numbers": [4, 8, 15, 16, 23, 42]})]]
    answer = play(tmp_path / "data", "sum-1", steps, "108", tasks=tasks, ranked=True)
    result = answer.model_dump(mode="json", by_alias=True)
    assert result.get("structuredContent") is None

    def look(page: "Page") -> str:
        return str(inside(page).locator("#page").inner_text()).strip()

    said = browser.visit(hosted(tmp_path, app_view.scorecard_page(), result), look)
    assert said == "Scored. This is a ranked run: the score card goes to the operator alone."


def test_a_hostile_card_is_drawn_and_stays_text(browser: Browser, hostile: Played, tmp_path: Path) -> None:
    answer = {"content": [], "structuredContent": hostile.document["card"]}

    def look(page: "Page") -> None:
        frame = inside(page)
        assert frame.locator(".figure").inner_text() == "0.000"
        frame.locator("details.fold summary").click()
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert frame.evaluate("window.hacked") is None

    browser.visit(hosted(tmp_path, app_view.scorecard_page(), answer, 480), look)

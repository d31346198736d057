"""The score card as an MCP App: named by the tool, served to whoever asks, drawn from what the client hands it."""

import html
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client, MCPError

from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.app import App
from m3bench.server.scorecard.pages import app_view
from m3bench.server.scorecard.pages.app_view import REVISION, VIEW
from m3bench.server.settings import Settings
from m3bench.server.store.reader import Reader
from tests.browser import Browser, serious
from tests.server.lab.reports.conftest import Played
from tests.server.lab.reports.stage import play
from tests.sets import write_set

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

HOST = """<!doctype html><html lang="en" data-ready><title>A host</title><body><script>
const result = {result}, views = {views}, seen = [];
window.addEventListener("message", (event) => {{
  const message = event.data;
  const post = (answer) => event.source.postMessage({{ jsonrpc: "2.0", ...answer }}, "*");
  seen.push(message);
  if (message.method === "ui/initialize") post({{ id: message.id, result: {{ protocolVersion: "2026-01-26",
    hostInfo: {{ name: "host", version: "1" }}, hostCapabilities: {capabilities},
    hostContext: {{ theme: "{theme}" }} }} }});
  if (message.method === "resources/read") post(message.params.uri in views
    ? {{ id: message.id, result: {{ contents: [{{ uri: message.params.uri, text: views[message.params.uri] }}] }} }}
    : {{ id: message.id, error: {{ code: -32002, message: "Resource not found" }} }});
  if (message.method === "ui/notifications/initialized") {{
    post({{ method: "ui/notifications/tool-input", params: {{ arguments: {{}} }} }});
    post({{ method: "ui/notifications/tool-result", params: result }});
    post({{ id: 7, method: "ui/resource-teardown", params: {{}} }});
  }}
}});
window.seen = seen;
</script>
<iframe sandbox="allow-scripts" title="card" width="{width}" height="600" srcdoc="{app}"></iframe></body></html>"""
"""It listens before the page in it can speak, as a host does."""


def hosted(
    folder: Path, result: dict[str, Any], width: int = 700, *, views: dict[str, str] | None = None, theme: str = "dark"
) -> Path:
    """A page that does what a host does; one with views lets the pages that it shows read resources."""
    path = folder / "host.html"
    data, texts = (json.dumps(part).replace("<", "\\u003c") for part in (result, views or {}))
    capabilities = "{}" if views is None else "{ serverResources: {} }"
    app = html.escape(app_view.scorecard_page())
    path.write_text(
        HOST.format(app=app, result=data, views=texts, capabilities=capabilities, width=width, theme=theme), "utf-8"
    )
    return path


def inside(page: "Page") -> "Frame":
    frame = page.frames[1]
    frame.wait_for_selector(".headline, .plain-result")
    return frame


async def read(app: App, seat: Any) -> tuple[str, Any]:
    """The page as a client gets it, and what the list says of the tool."""

    async def seat_of(context: object) -> Any:
        return seat

    async with Client(sdk_server(app.front, seat_of)) as client:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "score"]
        assert tool.meta is not None
        (content,) = (await client.read_resource(tool.meta["ui"]["resourceUri"])).contents
        assert content.mime_type == "text/html;profile=mcp-app"
        return content.text, tool.meta


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


async def read_view(played: Played, handle: str, **settings: Any) -> str | None:
    """What a server that was started later hands the page of a run; None when it has nothing for it."""
    app = App(Settings.of(data=played.data, tasks=played.tasks, **settings))
    seat = app.open_seat()

    async def seat_of(context: object) -> Any:
        return seat

    async with Client(sdk_server(app.front, seat_of)) as client:
        try:
            (content,) = (await client.read_resource(VIEW.format(run=handle))).contents
        except MCPError:
            return None
        finally:
            app.store.close()
        return str(content.text)


def answer_of(played: Played) -> dict[str, Any]:
    found: dict[str, Any] = played.answer.model_dump(mode="json", by_alias=True)
    return found


def test_the_page_reads_question_picture_answer_and_calls_of_its_run(sloppy: Played) -> None:
    meta = answer_of(sloppy)["_meta"]
    assert meta["m3bench/shown"]["question"].startswith("What are the middle and the average")
    assert [call["tool"] for call in meta["m3bench/shown"]["calls"]] == [
        "math/median", "math/median", "math/mean", "math/sum"
    ]  # fmt: skip
    text = anyio.run(read_view, sloppy, meta["m3bench/run"])
    assert text is not None
    view = json.loads(text)
    assert view["calls"][0]["arguments"]["text"]
    assert view["answer"]["text"] == "They differ by 3."
    assert view["task"]["pictures"][0]["url"].startswith("data:image/jpeg;base64,")
    assert anyio.run(read_view, sloppy, "0" * 32) is None
    assert anyio.run(read_view, sloppy, meta["m3bench/run"][:6]) is None


def test_nobody_reads_more_of_a_ranked_run_than_its_answer_says(tmp_path: Path) -> None:
    tasks = write_set(tmp_path / "set")
    steps = [[("math/sum", {"numbers": [4, 8, 15, 16, 23, 42]})]]
    answer = play(tmp_path / "data", "sum-1", steps, "108", tasks=tasks, ranked=True, pause=0)
    assert not [name for name in answer.meta if name.startswith("m3bench/")]
    (run,) = Reader(tmp_path / "data").newest_runs(2)
    played = Played(data=tmp_path / "data", tasks=tasks, page=tmp_path, document={})
    text = anyio.run(partial(read_view, played, run.id, ranked=True))
    assert text is None


@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_card_shows_picture_question_calls_and_alignment_at_every_width(
    browser: Browser, sloppy: Played, tmp_path: Path, axe: str, theme: str
) -> None:
    answer = answer_of(sloppy)
    handle = answer["_meta"]["m3bench/run"]
    text = anyio.run(read_view, sloppy, handle)
    assert text is not None

    def look(page: "Page") -> None:
        frame = inside(page)
        frame.wait_for_selector(".app-task img")
        assert "the middle and the average" in frame.locator(".app-task").inner_text()
        assert "They differ by 3." in frame.locator(".app-task").inner_text()
        assert frame.locator(".strip svg rect:not(.band)").count() == frame.locator("tr[data-call]").count() == 4
        frame.locator("summary").evaluate_all("(nodes) => nodes.forEach((node) => node.click())")
        frame.locator("tr[data-call] pre").last.wait_for()
        frame.locator(".call.weak, .call.missed").first.click()
        frame.locator(".detail").wait_for()
        for width in (320, 360, 480, 640, 800):
            page.evaluate("(width) => { document.querySelector('iframe').width = width; }", width)
            assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            assert serious(frame, axe) == [], width
        names = frame.evaluate(
            """() => [...document.querySelectorAll("a[href], button, summary, [tabindex='0']")]
                .filter((node) => node.checkVisibility())
                .filter((node) => { node.focus(); return document.activeElement !== node; })
                .map((node) => node.outerHTML)"""
        )
        assert names == [], "every control can be reached with the keyboard"

    page = hosted(tmp_path, answer, 700, views={VIEW.format(run=handle): text}, theme=theme)
    browser.visit(page, look)


@pytest.mark.parametrize("width", [360, 900])
def test_a_host_hands_over_the_answer_and_the_card_is_drawn(
    browser: Browser, sloppy: Played, tmp_path: Path, width: int
) -> None:
    answer = answer_of(sloppy)

    def look(page: "Page") -> None:
        frame = inside(page)
        average = f"{answer['_meta']['m3bench/card']['metrics']['average']:.3f}"
        assert frame.locator(".figure").inner_text() == average
        assert frame.locator(".call").count() == 7
        assert frame.locator("tr[data-call]").count() == 4
        assert "the middle and the average" in frame.locator(".app-task").inner_text()
        frame.locator(".call.strong").first.click()
        assert frame.locator(".call.chosen").count() == 2
        assert frame.evaluate("document.documentElement.dataset.theme") == "dark"
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.wait_for_function("seen.some((message) => message.id === 7 && message.result)")
        page.wait_for_function("seen.some((message) => message.method === 'ui/notifications/size-changed')")
        first = page.evaluate("seen[0]")
        assert (first["method"], first["params"]["protocolVersion"]) == ("ui/initialize", REVISION)

    browser.visit(hosted(tmp_path, answer, width), look)


def test_a_ranked_run_shows_what_its_answer_says_and_nothing_more(browser: Browser, tmp_path: Path) -> None:
    tasks = write_set(tmp_path / "set")
    steps = [[("math/sum", {"numbers": [4, 8, 15, 16, 23, 42]})]]
    answer = play(tmp_path / "data", "sum-1", steps, "108", tasks=tasks, ranked=True)
    result = answer.model_dump(mode="json", by_alias=True)
    assert result.get("structuredContent") is None

    def look(page: "Page") -> str:
        return str(inside(page).locator("#page").inner_text()).strip()

    said = browser.visit(hosted(tmp_path, result), look)
    assert said == "Scored. This is a ranked run: the score card goes only to the operator."


def test_a_hostile_card_is_drawn_and_stays_text(browser: Browser, hostile: Played, tmp_path: Path) -> None:
    answer = {"content": [], "structuredContent": hostile.document["card"]}

    def look(page: "Page") -> None:
        frame = inside(page)
        assert frame.locator(".figure").inner_text() == "0.000"
        frame.locator("details.fold summary").click()
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert frame.evaluate("window.hacked") is None

    browser.visit(hosted(tmp_path, answer, 480), look)

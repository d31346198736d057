"""The page on which a person plays: `/`, and nothing else. What is done there goes over MCP, as with any client.

Whoever opens the address that the terminal shows gets a cookie for it, once; with the cookie comes the page, and in it
the token that clients' endpoints want. So an address that is found in a history or a list of processes opens nothing.
Host and Origin were checked before, as they are for clients.
"""

import hmac
import secrets
from collections.abc import Callable
from importlib.metadata import version
from typing import Protocol

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from m3bench.proxy.logs import tell
from m3bench.proxy.transports.http import HttpSettings
from m3bench.server.lab.live.pages import HEADERS, cookie_name, text_response
from m3bench.server.lab.reports.page import page
from m3bench.server.scorecard.pages.app_view import VIEW
from m3bench.server.scorecard.pages.legend import legend
from m3bench.server.settings import Settings
from m3bench.tasks.library import Library
from m3bench.tasks.picture_mark import FIELD, MEANING

CLIENT = "person"
"""The name under which what people do is recorded."""

SCRIPTS = (
    "card.js", "alignment.js", "calls.js", "run.js", "app.js", "mcp.js", "forms.js", "results.js", "play.js",
)  # fmt: skip
STYLES = ("card.css", "site.css", "play.css")


class PlayedServer(Protocol):
    """What the page needs to know of a server."""

    settings: Settings
    library: Library


class PersonPages:
    """Answers the browser of a person.

    Args:
        app: The server that is played on.
        listen: How it listens; its token goes to whoever came by the address.
        show: Is given the address, to open it.
    """

    def __init__(self, app: PlayedServer, listen: HttpSettings, show: Callable[[str], None]) -> None:
        self._app = app
        self._token = listen.token
        self._show = show
        self._ticket: str | None = secrets.token_urlsafe(24)
        self._cookie = secrets.token_urlsafe(24)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        response = await self._answer(Request(scope, receive))
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    def opened(self, base: str) -> None:
        """It can be reached at this address from now on."""
        address = f"{base}/?ticket={self._ticket}"
        tell(f"Play in a browser at {address}\nThe address works once; Ctrl-C ends everything.")
        self._show(address)

    def close(self) -> None:
        """There are no streams to end."""

    async def _answer(self, request: Request) -> Response:
        if request.method != "GET":
            return text_response("This is a page to open in a browser.", 405, allow="GET")
        if request.url.path != "/":
            return text_response("There is nothing here: the page is at /.", 404)
        asked, held = request.query_params.get("ticket"), request.cookies.get(cookie_name(request, "play"), "")
        if self._ticket is not None and hmac.compare_digest(asked.encode() if asked else b"", self._ticket.encode()):
            self._ticket = None
            response = RedirectResponse("/", status_code=303)
            response.set_cookie(
                cookie_name(request, "play"), self._cookie, httponly=True, samesite="strict", path="/"
            )  # fmt: skip
            return response
        if not hmac.compare_digest(held.encode(errors="replace"), self._cookie.encode()):
            text = (
                "This page is for the browser that opened the address in the terminal first: start m3bench play anew."
            )
            return text_response(text, 401)
        if asked is not None:
            return RedirectResponse("/", status_code=303)
        return HTMLResponse(await anyio.to_thread.run_sync(self._page))

    def _page(self) -> str:
        settings = self._app.settings
        document: dict[str, object] = {
            "kind": "play",
            "version": version("m3bench"),
            "client": CLIENT,
            "endpoint": "/mcp",
            "token": self._token,
            "task": settings.task,
            "tasks": [settings.task] if settings.task is not None else list(self._app.library.tasks),
            "limits": {"calls": settings.max_calls, "minutes": settings.max_minutes},
            "mark": {"name": FIELD, "meaning": MEANING},
            "view": VIEW,
            "legend": legend(),
        }
        return page("play · m3bench", document, SCRIPTS, styles=STYLES, connect=True, media=True)

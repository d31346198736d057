"""The pages on which people play. What is done there goes over MCP, as with any client.

Whoever opens the address that the terminal shows gets a cookie for it, once; with the cookie comes the page, and in it
the token that clients' endpoints want. So an address that is found in a history or a list of processes opens nothing.
In a study with people everybody has a link of their own, which goes on working; what a page says beside the tasks
comes to `/live/people`, with the token that the page has. Host and Origin were checked before, as they are for clients.
"""

import hmac
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Protocol

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
from m3bench.server.store.contract import Store
from m3bench.tasks.errors import M3Error
from m3bench.tasks.library import Library
from m3bench.tasks.picture_mark import FIELD, MEANING

CLIENT = "person"
"""The name under which what people do is recorded."""

SCRIPTS = (
    "card.js", "alignment.js", "calls.js", "run.js", "app.js", "mcp.js", "forms.js", "results.js", "play.js",
    "people.js",
)  # fmt: skip
STYLES = ("card.css", "site.css", "play.css")

NOTES = "/live/people"
"""Where pages of a study say what is not said over MCP."""

MOST_NOTED = 64 * 1024


class PlayedServer(Protocol):
    """What the page needs to know of a server."""

    settings: Settings
    library: Library

    async def opened_store(self) -> Store:
        """The record of runs."""
        ...


class PlayedStudy(Protocol):
    """What the pages of a study need to know of it; see `studies.people`."""

    def by_token(self, token: str) -> int | None:
        """Whose a link is."""
        ...

    def by_cookie(self, cookie: str) -> int | None:
        """Whose a cookie is."""
        ...

    def token(self, number: int) -> str:
        """What the page of a person sends."""
        ...

    def cookie(self, number: int) -> str:
        """What stands for the link in a browser."""
        ...

    def seat_of(self, number: int) -> str:
        """Where a person sits."""
        ...

    def document(self, number: int, done: Sequence[str]) -> dict[str, object]:
        """What their page shows beside the tasks."""
        ...

    def note(self, number: int, message: Mapping[str, Any]) -> None:
        """Write down what their page says."""
        ...


class Ticket:
    """What opens a page once, and the cookie that its browser then has.

    Args:
        what: Whose cookie it is.
        anew: What to do when the ticket was used.
    """

    def __init__(self, what: str, anew: str) -> None:
        self._what, self._anew = what, anew
        self._cookie = secrets.token_urlsafe(24)
        self.value: str | None = secrets.token_urlsafe(24)
        """None when it was used."""

    def known(self, request: Request) -> bool:
        """Whether the browser of the ticket asks."""
        held = request.cookies.get(cookie_name(request, self._what), "")
        return hmac.compare_digest(held.encode(errors="replace"), self._cookie.encode())

    def refusal(self, request: Request) -> Response | None:
        """The response to whoever opens the page, unless it is to be shown to them."""
        asked = request.query_params.get("ticket")
        if self.value is not None and hmac.compare_digest(asked.encode() if asked else b"", self.value.encode()):
            self.value = None
            response = RedirectResponse("/", status_code=303)
            name = cookie_name(request, self._what)
            response.set_cookie(name, self._cookie, httponly=True, samesite="strict", path="/")
            return response
        if not self.known(request):
            text = f"This page is for the browser that opened the address in the terminal first: {self._anew}."
            return text_response(text, 401)
        return RedirectResponse("/", status_code=303) if asked is not None else None


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
        self._ticket = Ticket("play", "start m3bench play anew")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        response = await self._answer(Request(scope, receive))
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    def opened(self, base: str) -> None:
        """It can be reached at this address from now on."""
        address = f"{base}/?ticket={self._ticket.value}"
        tell(f"Play in a browser at {address}\nThe address works once; Ctrl-C ends everything.")
        self._show(address)

    def close(self) -> None:
        """There are no streams to end."""

    async def _answer(self, request: Request) -> Response:
        if request.method != "GET":
            return text_response("This is a page to open in a browser.", 405, allow="GET")
        if request.url.path != "/":
            return text_response("There is nothing here: the page is at /.", 404)
        refused = self._ticket.refusal(request)
        return refused or HTMLResponse(await anyio.to_thread.run_sync(self._page))

    def _page(self) -> str:
        settings = self._app.settings
        tasks = [settings.task] if settings.task is not None else list(self._app.library.tasks)
        return _html(settings, {"token": self._token, "task": settings.task, "tasks": tasks})


class StudyPages:
    """Answers the browsers of people who take part in a study.

    Args:
        app: The server that they play on.
        listen: How it listens.
        study: Who may come, and what is written down beside the record.
        links: Is told the address where they come.
    """

    def __init__(
        self, app: PlayedServer, listen: HttpSettings, *, study: PlayedStudy, links: Callable[[str], None]
    ) -> None:
        self._app = app
        self._study = study
        self._links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except M3Error as error:
            response = text_response(str(error), 400)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    def opened(self, base: str) -> None:
        """They can be reached at this address from now on."""
        self._links(base)

    def close(self) -> None:
        """There are no streams to end."""

    async def _answer(self, request: Request) -> Response:
        if request.url.path == NOTES and request.method == "POST":
            return await self._noted(request)
        if request.url.path != "/":
            return text_response("There is nothing here: the page is that of your link.", 404)
        if request.method != "GET":
            return text_response("This is a page to open in a browser.", 405, allow="GET")
        name = cookie_name(request, "study")
        asked = self._study.by_token(request.query_params.get("link", ""))
        if asked is not None:
            response = RedirectResponse("/", status_code=303)
            # Links are followed from mail, which a strict cookie would not be sent after.
            secure = request.url.scheme == "https"
            response.set_cookie(name, self._study.cookie(asked), httponly=True, samesite="lax", secure=secure, path="/")
            return response
        number = self._study.by_cookie(request.cookies.get(name, ""))
        if number is None:
            return text_response("This page needs the link that you were sent: open it once more, whole.", 401)
        store = await self._app.opened_store()
        return HTMLResponse(await anyio.to_thread.run_sync(self._page, number, store))

    async def _noted(self, request: Request) -> Response:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        number = self._study.by_token(given.strip()) if scheme.lower() == "bearer" else None
        if number is None:
            return text_response("This page needs the link that you were sent: open it once more, whole.", 401)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_NOTED:
                return text_response("This is too long.", 413)
        try:
            message = json.loads(body)
        except ValueError:
            return text_response("This is no JSON.", 400)
        await anyio.to_thread.run_sync(self._study.note, number, message if isinstance(message, dict) else {})
        return Response(status_code=204)

    def _page(self, number: int, store: Store) -> str:
        runs = store.runs(self._study.seat_of(number))
        done = [run.task for run in runs if run.state in ("submitted", "scored")]
        study = self._study.document(number, done)
        about: dict[str, object] = {
            "token": self._study.token(number),
            "task": None,
            "tasks": [],
            "study": study,
            "notes": NOTES,
        }
        return _html(self._app.settings, about)


def _html(settings: Settings, about: Mapping[str, object]) -> str:
    document: dict[str, object] = {
        "kind": "play",
        "version": version("m3bench"),
        "client": CLIENT,
        "endpoint": "/mcp",
        "limits": {"calls": settings.max_calls, "minutes": settings.max_minutes},
        "mark": {"name": FIELD, "meaning": MEANING},
        "view": VIEW,
        "legend": legend(),
        **about,
    }
    return page("play · m3bench", document, SCRIPTS, styles=STYLES, connect=True, media=True)

"""The live view over HTTP: `/`, its events, its state, the pages of its runs, and numbers. Nothing can be changed here.

With a token everything needs it: in the Authorization header, or once as `?token=`, which a cookie then stands for,
because a browser's event stream sends no headers. Without one the server listens on loopback alone; Host and Origin
were checked before, as they are for clients. What is not sealed shows no score, and what is ranked shows it to the
operator alone: clients have the token, so the operator has one of their own, which is then the one the pages want.
The numbers of a ranked server are the operator's too.
"""

import hmac
import logging
import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.types import Receive, Scope, Send

from m3bench.proxy.logs import tell
from m3bench.proxy.transports.access import bears
from m3bench.proxy.transports.http import HttpSettings
from m3bench.server.lab.live import results
from m3bench.server.lab.live.events import Broker, Neighbours
from m3bench.server.lab.live.metrics import CallCounter, ServerNumbers, numbers
from m3bench.server.lab.live.rows import LiveState
from m3bench.server.lab.live.state import ServerState, WatchedServer
from m3bench.server.lab.reports.page import page
from m3bench.server.runs.observer import Observers
from m3bench.server.scorecard.pages.legend import legend
from m3bench.tasks.errors import M3Error
from m3bench.tasks.lazy_modules import LazyModule

# Few servers are asked for numbers, and `prometheus_client` takes memory and time: the first who asks imports it.
if TYPE_CHECKING:
    from m3bench.server.lab.live import prometheus
else:
    prometheus = LazyModule("m3bench.server.lab.live.prometheus")

logger = logging.getLogger(__name__)

SCRIPTS, STYLES = ("card.js", "statistics.js", "live.js"), ("card.css", "site.css", "live.css")

_RUN = re.compile(r"/live/run/([0-9a-f]{8,64})")
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""Of every response."""
_PAGES_AT_ONCE = 2
"""Pages of runs that are made at the same time: large ones take a while."""


class LivePages:
    """Answers a browser.

    Args:
        app: The server that is watched.
        listen: How it listens.
    """

    def __init__(self, app: WatchedServer, listen: HttpSettings) -> None:
        self._app = app
        self._token = listen.operator_token or listen.token
        self._state = ServerState(app, operator=self._for_operator(listen))
        self._broker = Broker(self._state)
        self._neighbours = Neighbours(app.place, self._own_name, self._broker.overtaken)
        self._key = secrets.token_bytes(32)
        self._making = anyio.CapacityLimiter(_PAGES_AT_ONCE)
        self._counter = CallCounter()
        self._shows_numbers = self._for_operator(listen) or not app.settings.ranked
        app.observer = Observers(self._broker, self._counter)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        response = self._refusal(request)
        if response is None:
            try:
                response = await self._answer(request)
            except M3Error as error:
                response = text_response(str(error), 500)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    @staticmethod
    def _for_operator(listen: HttpSettings) -> bool:
        """Whether only operators get here: they have a token of their own, or have signed in as such."""
        return listen.operator_token is not None or listen.guard is not None

    def _own_name(self) -> str | None:
        """The name of this server on record; None while it has written nothing."""
        store = self._counter.store
        return None if store is None else store.writer_name

    def opened(self, base: str) -> None:
        """It can be reached at this address from now on."""
        tell(f"m3bench serves {base}/mcp")
        tell(f"m3bench shows what happens at {base}/")

    def close(self) -> None:
        """End the event streams, which would otherwise never end."""
        self._broker.close()

    # Who may come in

    def _refusal(self, request: Request) -> Response | None:
        """The response to a request that is not allowed; None when it is."""
        if request.method != "GET":
            return text_response("The live view can only be read.", 405, allow="GET")
        site = request.headers.get("sec-fetch-site", "none")
        if request.scope["path"] != "/" and site not in ("none", "same-origin"):
            return text_response("Pages of other sites may not read this.", 403)
        return self._token_refusal(request, self._token) if self._token is not None else None

    def _token_refusal(self, request: Request, token: str) -> Response | None:
        cookie, ticket = cookie_name(request, "live"), hmac.digest(self._key, token.encode(), "sha256").hex()
        if bears(request.headers.get("authorization", "").encode("latin-1"), token):
            return None
        asked = request.query_params.get("token")
        if asked is not None and hmac.compare_digest(asked.encode(errors="replace"), token.encode()):
            rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
            response = RedirectResponse(request.url.path + (f"?{urlencode(rest)}" if rest else ""), status_code=303)
            # The token itself is not in the cookie, which servers on other ports of this host get to see.
            secure = request.url.scheme == "https"
            response.set_cookie(cookie, ticket, httponly=True, samesite="strict", secure=secure, path="/")
            return response
        if hmac.compare_digest(request.cookies.get(cookie, "").encode(), ticket.encode()):
            return None
        text = "This server needs its token: open it once as /?token=…, or send 'Authorization: Bearer …'."
        return text_response(text, 401, **{"www-authenticate": "Bearer"})

    # What there is

    async def _answer(self, request: Request) -> Response:
        path = request.scope["path"]
        if path == "/":
            return HTMLResponse(live_page((await self._state.state())[0]))
        if path == "/live/state":
            return JSONResponse((await self._state.state())[0].to_json())
        if path == "/live/events":
            if self._broker.full:
                return text_response("Too many are watching: try again later.", 503)
            return StreamingResponse(self._stream(), media_type="text/event-stream")
        if path == "/metrics":
            return await self._metrics(request)
        if found := _RUN.fullmatch(path):
            return await anyio.to_thread.run_sync(self._run, found[1], limiter=self._making)
        if path in (results.RESULTS, results.TASKS) or path.startswith(results.TASK):
            return await anyio.to_thread.run_sync(self._results, path, limiter=self._making)
        return text_response("There is nothing here: the live view is at /.", 404)

    async def _metrics(self, request: Request) -> Response:
        if not self._shows_numbers:
            return text_response("This server is ranked: its numbers need an operator token, see --operator-file.", 403)
        found = await numbers(self._app, self._state, self._counter)
        accept = request.headers.get("accept", "")
        text, media_type = await anyio.to_thread.run_sync(_exposition, found, accept, limiter=self._making)
        return Response(text, headers={"content-type": media_type})

    def _run(self, name: str) -> Response:
        html = results.run_html(self._app.place, self._app.library, name, self._state.may_see)
        if html is None:
            return text_response(
                "There is no such run, or it is not sealed yet, or it is ranked and not for everybody.", 404
            )
        return HTMLResponse(html)

    def _results(self, path: str) -> Response:
        place, library, may_see = self._app.place, self._app.library, self._state.may_see
        if path == results.RESULTS:
            html = results.results_html(place, library, may_see)
        elif path == results.TASKS:
            html = results.tasks_html(place, library, may_see)
        else:
            html = results.task_html(place, library, path.removeprefix(results.TASK), may_see)
        if html is None:
            return text_response("There is no scored run to show here yet, or none for everybody.", 404)
        return HTMLResponse(html)

    async def _stream(self) -> AsyncIterator[bytes]:
        with self._broker.watch() as watcher, self._neighbours.heard():
            yield b"retry: 1000\n\n"
            try:
                while (message := await watcher.next()) is not None:
                    yield message
            except M3Error as error:
                # The headers are gone already; whoever watches comes back, and is told then if it lasts.
                logger.warning("An event stream ended: %s", error)


def live_page(state: LiveState) -> str:
    """The page of a state, which then follows the events by itself."""
    document = replace(state, legend=legend(), links=results.LiveLinks())
    return page("live · m3bench", document.to_json(), SCRIPTS, styles=STYLES, connect=True)


def _exposition(found: ServerNumbers, accept: str) -> tuple[bytes, str]:
    return prometheus.exposition(found, accept)


def cookie_name(request: Request, what: str) -> str:
    """Cookies are shared between ports, so the name says which port's server set it, and for what."""
    server = request.scope.get("server") or ("", 0)
    return f"m3bench-{what}-{server[1]}"


def text_response(text: str, status: int, **headers: str) -> Response:
    """A line of text."""
    return PlainTextResponse(text + "\n", status, headers)

"""A protected server in memory, and a person with a browser and a client, who do what people do."""

import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
import httpx2
import pytest

from m3bench.proxy.transports.http import HttpSettings, http_app
from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.documents import DocumentReader
from m3bench.server.serving.auth.modes import own_protection
from m3bench.server.serving.auth.people import People
from m3bench.server.serving.auth.resource import Protection
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.sign_ins import SignInTables, open_sign_ins
from tests.proxy.house import CLIENT, House
from tests.proxy.web import HEADERS, running

URL = "https://bench.example"
CALLBACK = "http://127.0.0.1:7777/callback"

SEEN: set[str] = set()
"""Secrets of the test that runs: those that were sent, those that were given, and those that were only tried."""

_SECRETS = ("code", "code_verifier", "client_secret", "access_token", "refresh_token", "id_token", "token", "request")

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Documents:
    """The documents of clients on the internet, by address."""

    def __init__(self) -> None:
        self.there: dict[str, dict[str, Any]] = {}
        self.read: list[str] = []

    async def __call__(self, url: str) -> dict[str, Any]:
        self.read.append(url)
        return self.there[url]


@dataclass
class Bench:
    """A protected server."""

    client: httpx2.AsyncClient
    people: People
    clock: Clock
    documents: Documents
    protection: Protection
    house: House

    @property
    def tables(self) -> SignInTables:
        return self.people.tables

    def browser(self) -> "Browser":
        """A browser of its own."""
        return Browser(self)

    async def app(self, **said: Any) -> "App":
        """A client that registers."""
        metadata = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none", "client_name": "Chat", **said}
        answer = await self.client.post("/auth/register", json=metadata)
        assert answer.status_code == 201, answer.text
        return App(self, answer.json()["client_id"], metadata["redirect_uris"][0], answer.json().get("client_secret"))

    async def tokens(self, person: str = "ann", scope: str = "play watch operate") -> dict[str, Any]:
        """The tokens of a person who has just signed in and allowed a client."""
        browser, app = self.browser(), await self.app()
        await browser.sign_in(self.people.invite(person, "play watch operate", 1))
        return await app.tokens(browser, scope=scope)

    async def play(self, token: str | None, path: str = "/mcp", **headers: str) -> httpx2.Response:
        """A client's first message."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
        given = {**HEADERS, **({"authorization": f"Bearer {token}"} if token else {}), **headers}
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        return await self.client.post(path, json=message, headers=given)


class Browser:
    """A person's browser, with its cookies."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.cookies: dict[str, str] = {}

    async def get(self, path: str) -> httpx2.Response:
        return await self._keep(self.bench.client.get(path, headers=self._headers(accept="text/html")))

    async def post(self, path: str, form: dict[str, str], origin: str | None = URL) -> httpx2.Response:
        headers = self._headers(**({} if origin is None else {"origin": origin}))
        return await self._keep(self.bench.client.post(path, data=form, headers=headers))

    async def sign_in(self, code: str, goes_on: str = "/auth/") -> httpx2.Response:
        return await self.post("/auth/sign-in", {"code": code, "next": goes_on})

    async def answer(self, page: httpx2.Response, answer: str = "allow", origin: str | None = URL) -> httpx2.Response:
        """Press a button on the page that asks for consent."""
        found = re.search(r'name="request" value="([^"]+)"', page.text)
        assert found, page.text
        return await self.post("/auth/consent", {"request": found[1], "answer": answer}, origin)

    def _headers(self, **more: str) -> dict[str, str]:
        return {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **more}

    async def _keep(self, asked: Any) -> httpx2.Response:
        answer: httpx2.Response = await asked
        for line in answer.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
        self.bench.client.cookies.clear()
        return answer


@dataclass
class App:
    """A client that people sign in with."""

    bench: Bench
    id: str
    redirect: str = CALLBACK
    secret: str | None = None
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def address(self, **changed: str | None) -> str:
        """Where it sends people."""
        asked = {
            "response_type": "code", "client_id": self.id, "redirect_uri": self.redirect, "state": "st",
            "code_challenge": challenge(self.verifier), "code_challenge_method": "S256", "scope": "play",
            "resource": f"{URL}/mcp", **changed,
        }  # fmt: skip
        return f"/auth/authorize?{urlencode({name: value for name, value in asked.items() if value is not None})}"

    async def code(self, browser: Browser, **changed: str | None) -> str:
        """A code that the person allowed."""
        done = await browser.answer(await browser.get(self.address(**changed)))
        return sent_back(done)["code"]

    async def exchange(self, code: str, **changed: str | None) -> httpx2.Response:
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect, "client_id": self.id,
            "code_verifier": self.verifier, "client_secret": self.secret, **changed,
        }  # fmt: skip
        return await self.send("/auth/token", form)

    async def refresh(self, token: str, **changed: str | None) -> httpx2.Response:
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.id, **changed}
        return await self.send("/auth/token", form)

    async def send(self, path: str, form: dict[str, str | None]) -> httpx2.Response:
        given = {name: value for name, value in form.items() if value is not None}
        return await self.bench.client.post(path, data=given)

    async def tokens(self, browser: Browser, **changed: str | None) -> dict[str, Any]:
        answer = await self.exchange(await self.code(browser, **changed))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def signed_in(bench: Bench, name: str = "ann") -> Browser:
    """The browser of somebody who was invited to play and watch, and signed in."""
    browser = bench.browser()
    done = await browser.sign_in(bench.people.invite(name, "play watch", 1))
    assert done.status_code == 303
    return browser


def note(*secrets: str) -> None:
    """Remember what must not be logged."""
    SEEN.update(secret for secret in secrets if len(secret) >= 16)


async def _note_request(request: httpx2.Request) -> None:
    found = parse_qs(request.content.decode("utf-8", "replace"))
    found.update(parse_qs(request.url.query.decode()))
    note(*(value for name in _SECRETS for value in found.get(name, ())))
    note(request.headers.get("authorization", "").partition(" ")[2])
    note(*re.findall(r"=\"?([\w-]+)", request.headers.get("cookie", "")))


async def _note_response(answer: httpx2.Response) -> None:
    await answer.aread()
    note(*re.findall(r'name="request" value="([^"]+)"', answer.text))
    note(*re.findall(rf'"(?:{"|".join(_SECRETS)})":"([^"]+)"', answer.text))
    note(*parse_qs(urlsplit(answer.headers.get("location", "")).query).get("code", ()))
    note(*(re.findall(r"=\"?([\w-]+)", answer.headers.get("set-cookie", ""))[:1]))


def refusals(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged so far of what was refused."""
    lines = [record.getMessage() for record in caplog.get_records("call") if record.name == "m3bench.auth"]
    return [line for line in lines if line.startswith("Refused: ")]


def challenge(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def sent_back(answer: httpx2.Response) -> dict[str, str]:
    """What a client is told when its person comes back."""
    assert answer.status_code == 303, answer.text
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


@asynccontextmanager
async def protected(
    folder: Path, *, reads: bool = True, reader: DocumentReader | None = None, **changed: Any
) -> AsyncIterator[Bench]:
    """A protected server, as `serve --auth own` makes it, whose tables are in a folder; it may read documents."""
    clock, documents = Clock(), Documents()
    tables = open_sign_ins(RecordLocation(folder))
    try:
        fetch = (reader or documents) if reads else None
        made = replace(own_protection(tables, PublicAddress.of(URL), fetch=fetch, clock=clock), **changed)
        house = House()
        async with behind(made, house) as client:
            yield Bench(client, People(tables, clock), clock, documents, made, house)
    finally:
        tables.close()


@asynccontextmanager
async def behind(protection: Protection, house: House | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    """Requests to a benchmark in memory behind a protection."""
    house = house or House()
    known, tell = ("bench.example",), protection.refusals.say
    settings = HttpSettings(host="0.0.0.0", guard=protection, tell=tell, allow_hosts=known)
    app = http_app(house.front, settings, house.open_seat, house.close_seat, _pages)
    with anyio.fail_after(60):
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [_note_request], "response": [_note_response]}
        given = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=URL, event_hooks=hooks)
        async with running(app), given as client:
            yield client


async def _pages(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": f"page {scope['path']}".encode()})

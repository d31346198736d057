"""The programs that people sign in with, and the documents that describe them."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from anyio.streams.tls import TLSListener
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from m3bench.server.serving.auth import clients as clients_module
from m3bench.server.serving.auth import documents
from m3bench.server.serving.auth.clients import ClientError, OAuthClient, OAuthClients, check_document_address
from m3bench.server.serving.auth.documents import MOST_BYTES, DocumentReader, is_public
from tests.server.serving.auth.bench import CALLBACK, App, protected, refusals, sent_back, signed_in

pytestmark = pytest.mark.anyio

DOCUMENT = "https://client.example/oauth/m3.json"
attack = pytest.mark.usefixtures("refused")

INSIDE = (
    "127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "[::1]", "[::ffff:169.254.169.254]", "[::ffff:7f00:1]",
    "[64:ff9b::a9fe:a9fe]", "[2002:7f00:1::]", "[fe80::1]", "[::]", "0", f"{'a' * 70}.example",
)  # fmt: skip
"""Places that are this machine or its neighbours, as somebody may write them."""

SAID: dict[str, Any] = {"client_id": DOCUMENT, "client_name": "Chat on the web", "redirect_uris": [CALLBACK]}


async def test_a_client_that_is_a_document_plays_and_its_document_is_read_once_in_a_while(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        bench.documents.there[DOCUMENT] = SAID
        browser, app = bench.browser(), App(bench, DOCUMENT)
        await browser.sign_in(bench.people.invite("ann", "play", 1))
        page = await browser.get(app.address())
        assert f"described at <code>{DOCUMENT}</code>" in page.text
        tokens = (await app.exchange(sent_back(await browser.answer(page))["code"])).json()
        assert (await bench.play(tokens["access_token"])).status_code == 200
        assert bench.documents.read == [DOCUMENT]
        # A place that the document names no more is none any more.
        page = await browser.get(app.address())
        bench.documents.there[DOCUMENT] = {**SAID, "redirect_uris": ["https://client.example/back"]}
        bench.clock.now += 599
        assert (await browser.get(app.address())).status_code == 200
        bench.clock.now += 2
        assert (await browser.get(app.address())).status_code == 400


@attack
async def test_a_server_that_is_shown_a_way_inside_does_not_go_it(tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path, reader=DocumentReader()) as bench:
        browser = bench.browser()
        await browser.sign_in(bench.people.invite("ann", "play", 1))
        for inside in INSIDE:
            before = len(refusals(caplog))
            answer = await browser.get(App(bench, f"https://{inside}/m3.json").address())
            assert answer.status_code == 400
            assert "not on the public internet" in answer.text or "cannot be reached" in answer.text
            assert len(refusals(caplog)) == before + 1, inside


@attack
@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "https://client.example/oauth/other.json"},
        {"client_id": None},
        {"client_secret": "everybody reads it"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": None},
    ],
    ids=lambda changed: next(iter(changed)),
)
async def test_a_document_that_cannot_be_is_no_client(changed: dict[str, Any], tmp_path: Path, caplog: Any) -> None:
    async with protected(tmp_path) as bench:
        bench.documents.there[DOCUMENT] = {**SAID, **changed}
        browser = bench.browser()
        await browser.sign_in(bench.people.invite("ann", "play", 1))
        answer = await browser.get(App(bench, DOCUMENT).address())
        assert answer.status_code == 400
        assert f"knows nothing of the client that sent you, {DOCUMENT}, because" in answer.text
    assert DOCUMENT in caplog.text


@attack
async def test_one_person_does_not_have_the_server_read_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients_module, "READ", 2)
    async with protected(tmp_path) as bench:
        ann, eve = await signed_in(bench), await signed_in(bench, "eve")
        addresses = [f"https://client.example/{number}" for number in range(3)]
        for url in addresses:
            bench.documents.there[url] = {**SAID, "client_id": url}
        found = [(await eve.get(App(bench, url).address())).status_code for url in addresses]
        assert (found, bench.documents.read) == ([200, 200, 400], addresses[:2])
        # What was read is known for a while, others are not hindered, and it passes.
        assert (await eve.get(App(bench, addresses[0]).address())).status_code == 200
        assert (await ann.get(App(bench, addresses[2]).address())).status_code == 200
        bench.clock.now += 601
        assert (await eve.get(App(bench, addresses[2]).address())).status_code == 200


async def test_strangers_do_not_choose_what_this_server_reads(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        bench.documents.there[DOCUMENT] = SAID
        app = App(bench, DOCUMENT)
        assert 'name="code"' in (await bench.browser().get(app.address())).text
        assert (await app.exchange("made up")).json()["error"] == "invalid_grant"
        assert (await app.refresh("made up")).json()["error"] == "invalid_grant"
        await app.send("/auth/revoke", {"token": "made up", "client_id": app.id})
        assert bench.documents.read == []


async def test_a_server_without_the_internet_has_clients_register(tmp_path: Path) -> None:
    async with protected(tmp_path, reads=False) as bench:
        metadata = (await bench.client.get("/.well-known/oauth-authorization-server")).json()
        assert metadata["client_id_metadata_document_supported"] is False
        browser = bench.browser()
        await browser.sign_in(bench.people.invite("ann", "play", 1))
        answer = await browser.get(App(bench, DOCUMENT).address())
        assert (answer.status_code, "have the client register" in answer.text) == (400, True)
        assert (await App(bench, DOCUMENT).exchange("made up")).status_code == 401


@pytest.mark.parametrize(
    "url",
    [
        "https://client.example",
        "https://client.example/",
        "https://client.example:8443/m3.json",
        "https://client.example/a/../m3.json",
        "https://client.example/%2e%2e/m3.json",
        "https://client.example/m3.json#x",
        "https://user@client.example/m3.json",
        "https://client.example/m3 .json",
        "https://client\u2024example/m3.json",
        "https://b\u00fccher.example/m3.json",
        "https://client.example/\u00e9",
        "https://[v1.a]:0443x/m3.json",
        "https://client.example\\@other.example/m3.json",
        "http://client.example/m3.json",
        "https:///m3.json",
        "https://client.example:x/m3.json",
        "https://client.example/" + "x" * 600,
    ],
)
def test_only_a_plain_address_names_a_client(url: str) -> None:
    with pytest.raises(ClientError):
        check_document_address(url)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("127.1.2.3", False),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("192.0.2.1", False),
        ("198.18.0.1", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::127.0.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("64:ff9b:1::7f00:1", False),
        ("fec0::1", False),
        ("192.0.0.8", False),
        ("192.88.99.1", False),
        ("3fff::1", False),
        ("::ffff:93.184.215.14", True),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:0:7f00:1::", False),
        ("localhost", False),
    ],
)
def test_an_address_is_on_the_internet_or_inside(address: str, public: bool) -> None:
    assert is_public(address) is public


async def test_a_document_that_points_inside_is_never_asked_for() -> None:
    """Whatever name leads there: what counts is the address, and all that a name has must be outside."""
    connected = []

    async def serve(stream: anyio.abc.SocketStream) -> None:
        connected.append(stream)
        await stream.aclose()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        port = listener.extra(anyio.abc.SocketAttribute.local_port)

        def named(*addresses: str) -> DocumentReader:
            async def resolve(host: str) -> list[str]:
                return list(addresses)

            return DocumentReader(resolve, port=port)

        insides = [named("127.0.0.1"), named("93.184.215.14", "127.0.0.1"), named("::ffff:127.0.0.1"), named()]
        here = DocumentReader(port=port)
        asked = [(reader, "rebound.example") for reader in insides] + [(here, "127.0.0.1"), (here, "[::1]")]
        for reader, host in asked:
            with pytest.raises(ClientError, match="not on the public internet"):
                await reader(f"https://{host}/m3.json")
        # Not every machine has a name for itself.
        with pytest.raises(ClientError, match=r"not on the public internet|cannot be reached"):
            await here("https://localhost/m3.json")
        tasks.cancel_scope.cancel()
    assert connected == []


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of one's own for `client.example` and this machine, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "client.example")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("client.example"), x509.DNSName("localhost")])
    made = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key(), serial_number=1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, private, serialization.NoEncryption()))
    return files


@asynccontextmanager
async def website(folder: Path, answer: bytes, *, ends: bool = True) -> AsyncIterator[Callable[..., DocumentReader]]:
    """A server with a certificate that gives one answer; makes readers that connect to it."""
    cert, key = certificate(folder)
    ours, theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    ours.load_cert_chain(cert, key)
    theirs.load_verify_locations(cert)

    async def serve(stream: anyio.abc.ByteStream) -> None:
        async with stream:
            with anyio.CancelScope():
                await stream.receive()
                try:
                    await stream.send(answer)
                    if not ends:
                        await anyio.sleep_forever()
                except (anyio.BrokenResourceError, ssl.SSLError):
                    pass

    async def resolve(host: str) -> list[str]:
        return ["127.0.0.1"]

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    encrypted = TLSListener(listener, ours, standard_compatible=False)
    async with encrypted, anyio.create_task_group() as tasks:
        tasks.start_soon(encrypted.serve, serve)

        def reader(trusting: ssl.SSLContext = theirs) -> DocumentReader:
            return DocumentReader(resolve, lambda _: True, trusting, port)

        yield reader
        tasks.cancel_scope.cancel()


def http(body: bytes, status: str = "200 OK", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n{more}\r\n".encode() + body


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (http(b'{"client_id": "x"}'), None),
        (b'HTTP/1.1 200 OK\r\n\r\n{"client_id": "x"}', None),
        (http(b"", "302 Found", "location: http://127.0.0.1/\r\n"), "answered 302"),
        (http(b"{}", "404 Not Found"), "answered 404"),
        (http(b" " * (MOST_BYTES + 1)), "more than"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"x" * 2 * MOST_BYTES, "cannot be reached"),
        (http(b"[" * 10_000), "not JSON"),
        (http(b"[]"), "not an object"),
        (b"220 smtp.example ESMTP\r\n", "cannot be reached"),
        (b"", "cannot be reached"),
    ],
    ids=["whole", "until-closed", "redirect", "missing", "large", "headers", "deep", "list", "mail", "nothing"],
)
async def test_a_document_is_read_within_bounds(answer: bytes, told: str | None, tmp_path: Path) -> None:
    with anyio.fail_after(30):
        async with website(tmp_path, answer) as reader:
            if told is None:
                assert await reader()("https://client.example/m3.json") == {"client_id": "x"}
                return
            with pytest.raises(ClientError, match=told):
                await reader()("https://client.example/m3.json")


async def test_a_document_comes_from_who_it_says_and_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with anyio.fail_after(30):
        async with website(tmp_path, http(b"{}")) as reader:
            for trusting, host in ((ssl.create_default_context(), "client.example"), (None, "other.example")):
                with pytest.raises(ClientError, match="cannot be reached"):
                    await (reader() if trusting is None else reader(trusting))(f"https://{host}/m3.json")
        monkeypatch.setattr(documents, "SECONDS", 0.2)
        async with website(tmp_path, b"HTTP/1.1 200 OK\r\n", ends=False) as reader:
            with pytest.raises(ClientError, match="did not come within"):
                await reader()("https://client.example/m3.json")


def test_a_program_on_the_persons_machine_listens_on_any_port() -> None:
    app = OAuthClient(id="x", name="x", redirects=("http://127.0.0.1/callback", "https://host.example/callback"))
    assert app.takes_redirect("http://127.0.0.1:51234/callback")
    for other in ("http://127.0.0.1:51234/other", "http://localhost:51234/callback", "https://host.example:1/callback",
                  "https://127.0.0.1:51234/callback", "http://127.0.0.1:99999999/callback", "", "x"):  # fmt: skip
        assert not app.takes_redirect(other), other


async def test_a_fixed_client_is_the_operators(tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        clients = OAuthClients(bench.tables, bench.documents, bench.clock)
        made, secret = clients.fix("Studio", ["https://studio.example/back"], public=False)
        assert secret
        app = App(bench, made.id, "https://studio.example/back", secret)
        browser = bench.browser()
        await browser.sign_in(bench.people.invite("ann", "play", 1))
        page = await browser.get(app.address())
        assert "The operator of this server set it up" in page.text
        answer = await app.exchange(sent_back(await browser.answer(page))["code"])
        assert (await bench.play(answer.json()["access_token"])).status_code == 200
        assert clients.fix("Public", ["https://studio.example/back"], public=True)[1] is None
        with pytest.raises(ClientError):
            clients.fix("Wrong", ["http://studio.example/back"], public=True)


@pytest.mark.parametrize(
    "redirect",
    ["cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/callback", "https://vscode.dev/redirect"],
)
async def test_programs_with_a_scheme_of_their_own_can_register(redirect: str, tmp_path: Path) -> None:
    async with protected(tmp_path) as bench:
        app = await bench.app(redirect_uris=[redirect])
        browser = bench.browser()
        await browser.sign_in(bench.people.invite("ann", "play", 1))
        page = await browser.get(app.address())
        assert f" {redirect.partition(':')[0]}:" in page.headers["content-security-policy"]
        assert sent_back(await browser.answer(page))["code"]

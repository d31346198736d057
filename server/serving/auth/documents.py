"""Reads the documents that describe clients, from anywhere on the internet and from nowhere else.

Whoever names a document chooses where this server connects to, so it must not reach what only this machine reaches:
the name is looked up once, every address it has must be public, and the connection goes to one of these very
addresses. Nothing is followed, little is read, and not for long.
"""

import ipaddress
import json
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import anyio
import h11

from m3bench.server.serving.auth.clients import ClientError

MOST_BYTES = 16_384
SECONDS = 5.0
AT_ONCE = 16
"""Documents that are read at the same time."""

Resolve = Callable[[str], Awaitable[list[str]]]

_TUNNELS = ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96", "::ffff:0:0:0/96")
"""Ranges of IPv6 that embed an address of IPv4, which may be any."""

_SPECIAL = ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "5f00::/16", "fec0::/10")
"""Not public, though some versions of Python say so."""

_REFUSED = tuple(ipaddress.ip_network(net) for net in (*_TUNNELS, *_SPECIAL))


def is_public(address: str) -> bool:
    """Whether an address is public, and so not that of a machine or service of ours."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return is_public(str(found.ipv4_mapped))
    if any(found in net for net in _REFUSED):
        return False
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


class DocumentReader:
    """Reads documents.

    Args:
        resolve: Gives the addresses of a name.
        allowed: Whether an address may be connected to.
        tls: Verifies the servers' certificates.
        port: Where they listen.
    """

    def __init__(
        self,
        resolve: Resolve | None = None,
        allowed: Callable[[str], bool] = is_public,
        tls: ssl.SSLContext | None = None,
        port: int = 443,
    ) -> None:
        self._resolve = resolve or _addresses
        self._allowed = allowed
        self._tls = tls
        self._port = port
        self._turns = anyio.CapacityLimiter(AT_ONCE)

    async def __call__(self, url: str) -> dict[str, Any]:
        """The document at an address.

        Raises:
            ClientError: There is none, or it may not be read.
        """
        found = urlsplit(url)
        assert found.hostname is not None
        target = found.path + (f"?{found.query}" if found.query else "")
        try:
            with anyio.fail_after(SECONDS):
                async with self._turns:
                    return _document(await self._read(found.hostname, target))
        except TimeoutError:
            raise ClientError(f"its document did not come within {SECONDS:.0f} seconds") from None
        except (OSError, UnicodeError, anyio.BrokenResourceError, anyio.EndOfStream, h11.ProtocolError):
            raise ClientError("its document cannot be reached") from None

    async def _read(self, host: str, target: str) -> bytes:
        addresses = await self._resolve(host)
        # One private address among public ones is enough: the next look-up could give that one first.
        if not addresses or not all(self._allowed(address) for address in addresses):
            raise ClientError("its document is not on the public internet")
        stream = await anyio.connect_tcp(
            addresses[0], self._port, tls=True, tls_hostname=host, ssl_context=self._tls, tls_standard_compatible=False
        )
        async with stream:
            talk = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_BYTES)
            headers = [("host", host), ("accept", "application/json"), ("connection", "close")]
            request = h11.Request(method="GET", target=target.encode("ascii", "replace"), headers=headers)
            await stream.send((talk.send(request) or b"") + (talk.send(h11.EndOfMessage()) or b""))
            body = b""
            while True:
                event = talk.next_event()
                if event is h11.NEED_DATA:
                    try:
                        talk.receive_data(await stream.receive(MOST_BYTES))
                    except anyio.EndOfStream:
                        talk.receive_data(b"")
                elif isinstance(event, h11.Response) and event.status_code != 200:
                    raise ClientError(f"its document is not there: the server answered {event.status_code}")
                elif isinstance(event, h11.Data):
                    body += event.data
                    if len(body) > MOST_BYTES:
                        raise ClientError(f"its document has more than {MOST_BYTES} bytes")
                elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                    return body


async def _addresses(host: str) -> list[str]:
    found = await anyio.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


def _document(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise ClientError("its document is not JSON") from None
    if not isinstance(said, dict):
        raise ClientError("its document is not an object")
    return said

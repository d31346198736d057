"""The address by which clients and browsers know a server: what tokens are for, and what metadata names."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from m3bench.proxy.transports.access import LOOPBACK
from m3bench.tasks.errors import UserError

RESOURCE_METADATA = "/.well-known/oauth-protected-resource"

_ENDPOINT = re.compile(r"/mcp|/seat/[A-Za-z0-9_-]{22,64}/mcp")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class PublicAddress:
    """Scheme, name and port, as `https://bench.example`."""

    origin: str

    @classmethod
    def of(cls, url: str) -> "PublicAddress":
        """The address that a person gave.

        Raises:
            UserError: It is not an address, or not a safe one: tokens travel encrypted, except within one machine.
        """
        found = _split(url)
        if found is None or found.path not in ("", "/") or found.query or found.fragment or "@" in found.netloc:
            raise UserError(f"--public-url cannot be {url!r}: write scheme and name, such as https://bench.example.")
        if not found.netloc.isascii():
            # Browsers send names in ASCII, and would be taken for another site.
            raise UserError(f"--public-url cannot be {url!r}: write the name in ASCII, as xn--….")
        if found.scheme != "https" and not (found.scheme == "http" and found.hostname in LOOPBACK):
            raise UserError(
                f"--public-url cannot be {url!r}: sign-in needs https://, because tokens would travel in the clear. "
                "http:// is only for this machine."
            )
        return cls(_origin(found))

    @property
    def host(self) -> str:
        """The name, with a port that is not the usual one."""
        return self.origin.partition("://")[2]

    @property
    def secure(self) -> bool:
        """Whether it is reached over TLS."""
        return self.origin.startswith("https://")

    def owns(self, resource: str) -> bool:
        """Whether a resource indicator (RFC 8707) or audience means this server."""
        found = _split(resource)
        if found is None or found.query or found.fragment or "#" in resource or "@" in found.netloc:
            return False
        path = found.path.rstrip("/")
        return _origin(found) == self.origin and (not path or _ENDPOINT.fullmatch(path) is not None)

    def metadata_of(self, path: str) -> str:
        """Where the metadata (RFC 9728) of an endpoint is."""
        return self.origin + RESOURCE_METADATA + (path if _ENDPOINT.fullmatch(path) else "")

    def resource_of(self, metadata_path: str) -> str | None:
        """The resource that metadata at some path is of; None when there is none."""
        path = metadata_path.removeprefix(RESOURCE_METADATA)
        return self.origin + path if path in ("", "/") or _ENDPOINT.fullmatch(path) else None


def _split(url: str) -> SplitResult | None:
    # urlsplit drops line breaks and the like, which other programs may keep: to them it is another address.
    if not url.isprintable() or " " in url or "\\" in url:
        return None
    try:
        found = urlsplit(url)
        _ = found.port
    except ValueError:
        return None
    return found if found.scheme in _PORTS and found.hostname else None


def _origin(found: SplitResult) -> str:
    host = found.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = found.port
    return f"{found.scheme}://{host}" + (f":{port}" if port not in (None, _PORTS[found.scheme]) else "")

"""The ways to sign in: with the built-in authorization server, or with any OpenID provider."""

import time
from collections.abc import Callable, Sequence

from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.clients import Fetch, OAuthClients
from m3bench.server.serving.auth.documents import DocumentReader
from m3bench.server.serving.auth.endpoints import AuthorizationServer
from m3bench.server.serving.auth.grants import ACCESS_SECONDS, Grants
from m3bench.server.serving.auth.identity import OPERATE, WATCH, Refusals
from m3bench.server.serving.auth.oidc import OidcTokens, ProviderKeys, group_scopes, provider_address
from m3bench.server.serving.auth.people import People
from m3bench.server.serving.auth.resource import Protection
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.sign_ins import SignInTables, open_sign_ins
from m3bench.tasks.errors import UserError

__all__ = ["OPERATE", "WATCH", "PublicAddress", "own_protection", "protection_of"]

OWN, OIDC = "own", "oidc="


def protection_of(
    auth: str,
    place: RecordLocation,
    address: PublicAddress,
    *,
    groups: Sequence[str] = (),
    audience: str | None = None,
    access_seconds: float = ACCESS_SECONDS,
    documents: bool = True,
) -> Protection:
    """The protection that a person chose.

    Args:
        auth: As it was given to `--auth`.
        place: Where the record is, in which people are kept.
        address: Of the server.
        groups: Who may do what, as `SCOPE=GROUP`, of an OpenID provider.
        audience: What the provider calls this server.
        access_seconds: How long our own access tokens are good.
        documents: Whether documents of clients are read, from the internet.

    Raises:
        UserError: There is no such way.
    """
    if auth == OWN:
        if groups or audience:
            raise UserError("--grant and --audience are for --auth oidc=URL: here, invitations say who may do what.")
        fetch = DocumentReader() if documents else None
        return own_protection(open_sign_ins(place), address, fetch=fetch, access_seconds=access_seconds)
    if auth.startswith(OIDC):
        return oidc_protection(auth.removeprefix(OIDC), address, groups=groups, audience=audience)
    raise UserError(f"--auth cannot be {auth!r}: choose own, or oidc= with the address of an OpenID provider.")


def own_protection(
    tables: SignInTables,
    address: PublicAddress,
    *,
    access_seconds: float = ACCESS_SECONDS,
    fetch: Fetch | None = None,
    clock: Callable[[], float] = time.time,
) -> Protection:
    """The built-in authorization server.

    Args:
        tables: Of people, clients and tokens.
        address: Of the server.
        access_seconds: How long access tokens are good.
        fetch: Reads the documents of clients, if any are.
        clock: Gives the time in seconds since 1970.
    """
    refusals = Refusals()
    grants = Grants(tables, address, clock, access_seconds, refusals)
    clients = OAuthClients(tables, fetch, clock, refusals)
    pages = AuthorizationServer(
        address=address, people=People(tables, clock), clients=clients, grants=grants, refusals=refusals
    )
    return Protection(address=address, issuer=address.origin, checker=grants, pages=pages, refusals=refusals)


def oidc_protection(
    issuer: str, address: PublicAddress, *, groups: Sequence[str] = (), audience: str | None = None
) -> Protection:
    """An OpenID provider.

    Args:
        issuer: The provider's address.
        address: Of the server.
        groups: Who may do what, as `SCOPE=GROUP`.
        audience: What the provider calls this server.

    Raises:
        UserError: The provider's address or a scope is not valid.
    """
    refusals = Refusals()
    keys = ProviderKeys(provider_address(issuer))
    checker = OidcTokens(keys, address, audience, group_scopes(groups), refusals)
    return Protection(address=address, issuer=issuer, checker=checker, refusals=refusals)

"""The people who may sign in, how they were invited, and the devices on which they did.

An invitation is a code that is good once, for a person by a name; whoever has used it is signed in on that device,
and needs another one for the next. There are no passwords.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from m3bench.server.serving.auth.identity import SCOPES, scope_text, scopes_of
from m3bench.server.store.sign_ins import SignInTables, SignInWork
from m3bench.tasks.errors import UserError

DAY = 86400.0
DEVICE_DAYS = 30.0
"""How long a device stays signed in."""

ATTEMPTS = 10
"""Wrong codes that one address may try before it has to wait."""

ATTEMPTS_OF_ALL = 200
"""After so many from all addresses, each may try one: an attack from many must not lock everybody out."""

ATTEMPTS_SECONDS = 600.0

_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of codes, none of which is mistaken for another: 32, so each is five bits."""

_CODE_LETTERS = 20
"""A hundred bits."""

_DEVICE_LETTERS = 16
"""Of a device's hash, which name it."""


@dataclass(frozen=True)
class Person:
    """Somebody who was invited."""

    name: str
    scopes: frozenset[str]


@dataclass(frozen=True)
class AppGrant:
    """An app that a person lets in."""

    id: str
    name: str
    client: str
    scopes: str
    made: float


@dataclass(frozen=True)
class Device:
    """A browser in which a person is signed in."""

    name: str
    agent: str
    """What it calls itself."""
    made: float


@dataclass(frozen=True)
class PersonOverview:
    """What is known of a person."""

    name: str
    scopes: str
    invited: tuple[float, ...]
    """When invitations that nobody has used yet run out."""
    devices: tuple["Device", ...]
    apps: tuple[AppGrant, ...]


class TooManyAttempts(UserError):
    """Codes were tried too often."""


@dataclass(frozen=True)
class People:
    """Everybody who may sign in.

    Args:
        tables: Where they are kept.
        clock: Gives the time in seconds since 1970.
    """

    tables: SignInTables
    clock: Callable[[], float] = field(default=time.time)

    def invite(self, name: str, scopes: str, days: float) -> str:
        """Invite a person, who is added or gets these scopes; returns the code, of which only a hash is kept.

        Raises:
            UserError: The scopes or the name are not valid.
        """
        wanted = scopes_of(scopes)
        if not wanted or len(wanted) < len(set(scopes.split())):
            raise UserError(f"--scopes cannot be {scopes!r}: name some of {', '.join(SCOPES)}.")
        if not name.strip() or len(name) > 60 or not name.isprintable():
            raise UserError("A person's name can have up to 60 letters.")
        code, now = "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LETTERS)), self.clock()

        def add(work: SignInWork) -> None:
            if not work.change("UPDATE auth_people SET scopes = ? WHERE name = ?", scope_text(wanted), name):
                work.change("INSERT INTO auth_people VALUES (?, ?, ?)", name, scope_text(wanted), now)
            work.change("INSERT INTO auth_invitations VALUES (?, ?, ?, NULL)", hashed(code), name, now + days * DAY)

        self.tables.together(add)
        return "-".join(code[start : start + 5] for start in range(0, _CODE_LETTERS, 5))

    def redeem(self, given: str, place: str, agent: str) -> tuple[Person, str] | None:
        """Redeem an invitation: who was invited, and the new device's secret; None when it is not valid.

        Args:
            given: The code, as somebody typed it.
            place: Where it comes from: guessing is slowed down.
            agent: What the browser calls itself.

        Raises:
            TooManyAttempts: It was tried too often.
        """
        code, device, now = hashed(_plain(given)), secrets.token_urlsafe(32), self.clock()

        # In one transaction: a person whom the operator ends meanwhile must not be left with a device.
        def use(work: SignInWork) -> Person | bool:
            if tried_too_often(work, f"code {place}", now, ATTEMPTS, ATTEMPTS_OF_ALL):
                return True
            query = (
                "SELECT p.name, p.scopes FROM auth_invitations i JOIN auth_people p ON p.name = i.person "
                "WHERE i.hash = ? AND i.used IS NULL AND i.expires > ?"
            )
            found = work.rows(query, code, now)
            if not found:
                return False
            work.change("UPDATE auth_invitations SET used = ? WHERE hash = ?", now, code)
            work.change("DELETE FROM auth_attempts WHERE place = ?", f"code {place}")
            name, scopes = found[0]
            made = (hashed(device), name, agent[:120], now, now + DEVICE_DAYS * DAY)
            work.change("INSERT INTO auth_devices VALUES (?, ?, ?, ?, ?)", *made)
            return Person(name, scopes_of(scopes))

        done = self.tables.together(use)
        if done is True:
            raise TooManyAttempts("Too many codes were tried: wait ten minutes, then try again.")
        return (done, device) if isinstance(done, Person) else None

    def on_device(self, device: str) -> Person | None:
        """Who is signed in on a device, by its secret."""
        query = (
            "SELECT p.name, p.scopes FROM auth_devices d JOIN auth_people p ON p.name = d.person "
            "WHERE d.hash = ? AND d.expires > ?"
        )
        found = self.tables.rows(query, hashed(device), self.clock()) if device else []
        return Person(found[0][0], scopes_of(found[0][1])) if found else None

    def overview(self) -> list[PersonOverview]:
        """Everybody, by name."""
        people = self.tables.rows("SELECT name, scopes FROM auth_people ORDER BY name")
        return [self.overview_of(Person(name, scopes_of(scopes))) for name, scopes in people]

    def revoke_invitations(self, name: str) -> int:
        """Revoke unused invitations; returns how many there were."""
        self._known(name)
        query = "DELETE FROM auth_invitations WHERE person = ? AND used IS NULL"
        return self.tables.together(lambda work: work.change(query, name))

    def sign_out(self, device: str) -> None:
        """End a device, by its secret."""
        self.tables.together(lambda work: work.change("DELETE FROM auth_devices WHERE hash = ?", hashed(device)))

    def end_device(self, person: str, name: str) -> bool:
        """Sign a person out on a device, by its name; False when it is not theirs."""
        query = f"DELETE FROM auth_devices WHERE person = ? AND substr(hash, 1, {_DEVICE_LETTERS}) = ?"
        return bool(self.tables.together(lambda work: work.change(query, person, name)))

    def end_app(self, person: str, app: str) -> bool:
        """End what a person allowed an app; False when it is not theirs."""
        query = "UPDATE auth_grants SET ended = ?, why = 'person' WHERE id = ? AND person = ? AND ended IS NULL"
        return bool(self.tables.together(lambda work: work.change(query, self.clock(), app, person)))

    def end(self, name: str, *, forget: bool = False) -> None:
        """End all devices, apps and invitations of a person at once; they stay invited unless they are forgotten.

        Raises:
            UserError: There is nobody of that name.
        """
        self._known(name)

        def end(work: SignInWork) -> None:
            work.change("DELETE FROM auth_invitations WHERE person = ?", name)
            work.change("DELETE FROM auth_devices WHERE person = ?", name)
            query = "UPDATE auth_grants SET ended = ?, why = 'operator' WHERE person = ? AND ended IS NULL"
            work.change(query, self.clock(), name)
            if forget:
                work.change("DELETE FROM auth_people WHERE name = ?", name)

        self.tables.together(end)

    def overview_of(self, person: Person) -> PersonOverview:
        """What is known of one person."""
        rows, name, now = self.tables.rows, person.name, self.clock()
        grants = (
            "SELECT id, client_name, client, scopes, made FROM auth_grants "
            "WHERE person = ? AND ended IS NULL AND expires > ? ORDER BY made, id"
        )
        good = "person = ? AND used IS NULL AND expires > ?"
        unused = f"SELECT expires FROM auth_invitations WHERE {good} ORDER BY expires"
        devices = "SELECT hash, agent, made FROM auth_devices WHERE person = ? AND expires > ? ORDER BY made, hash"
        return PersonOverview(
            name,
            scope_text(person.scopes),
            tuple(row[0] for row in rows(unused, name, now)),
            tuple(Device(hash[:_DEVICE_LETTERS], agent, made) for hash, agent, made in rows(devices, name, now)),
            tuple(AppGrant(*row) for row in rows(grants, name, now)),
        )

    def _person(self, name: str) -> Person | None:
        found = self.tables.rows("SELECT name, scopes FROM auth_people WHERE name = ?", name)
        return Person(found[0][0], scopes_of(found[0][1])) if found else None

    def _known(self, name: str) -> None:
        if self._person(name) is None:
            raise UserError(f"Nobody is called {name!r}: `m3bench people list` names everybody.")


def tried_too_often(work: SignInWork, what: str, now: float, most: int, most_of_all: int) -> bool:
    """Count an attempt, unless there were too many. The transaction makes others wait until it is counted.

    Args:
        work: The transaction.
        what: Is tried, in a word, and from where.
        now: The time.
        most: How often it may be tried from there.
        most_of_all: How often from everywhere, after which each place may try once.
    """
    work.change("DELETE FROM auth_attempts WHERE at < ?", now - ATTEMPTS_SECONDS)
    here = work.rows("SELECT count(*) FROM auth_attempts WHERE place = ?", what)[0][0]
    kind = f"{what.partition(' ')[0]} "
    if here >= most or (
        here and work.rows("SELECT count(*) FROM auth_attempts WHERE place LIKE ?", f"{kind}%")[0][0] >= most_of_all
    ):
        return True
    work.change("INSERT INTO auth_attempts VALUES (?, ?)", what, now)
    return False


def device_name(secret: str) -> str:
    """What a device is called on its person's page: the secret cannot be found from it."""
    return hashed(secret)[:_DEVICE_LETTERS]


def hashed(secret: str) -> str:
    """How a secret is stored. It has a hundred random bits or more, so a fast hash will do."""
    return sha256(secret.encode()).hexdigest()


def _plain(code: str) -> str:
    return "".join(letter for letter in code.upper() if letter in _LETTERS)[: _CODE_LETTERS + 1]

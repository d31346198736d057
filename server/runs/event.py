"""A ranked event: who may play, and when. One participant is one seat, wherever and however they connect.

    name = "Autumn round"
    opens = 2026-11-20T09:00:00+00:00
    closes = 2026-11-20T18:00:00+00:00

    [[participants]]
    name = "team a"
    token = "SHA-256 of the token, in hexadecimal digits"

In place of the token, `identity` is the name under which a participant signs in on a server with `--auth`. The file is
its owner's alone, and the tokens themselves are not in it: whoever reads it cannot play for others. Times are those of
the server's clock. What happens in a run is no matter of this module.
"""

import json
import secrets
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from m3bench.tasks.atomic_files import check_private, write_private
from m3bench.tasks.errors import InputFileError, UserError

MOST = 200
"""Participants of an event: a server has seats for so many."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Participant(_Form):
    """Somebody who may play."""

    name: str = Field(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$")
    token: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """The SHA-256 of their token."""
    identity: str | None = Field(default=None, min_length=1, max_length=255)
    """In its place, the name under which they sign in."""

    @model_validator(mode="after")
    def _known_one_way(self) -> "Participant":
        if (self.token is None) == (self.identity is None):
            raise ValueError("a participant has either a token or an identity")
        return self

    @property
    def seat(self) -> str:
        """Where they sit: one seat for all their sessions, also after the server was started again."""
        known = self.token or f"identity {self.identity}"
        return sha256(f"m3bench event seat {known}".encode()).hexdigest()[:40]


class EventPlan(_Form):
    """What the file of an event says."""

    name: str = Field(min_length=1, max_length=80)
    opens: AwareDatetime
    closes: AwareDatetime
    participants: Annotated[tuple[Participant, ...], Field(min_length=1, max_length=MOST)]

    @model_validator(mode="after")
    def _can_be_held(self) -> "EventPlan":
        if self.closes <= self.opens:
            raise ValueError("it closes before it opens")
        name, times = Counter(participant.name for participant in self.participants).most_common(1)[0]
        if times > 1:
            raise ValueError(f"two participants are called {name!r}")
        if len({participant.seat for participant in self.participants}) < len(self.participants):
            raise ValueError("two participants have one token or identity")
        return self


class RankedEvent:
    """An event that is held.

    Args:
        plan: Who may play, and when.
        clock: Gives this moment.
    """

    def __init__(self, plan: EventPlan, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.plan = plan
        self._clock = clock
        self._names = {participant.seat: participant.name for participant in plan.participants}

    @classmethod
    def read(cls, path: Path) -> "RankedEvent":
        """The event of a file.

        Raises:
            InputFileError: It cannot be read, others can read it, or it is not an event.
        """
        try:
            check_private(path)
            return cls(EventPlan.model_validate(tomllib.loads(path.read_text("utf-8"))))
        except OSError as error:
            raise InputFileError(path, f"cannot be read ({error.strerror})") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise InputFileError(path, first["msg"], field=".".join(map(str, first["loc"]))) from None
        except ValueError as error:
            raise InputFileError(path, f"is not an event ({error})") from None

    @property
    def guests(self) -> dict[str, str]:
        """The seat of each participant, by the hash of their token."""
        return {who.token: who.seat for who in self.plan.participants if who.token is not None}

    @property
    def identities(self) -> dict[str, str]:
        """The seat of each participant who signs in, by the name under which they do."""
        return {who.identity: who.seat for who in self.plan.participants if who.identity is not None}

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        return self._clock() >= self.plan.closes

    def shut(self) -> str | None:
        """Why nobody can play now; None when they can."""
        if self._clock() < self.plan.opens:
            return f"The event {self.plan.name!r} opens at {moment(self.plan.opens)}: nothing can be played until then."
        if self.closed:
            return f"The event {self.plan.name!r} closed at {moment(self.plan.closes)}: nothing can be played anymore."
        return None

    def participant(self, seat: str) -> str:
        """Who sits on a seat.

        Raises:
            UserError: Nobody who may play.
        """
        if seat not in self._names:
            raise UserError("This server holds an event: connect with the token that its operator gave you.")
        return self._names[seat]

    def facts(self, seat: str) -> dict[str, str]:
        """What the manifest of a run on a seat says of the event."""
        return {"event": self.plan.name, "participant": self.participant(seat)}


def make_event(
    path: Path, name: str, opens: datetime, closes: datetime, participants: Sequence[str], *, sign_in: bool = False
) -> dict[str, str]:
    """Write the file of a new event; returns the token of each participant, which is kept nowhere.

    Participants who sign in have none: they are known by their names.

    Raises:
        InputFileError: There is a file already, or it cannot be written.
        UserError: There can be no such event.
    """
    tokens = [secrets.token_urlsafe(32) for _ in participants]
    given = [
        {"name": participant, **({"identity": participant} if sign_in else {"token": token_hash(token)})}
        for participant, token in zip(participants, tokens, strict=True)
    ]
    try:
        plan = EventPlan.model_validate({"name": name, "opens": opens, "closes": closes, "participants": given})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"There cannot be such an event: {where}{': ' if where else ''}{first['msg']}.") from None
    try:
        write_private(path, _toml(plan).encode())
    except FileExistsError:
        raise InputFileError(path, "already exists: an event is never replaced") from None
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error
    return {} if sign_in else dict(zip(participants, tokens, strict=True))


def token_hash(token: str) -> str:
    """How a token stands in the file of an event."""
    return sha256(token.encode()).hexdigest()


def moment(when: datetime) -> str:
    """A moment as people read it."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _toml(plan: EventPlan) -> str:
    lines = [f"name = {_quoted(plan.name)}", f"opens = {plan.opens.isoformat()}", f"closes = {plan.closes.isoformat()}"]
    for participant in plan.participants:
        known = "token" if participant.token is not None else "identity"
        value = _quoted(participant.token or participant.identity or "")
        lines += ["", "[[participants]]", f"name = {_quoted(participant.name)}", f"{known} = {value}"]
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

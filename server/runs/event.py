"""A ranked event: who may play, from when until when. One participant is one seat, wherever and however they connect.

    name = "Autumn round"
    opens = 2026-11-20T09:00:00+00:00
    closes = 2026-11-20T18:00:00+00:00

    [[participants]]
    name = "team a"
    token = "SHA-256 of the token, in hexadecimal digits"

The file is its owner's alone, and the tokens themselves are not in it: whoever reads it cannot play for others. Times
are those of the server's clock. What happens in a run is no matter of this module.
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

from m3bench.tasks.atomic_files import open_to_others, write_private
from m3bench.tasks.errors import InputFileError, UserError

MOST = 200
"""Participants of an event: a server has seats for so many."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Participant(_Form):
    """Somebody who may play."""

    name: str = Field(min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$")
    token: str = Field(pattern=r"^[0-9a-f]{64}$")
    """The SHA-256 of their token."""

    @property
    def seat(self) -> str:
        """Where they sit: one seat for all their sessions, also after the server was started again."""
        return sha256(f"m3bench event seat {self.token}".encode()).hexdigest()[:40]


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
        if len({participant.token for participant in self.participants}) < len(self.participants):
            raise ValueError("two participants have one token")
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
            InputFileError: It cannot be read, others can read it, or it is no event.
        """
        try:
            if open_to_others(path):
                raise InputFileError(path, "can be read by others: make it private (chmod 600)")
            return cls(EventPlan.model_validate(tomllib.loads(path.read_text("utf-8"))))
        except OSError as error:
            raise InputFileError(path, f"cannot be read ({error.strerror})") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise InputFileError(path, first["msg"], field=".".join(map(str, first["loc"]))) from None
        except ValueError as error:
            raise InputFileError(path, f"is no event ({error})") from None

    @property
    def guests(self) -> dict[str, str]:
        """The seat of each participant, by the hash of their token."""
        return {participant.token: participant.seat for participant in self.plan.participants}

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        return self._clock() >= self.plan.closes

    def shut(self) -> str | None:
        """Why nobody can play now; None when they can."""
        if self._clock() < self.plan.opens:
            return f"The event {self.plan.name!r} opens at {moment(self.plan.opens)}: nothing can be played before."
        if self.closed:
            return f"The event {self.plan.name!r} closed at {moment(self.plan.closes)}: nothing can be played any more."
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


def make_event(path: Path, name: str, opens: datetime, closes: datetime, participants: Sequence[str]) -> dict[str, str]:
    """Write the file of a new event; returns the token of each participant, which is kept nowhere.

    Raises:
        InputFileError: There is a file already, or it cannot be written.
        UserError: There can be no such event.
    """
    tokens = [secrets.token_urlsafe(32) for _ in participants]
    given = [
        {"name": participant, "token": token_hash(token)}
        for participant, token in zip(participants, tokens, strict=True)
    ]
    try:
        plan = EventPlan.model_validate({"name": name, "opens": opens, "closes": closes, "participants": given})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"There can be no such event: {where}{': ' if where else ''}{first['msg']}.") from None
    try:
        write_private(path, _toml(plan).encode())
    except FileExistsError:
        raise InputFileError(path, "is there already: an event is never replaced") from None
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error
    return dict(zip(participants, tokens, strict=True))


def token_hash(token: str) -> str:
    """How a token stands in the file of an event."""
    return sha256(token.encode()).hexdigest()


def moment(when: datetime) -> str:
    """A moment as people read it."""
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _toml(plan: EventPlan) -> str:
    lines = [f"name = {_quoted(plan.name)}", f"opens = {plan.opens.isoformat()}", f"closes = {plan.closes.isoformat()}"]
    for participant in plan.participants:
        lines += ["", "[[participants]]", f"name = {_quoted(participant.name)}", f'token = "{participant.token}"']
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

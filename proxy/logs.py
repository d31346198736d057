"""What is said on standard error: lines for people, or one JSON object a line with the run and the seat it belongs to.

A seat's handle lets whoever knows it sit down there, and a run's submit it: seats are named by a hash, and runs by the
beginning of their handle.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Protocol

from m3bench.tasks.errors import UserError

FORMS = ("plain", "json")

RUN_CHARACTERS = 12
"""Of a run's handle, as people see it elsewhere."""

NAME_CHARACTERS = 120
"""Of a name that a client chose."""


class LoggedRun(Protocol):
    """A run, as far as its lines need it."""

    id: str


class LoggedSeat(Protocol):
    """A seat, as far as its lines need it."""

    id: str

    @property
    def run(self) -> LoggedRun | None:
        """The run that is under way there."""
        ...


_answering: ContextVar[tuple[LoggedSeat, LoggedRun | None] | None] = ContextVar("answering", default=None)


@lru_cache(maxsize=4096)
def seat_name(seat: str) -> str:
    """A seat's name for people; its handle cannot be told from it."""
    return sha256(seat.encode(errors="replace")).hexdigest()[:8]


@contextmanager
def answering(seat: LoggedSeat, run: LoggedRun | None) -> Iterator[None]:
    """While this lasts, what is logged here belongs to a call on a seat and, when there is one, to a run."""
    token = _answering.set((seat, run))
    try:
        yield
    finally:
        _answering.reset(token)


class JsonLines(logging.Formatter):
    """Each record as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """A JSON object, in ASCII: whatever a client sends, a line stays a line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        whose = _answering.get()
        if whose is not None:
            seat, run = whose
            line["seat"] = seat_name(seat.id)
            # A call that starts a run belongs to it from then on.
            current = run or seat.run
            if current is not None:
                line["run"] = current.id[:RUN_CHARACTERS]
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


def write_logs(form: str) -> None:
    """Choose the form of what this process logs; by default plain lines.

    Raises:
        UserError: There is no such form.
    """
    if form not in FORMS:
        raise UserError(f"--log cannot be {form!r}: choose plain or json.")
    if form == "json":
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(JsonLines())
        logging.basicConfig(handlers=[handler], level=logging.WARNING)
        logging.getLogger("m3bench").setLevel(logging.INFO)
        logging.captureWarnings(True)


def in_json() -> bool:
    """Whether lines are JSON."""
    return any(isinstance(handler.formatter, JsonLines) for handler in logging.getLogger().handlers)


def tell(text: str) -> None:
    """Tell whoever started the process something, on a line of its own."""
    if in_json():
        logging.getLogger("m3bench").info("%s", text.removeprefix("m3bench: "))
    else:
        print(text, file=sys.stderr, flush=True)

"""The result of verifying a bundle: a level, what that level proves, and everything that differs from the claims."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from pydantic import TypeAdapter

from m3bench.server.lab.results.documents import JsonDocument
from m3bench.tasks.json_types import JsonObject

Level = Literal["attested", "replayed", "consistent", "refuted"]

_LONG = 300
"""Characters of a value in a report."""

MOST_DIFFERENCES = 1000
"""That are listed; more of them say no more."""

_LONG_NOTE = 1000

Odd = tuple[str, object, object]
"""What is odd, what is claimed, what was found."""

REPLAYED_SHARE = 0.95
"""Of the calls that are no third-party server's, how many must have been made again for the level."""

LEVELS: tuple[Level, ...] = ("refuted", "consistent", "replayed", "attested")
"""From the lowest to the highest."""

PROVES: dict[Level, str] = {
    "attested": "A server whose key you trust signed every run as it was sealed, and nothing here contradicts it.",
    "replayed": "The calls were made again in a fresh sandbox, with the same results and the same files, and the "
    "numbers follow from them.",
    "consistent": "The numbers follow from the log, and the log does not contradict itself. Too few calls were made "
    "again to say more.",
    "refuted": "Something is not as claimed.",
}

CANNOT: dict[Level, str] = {
    "attested": "Who sat at the client: a person, or another model than the one named.",
    "replayed": "Who made the calls, when, and how many other attempts there were. Whoever has the references can make "
    "such a bundle by playing them.",
    "consistent": "That the results ever came from a tool, who made the calls, and how many other attempts there were.",
    "refuted": "Who changed what, or why.",
}


@dataclass(frozen=True, kw_only=True)
class Discrepancy(JsonDocument):
    """Something that is not as the bundle says."""

    where: str
    """A run with its task, or a part of the bundle."""
    what: str
    claimed: object
    recomputed: object


@dataclass(frozen=True, kw_only=True)
class Coverage(JsonDocument):
    """How much of the set a bundle is about."""

    tasks: int = 0
    """Tasks that were to be attempted."""
    of: int = 0
    """Tasks of the whole set."""
    planned: int = 0
    """Samples that were to be made."""
    scored: int = 0
    void: int = 0
    missing: int = 0


@dataclass(frozen=True, kw_only=True)
class ReplayCount(JsonDocument):
    """What was replayed with the same results."""

    runs: int
    calls: int
    tried: int = 0
    """Runs that were replayed as far as that can be done."""
    of: int = 0
    """Calls that there are, without those of third-party servers."""
    upstream: int = 0
    """Calls that third-party servers answered, which nobody can make again."""
    unlike: int = 0
    """Results and files that came out differently, which calls that cannot be made again may explain."""


@dataclass(frozen=True, kw_only=True)
class VerdictDocument(JsonDocument):
    """A verdict as it is printed, and kept by a board."""

    name: str
    verdict: Level
    summary: str
    proves: str
    cannot_prove: str
    set: Literal["public", "other"]
    signers: tuple[str, ...]
    starts: Mapping[str, int]
    coverage: Coverage
    runs: int
    values: int
    replayed: ReplayCount
    differences: tuple[Discrepancy, ...]
    notes: tuple[str, ...]
    unsolved: Mapping[str, int] | None = None
    """By task: attempts that count as not solved, because the server that signed started them and they are not in the
    bundle; null when nobody signed."""
    alone: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """By run: the score card without the submitter's word on the client, where that is another and nobody signed it."""


_DOCUMENT = TypeAdapter(VerdictDocument)


@dataclass(kw_only=True)
class BundleVerdict:
    """The result of verifying a bundle."""

    name: str
    """How the result set calls itself."""
    public: bool = False
    """Whether everybody has the tasks with their references."""
    runs: int = 0
    """How many were scored again."""
    values: int = 0
    """How many values of score cards were compared."""
    replayed: int = 0
    """Runs whose calls were all made again, with the same results and files."""
    tried: int = 0
    """Runs that were replayed as far as that can be done."""
    calls: int = 0
    """Calls that were made again and came out the same."""
    of_calls: int = 0
    """Calls of the runs that were tried, without those of third-party servers."""
    upstream: int = 0
    """Calls that third-party servers answered."""
    unlike: int = 0
    """Results and files that came out differently, which calls that cannot be made again may explain."""
    signers: list[str] = field(default_factory=list)
    """Fingerprints of the trusted keys that signed all of it; empty when there is none."""
    starts: dict[str, int] = field(default_factory=dict)
    """How many runs the server that signed has started, and what became of them; empty when nobody signed."""
    unsolved: dict[str, int] | None = None
    """By task: attempts that the server started and that are not here; None when nobody signed."""
    told: dict[str, Mapping[str, object] | None] = field(default_factory=dict)
    """By run: what is claimed of its client, by which its calls were put into steps."""
    doubted: set[str] = field(default_factory=set)
    """Runs of which that is not what is known here."""
    alone: dict[str, Mapping[str, object]] = field(default_factory=dict)
    """By run: the score card without the submitter's word on the client, where that is another and nobody signed it."""
    coverage: Coverage = Coverage()
    differences: list[Discrepancy] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Remarks that are not differences."""

    @property
    def confirmed(self) -> bool:
        """Whether everything is as claimed."""
        return not self.differences

    @property
    def level(self) -> Level:
        """How far the bundle can be trusted."""
        if self.differences:
            return "refuted"
        if self.signers:
            return "attested"
        return "replayed" if self.made_again else "consistent"

    @property
    def made_again(self) -> bool:
        """Whether enough calls were made again, none came out differently, and nobody answered who cannot be asked."""
        whole = 0 < self.runs == self.tried and not self.upstream and not self.unlike
        return whole and self.calls >= REPLAYED_SHARE * self.of_calls

    @property
    def share(self) -> str:
        """How many of the calls were made again, in words; empty when it is all of them."""
        return f" ({self.calls} of {self.of_calls} calls)" if self.calls < self.of_calls else ""

    @property
    def summary(self) -> str:
        """The level in one line, with what a reader of a board must know beside it."""
        if self.level == "refuted":
            return "refuted"
        whose = "public set" if self.public else "set of its own"
        signed = f"signed by {', '.join(self.signers)}" if self.signers else "unattested"
        again = [f"replayed{self.share}"] if self.made_again else []
        level = [] if self.level == "replayed" else [self.level]
        return ", ".join([*level, *again, whose, signed])

    def reaches(self, level: Level) -> bool:
        """Whether the level is this one or a higher one."""
        return LEVELS.index(self.level) >= LEVELS.index(level)

    def differ(self, where: str, what: str, claimed: object, recomputed: object) -> None:
        """Add a difference."""
        left = MOST_DIFFERENCES - len(self.differences)
        if left == 1:
            where, what, claimed, recomputed = "bundle", "differences", f"at most {MOST_DIFFERENCES - 1}", "more"
        if left > 0:
            self.differences.append(
                Discrepancy(
                    where=where[:_LONG],
                    what=what[:_LONG],
                    claimed=_shortened(claimed),
                    recomputed=_shortened(recomputed),
                )
            )

    def note(self, text: str) -> None:
        """Add something worth knowing, once."""
        text = text if len(text) <= _LONG_NOTE else f"{text[:_LONG_NOTE]}…"
        if text not in self.notes:
            self.notes.append(text)

    @property
    def document(self) -> VerdictDocument:
        """The verdict as it is now."""
        return VerdictDocument(
            name=self.name,
            verdict=self.level,
            summary=self.summary,
            proves=PROVES[self.level],
            cannot_prove=CANNOT[self.level],
            set="public" if self.public else "other",
            signers=tuple(self.signers),
            starts=dict(self.starts),
            coverage=self.coverage,
            runs=self.runs,
            values=self.values,
            replayed=ReplayCount(
                runs=self.replayed,
                calls=self.calls,
                tried=self.tried,
                of=self.of_calls,
                upstream=self.upstream,
                unlike=self.unlike,
            ),
            differences=tuple(self.differences),
            notes=tuple(self.notes),
            unsolved=None if self.unsolved is None else dict(self.unsolved),
            alone=dict(self.alone),
        )

    @classmethod
    def read(cls, data: object) -> "BundleVerdict":
        """A verdict from its document."""
        found = _DOCUMENT.validate_python(data)
        return cls(
            name=found.name,
            public=found.set == "public",
            runs=found.runs,
            values=found.values,
            replayed=found.replayed.runs,
            tried=found.replayed.tried,
            calls=found.replayed.calls,
            of_calls=found.replayed.of,
            upstream=found.replayed.upstream,
            unlike=found.replayed.unlike,
            signers=list(found.signers),
            starts=dict(found.starts),
            unsolved=None if found.unsolved is None else dict(found.unsolved),
            alone=dict(found.alone),
            coverage=found.coverage,
            differences=list(found.differences),
            notes=list(found.notes),
        )

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes."""
        return self.document.to_json()


def _shortened(value: object) -> object:
    """A value for a report: long ones by their beginning and hash, numbers that JSON does not have in words."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
    except ValueError:
        text = value = str(value)
    if len(text) <= _LONG:
        return value
    return f"{text[:_LONG]}… ({len(text)} characters, {sha256(text.encode(errors='replace')).hexdigest()[:12]})"

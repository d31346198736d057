"""Capability cards: what a probe found out about a client, kept one file per client below the data folder.

A card is plain data with a version. Each of its facts has a value, a sentence that says it, and the evidence it
rests on: `protocol` was measured on the wire, `checked` is what the model typed back and could not have known
otherwise, `model` is the model's bare word. Score cards show a short form of the card of the client that played.
"""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal, Protocol, TypedDict

from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError

VERSION = 1

FOLDER = "clients"
"""Below the data folder."""

Evidence = Literal["protocol", "checked", "model"]


class Fact(TypedDict):
    """A line of a card."""

    value: object
    """None when the probe could not tell."""
    evidence: Evidence
    says: str


class ProbedClient(TypedDict):
    """What a client calls itself."""

    name: str
    version: str


class ProbeSetup(TypedDict):
    """How a client was probed."""

    transport: str
    profile: str
    long: int
    slow: float


class CapabilityCard(TypedDict):
    """A card as it stands in its file."""

    version: int
    client: ProbedClient
    taken: str
    m3bench: str
    complete: bool
    setup: ProbeSetup
    facts: dict[str, Fact]


ToolLoading = Literal["loaded", "by search", "not known"]
"""How a client's model comes by the tools: all are there from the start, or it searches for those that it needs."""

UNCHANGING = frozenset(["", "0.0.0", "0.0.1", "0.1.0", "1", "1.0", "1.0.0"])
"""Versions that clients give whatever their version is."""

SHORT = ("images", "overlap", "overlap_others", "structured", "long_text", "call_seconds")
"""The facts that a score card shows, because scores depend on them."""

LATE = "late"
"""Among the capabilities of a client: False when no call waits for a person to allow it, or for a model to write it."""

AS_WRITTEN = "as_written"
"""Among the capabilities of a client: True when it sends each call as soon as its model has written it."""


class ClientFacts(TypedDict):
    """What a score card says of the client that played."""

    name: str
    revision: str
    capabilities: dict[str, object] | None
    """The short form of its capability card."""
    tools: ToolLoading


class ClientTable(Protocol):
    """What is known of clients beforehand, by what they call themselves."""

    def structured(self, name: str) -> str:
        """What a client does with structured content; empty when it is not known."""
        ...

    def most_bytes(self, name: str) -> int | None:
        """How many bytes a client is sent at a time; None when it is not known to have a limit."""
        ...

    def loading(self, name: str) -> ToolLoading:
        """How its model comes by the tools."""
        ...

    def late(self, name: str) -> bool:
        """Whether it may send a call long after others of its turn: a person allows it, or its model writes it."""
        ...

    def as_written(self, name: str) -> bool:
        """Whether it is known to send each call as soon as its model has written it."""
        ...

    def measured(self, name: str, version: str) -> dict[str, object] | None:
        """What a trial found of this version or of another of its family, in the short form of a capability card."""
        ...


def fact(value: object, evidence: Evidence, says: str) -> Fact:
    """One line of a card; a value of None means that the probe could not tell."""
    return {"value": value, "evidence": evidence, "says": says}


def file_name(client: str) -> str:
    """A file name for whatever a client calls itself; no two names share one."""
    slug = re.sub(r"[^a-z0-9.]+", "-", client.lower()).strip("-.")[:48] or "client"
    return (
        f"{slug}.json"
        if slug == client and not re.search(r"-[0-9a-f]{8}$", client)
        else f"{slug}-{sha256(client.encode(errors='surrogatepass')).hexdigest()[:8]}.json"
    )


def keep(data: Path, probed: CapabilityCard) -> Path:
    """Write a card in place of the one of the same client and version; returns the file.

    A probe that was broken off never takes the place of one that was complete, and a file that cannot be read is
    moved aside.

    Raises:
        InputFileError: The file cannot be written.
    """
    path = data / FOLDER / file_name(probed["client"]["name"])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        known = _known(path)
        others = [old for old in known if old["client"]["version"] != probed["client"]["version"]]
        if not probed["complete"] and any(old not in others and old.get("complete") for old in known):
            return path
        cards = sorted([*others, probed], key=lambda card: (card["taken"], card["client"]["version"]))
        write_atomically(path, f"{json.dumps({'version': VERSION, 'cards': cards}, indent=1)}\n".encode())
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror}): choose a folder with --data") from error
    return path


def _known(path: Path) -> list[CapabilityCard]:
    """The cards of a file, which is moved aside when it cannot be read."""
    try:
        return _read(path)
    except InputFileError:
        path.replace(path.with_suffix(".unreadable"))
        return []


def cards(data: Path) -> list[CapabilityCard]:
    """Every card that is kept, by client, the newest of each last."""
    return [card for path in sorted((data / FOLDER).glob("*.json")) for card in _read(path)]


def cards_of(data: Path, names: Iterable[str]) -> list[CapabilityCard]:
    """The cards of clients that call themselves by one of these names; one that ends in `*` is a beginning."""
    wanted = [re.escape(name).replace(r"\*", ".*") for name in names]
    return [found for found in cards(data) if any(re.fullmatch(pattern, found["client"]["name"]) for pattern in wanted)]


def same_family(version: str, other: str) -> bool:
    """Whether what was found of one version of a client may be expected of another: their first numbers are equal."""
    first, second = (re.match(r"\D{0,2}(\d+)", each) for each in (version, other))
    return version == other or (first is not None and second is not None and first[1] == second[1])


def bare_name(called: str) -> str:
    """What a client calls itself, of its name and version as the record has them."""
    return called.rpartition(" ")[0] or called


def client_facts(data: Path, called: str, revision: str, table: ClientTable | None = None) -> ClientFacts:
    """What a score card says of the client that played: who it is, and the short form of its capability card.

    What a probe found of this version here comes first, then what a probe here or a trial elsewhere found of another
    version of its family, then what a probe found of any other.

    Args:
        data: The data folder.
        called: Name and version as the record of calls has them.
        revision: The protocol revision it spoke.
        table: What is known of clients beforehand.
    """
    name, _, version = called.rpartition(" ") if " " in called else (called, "", "")
    try:
        known = _read(data / FOLDER / file_name(name)) if name else []
    except InputFileError:
        known = []  # A card that cannot be read must not cost a score.
    exact = [probed for probed in known if probed["client"]["version"] == version]
    near = exact or [probed for probed in known if same_family(probed["client"]["version"], version)]
    measured = table.measured(name, version) if table is not None and not near else None
    chosen = (near or known)[-1:]
    found = measured or (short(chosen[0]) if chosen else None)
    if found is not None and table is not None:
        found |= {} if table.late(name) else {LATE: False}
        found |= {AS_WRITTEN: True} if table.as_written(name) else {}
    return {
        "name": called,
        "revision": revision,
        "capabilities": found,
        "tools": table.loading(name) if table is not None else "not known",
    }


def short(probed: CapabilityCard) -> dict[str, object]:
    """The facts that scores depend on, and the version of the client that was probed."""
    values = {name: probed["facts"][name]["value"] if name in probed["facts"] else None for name in SHORT}
    return {"probed": probed["client"]["version"], **values}


def client_line(name: str, found: Mapping[str, object] | None, tools: ToolLoading = "not known") -> str:
    """A line of Markdown on a client; empty when it gave no name.

    Args:
        name: What it called itself.
        found: The short form of its capability card, when there is one.
        tools: How its model comes by the tools.
    """
    if not name:
        return ""
    said = known_words(name, found, tools)
    return f"Client: {_inert(name)}" + (f" — {_inert(said, 300)}" if said else "")


def known_words(name: str, found: Mapping[str, object] | None, tools: ToolLoading) -> str:
    """What is known of a client, as plain text; empty when that is nothing worth telling."""
    said = ["its model searches for tools" if tools == "by search" else ""]
    return ", ".join(filter(None, [*said, probe_words(name, found) if found is not None else ""]))


def probe_words(name: str, found: Mapping[str, object]) -> str:
    """What a probe found of a client, as plain text; names the version that was probed when it is another."""
    said = ", ".join(words(found)) or "probed, nothing to tell"
    return said if name.endswith(f" {found.get('probed')}") else f"{said} (probed as {str(found.get('probed'))[:80]})"


def words(found: Mapping[str, object]) -> list[str]:
    """The short form of a card in words, a few for each fact."""
    return [word for word in _each(found) if word]


def _each(found: Mapping[str, object]) -> Iterable[str]:
    images, overlap, others = (found.get(name) for name in ("images", "overlap", "overlap_others"))
    yield "" if images is None else "sees images" if images else "does not see images"
    if overlap == "together" and others not in ("together", None):
        yield "several calls at once to read-only tools, one at a time to others"
    else:
        yield "" if overlap is None else "several calls at once" if overlap == "together" else "one call at a time"
    structured = found.get("structured")
    yield f"structured content {structured}" if structured and structured not in ("shown", "ignored") else ""
    whole = found.get("long_text")
    yield f"texts whole to {whole // 1000} kB" if isinstance(whole, int) else ""
    seconds = found.get("call_seconds")
    yield f"gives a call up after {seconds:g} s" if isinstance(seconds, int | float) else ""


def _inert(text: str, most: int = 80) -> str:
    """A client's own words, on one line and without anything that Markdown would act on."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)[:most]
    return re.sub(r"([\\`*_\[\]<>|#!])", r"\\\1", plain)


def _read(path: Path) -> list[CapabilityCard]:
    """The cards of a file; none when there is none.

    Raises:
        InputFileError: The file is not one of ours.
    """
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise InputFileError(path, "cannot be read: remove it and probe the client again") from error
    if not isinstance(found, dict) or found.get("version") != VERSION or not _well_formed(found.get("cards")):
        raise InputFileError(path, "is not a capability card of this version: remove it and probe the client again")
    return list(found["cards"])


def _well_formed(found: object) -> bool:
    return isinstance(found, list) and all(
        isinstance(probed, dict)
        and isinstance(probed.get("client"), dict)
        and all(isinstance(probed["client"].get(key), str) for key in ("name", "version"))
        and isinstance(probed.get("taken"), str)
        and isinstance(probed.get("facts"), dict)
        and all(
            isinstance(fact, dict) and {"value", "evidence", "says"} <= set(fact) for fact in probed["facts"].values()
        )
        for probed in found
    )

"""Reads score cards of every version: a card that was written once stays readable, with the same numbers.

Version 1 is the first release's: no `schema`, the scoring version under `version`, improvements under `gains`. In
version 2 the headline is the paper's metric. To add a version, write one function from the version before to it and
list it in `_STEPS`.
"""

from collections.abc import Callable, Mapping

from pydantic import ValidationError

from m3bench.server.scorecard.improvements import improvements
from m3bench.server.scorecard.model import SCHEMA, ScoreCard
from m3bench.server.store.records import RunRecord
from m3bench.tasks.errors import StoreError
from m3bench.tasks.json_types import JsonObject, JsonValue


def card_of(record: RunRecord) -> ScoreCard | None:
    """The score card of a recorded run; None when it was not scored.

    Raises:
        StoreError: What is recorded is not a score card, or one of a newer version.
    """
    if record.scorecard is None:
        return None
    try:
        return read_card(record.scorecard)
    except StoreError as error:
        raise StoreError(f"Run {record.id[:12]}: {error}") from error


def read_card(data: Mapping[str, JsonValue]) -> ScoreCard:
    """A score card of any version.

    Raises:
        StoreError: It is not a score card, or one of a newer version.
    """
    newest = upgraded(data)
    try:
        card = ScoreCard.model_validate(newest)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise StoreError(f"the score card cannot be read ({field}: {first['msg']}): score the run again") from error
    if "improvements" not in newest:
        return card.model_copy(update={"improvements": improvements(card)})
    return card


def upgraded(data: Mapping[str, JsonValue]) -> JsonObject:
    """The data of a score card as this version would have written it; its values are not checked.

    Raises:
        StoreError: Its version is unknown.
    """
    found = dict(data)
    version = found.get("schema", 1)
    if not isinstance(version, int) or not 1 <= version <= SCHEMA:
        raise StoreError(f"the score card has the unknown version {version!r}: read it with a newer m3bench")
    for step in _STEPS[version - 1 :]:
        found = step(found)
    return found


def _from_1(old: JsonObject) -> JsonObject:
    """Give the form a version of its own and what had other names its own; tell of a client and of reasons always."""
    renamed = {"version": "scoring_version", "gains": "improvements"}
    new = {renamed.get(name, name): value for name, value in old.items()}
    return {
        "schema": 2, "ranges_exact": True, "evidence": [], "contradictions": [], "reasons": {}, "client": None,
        "gaps": 0, "gap_share": 0.0, "void": None, "grounded": None, "ungrounded": [], **new,
    }  # fmt: skip


def _from_2(old: JsonObject) -> JsonObject:
    """Say that the headline is the paper's metric, which it stays; what was said by effect in passing is left out."""
    new = {name: value for name, value in old.items() if name != "effect"}
    alignment = new.get("alignment")
    if isinstance(alignment, dict):
        matches = alignment.get("matches")
        if isinstance(matches, list):
            more: JsonObject = {"also": [], "way": None, "note": ""}
            matches = [{**more, **match} if isinstance(match, dict) else match for match in matches]
        new["alignment"] = {"not_needed": [], "instead": [], "needs": [], "waits": [], **alignment, "matches": matches}
    if isinstance(client := new.get("client"), dict):
        new["client"] = {"tools": "not known", **client}
    return {"sight": None, "hearing": None, **new, "schema": 3, "scoring_profile": "m3", "paper": None}


_STEPS: tuple[Callable[[JsonObject], JsonObject], ...] = (_from_1, _from_2)
"""From each version to the next, the oldest first."""

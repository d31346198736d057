"""How far two calls of the same tool ask for the same thing, argument by argument and by kind, and what a call gave.

Identity, quantity and place agree or do not. Text and content agree to a share between 0 and 1. Presentation never
counts. Nothing is embedded and nothing is looked up: names of places that are written otherwise, and other words for
the same search, are for the effect of the call to decide.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from m3bench.server.scoring.matching import content
from m3bench.server.scoring.signatures import ToolSignature
from m3bench.tasks.distance import NEAR_METRES, metres
from m3bench.tasks.facts import Fact, Held, facts_of, leaves, number, same_number
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import Kind, ToolKinds, kinds_of
from m3bench.tasks.plan import digest
from m3bench.tasks.things import Thing, entries_of, thing_of
from m3bench.tasks.tolerance import read_as
from m3bench.tasks.trajectory import JSON, Call

PATHS = frozenset({"imageFileUri", "image_paths", "image_source", "input_data", "input_path"})
"""Arguments that name a picture to work on."""
OUTPUTS = frozenset({"output_path", "outputPath"})
"""Arguments that name a picture to make."""

_EDGE = re.compile(r"[^\w]+")
_WORD = re.compile(r"\w+")
_LITTLE = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "near", "of", "on", "or", "the", "to", "with"})
_LATITUDE, _LONGITUDE = ("latitude", "lat"), ("longitude", "lng", "lon")


class Disagreement(NamedTuple):
    """An argument in which two calls ask for different things."""

    argument: str
    kind: Kind
    wanted: JSON
    asked: JSON


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How two calls compare."""

    equal: bool
    """Every argument that counts is the same."""
    share: float
    """Mean agreement of text and content; 1 when there is none of either."""
    reworded: tuple[Disagreement, ...]
    """Texts that differ: what the call brought about says whether it was as good."""
    wrong: tuple[Disagreement, ...]
    """Identities, quantities and places that are others."""


class FileNames(NamedTuple):
    """The names of a run's files, by where they come from."""

    given: frozenset[str] = frozenset()
    """Of the files that the run began with."""
    made: frozenset[str] = frozenset()
    """Of the files that calls of the run made."""


def agree(
    reference: Call, actual: Call, signature: ToolSignature | None = None, files: FileNames | None = None
) -> Agreement:
    """Compare an actual call with a reference call of the same tool.

    Args:
        reference: The call that is wanted; values that it tolerates are read as its own, but for content (whoever may
            lay out a table freely is still to put the right things in) and but for words, which decide nothing.
        actual: The call that was made.
        signature: Defaults and unordered arrays of the tool; None when nothing is known of them.
        files: The run's files. The names of those that it did not begin with are the client's own choice, so pictures
            that are made in the run are compared by the calls that made them, and not here. Actions may be done in
            another order, so one of the two pictures may be there from the beginning.
    """
    kinds, known, files = kinds_of(reference.tool), signature or ToolSignature(), files or FileNames()
    tolerated = {
        name: tolerance
        for name, tolerance in reference.tolerances.items()
        if kinds.kind(name) != "content" and not tolerance.words
    }
    wanted = _joined(_given(reference.arguments, known.defaults), kinds)
    asked = _joined(_given(read_as(reference.arguments, tolerated, actual.arguments), known.defaults), kinds)
    wrong: list[Disagreement] = []
    shares: list[float] = []
    reworded: list[Disagreement] = []
    for name in sorted(wanted.keys() | asked.keys()):
        kind = "place" if name == _POSITION else kinds.kind(name)
        if kind == "presentation":
            continue
        left, right = wanted.get(name), asked.get(name)
        if left == right and type(left) is type(right):
            shares += [1.0] if kind in ("text", "content") else []
        elif kind in ("text", "content"):
            share = content.share(name, left, right) if kind == "content" else _likeness(left, right)
            shares.append(share)
            if kind == "text" and share < 1:
                reworded.append(Disagreement(name, kind, left, right))
        elif name in PATHS and _exchangeable(left, right, files, action=kinds.role == "action"):
            continue
        elif not _same(kind, left, right, ordered=name not in known.unordered):
            wrong.append(Disagreement(name, kind, left, right))
    share = math.fsum(shares) / len(shares) if shares else 1.0
    return Agreement(equal=not wrong and share == 1, share=share, reworded=tuple(reworded), wrong=tuple(wrong))


@dataclass(frozen=True, kw_only=True)
class MadeCall:
    """An actual call with what it gave."""

    call: Call
    step: int
    result: str | None
    """The text of its result; None when it is not known, as in a file of trajectories."""

    @cached_property
    def held(self) -> Held:
        """The result, asked for facts."""
        return Held(self.result or "")

    @cached_property
    def asked(self) -> Held:
        """The arguments, asked for facts."""
        return Held("\n".join(str(leaf) for leaf in leaves(self.call.arguments)))

    @cached_property
    def digest(self) -> str:
        """Of the result."""
        return digest(self.result or "")

    @cached_property
    def about(self) -> Thing:
        """What it was about; empty when its result does not say."""
        return thing_of(self.call.tool, self.result) if self.result is not None else ()

    @cached_property
    def entries(self) -> frozenset[str]:
        """Of a tool that finds a list: all that it found."""
        return entries_of(self.call.tool, self.result or "")

    @cached_property
    def _agreements(self) -> dict[str, Agreement]:
        """How it compares with reference calls, which references of a task have in common."""
        return {}

    def agreement(self, wanted: Call, signature: ToolSignature | None, files: FileNames) -> Agreement:
        """How its arguments compare with those of a reference call of the same tool."""
        key = f"{wanted.arguments}{id(wanted.tolerances) if wanted.tolerances else ''}"
        found = self._agreements.get(key)
        if found is None:
            found = self._agreements[key] = agree(wanted, self.call, signature, files)
        return found

    def told(self, fact: Fact) -> bool:
        """Whether the call brought a fact that whoever made it did not put in."""
        return self.held.holds(fact) and not self.asked.holds(fact)


_POSITION = "position"
_MODES = frozenset({"operation", "source_type"})
"""Which of a tool's several uses is meant: not what it is used on."""


def says_nothing(call: Call, pictures: frozenset[str]) -> bool:
    """Whether a call has no argument that counts: it opens, saves or passes on what other calls fill."""
    kinds = kinds_of(call.tool)
    return all(
        kinds.kind(name) == "presentation" or name in _MODES or (name in PATHS and made_in_run(value, pictures))
        for name, value in call.arguments.items()
    )


def _given(arguments: Mapping[str, JSON], defaults: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The arguments with every default in its place; null is the same as absent."""
    given = {**defaults, **{name: value for name, value in arguments.items() if value is not None}}
    return {name: value for name, value in given.items() if value is not None}


def _joined(arguments: Mapping[str, JSON], kinds: ToolKinds) -> Mapping[str, JSON]:
    """A latitude and a longitude that are two arguments are one position."""
    names = [
        next((n for n in axis if n in arguments and kinds.kind(n) == "place"), None) for axis in (_LATITUDE, _LONGITUDE)
    ]
    if None in names:
        return arguments
    latitude, longitude = (arguments[name] for name in names if name is not None)
    rest = {name: value for name, value in arguments.items() if name not in names}
    return {**rest, _POSITION: {"latitude": latitude, "longitude": longitude}}


def _same(kind: Kind, wanted: JSON, asked: JSON, *, ordered: bool) -> bool:
    if wanted is None or asked is None:
        return wanted is asked or (_empty(wanted) and _empty(asked))
    if kind == "place":
        return same_place(wanted, asked)
    if isinstance(wanted, list | tuple) and isinstance(asked, list | tuple):
        if len(wanted) != len(asked):
            return False
        if ordered:
            return all(_same(kind, item, other, ordered=True) for item, other in zip(wanted, asked, strict=True))
        left = list(asked)
        for item in wanted:
            found = next((i for i, other in enumerate(left) if _same(kind, item, other, ordered=True)), None)
            if found is None:
                return False
            left.pop(found)
        return True
    if isinstance(wanted, Mapping) and isinstance(asked, Mapping):
        names = wanted.keys() | asked.keys()
        return all(_same(kind, wanted.get(name), asked.get(name), ordered=ordered) for name in names)
    if isinstance(wanted, bool) or isinstance(asked, bool):
        return _truth(wanted) is _truth(asked) is not None
    one, other = number(wanted), number(asked)
    if one is not None and other is not None:
        # A code such as 007 is no number, and a number may come as text.
        return (
            same_number(one, other)
            if kind == "quantity" or not (isinstance(wanted, str) and isinstance(asked, str))
            else _code(wanted) == _code(asked)
        )
    return kind == "identity" and _code(wanted) == _code(asked)


def _exchangeable(wanted: JSON, asked: JSON, files: FileNames, *, action: bool) -> bool:
    """Whether two pictures are told apart by the calls that made them, and not by their names."""
    if made_in_run(wanted, files.given):
        return action or made_in_run(asked, files.given)
    return action and bool(files.made) and all(file_name(str(leaf)) in files.made for leaf in leaves(asked))


def files_of(call: Call, *, inputs: bool) -> frozenset[str]:
    """The pictures that a call works on, or those that it makes."""
    return frozenset(
        str(leaf).removeprefix("./")
        for name, value in call.arguments.items()
        if name in (PATHS if inputs else OUTPUTS)
        for leaf in leaves(value)
    )


def file_name(path: str) -> str:
    """The last part of a path."""
    return path.replace("\\", "/").rpartition("/")[2]


def made_in_run(value: JSON, pictures: frozenset[str]) -> bool:
    """Whether a path, or none of several, is of a file that the run began with."""
    paths = [str(leaf) for leaf in leaves(value)]
    return bool(pictures and paths) and not any(file_name(path) in pictures for path in paths)


def _empty(value: JSON) -> bool:
    return value is None or value in ("", [], {}, ())


def _truth(value: JSON) -> bool | None:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(str(value).casefold())


def _code(value: JSON) -> str:
    """An id, a code or a path without what people write differently: case, hyphens, `./`, a prefix such as r/."""
    text = fold(str(value)).replace("\\", "/").removeprefix("./").removeprefix("r/").rstrip("/")
    return _EDGE.sub("", text) if not re.search(r"[./:@]", text) else text


def same_place(wanted: JSON, asked: JSON) -> bool:
    """Whether two places are the same: positions by distance, names by their parts."""
    one, other = list(_points(wanted)), list(_points(asked))
    if one or other:
        near = len(one) == len(other) and all(metres(a, b) <= NEAR_METRES for a, b in zip(one, other, strict=True))
        return near and [*_names(wanted)] == [*_names(asked)]
    left, right = [*_names(wanted)], [*_names(asked)]
    if not left and not right:
        return wanted == asked
    return len(left) == len(right) and all(_same_name(a, b) for a, b in zip(left, right, strict=True))


def _same_name(wanted: str, asked: str) -> bool:
    """Names in parts from small to large agree when they begin alike and one only says more than the other."""
    one, other = ([_code(part) for part in re.split(r"[,;]", name)] for name in (wanted, asked))
    return one[0] == other[0] and (set(one) <= set(other) or set(other) <= set(one))


def _points(value: JSON) -> Iterator[tuple[float, float]]:
    if isinstance(value, Mapping):
        latitude = next((number(value[name]) for name in _LATITUDE if name in value), None)
        longitude = next((number(value[name]) for name in _LONGITUDE if name in value), None)
        if latitude is not None and longitude is not None:
            yield latitude, longitude
            return
        for name in sorted(value):
            yield from _points(value[name])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _points(item)
    elif isinstance(value, str):
        for part in value.split("|"):
            halves = [number(half) for half in part.split(",")]
            if len(halves) == 2 and halves[0] is not None and halves[1] is not None:
                yield halves[0], halves[1]


def _names(value: JSON) -> Iterator[str]:
    """The names in a place, without its positions and numbers."""
    if isinstance(value, Mapping):
        for name in sorted(value):
            yield from _names(value[name])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _names(item)
    elif isinstance(value, str) and not [*_points(value)]:
        yield fold(value)


def _likeness(wanted: JSON, asked: JSON) -> float:
    """The Jaccard index of the words, squared; little words and plural endings carry no meaning.

    Squared, because names of different things often share most of their words.
    """
    left, right = _words(wanted), _words(asked)
    if left == right:
        return 1.0
    common = len(left & right)
    return (common / len(left | right)) ** 2 if common else 0.0


def _words(value: JSON) -> frozenset[str]:
    if value is None:
        return frozenset()
    found = [word for leaf in facts_of(value) if isinstance(leaf, str) for word in _WORD.findall(leaf)]
    found += _WORD.findall(fold(value)) if isinstance(value, str) else []
    return frozenset(word.removesuffix("s") if len(word) > 3 else word for word in found if word not in _LITTLE)

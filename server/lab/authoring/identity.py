"""Identity: are calls about other things told from a reference's own, and honest variants of them not?

Every reference of a set is played. Then the nearest other thing of each of its calls is asked for, and every honest
variant, in the same workspace. Each is put in the place of the call that it stands for, the run is aligned, and it is
noted whether it answers that call. What the world resolved to the same thing, such as a title without its article, is
no look-alike; where another thing told all the facts that the call is there for, it is counted apart. What is other and
what is the same is made by rule (`lookalikes` and `variants` here), not listed.

Honest variants ask for the same as a call of a reference, written as other clients write it: letters, accents and
spaces of names, numbers as texts, positions with fewer digits, portions in other units, the other number of a book,
more of a list, arrays in another order, several calls as one and one as several, and another tool that tells the same.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Literal, NamedTuple

from m3bench.sandboxes.backends.base import Backend, Sandbox, SandboxSpec
from m3bench.server.lab.authoring.lookalikes import lookalikes
from m3bench.server.lab.authoring.replay import opened, play_call, workspace_with
from m3bench.server.scoring.alignment import CallAlignment
from m3bench.server.scoring.matching.agreement import MadeCall
from m3bench.server.scoring.matching.effect import align
from m3bench.server.scoring.matching.other_routes import REACH
from m3bench.server.scoring.signatures import UNORDERED, catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.facts import Held
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.library import Library
from m3bench.tasks.plan import Plan, PlannedCall, digest
from m3bench.tasks.task import Task
from m3bench.tasks.things import same_thing, thing_of
from m3bench.tasks.trajectory import JSON, Call, Trajectory

_PORTION = re.compile(r"(\d+(?:\.\d+)?) ?(kg|g)\b(.*)", re.DOTALL)
_POINT = re.compile(r"\s*(-?\d+\.\d+)\s*,\s*(-?\d+\.\d+)\s*")
_AXES = frozenset({"lat", "lng", "lon", "latitude", "longitude"})
_WORDS = re.compile(r"[^\W\d_]{3,}")
OUNCE = 28.349523125
MORE = 2
"""How many more of a list are asked for."""
OTHER_TOOL = "another tool"
_SAME_ELSEWHERE: Mapping[str, tuple[str, str, str]] = {
    "google-maps/geocode": ("google-maps/places_text_search", "address", "query"),
    "wiki/summary": ("wiki/search", "title", "query"),
}
"""A tool that may tell the same: the argument here, and the one there."""


class HonestVariant(NamedTuple):
    """Calls in the place of some of a reference."""

    how: str
    places: tuple[int, ...]
    """The calls of the reference that they stand for."""
    calls: tuple[Call, ...]


def variants(calls: Sequence[Call]) -> Iterator[HonestVariant]:
    """The variants of every call that asks for something, and of calls that could be one."""
    for place, call in enumerate(calls):
        if kinds_of(call.tool).role in ("knowledge", "computation"):
            for how, other in _reworded(call):
                yield HonestVariant(how, (place,), (other,))
            yield from _singles(place, call)
            if call.tool in _SAME_ELSEWHERE:
                tool, mine, theirs = _SAME_ELSEWHERE[call.tool]
                yield HonestVariant(
                    OTHER_TOOL, (place,), (Call(tool=tool, arguments={theirs: call.arguments.get(mine)}),)
                )
    yield from _batches(calls)


def _reworded(call: Call) -> Iterator[tuple[str, Call]]:
    kinds = kinds_of(call.tool)
    for name, value in call.arguments.items():
        if kinds.kind(name) in ("content", "presentation"):
            continue
        for how, other in _values(call.tool, name, value):
            if other != value:
                yield how, replace(call, arguments={**call.arguments, name: other})
    properties = load_catalog().tool(call.tool).input_schema.get("properties", {})
    units = properties.get("units", {}).get("enum", ())
    for unit in units:
        if unit != call.arguments.get("units"):
            yield "units of the answer", replace(call, arguments={**call.arguments, "units": unit})
            break


def _values(tool: str, name: str, value: JSON) -> Iterator[tuple[str, JSON]]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        if name in _AXES:
            yield "fewer digits", round(value, 4)
        elif name in REACH:
            yield "more of a list", value + MORE
        yield "number as text", str(value)
    elif isinstance(value, str):
        yield from _texts(tool, value)
    elif isinstance(value, Mapping):
        yield "fewer digits", _rounded(value)
    elif isinstance(value, list | tuple) and name in UNORDERED.get(tool, ()):
        yield "another order", list(reversed(value))


def _texts(tool: str, value: str) -> Iterator[tuple[str, JSON]]:
    point, portion = _POINT.fullmatch(value), _PORTION.fullmatch(value)
    if point:
        yield "fewer digits", f"{float(point[1]):.4f},{float(point[2]):.4f}"
        yield "a space", f"{point[1]}, {point[2]}"
    elif portion and "food" in tool:
        grams = float(portion[1]) * (1000 if portion[2] == "kg" else 1)
        yield "another unit", f"{grams / 1000:g} kg{portion[3]}"
        yield "another unit", f"{grams:g} grams{portion[3]}"
        yield "another unit", f"{grams / OUNCE:.4g} oz{portion[3]}"
    elif re.fullmatch(r"\d{13}|\d{9}[\dXx]", value) and "isbn" in str(load_catalog().tool(tool).input_schema):
        yield "hyphens", f"{value[:-10]}-{value[-10]}-{value[-9:-1]}-{value[-1]}".lstrip("-")
        if value.startswith("978") and len(value) == 13:
            yield "ten digits", _ten(value)
    elif _is_named(value):
        yield "small letters", value.lower()
        yield (
            "no accents",
            "".join(letter for letter in unicodedata.normalize("NFKD", value) if not unicodedata.combining(letter)),
        )
        yield "spaces", f"  {value.replace(' ', '  ')} "


def _is_named(value: str) -> bool:
    """Whether a text is a name in words, not an id, a path or a code."""
    return (
        bool(_WORDS.search(value))
        and not re.search(r"[/_\\<>{}:]|\d[A-Za-z]|[A-Za-z]\d", value)
        and not value.isupper()
    )


def _ten(isbn: str) -> str:
    body = isbn[3:12]
    check = -sum(int(digit) * (10 - at) for at, digit in enumerate(body)) % 11
    return f"{body}{'X' if check == 10 else check}"


def _rounded(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return {
            name: round(one, 4) if name in _AXES and isinstance(one, float) else _rounded(one)
            for name, one in value.items()
        }
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value


def _array_of(call: Call) -> str | None:
    """The one argument of a call that takes several things."""
    properties = load_catalog().tool(call.tool).input_schema.get("properties", {})
    found = [name for name in call.arguments if properties.get(name, {}).get("type") == "array"]
    return found[0] if len(found) == 1 and kinds_of(call.tool).role == "knowledge" else None


def _singles(place: int, call: Call) -> Iterator[HonestVariant]:
    name = _array_of(call)
    value = call.arguments.get(name) if name else None
    if name and isinstance(value, list | tuple) and len(value) > 1:
        calls = tuple(replace(call, arguments={**call.arguments, name: [item]}) for item in value)
        yield HonestVariant("singles for a batch", (place,), calls)


def _items(value: JSON) -> list[JSON]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _batches(calls: Sequence[Call]) -> Iterator[HonestVariant]:
    for place, call in enumerate(calls):
        name = _array_of(call)
        if name is None:
            continue
        rest = {key: value for key, value in call.arguments.items() if key != name}
        others = [
            at for at, other in enumerate(calls)
            if at > place and other.tool == call.tool
            and {key: value for key, value in other.arguments.items() if key != name} == rest
        ]  # fmt: skip
        if others:
            joined = [item for at in (place, *others) for item in _items(calls[at].arguments[name])]
            yield HonestVariant(
                "a batch for singles", (place, *others), (replace(call, arguments={**call.arguments, name: joined}),)
            )


MOST_LOOKALIKES = 0.005
"""The share of look-alikes that may match."""
MOST_NONE = 0.05
"""The share of made look-alikes that may match because all facts are the same."""
LEAST_VARIANTS = 0.98
"""The share of honest variants that must match."""

Side = Literal["look-alike", "variant"]
Same = Literal["thing", "facts", ""]


@dataclass(frozen=True, kw_only=True)
class IdentityTrial:
    """One call, or several for one, in the place of a reference's own."""

    task: str
    tool: str
    side: Side
    how: str
    asked: tuple[Call, ...]
    answered: bool
    """Whether all of them succeeded."""
    same: Same
    """What was the same: the thing that they were about, or all the facts that they told."""
    matches: bool

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {
            "task": self.task, "tool": self.tool, "side": self.side, "how": self.how, "same": self.same,
            "matches": self.matches, "asked": [call.to_json() for call in self.asked],
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class IdentityVerdict:
    """What many trials came to."""

    trials: tuple[IdentityTrial, ...]

    def of(self, side: Side) -> list[IdentityTrial]:
        """The trials of a side, but for look-alikes that were the same thing, and for variants that bring nothing.

        Those are what a tool does not take, and another tool where it does not tell the facts: titles for a summary.
        """
        own = [trial for trial in self.trials if trial.side == side]
        if side == "look-alike":
            return [trial for trial in own if trial.same != "thing"]
        return [trial for trial in own if trial.answered and (trial.same or trial.how != OTHER_TOOL)]

    @property
    def none(self) -> list[IdentityTrial]:
        """Look-alikes that match because they told all the facts that were wanted.

        Others tell those facts too, and are told apart by what they are about.
        """
        return [trial for trial in self.of("look-alike") if trial.matches and trial.same == "facts"]

    @property
    def mistaken(self) -> list[IdentityTrial]:
        """Look-alikes that match."""
        return [trial for trial in self.of("look-alike") if trial.matches and not trial.same]

    @property
    def refused(self) -> list[IdentityTrial]:
        """Honest variants that do not match."""
        return [trial for trial in self.of("variant") if not trial.matches]

    def problems(self, *, whole: bool = True) -> tuple[str, ...]:
        """What does not hold; of few tasks one trial may go wrong, and how many look-alikes are none is open."""
        others, own = len(self.of("look-alike")), len(self.of("variant"))
        found = []
        if len(self.mistaken) > max(1, MOST_LOOKALIKES * (others - len(self.none))):
            found.append(f"identity: {len(self.mistaken)} of {others} look-alikes match{_named(self.mistaken)}")
        if whole and len(self.none) > MOST_NONE * others:
            found.append(f"identity: {len(self.none)} of {others} look-alikes tell the same facts{_named(self.none)}")
        if len(self.refused) > max(1, (1 - LEAST_VARIANTS) * own):
            found.append(f"identity: {len(self.refused)} of {own} honest variants do not match{_named(self.refused)}")
        return tuple(found)

    @property
    def told(self) -> str:
        """The counts in a sentence."""
        others, own = len(self.of("look-alike")), len(self.of("variant"))
        return (
            f"{len(self.mistaken)} of {others} look-alikes match, {len(self.none)} more told the same facts; "
            f"{own - len(self.refused)} of {own} honest variants match."
        )

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes: counts, and every trial that went wrong."""
        return {
            "lookalikes": len(self.of("look-alike")),
            "lookalikes_with_the_same_facts": len(self.none),
            "the_same_thing": sum(trial.side == "look-alike" and trial.same == "thing" for trial in self.trials),
            "lookalikes_that_match": len(self.mistaken),
            "variants": len(self.of("variant")),
            "variants_that_do_not_match": len(self.refused),
            "wrong": [trial.to_json() for trial in (*self.mistaken, *self.refused)],
            "same": [trial.to_json() for trial in self.none],
        }


def _named(trials: Sequence[IdentityTrial]) -> str:
    """The tools with most of some trials."""
    most = Counter(f"{trial.tool}, {trial.how}" for trial in trials).most_common(3)
    return f" ({'; '.join(f'{name}: {count}' for name, count in most)})"


async def try_set(
    library: Library,
    tasks: Iterable[Task],
    backend: Backend,
    *,
    each: int | None = None,
    progress: Callable[[str], None] = lambda id: None,
) -> AsyncIterator[IdentityTrial]:
    """The trials of tasks, one task after another.

    Args:
        library: The set.
        tasks: Those of its tasks that are tried.
        backend: Where to play.
        each: So many look-alikes of each call; all when left out.
        progress: Told the id of each task that was tried.
    """
    for task in tasks:
        for trial in await try_task(library, task, backend, each=each):
            yield trial
        progress(task.id)


async def try_task(
    library: Library,
    task: Task,
    backend: Backend,
    *,
    each: int | None = None,
    asked: Sequence[tuple[Side, HonestVariant]] | None = None,
) -> list[IdentityTrial]:
    """The trials of a task's first reference.

    Args:
        library: The set.
        task: One of its tasks.
        backend: Where to play.
        each: So many look-alikes of each call; all when left out.
        asked: What is tried; what the rules make when left out.
    """
    if asked is None:
        asked = _by_rule(task.references[0].trajectory, each)
    with workspace_with(library.media(task)) as workspace:
        spec = SandboxSpec(workspace=workspace, servers=task.servers, scenes=library.scenes(task))
        async with opened(backend, spec) as sandbox:
            return await _trials(library, task, sandbox, asked)


def _by_rule(way: Trajectory, each: int | None) -> list[tuple[Side, HonestVariant]]:
    made: list[tuple[Side, HonestVariant]] = [
        ("look-alike", HonestVariant(other.how, (place,), (other.call,)))
        for place, call in enumerate(way.calls)
        for other in islice(lookalikes(call), each)
    ]
    return [*made, *(("variant", variant) for variant in variants(way.calls))]


async def _trials(
    library: Library, task: Task, sandbox: Sandbox, asked: Sequence[tuple[Side, HonestVariant]]
) -> list[IdentityTrial]:
    way, plan = task.references[0].trajectory, library.plans(task)[0]
    own = [await _made(call, step, sandbox) for step, part in enumerate(way.steps) for call in part.calls]
    pictures = frozenset((*task.pictures, *task.recordings))
    signatures = catalog_signatures(load_catalog())
    found: list[IdentityTrial] = []
    for side, one in asked:
        step = own[one.places[0]].step
        made = [await _made(call, step, sandbox) for call in one.calls]
        found.append(
            IdentityTrial(
                task=task.id,
                tool=one.calls[0].tool,
                side=side,
                how=one.how,
                asked=one.calls,
                answered=not any(call.call.failed for call in made),
                same=_same(one.places, plan, way, made),
                matches=_matches(
                    one.places, own, made, partial(align, way, plan, pictures=pictures, signatures=signatures)
                ),
            )
        )
    return found


async def _made(call: Call, step: int, sandbox: Sandbox) -> MadeCall:
    outcome, _, text = await play_call(call.tool, call.arguments, sandbox, load_catalog().ready)
    made = Call(tool=call.tool, arguments=call.arguments, failed=outcome != "success")
    return MadeCall(call=made, step=step, result=text)


def _same(places: Sequence[int], plan: Plan, way: Trajectory, made: Sequence[MadeCall]) -> Same:
    """Whether calls were about the same as some of a reference, or told all that those are there for."""
    good = [call for call in made if not call.call.failed]
    told = Held("\n".join(call.result or "" for call in good))
    planned = [(plan.calls[place], way.calls[place].tool) for place in places]
    if all(_is_about(one, tool, good) for one, tool in planned):
        return "thing"
    return "facts" if all(_tells(one, good, told) for one, _ in planned) else ""


def _is_about(planned: PlannedCall, tool: str, good: Sequence[MadeCall]) -> bool:
    found = [thing_of(tool, call.result or "") for call in good if call.call.tool == tool]
    return bool(planned.about) and any(thing and same_thing(tool, planned.about, thing) for thing in found)


def _tells(planned: PlannedCall, good: Sequence[MadeCall], told: Held) -> bool:
    if planned.result and any(digest(call.result or "") == planned.result for call in good):
        return True
    return bool(good and planned.gives) and all(told.holds(fact) for fact in planned.gives)


def _matches(
    places: Sequence[int],
    own: Sequence[MadeCall],
    made: Sequence[MadeCall],
    aligned: Callable[[Sequence[MadeCall]], CallAlignment],
) -> bool:
    """Whether calls answer those of the reference whose place they take."""
    kept = [call for place, call in enumerate(own) if place not in places]
    asked = frozenset(range(len(kept), len(kept) + len(made)))
    found = aligned([*kept, *made]).matches
    return all(place in found and asked.issuperset(found[place].actual) for place in places)

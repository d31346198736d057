"""What somebody may want done, before anything is looked up: which things, what about them, and how it hangs together.

An errand has one of four motifs. In a *chain* each call needs the one before it. A *fan-out* asks several calls about
one thing, or one about several. A *join* brings together what calls about several things told: which has more, what
they come to, how far apart they are, what a coin pays for. A *condition* decides by one value which other is wanted.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias, get_args

from m3bench.server.lab.authoring.synthesis.lexicon import Askable, LexiconLink, ThingKind, kinds, links, position

Motif: TypeAlias = Literal["chain", "fan-out", "join", "condition"]
Together: TypeAlias = Literal["more", "total", "road", "buys"]

MOTIFS: tuple[Motif, ...] = get_args(Motif)
LONGEST = 3
"""Links of a path at most."""
IDLE = 20
"""Rounds without an errand after which there is none to be had from these servers."""
ROAD = "google-maps/compute_route"
PRICE = "okx/get_price"
COINS = {"BTC": "bitcoin", "ETH": "ether", "BNB": "BNB", "SOL": "solana", "BCH": "bitcoin cash"}


@dataclass(frozen=True)
class Want:
    """Something to be told, and the way to it from what the card names."""

    path: tuple[LexiconLink, ...]
    ask: Askable

    @property
    def key(self) -> str:
        """The path and what is asked, in one word."""
        return "/".join([*(link.name for link in self.path), self.ask.name])

    @property
    def place(self) -> tuple[LexiconLink, ...]:
        """The links to the thing that is spoken of; a last one that only tells something of it is no part of them."""
        return self.path[:-1] if self.path and not self.path[-1].to else self.path


@dataclass(frozen=True, kw_only=True)
class SynthesisErrand:
    """Something that somebody may want done."""

    kind: ThingKind
    count: int
    """How many things are on the card."""
    motif: Motif
    wants: tuple[Want, ...] = ()
    """Asked about each thing; in a join that finds the one with more, about that one alone."""
    together: Together | None = None
    joined: Want | None = None
    """The number of each thing that a join brings together; none where it is their positions."""
    coin: str = ""
    decider: Want | None = None
    """The number that decides."""
    limit: float = 0.0
    either: tuple[Want, ...] = ()
    """What is wanted when it is above the limit, and what when it is not."""

    @property
    def shape(self) -> str:
        """What makes two errands the same but for the things on the card and the words."""
        parts = [want.key for want in self.wants] + [want.key for want in self.either]
        chief = self.joined or self.decider
        return f"{self.kind.name} {self.motif} {self.together} {chief.key if chief else ''} {' '.join(sorted(parts))}"

    @property
    def main(self) -> str:
        """What it is mainly about: the kind of things, the motif, and the first thing that is asked."""
        chief = self.joined or self.decider or (self.wants[-1] if self.wants else None)
        return f"{self.kind.name} {self.motif} {self.together} {chief.key if chief else ''}"


def errands(servers: Sequence[str], dice: random.Random) -> Iterator[SynthesisErrand]:
    """Errands without end, with kinds of things and motifs in turn; none when the servers allow none.

    Args:
        servers: What may be used.
        dice: For the choice among them.
    """
    able = [(kind, wants(kind, servers)) for kind in kinds().values() if _has(_tool(kind), servers)]
    able = [(kind, found) for kind, found in able if found]
    idle = 0
    while able and idle < IDLE:
        dice.shuffle(able)
        idle += 1
        for number in range(len(MOTIFS)):
            for turn, (kind, found) in enumerate(able):
                made = _errand(kind, found, MOTIFS[(turn + number) % len(MOTIFS)], servers, dice)
                if made is not None:
                    idle = 0
                    yield made


def wants(kind: ThingKind, servers: Sequence[str]) -> list[Want]:
    """Everything that may be asked about a kind of things."""
    found = [Want((), ask) for ask in kind.asks]
    found += [want for path in _paths(kind.name, (), servers) for want in (Want(path, ask) for ask in path[-1].asks)]
    return found


def usable() -> list[str]:
    """The servers about which tasks can be made."""
    tools = [_tool(kind) for kind in kinds().values()] + [link.tool for link in links()]
    return sorted({tool.partition("/")[0] for tool in (*tools, position().tool, PRICE) if tool} | {"math", "ocr"})


def _paths(kind: str, path: tuple[LexiconLink, ...], servers: Sequence[str]) -> Iterator[tuple[LexiconLink, ...]]:
    seen = {name for link in path for name in (link.to, *link.of)}
    for link in links():
        if kind not in link.of or not _has(link.tool, servers) or (link.to and link.to in seen and path):
            continue
        if _needs_position(kind, link) and not _has(position().tool, servers):
            continue
        longer = (*path, link)
        yield longer
        if link.to and len(longer) < LONGEST:
            yield from _paths(link.to, longer, servers)


def _needs_position(kind: str, link: LexiconLink) -> bool:
    return kind == "town" and "{lat}" in str(link.arguments)


def _errand(
    kind: ThingKind, found: Sequence[Want], motif: Motif, servers: Sequence[str], dice: random.Random
) -> SynthesisErrand | None:
    several = all(persona.many for persona in kind.personas)
    match motif:
        case "chain":
            deep = [want for want in found if len(want.path) > 1]
            if not deep:
                return None
            end = dice.choice(deep)
            on_the_way = [
                want for want in found if want.path and want.path == end.path[: len(want.path)] and want != end
            ]
            beside = dice.sample(on_the_way, min(len(on_the_way), dice.choice((0, 1, 1))))
            count = dice.choice((1, 1, 2)) if several else 1
            return SynthesisErrand(kind=kind, count=count, motif=motif, wants=(*_sorted(beside, found), end))
        case "fan-out":
            count = dice.choice((1, 1, 2, 3)) if several else 1
            some = _apart(found, dice.choice((3, 4)) if count == 1 else dice.choice((2, 3)), dice)
            return SynthesisErrand(kind=kind, count=count, motif=motif, wants=_sorted(some, found)) if some else None
        case "join":
            return _join(kind, found, servers, dice) if several else _bought(kind, found, servers, dice)
        case "condition":
            return _condition(kind, found, dice)


def _join(
    kind: ThingKind, found: Sequence[Want], servers: Sequence[str], dice: random.Random
) -> SynthesisErrand | None:
    able: dict[Together, bool] = {
        "more": any(want.ask.more and want.ask.by for want in found),
        "total": any(want.ask.total for want in found),
        "road": bool(kind.road) and _has(ROAD, servers),
        "buys": _has(PRICE, servers) and any(want.ask.buys for want in found),
    }
    ways = [way for way, is_able in able.items() if is_able]
    if not ways:
        return None
    way = dice.choice([*ways, "more"] if "more" in ways else ways)
    if way == "buys":
        return _bought(kind, found, servers, dice)
    if way == "road":
        some = _apart([want for want in found if want.path], 1, dice)
        return SynthesisErrand(kind=kind, count=2, motif="join", together=way, wants=some) if some else None
    chief = dice.choice(
        [want for want in found if (want.ask.more and want.ask.by if way == "more" else want.ask.total)]
    )
    others = [want for want in found if want.path != chief.path]
    some = _apart(others, 1 if way == "total" else dice.choice((1, 2)), dice)
    count = 2 if way == "more" else dice.choice((2, 3))
    return (
        SynthesisErrand(kind=kind, count=count, motif="join", together=way, joined=chief, wants=_sorted(some, found))
        if some
        else None
    )


def _bought(
    kind: ThingKind, found: Sequence[Want], servers: Sequence[str], dice: random.Random
) -> SynthesisErrand | None:
    priced = [want for want in found if want.ask.buys]
    if not priced or not _has(PRICE, servers):
        return None
    chief = dice.choice(priced)
    some = _apart([want for want in found if want.path != chief.path], dice.choice((1, 2)), dice)
    return SynthesisErrand(kind=kind, count=1, motif="join", together="buys", joined=chief, wants=_sorted(some, found),
                  coin=dice.choice(sorted(COINS))) if some else None  # fmt: skip


def _condition(kind: ThingKind, found: Sequence[Want], dice: random.Random) -> SynthesisErrand | None:
    deciders = [want for want in found if want.ask.above]
    if not deciders:
        return None
    decider = dice.choice(deciders)
    rest = [want for want in found if want.path != decider.path and want.path]
    pairs = [
        (one, other)
        for one, other in combinations(rest, 2)
        # The type of the field must not give away which of the two it is.
        if one.path != other.path and one.ask.kind == other.ask.kind == "name"
    ]
    if not pairs:
        return None
    either = dice.choice(pairs)
    beside = [want for want in found if want not in either and want != decider]
    return SynthesisErrand(
        kind=kind,
        count=1,
        motif="condition",
        decider=decider,
        limit=dice.choice(decider.ask.limits),
        either=tuple(dice.sample(either, 2)),
        wants=_apart(beside, 1, dice),
    )


def _apart(found: Sequence[Want], count: int, dice: random.Random) -> tuple[Want, ...]:
    """Some wants that take different calls; none when there are not so many."""
    chosen: list[Want] = []
    for want in dice.sample(list(found), len(found)):
        if len(chosen) < count and all(want.path != other.path for other in chosen):
            chosen.append(want)
    return tuple(chosen) if len(chosen) == count else ()


def _sorted(some: Sequence[Want], found: Sequence[Want]) -> tuple[Want, ...]:
    """As people tell them: what is nearer to the card first."""
    return tuple(sorted(some, key=found.index))


def _tool(kind: ThingKind) -> str:
    return kind.lookup.tool if kind.lookup is not None else ""


def _has(tool: str, servers: Sequence[str]) -> bool:
    return not tool or tool.partition("/")[0] in servers

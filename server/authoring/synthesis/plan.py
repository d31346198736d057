"""Which tasks a graph allows: chains that begin with what a card names and end with what is asked.

A plan has no values yet. It has at least two hops and, where possible, calls that are made together, because several
things are on the card or because several tools are asked about one of them.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from m3bench.server.authoring.synthesis.graph import Edge, Graph
from m3bench.server.authoring.synthesis.lexicon import Ask, Option, Pick, Words, words

MOST_LEAVES = 3


@dataclass(frozen=True)
class Leaf:
    """A call at the end of a chain, and what is asked of its answer."""

    edge: Edge
    asks: tuple[Ask, ...]

    @property
    def words(self) -> Words:
        """How people speak of it."""
        return words()[self.edge.consumer]


@dataclass(frozen=True)
class Choice:
    """A list that is fetched with what the start gave, and one row taken from it."""

    edge: Edge
    option: Option
    pick: Pick


@dataclass(frozen=True)
class Plan:
    """A kind of task."""

    start: Words
    count: int
    """How many things are on the card."""
    asks: tuple[Ask, ...] = ()
    """What is asked of the first answer itself."""
    option: Option | None = None
    pick: Pick | None = None
    """Which row of the first answer is meant, when it has several."""
    near: tuple[Leaf, ...] = ()
    """Asked about what the card names."""
    choice: Choice | None = None
    far: tuple[Leaf, ...] = ()
    """Asked about what was chosen."""
    join: tuple[Edge, Edge] | None = None
    total: tuple[Ask, str] | None = None
    """What is computed in the end, from which asked numbers."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools it uses, in order."""
        used = [self.start.tool, *(leaf.edge.consumer for leaf in self.near)]
        used += [self.choice.edge.consumer] if self.choice else []
        used += [leaf.edge.consumer for leaf in self.far]
        used += [self.join[0].consumer] if self.join else []
        used += [f"math/{self.total[1]}"] if self.total else []
        return tuple(dict.fromkeys(used))

    @property
    def steps(self) -> int:
        """How many steps it takes."""
        deepest = 3 if self.far else 2 if self.near or self.choice or self.join else 1
        return deepest + bool(self.total)

    @property
    def is_parallel(self) -> bool:
        """Whether some calls are made together."""
        return self.count > 1 or len(self.near) + bool(self.choice) > 1 or len(self.far) > 1

    @property
    def shape(self) -> str:
        """What makes two plans the same kind: the tools, without the one that computes."""
        return " ".join(tool for tool in self.tools if not tool.startswith("math/"))


def plans(graph: Graph, servers: Sequence[str], dice: random.Random) -> Iterator[Plan]:
    """Plans without end, each new kind before an old one comes again.

    Args:
        graph: What was learned.
        servers: What may be used.
        dice: For the choice among them.
    """
    kinds = [plan for entry in words().values() if entry.tool in graph.examples and entry.start is not None
             for plan in _kinds(entry, graph, "math" in servers)]  # fmt: skip
    kinds = [plan for plan in kinds if plan.steps > 1 and plan.is_parallel]
    while kinds:
        dice.shuffle(kinds)
        # Plans that begin alike come in turns, so that no start takes over.
        heads: dict[str, list[Plan]] = {}
        for plan in kinds:
            heads.setdefault(plan.start.tool, []).append(plan)
        for number in range(max(map(len, heads.values()))):
            for queue in heads.values():
                yield queue[number % len(queue)]


def _kinds(entry: Words, graph: Graph, adding: bool) -> Iterator[Plan]:
    edges = [edge for edge in graph.after(entry.tool) if edge.consumer in words()]
    leaves = [leaf for edge in edges for leaf in _leaves(edge)]
    joins = _joins(edges)
    for option, pick in _rows(entry):
        for count in (1, 2, 3):
            base = Plan(entry, count, option=option, pick=pick)
            for near in _sets(leaves):
                yield from _finished(base, entry, near, adding)
            if count == 2 and joins and option is None:
                for near in ((), *((leaf,) for leaf in leaves)):
                    yield _with(base, near=near, join=joins)
            # Adding up alone is for things about which nothing further can be asked.
            if adding and count > 1 and not leaves:
                for ask in entry.asks:
                    yield from (_with(base, asks=(ask,), total=(ask, tool)) for tool in _computed(ask, count))
            if option is None and count < 3:
                yield from _chosen(base, edges, leaves, graph)


def _chosen(base: Plan, edges: Sequence[Edge], leaves: Sequence[Leaf], graph: Graph) -> Iterator[Plan]:
    """Plans in which something is chosen near what the card names."""
    for edge in edges:
        entry = words()[edge.consumer]
        if not (entry.noun and entry.picks and entry.options):
            continue
        behind = [leaf for edge in graph.after(entry.tool) if edge.consumer in words() for leaf in _leaves(edge)]
        for option in entry.options:
            for pick in entry.picks:
                for far in _sets(behind, most=2):
                    beside = [leaf for leaf in leaves if leaf.edge.consumer not in {one.edge.consumer for one in far}]
                    for near in ((), *((leaf,) for leaf in beside)):
                        yield _with(base, near=near, choice=Choice(edge, option, pick), far=far)


def _finished(base: Plan, entry: Words, near: tuple[Leaf, ...], adding: bool) -> Iterator[Plan]:
    yield _with(base, near=near)
    for ask in entry.asks[:1]:
        yield _with(base, near=near, asks=(ask,))
    if adding and base.count > 1:
        for leaf in near:
            for ask in leaf.asks:
                yield from (_with(base, near=near, total=(ask, tool)) for tool in _computed(ask, base.count))


def _with(plan: Plan, **changes: Any) -> Plan:
    return Plan(**{**vars(plan), **changes})


def _rows(entry: Words) -> list[tuple[Option | None, Pick | None]]:
    if not entry.noun:
        return [(None, None)]
    return [(option, pick) for option in entry.options for pick in (entry.picks or (None,))]


def _leaves(edge: Edge) -> list[Leaf]:
    entry = words()[edge.consumer]
    if entry.noun or entry.joins or entry.start is not None:
        return []
    if entry.task:
        return [Leaf(edge, ())]
    return [Leaf(edge, (ask,)) for ask in entry.asks]


def _sets(leaves: Sequence[Leaf], most: int = MOST_LEAVES) -> Iterator[tuple[Leaf, ...]]:
    for size in range(1, most + 1):
        for some in combinations(leaves, size):
            if len({leaf.edge.consumer for leaf in some}) == size:
                yield some


def _joins(edges: Sequence[Edge]) -> tuple[Edge, Edge] | None:
    found = [edge for edge in edges if words()[edge.consumer].joins]
    return (found[0], found[1]) if len(found) == 2 else None


def _computed(ask: Ask, count: int) -> list[str]:
    return [tool for tool in ask.tools if tool != "subtract" or count == 2]

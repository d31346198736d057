"""Matching by effect: an actual call answers a reference call when it brings about what that call is there for.

Calls of one tool are compared by the kinds of their arguments and by what they gave; the assignment is the same
similarity-bucketed one as in the other profiles. What it leaves open may be answered on another route: by a call of
another tool, or by several calls together, that gave the same facts. A perception or computation whose facts the
client evidently had without it is not needed in this run. Pure: results come in with the calls, and without them the
arguments alone decide.
"""

import json
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from m3bench.server.scoring.alignment import WEAK, CallAlignment, CallMatch, NearMiss, ScorableRun, Way
from m3bench.server.scoring.differences import DifferingArgument, differences
from m3bench.server.scoring.encoder import Encoder
from m3bench.server.scoring.matching import content
from m3bench.server.scoring.matching.agreement import (
    Agreement,
    FileNames,
    MadeCall,
    agree,
    file_name,
    files_of,
    says_nothing,
)
from m3bench.server.scoring.matching.other_routes import REACH, by_facts, by_more, by_parts
from m3bench.server.scoring.matching.own_plan import own_plan
from m3bench.server.scoring.matching.subject import about_another, in_words_of, is_elsewhere, subject
from m3bench.server.scoring.matching.text import m3_arguments
from m3bench.server.scoring.signatures import Signatures, ToolSignature
from m3bench.tasks.facts import Fact, Held, is_distinctive, leaves, number
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.plan import Plan, PlannedCall, unplayed
from m3bench.tasks.trajectory import Call, Trajectory

if TYPE_CHECKING:
    from m3bench.server.scoring.alignment import Vectors
    from m3bench.server.scoring.matching import assignment
else:
    # It needs numpy, which a server does not load before something is to be assigned.
    assignment = LazyModule("m3bench.server.scoring.matching.assignment")

SAVES = "save_path"
"""The argument of calls that read something and keep a copy."""


@dataclass(frozen=True)
class SettledAlignment:
    """The alignment with one reference, which waits for nothing."""

    alignment: CallAlignment
    texts: Mapping[str, str] = field(default_factory=dict)

    def settle(self, vectors: "Vectors") -> CallAlignment:
        """The alignment."""
        return self.alignment


class EffectMatching:
    """Matching by effect; it embeds nothing."""

    def prepare(self, run: ScorableRun, signatures: Signatures, encoder: Encoder | None) -> Sequence[SettledAlignment]:
        """One alignment for each reference."""
        steps = [number for number, step in enumerate(run.actual.steps) for _ in step.calls]
        results: Sequence[str | None] = [None] * len(steps) if run.results is None else run.results
        made = [
            MadeCall(call=call, step=step, result=result)
            for call, step, result in zip(run.actual.calls, steps, results, strict=True)
        ]
        plans = run.plans or [unplayed(reference) for reference in run.references]
        return [
            SettledAlignment(align(reference, plan, made, said=run.said, pictures=run.pictures, signatures=signatures))
            for reference, plan in zip(run.references, plans, strict=True)
        ]


class CallComparison(NamedTuple):
    """How an actual call answers a reference call of the same tool, and to what degree."""

    way: Way
    similarity: float
    agreement: Agreement


def align(
    reference: Trajectory,
    plan: Plan,
    made: Sequence[MadeCall],
    *,
    said: str = "",
    pictures: frozenset[str] = frozenset(),
    signatures: Signatures,
) -> CallAlignment:
    """Decide which actual calls answer which reference calls.

    Args:
        reference: A way to solve the task.
        plan: What its calls give and need.
        made: The actual calls in order.
        said: What the client handed in and was right about; empty when it was not right.
        pictures: Names of the files that the run began with.
        signatures: Defaults and unordered arrays of the tools.
    """
    search = _Search(reference.calls, plan, made, said, pictures, signatures)
    search.match()
    search.join_parts()
    search.give_back_empty()
    search.give_back_unmade()
    search.find_routes()
    not_needed = search.not_needed()
    search.give_back_unread(not_needed)
    missed = set(range(len(reference.calls))) - search.matches.keys() - not_needed
    nearest = {place: search.nearest[place] for place in sorted(missed & search.nearest.keys())}
    return CallAlignment(
        matches=search.found(),
        reference_sizes=tuple(len(step.calls) for step in reference.steps),
        actual_steps=tuple(call.step for call in made),
        plan=own_plan(plan, reference.calls, made, search.matches),
        not_needed=not_needed,
        nearest=nearest,
        slips=frozenset(near.actual for near in nearest.values() if near.is_slip),
        results_known=all(call.result is not None for call in made),
    )


def compare(
    reference: Call,
    planned: PlannedCall,
    made: MadeCall,
    signature: ToolSignature | None = None,
    files: FileNames | None = None,
    common: frozenset[Fact] = frozenset(),
) -> CallComparison:
    """Compare an actual call with a reference call of the same tool.

    What the world resolved both calls to decides first: the same thing is the same effect, in whatever words, and
    another thing is another call, however like the words are. Otherwise equal arguments are the same call, and the same
    result, or all the facts that the reference call is there for, are the same effect. Otherwise another identity,
    quantity or place is another call, and what is left is the share of the facts (of the arguments, when results are
    not known) that agrees.
    """
    agreement = made.agreement(reference, signature, files or FileNames())
    about = subject(reference, planned, made)
    if about == "same":
        agreement = agree(reference, in_words_of(reference, made.call), signature, files)
        if agreement.equal:
            return CallComparison("same effect", 1.0, agreement)
    elif about == "other":
        agreement = about_another(agreement, reference, made.call)
    if agreement.equal and not _asks_for_too_little(reference, planned, made):
        return CallComparison("same call", 1.0, agreement)
    if agreement.equal:
        return CallComparison("partly", 0.0, agreement)
    if made.result is None or kinds_of(reference.tool).role == "action":
        return CallComparison("partly", 0.0 if agreement.wrong else agreement.share, agreement)
    if (
        planned.result
        and made.digest == planned.result
        and not (_is_small_sum(reference, planned) and _are_other_numbers(reference, made.call))
    ):
        return CallComparison("same effect", 1.0, agreement)
    if about == "other" and is_elsewhere(reference, planned, made):
        return CallComparison("partly", 0.0, agreement)
    if not planned.gives:
        return CallComparison("partly", 0.0 if agreement.wrong else agreement.share, agreement)
    found = sum(made.held.holds(fact) for fact in planned.gives)
    telling = about == "part" or any(is_distinctive(fact) and fact not in common for fact in planned.gives)
    if found == len(planned.gives) and (telling or _names_the_place(agreement, made.held)):
        return CallComparison("same effect", 1.0, agreement)
    share = found / len(planned.gives) * (1.0 if agreement.reworded else agreement.share)
    return CallComparison("partly", 0.0 if agreement.wrong or about == "part" else share, agreement)


def _asks_for_too_little(reference: Call, planned: PlannedCall, made: MadeCall) -> bool:
    """Whether a call asked for less of a list, so that something that is wanted of it is missing."""
    if made.result is None:
        return False
    pairs = [(number(reference.arguments.get(name)), number(made.call.arguments.get(name))) for name in REACH]
    less = any(wanted is not None and asked is not None and asked < wanted for wanted, asked in pairs)
    return less and not all(made.held.holds(fact) for fact in planned.gives if is_distinctive(fact))


def _is_in(shown: Held, planned: PlannedCall) -> bool:
    """Whether all facts of a call are among what is shown."""
    return all(shown.holds(fact) or shown.holds_rounded(fact) for fact in planned.gives)


def _is_small_sum(wanted: Call, planned: PlannedCall) -> bool:
    """Whether a call works out nothing but numbers that many others come to as well."""
    return kinds_of(wanted.tool).role == "computation" and not any(map(is_distinctive, planned.gives))


def _are_other_numbers(wanted: Call, *asked: Call) -> bool:
    """Whether computations were about other numbers, so that they came to a small result by chance.

    At least half of them must be others. Whoever works out the same another way uses what comes of it.
    """
    own = Counter(map(number, leaves(wanted.arguments)))
    other = Counter(number(leaf) for call in asked for leaf in leaves(call.arguments))
    return 2 * (own & other).total() < own.total()


def _names_the_place(agreement: Agreement, result: Held) -> bool:
    """Whether only places are other ones, and the result says that they are the wanted ones: a name for a position."""
    names = [str(found.wanted).partition(",")[0] for found in agreement.wrong if isinstance(found.wanted, str)]
    all_places = all(found.kind == "place" for found in agreement.wrong)
    return all_places and len(names) == len(agreement.wrong) > 0 and all(result.holds(fold(name)) for name in names)


class _Search:
    """The search for answers in one run."""

    def __init__(
        self,
        reference: Sequence[Call],
        plan: Plan,
        made: Sequence[MadeCall],
        said: str,
        pictures: frozenset[str],
        signatures: Signatures,
    ) -> None:
        self._reference = reference
        self._plan = plan
        self._made = made
        self._said = said
        self._signatures = signatures
        self._good = [index for index, call in enumerate(made) if not call.call.failed]
        outputs = (path for index in self._good for path in files_of(made[index].call, inputs=False))
        self._files = FileNames(given=pictures, made=frozenset(map(file_name, outputs)))
        self.matches: dict[int, CallMatch] = {}
        self.nearest: dict[int, NearMiss] = {}

    def found(self) -> dict[int, CallMatch]:
        """The matches in the order of the reference, with the arguments that differ."""
        return {
            place: replace(match, differences=found) if (found := self._differences(place, match)) else match
            for place, match in sorted(self.matches.items())
        }

    def _differences(self, place: int, match: CallMatch) -> tuple[DifferingArgument, ...]:
        """The arguments that count and are not the same; of the same call, and of another tool, there are none."""
        if match.way in ("same call", "another route"):
            return ()
        wanted, made = self._reference[place], self._made[match.actual[0]].call
        signature, kinds = self._signatures(wanted.tool), kinds_of(wanted.tool)
        found = differences(m3_arguments(wanted, signature), m3_arguments(made, signature))
        return tuple(
            argument for argument in found if kinds.kind(argument.argument.partition(".")[0]) != "presentation"
        )

    def match(self) -> None:
        """Assign actual calls to reference calls of the same tool."""
        rows: dict[str, list[int]] = {}
        columns: dict[str, list[int]] = {}
        for place, call in enumerate(self._reference):
            rows.setdefault(call.tool, []).append(place)
        for index in self._good:
            columns.setdefault(self._made[index].call.tool, []).append(index)
        for tool in (tool for tool in rows if tool in columns):
            self._match(rows[tool], columns[tool], self._signatures(tool))

    def _match(self, rows: Sequence[int], columns: Sequence[int], signature: ToolSignature | None) -> None:
        equal = _equal_pairs([self._reference[row] for row in rows], [self._made[column].call for column in columns])
        for row, column in equal.items():
            self.matches[rows[row]] = CallMatch(way="same call", actual=(columns[column],), similarity=1.0)
        rows = [row for place, row in enumerate(rows) if place not in equal]
        columns = [column for place, column in enumerate(columns) if place not in equal.values()]
        if not rows or not columns:
            return
        table = [
            [
                compare(
                    self._reference[row],
                    self._plan.calls[row],
                    self._made[column],
                    signature,
                    self._files,
                    common,
                )
                for column in columns
            ]
            for row in rows
            for common in (self._common(row),)
        ]
        for row, column in _assigned([[pair.similarity for pair in line] for line in table]):
            way, similarity, _ = table[row][column]
            self.matches[rows[row]] = CallMatch(way=way, actual=(columns[column],), similarity=similarity)
        taken = self._used
        named: set[int] = set()
        for row, line in zip(rows, table, strict=True):
            # Of those that answer nothing, one not named yet comes first, then the one that is least wrong.
            order = [
                (columns[i] in named, len(pair.agreement.wrong), -pair.agreement.share, i)
                for i, pair in enumerate(line)
                if columns[i] not in taken
            ]
            if row not in self.matches and order:
                near = min(order)[-1]
                named.add(columns[near])
                self.nearest[row] = NearMiss(columns[near], line[near].agreement)

    def join_parts(self) -> None:
        """Answer actions by several calls of the same tool that together put in more than one of them does."""
        for place, wanted in enumerate(self._reference):
            if kinds_of(wanted.tool).role != "action" or self._similarity(place) == 1:
                continue
            taken = {index for other, match in self.matches.items() if other != place for index in match.actual}
            parts = [i for i in self._good if i not in taken and self._made[i].call.tool == wanted.tool]
            parts = [i for i in parts if not (found := self._agreement(place, i)).wrong and found.share > 0]
            if len(parts) < 2:
                continue
            arguments = dict(self._made[parts[0]].call.arguments)
            for index in parts[1:]:
                for name, value in self._made[index].call.arguments.items():
                    if kinds_of(wanted.tool).kind(name) == "content":
                        arguments[name] = content.together(arguments.get(name), value)
            joined = replace(self._made[parts[0]].call, arguments=arguments)
            whole = agree(wanted, joined, self._signatures(wanted.tool), self._files)
            if whole.share >= WEAK and whole.share > self._similarity(place):
                self.matches[place] = CallMatch(way="another route", actual=tuple(parts), similarity=whole.share)

    def _similarity(self, place: int) -> float:
        return self.matches[place].similarity if place in self.matches else 0.0

    def _agreement(self, place: int, index: int) -> Agreement:
        wanted = self._reference[place]
        return self._made[index].agreement(wanted, self._signatures(wanted.tool), self._files)

    def give_back_unmade(self) -> None:
        """Take back the answers to actions on a picture that was to be made by a call that nothing answers."""
        for place, wanted in enumerate(self._reference):
            if place not in self.matches or kinds_of(wanted.tool).role != "action":
                continue
            used = files_of(wanted, inputs=True)
            makers = [
                earlier
                for earlier, call in enumerate(self._reference[:place])
                if used & files_of(call, inputs=False) and kinds_of(call.tool).role == "action"
            ]
            if makers and not any(maker in self.matches for maker in makers):
                del self.matches[place]

    def give_back_empty(self) -> None:
        """Take back the answers to actions that say nothing, where nothing of what they hold together was answered.

        Whoever opens and saves a file has done nothing yet. Such actions count with those that fill the file.
        """
        actions = [place for place, call in enumerate(self._reference) if kinds_of(call.tool).role == "action"]
        empty = {place for place in actions if says_nothing(self._reference[place], self._files.given)}
        for group in _connected(actions, self._plan):
            filled = group - empty
            if filled and not filled & self.matches.keys():
                for place in group & empty:
                    self.matches.pop(place, None)

    def give_back_unread(self, not_needed: frozenset[int]) -> None:
        """Take back the answers to looks that only say where to look, where the client looked at none of it."""
        calls = self._plan.calls
        for place in [at for at in self.matches if kinds_of(self._reference[at].tool).role == "perception"]:
            after = {later for later, planned in enumerate(calls) if place in planned.needs}
            looks = all(kinds_of(self._reference[later].tool).role == "perception" for later in after)
            if after and looks and after.isdisjoint(self.matches) and after.isdisjoint(not_needed):
                del self.matches[place]

    def find_routes(self) -> None:
        """Answer what is left by calls that brought the same; what leaves a file brings more than its result."""
        if not self._made:
            return
        for find in (self._by_more, self._by_parts, self._by_facts):
            for place, wanted in enumerate(self._reference):
                if place in self.matches or kinds_of(wanted.tool).role == "action" or SAVES in wanted.arguments:
                    continue
                found = find(place)
                if found:
                    self.matches[place] = CallMatch(way="another route", actual=tuple(sorted(found)), similarity=1.0)

    def _by_more(self, place: int) -> set[int]:
        wanted, planned = self._reference[place], self._plan.calls[place]
        return by_more(wanted, planned, self._made, self._on(place), lambda index: self._agreement(place, index))

    def _by_parts(self, place: int) -> set[int]:
        wanted = self._reference[place]
        order = [index for index in self._order if self._made[index].call.tool == wanted.tool]
        return by_parts(wanted, order, lambda index: self._agreement(place, index))

    def _by_facts(self, place: int) -> set[int]:
        wanted, planned = self._reference[place], self._plan.calls[place]
        order = self._on(place)
        chained = kinds_of(wanted.tool).role == "computation"
        fed = {index: self._went_into(index) for index in order} if chained else {}
        if _is_small_sum(wanted, planned) and not _is_in(self._shown(), planned):
            calls = {index: [self._made[at].call for at in (index, *fed[index])] for index in order}
            order = [index for index in order if not _are_other_numbers(wanted, *calls[index])]
        found = by_facts(wanted, planned, self._made, order, self._used, self._common(place))
        return found | {at for index in found for at in fed.get(index, ()) if at not in self._used}

    def _went_into(self, index: int) -> list[int]:
        """The computations before one whose results it works with: a sum, of a mean."""
        numbers = [value for leaf in leaves(self._made[index].call.arguments) if (value := number(leaf)) is not None]
        return [
            at
            for at in self._good
            if at < index
            and kinds_of(self._made[at].call.tool).role == "computation"
            and any(self._made[at].told(value) for value in numbers)
        ]

    def _on(self, place: int) -> list[int]:
        """The calls that may answer one of the reference: not those that asked the same tool about another thing."""
        wanted, planned = self._reference[place], self._plan.calls[place]
        if not planned.about:
            return self._order
        return [
            index
            for index in self._order
            if self._made[index].call.tool != wanted.tool or not is_elsewhere(wanted, planned, self._made[index])
        ]

    def _common(self, place: int) -> frozenset[Fact]:
        """Facts that do not tell which call it was: other calls of the tool give them too, or it repeats them."""
        tool = self._reference[place].tool
        others = [at for at, call in enumerate(self._reference) if call.tool == tool and at != place]
        found = [fact for at in others for fact in self._plan.calls[at].gives]
        return frozenset((*found, *self._repeated(place)))

    def _repeated(self, place: int) -> list[Fact]:
        """Facts that a question to the world has in it already."""
        wanted = self._reference[place]
        if kinds_of(wanted.tool).role != "knowledge":
            return []
        put_in = Held("\n".join(str(leaf) for leaf in leaves(wanted.arguments)))
        return [fact for fact in self._plan.calls[place].gives if put_in.holds(fact)]

    @property
    def _used(self) -> frozenset[int]:
        return frozenset(index for match in self.matches.values() for index in match.actual)

    @property
    def _order(self) -> list[int]:
        """The calls that succeeded; those that answer nothing yet come first."""
        used = self._used
        return sorted(self._good, key=lambda index: (index in used, index))

    def not_needed(self) -> frozenset[int]:
        """Perceptions and computations whose facts the client evidently had without them.

        The facts stand in the arguments of calls that answer something, or in what the client rightly said; or, of a
        computation, they go into computations alone that the client did without.
        """
        candidates = [
            (place, planned)
            for place, planned in enumerate(self._plan.calls)
            if place not in self.matches
            and kinds_of(self._reference[place].tool).role in ("perception", "computation")
            and planned.gives
        ]
        if not candidates:
            return frozenset()
        shown = self._shown()
        found = {place for place, planned in candidates if _is_in(shown, planned)}
        for place, _ in reversed(candidates):
            after = {later for later, planned in enumerate(self._plan.calls) if place in planned.needs}
            if after and after <= found and all(self._is_computed(each) for each in (place, *after)):
                found.add(place)
        return frozenset(found)

    def _shown(self) -> Held:
        """What stands in the arguments of needed calls, or was rightly said."""
        asked = (self._made[index].asked.text for index in sorted(self._used))
        return Held("\n".join([self._said, *asked]))

    def _is_computed(self, place: int) -> bool:
        return kinds_of(self._reference[place].tool).role == "computation"


def _connected(places: Sequence[int], plan: Plan) -> list[set[int]]:
    """Calls in groups that hang together by what they need."""
    groups: list[set[int]] = []
    for place in places:
        linked = [group for group in groups if group & {*plan.calls[place].needs}]
        groups = [group for group in groups if group not in linked]
        groups.append({place}.union(*linked))
    return groups


def _equal_pairs(references: Sequence[Call], actuals: Sequence[Call]) -> dict[int, int]:
    """Reference calls and actual calls that are written the same, by their places, each of them once."""
    waiting: dict[str, deque[int]] = {}
    for place, call in enumerate(actuals):
        waiting.setdefault(_written(call), deque()).append(place)
    return {place: queue.popleft() for place, call in enumerate(references) if (queue := waiting.get(_written(call)))}


def _written(call: Call) -> str:
    return json.dumps(call.arguments, sort_keys=True)


def _assigned(table: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The best assignment; a single row or column takes the first of its best."""
    if len(table) > 1 and len(table[0]) > 1:
        return assignment.best_pairs(table, WEAK)
    similarity, row, column = max(
        (value, -row, -column) for row, line in enumerate(table) for column, value in enumerate(line)
    )
    return [(-row, -column)] if similarity >= WEAK else []

"""Profile `effect`: an actual call answers a reference call when it brings about what that call is there for.

Calls of one tool are compared by the kinds of their arguments and by what they gave; the assignment is the same
similarity-bucketed one as in the other profiles. What it leaves open may be answered on another route: by a call of
another tool, or by several calls together, that gave the same facts. A perception or computation whose facts the
client evidently had without it is not needed in this run. Pure: results come in with the calls, and without them the
arguments alone decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from m3bench.server.scoring import content
from m3bench.server.scoring.agreement import EQUAL, Agreement, agree, file_name, files_of, says_nothing
from m3bench.server.scoring.answers import Answer, Answers, Way
from m3bench.server.scoring.assignment import WEAK, assigned, equal_pairs
from m3bench.server.scoring.other_routes import by_facts, by_more
from m3bench.server.scoring.texts import Signature, Signatures
from m3bench.tasks.facts import Fact, Held, is_distinctive, leaves
from m3bench.tasks.folding import fold
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.plan import Plan, PlannedCall, digest
from m3bench.tasks.trajectory import Call, Trajectory

SAVES = "save_path"
"""The argument of calls that read something and keep a copy."""

NOTHING_KNOWN = Signature(defaults={})


@dataclass(frozen=True, kw_only=True)
class Made:
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
    def _agreements(self) -> dict[str, Agreement]:
        """How it compares with reference calls, which references of a task have in common."""
        return {}

    def agreement(
        self, wanted: Call, signature: Signature | None, pictures: frozenset[str], files: frozenset[str]
    ) -> Agreement:
        """How its arguments compare with those of a reference call of the same tool."""
        key = f"{wanted.arguments}{id(wanted.tolerances) if wanted.tolerances else ''}"
        found = self._agreements.get(key)
        if found is None:
            found = self._agreements[key] = agreed(wanted, self.call, signature, pictures, files)
        return found

    def told(self, fact: Fact) -> bool:
        """Whether the call brought a fact that whoever made it did not put in."""
        return self.held.holds(fact) and not self.asked.holds(fact)


class Comparison(NamedTuple):
    """How an actual call answers a reference call of the same tool, and to what degree."""

    way: Way
    similarity: float
    agreement: Agreement


def find_answers(
    reference: Trajectory,
    plan: Plan,
    made: Sequence[Made],
    *,
    said: str = "",
    pictures: frozenset[str] = frozenset(),
    signatures: Signatures,
) -> Answers:
    """Decide which actual calls answer which reference calls.

    Args:
        reference: A way to solve the task.
        plan: What its calls give and need.
        made: The actual calls in order.
        said: What the client handed in and was right about; empty when it was not right.
        pictures: Names of the files that the run began with.
        signatures: Defaults and unordered arrays of the tools.
    """
    search = _Search(reference.calls, plan, made, pictures, signatures)
    search.match()
    search.join_parts()
    search.give_back_empty()
    search.give_back_unmade()
    search.find_routes()
    dropped = search.not_needed(said)
    missed = set(range(len(reference.calls))) - search.answers.keys() - dropped
    return Answers(
        plan=plan,
        reference_steps=tuple(number for number, step in enumerate(reference.steps) for _ in step.calls),
        steps=tuple(one.step for one in made),
        answers=dict(sorted(search.answers.items())),
        dropped=dropped,
        rejected={place: search.nearest[place] for place in sorted(missed & search.nearest.keys())},
        reference_tools=tuple(call.tool for call in reference.calls),
        tools=tuple(one.call.tool for one in made),
        results_known=all(one.result is not None for one in made),
    )


def agreed(
    wanted: Call, call: Call, signature: Signature | None, pictures: frozenset[str], files: frozenset[str]
) -> Agreement:
    """How the arguments of two calls of a tool compare."""
    known = signature or NOTHING_KNOWN
    return agree(wanted, call, kinds_of(wanted.tool), known.defaults, known.unordered, pictures, files)


def compare(
    reference: Call,
    planned: PlannedCall,
    made: Made,
    signature: Signature | None = None,
    pictures: frozenset[str] = frozenset(),
    files: frozenset[str] = frozenset(),
    common: frozenset[Fact] = frozenset(),
) -> Comparison:
    """Compare an actual call with a reference call of the same tool.

    Equal arguments are the same call. Otherwise the same result, or all the facts that the reference call is there
    for, are the same effect. Otherwise another identity, quantity or place is another call, and what is left is the
    share of the facts (of the arguments, when results are not known) that agrees.
    """
    agreement = made.agreement(reference, signature, pictures, files)
    if agreement.equal:
        return Comparison("same call", 1.0, agreement)
    if made.result is None or kinds_of(reference.tool).role == "action":
        return Comparison("partly", 0.0 if agreement.wrong else agreement.share, agreement)
    if planned.result and made.digest == planned.result:
        return Comparison("same effect", 1.0, agreement)
    if not planned.gives:
        return Comparison("partly", 0.0 if agreement.wrong else agreement.share, agreement)
    found = sum(made.held.holds(fact) for fact in planned.gives)
    telling = any(is_distinctive(fact) and fact not in common for fact in planned.gives)
    if found == len(planned.gives) and (telling or _names_the_place(agreement, made.held)):
        return Comparison("same effect", 1.0, agreement)
    share = found / len(planned.gives) * (1.0 if agreement.reworded else agreement.share)
    return Comparison("partly", 0.0 if agreement.wrong else share, agreement)


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
        made: Sequence[Made],
        pictures: frozenset[str],
        signatures: Signatures,
    ) -> None:
        self._reference = reference
        self._plan = plan
        self._made = made
        self._pictures = pictures
        self._signatures = signatures
        self._good = [index for index, one in enumerate(made) if not one.call.failed]
        self._files = frozenset(file_name(path) for i in self._good for path in files_of(made[i].call, inputs=False))
        self.answers: dict[int, Answer] = {}
        self.nearest: dict[int, tuple[int, Agreement]] = {}

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

    def _match(self, rows: Sequence[int], columns: Sequence[int], signature: Signature | None) -> None:
        equal = equal_pairs([self._reference[row] for row in rows], [self._made[column].call for column in columns])
        for row, column in equal.items():
            self.answers[rows[row]] = Answer(
                way="same call", actual=(columns[column],), similarity=1.0, agreement=EQUAL
            )
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
                    self._pictures,
                    self._files,
                    common,
                )
                for column in columns
            ]
            for row in rows
            for common in (self._common(row),)
        ]
        for row, column in assigned([[pair.similarity for pair in line] for line in table]):
            way, similarity, agreement = table[row][column]
            self.answers[rows[row]] = Answer(
                way=way, actual=(columns[column],), similarity=similarity, agreement=agreement
            )
        taken = self._used
        named: set[int] = set()
        for row, line in zip(rows, table, strict=True):
            # Of those that answer nothing, one not named yet comes first, then the one that is least wrong.
            order = [
                (columns[i] in named, len(pair.agreement.wrong), -pair.agreement.share, i)
                for i, pair in enumerate(line)
                if columns[i] not in taken
            ]
            if row not in self.answers and order:
                near = min(order)[-1]
                named.add(columns[near])
                self.nearest[row] = columns[near], line[near].agreement

    def join_parts(self) -> None:
        """Answer actions by several calls of the same tool that together put in more than one of them does."""
        for place, wanted in enumerate(self._reference):
            if kinds_of(wanted.tool).role != "action" or self._similarity(place) == 1:
                continue
            taken = {index for other, answer in self.answers.items() if other != place for index in answer.actual}
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
            whole = agreed(wanted, joined, self._signatures(wanted.tool), self._pictures, self._files)
            if whole.share >= WEAK and whole.share > self._similarity(place):
                self.answers[place] = Answer(
                    way="another route", actual=tuple(parts), similarity=whole.share, agreement=whole
                )

    def _similarity(self, place: int) -> float:
        return self.answers[place].similarity if place in self.answers else 0.0

    def _agreement(self, place: int, index: int) -> Agreement:
        wanted = self._reference[place]
        return self._made[index].agreement(wanted, self._signatures(wanted.tool), self._pictures, self._files)

    def give_back_unmade(self) -> None:
        """Take back the answers to actions on a picture that was to be made by a call that nothing answers."""
        for place, wanted in enumerate(self._reference):
            if place not in self.answers or kinds_of(wanted.tool).role != "action":
                continue
            used = files_of(wanted, inputs=True)
            makers = [
                earlier
                for earlier, call in enumerate(self._reference[:place])
                if used & files_of(call, inputs=False) and kinds_of(call.tool).role == "action"
            ]
            if makers and not any(maker in self.answers for maker in makers):
                del self.answers[place]

    def give_back_empty(self) -> None:
        """Take back the answers to actions that say nothing, where nothing of what they hold together was answered.

        Whoever opens and saves a file has done nothing yet. Such actions count with those that fill the file.
        """
        actions = [place for place, call in enumerate(self._reference) if kinds_of(call.tool).role == "action"]
        empty = {
            place
            for place in actions
            if says_nothing(self._reference[place], kinds_of(self._reference[place].tool), self._pictures)
        }
        for group in _connected(actions, self._plan):
            filled = group - empty
            if filled and not filled & self.answers.keys():
                for place in group & empty:
                    self.answers.pop(place, None)

    def find_routes(self) -> None:
        """Answer what is left by calls that brought the same; what leaves a file brings more than its result."""
        for find in (self._by_more, self._by_facts):
            for place, wanted in enumerate(self._reference):
                if place in self.answers or kinds_of(wanted.tool).role == "action" or SAVES in wanted.arguments:
                    continue
                found = find(place)
                if found:
                    self.answers[place] = Answer(
                        way="another route", actual=tuple(sorted(found)), similarity=1.0, agreement=None
                    )

    def _by_more(self, place: int) -> set[int]:
        wanted, planned = self._reference[place], self._plan.calls[place]
        return by_more(wanted, planned, self._made, self._order, lambda index: self._agreement(place, index))

    def _by_facts(self, place: int) -> set[int]:
        wanted, planned = self._reference[place], self._plan.calls[place]
        return by_facts(wanted, planned, self._made, self._order, self._used, self._common(place))

    def _common(self, place: int) -> frozenset[Fact]:
        """Facts that other reference calls of the same tool give too: they do not tell which call it was."""
        tool = self._reference[place].tool
        others = [at for at, call in enumerate(self._reference) if call.tool == tool and at != place]
        return frozenset(fact for at in others for fact in self._plan.calls[at].gives)

    @property
    def _used(self) -> frozenset[int]:
        return frozenset(index for answer in self.answers.values() for index in answer.actual)

    @property
    def _order(self) -> list[int]:
        """The calls that succeeded; those that answer nothing yet come first."""
        used = self._used
        return sorted(self._good, key=lambda index: (index in used, index))

    def not_needed(self, said: str) -> frozenset[int]:
        """Perceptions and computations whose facts the client evidently had without them.

        The facts stand in the arguments of calls that answer something, or in what the client rightly said; or, of a
        computation, they go into computations alone that the client did without.
        """
        candidates = [
            (place, planned)
            for place, planned in enumerate(self._plan.calls)
            if place not in self.answers
            and kinds_of(self._reference[place].tool).role in ("perception", "computation")
            and planned.gives
        ]
        if not candidates:
            return frozenset()
        shown = Held("\n".join([said, *(self._made[index].asked.text for index in sorted(self._used))]))
        found = {
            place
            for place, planned in candidates
            if all(shown.holds(fact) or shown.holds_rounded(fact) for fact in planned.gives)
        }
        for place, _ in reversed(candidates):
            after = {later for later, planned in enumerate(self._plan.calls) if place in planned.needs}
            if after and after <= found and all(self._is_computed(one) for one in (place, *after)):
                found.add(place)
        return frozenset(found)

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

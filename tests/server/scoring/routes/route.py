"""Honest other routes to a solution, made from a task's own reference and plan.

A route is what a clever client might do that nobody wrote down: read by eye, add in the head, use another tool, spell
things otherwise, send everything at once. It is a transformation that works on any instance of its families, so it
outlives the set. Where a task leaves no room for it, it says so with None.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.plan import Plan
from m3bench.tasks.task import Task
from m3bench.tasks.trajectory import JSON, Call

Steps = list[list[Call]]
Build = Callable[[Task, Plan], "Steps | None"]


@dataclass(frozen=True, kw_only=True)
class Route:
    """A way to solve tasks that is none of their references."""

    name: str
    build: Build
    families: frozenset[str] | None = None
    """Where it may apply; None means everywhere."""

    def steps(self, task: Task, plan: Plan) -> Steps | None:
        """The calls, or None where this task leaves no room for it or where it is a reference anyway."""
        if self.families is not None and task.family not in self.families:
            return None
        found = self.build(task, plan)
        if found is None:
            return None
        found = [step for step in found if step]
        if any(_count(found, tool) < _count(first(task), tool) for tool in demanded(task)):
            return None
        known = [[[(c.tool, c.arguments) for c in step.calls] for step in r.trajectory.steps] for r in task.references]
        return None if [[(call.tool, call.arguments) for call in step] for step in found] in known else found


def _count(steps: Steps, tool: str) -> int:
    return sum(call.tool == tool for step in steps for call in step)


def first(task: Task) -> Steps:
    """The first reference."""
    return [list(step.calls) for step in task.references[0].trajectory.steps]


def demanded(task: Task) -> frozenset[str]:
    """Tools that a check wants to have been called."""
    found = (check.model_dump() for check in task.checks)
    return frozenset(str(tool) for one in found if one["kind"] == "call_made" for tool in _tools(one))


def _tools(check: dict[str, object]) -> Iterable[object]:
    value = check.get("tools") or check.get("tool") or ()
    return value if isinstance(value, list | tuple) else [value]


def without(task: Task, plan: Plan, role: str) -> Steps | None:
    """The first reference without the calls of a role that give something and that no check wants."""
    place, left, steps = 0, 0, []
    for step in first(task):
        kept = []
        for call in step:
            planned, place = plan.calls[place], place + 1
            if kinds_of(call.tool).role == role and planned.gives and call.tool not in demanded(task):
                left += 1
            else:
                kept.append(call)
        steps.append(kept)
    return steps if left else None


def levels(task: Task, plan: Plan, *, late: bool = False) -> Steps | None:
    """The calls of the first reference as early as what they need allows, or as late."""
    calls = task.references[0].trajectory.calls
    level = [0] * len(calls)
    for place, planned in enumerate(plan.calls):
        level[place] = max((level[need] + 1 for need in planned.needs), default=0)
    if late:
        last = max(level)
        after = [[other for other, one in enumerate(plan.calls) if place in one.needs] for place in range(len(calls))]
        for place in reversed(range(len(calls))):
            level[place] = min((level[other] - 1 for other in after[place]), default=last)
    return [[call for place, call in enumerate(calls) if level[place] == at] for at in range(max(level) + 1)]


def changed(task: Task, change: Callable[[Call], Call | None]) -> Steps | None:
    """The first reference with every call changed for which there is another."""
    steps, count = [], 0
    for step in first(task):
        made = []
        for call in step:
            other = change(call)
            count += other is not None and (other.tool, other.arguments) != (call.tool, call.arguments)
            made.append(other or call)
        steps.append(made)
    return steps if count else None


def with_arguments(call: Call, **arguments: JSON) -> Call:
    """The call with some arguments changed, or left out where None."""
    given = {**call.arguments, **arguments}
    return replace(call, arguments={name: value for name, value in given.items() if value is not None})


def folded_case(call: Call) -> Call | None:
    """The call with its search words in small letters."""
    kinds = kinds_of(call.tool)
    words = {n: v.lower() for n, v in call.arguments.items() if kinds.kind(n) == "text" and isinstance(v, str)}
    operators = any(" OR " in str(value) for value in call.arguments.values())
    return None if operators else with_arguments(call, **words)


def joined(steps: Sequence[Sequence[Call]], tool: str, make: Callable[[list[Call]], list[Call]]) -> Steps | None:
    """The steps with all calls of a tool replaced where the first of them stands."""
    calls = [call for step in steps for call in step if call.tool == tool]
    if len(calls) < 2:
        return None
    made, found = make(calls), []
    for step in steps:
        new = [call for call in step if call.tool != tool]
        if made and len(new) < len(step):
            new, made = [*new, *made], []
        found.append(new)
    return found


GENERAL = (
    Route(name="read by eye", build=lambda task, plan: without(task, plan, "perception")),
    Route(name="worked out in the head", build=lambda task, plan: without(task, plan, "computation")),
    Route(name="everything as early as it can be", build=levels),
    Route(name="everything as late as it can be", build=lambda task, plan: levels(task, plan, late=True)),
    Route(name="search words in small letters", build=lambda task, plan: changed(task, folded_case)),
)

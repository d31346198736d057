"""What broke between two versions of an agent: tasks that were solved and are not, each with the reason in words.

With repeats a task is `broken` when every attempt solved it before and none does now, `mended` the other way round, and
`rarer` when it is merely solved less often. The reason is that of the first attempt that failed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from m3bench.server.lab.results.analyses.failures import FailureClass, class_of, class_of_void, in_words
from m3bench.server.lab.results.resultset import Result, ResultSet
from m3bench.tasks.json_types import JsonObject

Turn = Literal["broken", "rarer", "mended"]


@dataclass(frozen=True, kw_only=True)
class Turned:
    """A task whose outcome changed."""

    task: str
    turn: Turn
    before: tuple[int, int]
    """Attempts that solved it, and attempts that were scored."""
    after: tuple[int, int]
    failure: FailureClass | None = None
    """Why the first attempt that fails now does; of a task that was mended, why it failed before."""
    reason: str = ""
    """The same in words."""
    run: str | None = None
    """The handle of that attempt, for `m3bench report`."""

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes."""
        return {
            "task": self.task, "turn": self.turn, "before": list(self.before), "after": list(self.after),
            "failure": self.failure, "reason": self.reason, "run": self.run,
        }  # fmt: skip


def turned(first: ResultSet, second: ResultSet) -> list[Turned]:
    """The tasks whose outcome changed from the first set to the second: what broke, what is rarer, what was mended."""
    old, new = _attempts(first.results), _attempts(second.results)
    found = []
    for task in sorted(old.keys() & new.keys()):
        before, after = _count(old[task]), _count(new[task])
        turn = _turn(before, after)
        if turn is not None:
            found.append(_told(task, turn, before, after, old[task] if turn == "mended" else new[task]))
    order: tuple[Turn, ...] = ("broken", "rarer", "mended")
    return sorted(found, key=lambda change: (order.index(change.turn), change.task))


def lost(first: ResultSet, second: ResultSet) -> dict[str, str]:
    """Tasks that were solved in the first set and have no scored attempt in the second, each with why it is void."""
    solved = {task for task, attempts in _attempts(first.results).items() if _count(attempts)[0]}
    there = {result.sample.task for result in second.results}
    return {
        sample.task: f"{class_of_void(sample)}: {sample.reason}".rstrip(": ")
        for sample in reversed(second.void)
        if sample.task in solved - there
    }


def _turn(before: tuple[int, int], after: tuple[int, int]) -> Turn | None:
    if before[0] == before[1] and not after[0]:
        return "broken"
    if after[0] == after[1] and not before[0]:
        return "mended"
    return "rarer" if after[0] * before[1] < before[0] * after[1] else None


def _told(task: str, turn: Turn, before: tuple[int, int], after: tuple[int, int], tries: list[Result]) -> Turned:
    failing = next(result for result in tries if not result.card.success)
    return Turned(
        task=task,
        turn=turn,
        before=before,
        after=after,
        failure=class_of(failing),
        reason=in_words(failing),
        run=failing.run.id,
    )


def _attempts(results: Iterable[Result]) -> dict[str, list[Result]]:
    """The checked attempts at each task."""
    found: dict[str, list[Result]] = {}
    for result in results:
        if result.card.success is not None:
            found.setdefault(result.sample.task, []).append(result)
    return found


def _count(tries: list[Result]) -> tuple[int, int]:
    return sum(bool(result.card.success) for result in tries), len(tries)

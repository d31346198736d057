"""What the scripted model says: it plays tasks to their end, each by its first reference.

Which turn it is follows from the calls in the request, so the model keeps no state: a client may ask the same thing
twice, or ask for a title in between. When it asks for a summary, to go on with that in place of the conversation, the
summary says how many calls there were. The task of a trial is one whose reference has calls side by side, of tools that
only read and of tools that write, because clients send these in different ways.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from m3bench.server.clients.trial.conversation import BRIDGE, BY_SEARCH, Called, Request, Saying
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.catalog import Catalog, expose
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import solvable, tools_of
from m3bench.tasks.task import Task
from m3bench.tasks.trajectory import JSON

MOST_SEARCHES = 5
"""A client whose search finds nothing is asked no longer."""

DONE = "The task is done, and its score card is above."

_SUMMARY = re.compile(r"So far, (\d+) calls were made\.")


def task_for(profile: str, catalog: Catalog, library: Library) -> Task:
    """The shortest of the tasks of a profile that have the most kinds of calls side by side.

    Raises:
        UserError: None has any.
    """
    tasks = solvable(tuple(library.tasks.values()), tools_of(profile, catalog, library))
    kinds = {task.id: len(set(_side_by_side(task, catalog))) for task in tasks}
    fitting = [task for task in tasks if kinds[task.id] and task.pictures]
    if not fitting:
        raise UserError(f"The profile {profile} has no task with calls side by side.")
    size = {task.id: (len(task.servers), len(task.references[0].trajectory.calls)) for task in fitting}
    return min(fitting, key=lambda task: (-kinds[task.id], size[task.id], task.id))


def _side_by_side(task: Task, catalog: Catalog) -> Iterator[bool]:
    """Of each step with several calls of one kind: whether they only read."""
    for step in task.references[0].steps:
        kinds = {catalog.tool(call.tool).read_only for call in step}
        if len(step) > 1 and len(kinds) == 1:
            yield kinds.pop()


Turn = tuple[Called, ...]
"""The calls that the model makes at once."""


def turns_of(task: Task, **start: JSON) -> tuple[Turn, ...]:
    """A task from its start to its score, by its first reference; with more arguments of `start_task` as given."""
    answer = {"answer": task.answer} | ({"fields": right_fields(task.fields)} if task.fields else {})
    return (
        (Called(name="start_task", arguments={"task_id": task.id, **start}),),
        *(
            tuple(Called(name=expose(call.tool), arguments=call.arguments) for call in step)
            for step in task.references[0].steps
        ),
        (Called(name="submit", arguments=answer),),
        (Called(name="score", arguments={}),),
    )


class TrialScript:
    """What is played, turn by turn, after a look at the tasks.

    Args:
        turns: What is called.
        shown: The name that the client gives one of our tools.
    """

    def __init__(self, turns: Iterable[Turn], shown: Callable[[str], str]) -> None:
        self._shown = shown
        self.turns: tuple[Turn, ...] = ((Called(name="list_tasks", arguments={}),), *turns)
        self._names = {call.name for turn in self.turns for call in turn}

    def answer(self, request: Request) -> Saying:
        """What to say to a request."""
        made = sum(1 for call in request.calls if any(same(call.tool, name) for name in self._names))
        made += max((int(number) for text in request.texts for number in _SUMMARY.findall(text)), default=0)
        if not request.tools:  # No turn of the game can be played: a title or a summary is wanted.
            return Saying(text=f"So far, {made} calls were made.")
        ends = list(accumulate((len(turn) for turn in self.turns), initial=0))
        if made == ends[-1]:
            return Saying(text=DONE)
        if made not in ends:
            return Saying(text=f"{made} calls were made, which is within a turn: the client left some of them out.")
        turn = self.turns[ends.index(made)]
        found = [self._in_client(call, request) for call in turn]
        if None not in found:
            return Saying(calls=tuple(call for call in found if call is not None))
        return self._search(request)

    def _in_client(self, call: Called, request: Request) -> Called | None:
        """A call under the name that the client knows; None when it does not know it yet."""
        if name := named(call.name, request.tools):
            return Called(name=name, arguments=call.arguments)
        if BRIDGE in request.tools:
            return Called(name=BRIDGE, arguments={"name": self._shown(call.name), "arguments": dict(call.arguments)})
        return None

    def _search(self, request: Request) -> Saying:
        """Ask for the tools that are not loaded, where the client has a search."""
        search = next((name for name in BY_SEARCH if name in request.tools), None)
        if search is None or sum(call.name == search for call in request.calls) >= MOST_SEARCHES:
            return Saying(text="There are no tools of m3bench here.")
        missing = sorted(name for name in self._names if not named(name, request.tools))
        wanted = "select:" + ",".join(self._shown(name) for name in missing)
        return Saying(calls=(Called(name=search, arguments={"query": wanted, "max_results": len(missing)}),))


def named(tool: str, names: Iterable[str]) -> str | None:
    """A client's name of our tool: with our server's name in it before others, and the shortest."""
    found = [name for name in names if same(name, tool)]
    return min(found, key=lambda name: ("m3bench" not in name, len(name)), default=None)


def same(name: str, tool: str) -> bool:
    """Whether a client's name is that of our tool: clients prefix it, change its punctuation and split its words."""
    plain, wanted = _plain(name), _plain(tool)
    return plain == wanted or plain.endswith(f"_{wanted}")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())

"""What a trial found: what reached the model, from its requests, and what the client did, from our record."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Literal

from m3bench.server.clients.client import McpClient
from m3bench.server.clients.table import KnownClients
from m3bench.server.clients.trial.conversation import Request
from m3bench.server.clients.trial.script import named
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.store.records import OWN_TOOLS, CallRecord, RunRecord
from m3bench.tasks.catalog import Catalog
from m3bench.tasks.task import Task

Tools = Literal["loaded", "by search", "missing"]
"""How the tools are there on the first turn: all at hand, all named for a search, or not all of them."""

Picture = Literal["shown", "lost"]

Card = Literal["Markdown", "inside JSON", "missing"]
"""How the score card stands in the model's context."""

Sending = Literal["together", "in a row"]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a trial found of a client."""

    client: str
    """What it calls itself, with its version."""
    profile: str
    task: str
    tools: Tools
    tools_shown: int
    """Tools of ours on the first turn, at hand or named for a search."""
    tools_expected: int
    picture: Picture
    card: Card
    reading: Sending | None
    """How it sends calls of one turn to tools that only read; None when there were none."""
    writing: Sending | None
    """How it sends calls of one turn to other tools."""
    steps: tuple[int, ...]
    """The calls in each step, as the record is read."""
    reference: tuple[int, ...]
    """The calls in each step of the reference."""
    solved: bool
    average: float
    best: float
    """What the average is when every boundary that the record leaves open is read in the client's favour."""
    worst: float
    """What it is when all of them are read against it."""

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return asdict(self)

    @property
    def problems(self) -> tuple[str, ...]:
        """What a person should know is not as it ought to be, in words; a picture that is lost is the client's way."""
        found = {
            f"only {self.tools_shown} of {self.tools_expected} tools were there on the first turn": self.tools
            == "missing",
            "the score card did not reach the model": self.card == "missing",
            "the right answer was handed in and the task is not solved": not self.solved,
            f"the score is {self.best:.3f} where 1.000 was played": self.best < 1,
        }
        return tuple(says for says, wrong in found.items() if wrong)


def findings(
    task: Task,
    profile: str,
    tools: Sequence[str],
    requests: Sequence[Request],
    picture: bytes,
    run: tuple[RunRecord, ScoreCard, Sequence[CallRecord]],
    catalog: Catalog,
) -> Findings:
    """What a trial found.

    Args:
        task: What was played.
        profile: The profile that the client was installed with.
        tools: The names of all tools that we showed.
        requests: What the model was asked.
        picture: The task's picture.
        run: The run with its card and its calls.
        catalog: Which tools only read.
    """
    record, card, calls = run
    tools_there, shown = tools_on_the_first_turn(tools, requests)
    made = [call for call in calls if call.tool not in OWN_TOOLS]
    average = card.average or 0.0
    low, high = card.ranges.get("average", (average, average))
    return Findings(
        client=card.client.name if card.client is not None else "",
        profile=profile,
        task=task.id,
        tools=tools_there,
        tools_shown=shown,
        tools_expected=len(tools),
        picture="shown" if any(picture in request.pictures for request in requests) else "lost",
        card=_card(markdown(card, record.id), requests),
        reading=_sending(task, made, catalog, read_only=True),
        writing=_sending(task, made, catalog, read_only=False),
        steps=tuple(len(step) for step in card.alignment.actual_steps),
        reference=tuple(len(step) for step in card.alignment.reference_steps),
        solved=card.success is True,
        average=average,
        best=high,
        worst=low,
    )


def tools_on_the_first_turn(tools: Sequence[str], requests: Sequence[Request]) -> tuple[Tools, int]:
    """Whether all tools were there when the model was first asked with tools at hand, and how many."""
    first = next((request for request in requests if request.tools), None)
    if first is None:
        return "missing", 0
    loaded = _count(tools, first.tools)
    if loaded == len(tools):
        return "loaded", loaded
    mentioned = {word for text in first.texts for word in re.findall(r"[\w.-]*m3bench[\w.-]*", text)}
    there = _count(tools, {*first.tools, *mentioned})
    return ("by search", there) if there == len(tools) else ("missing", there)


def _count(tools: Iterable[str], names: Iterable[str]) -> int:
    names = tuple(names)
    return sum(named(tool, names) is not None for tool in tools)


def _card(text: str, requests: Sequence[Request]) -> Card:
    texts = [found for request in requests for found in request.texts]
    if any(text in found for found in texts):
        return "Markdown"
    # Some frameworks print a list of texts as Python does.
    escaped = (*(json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (True, False)), repr(text)[1:-1])
    return "inside JSON" if any(form in found for form in escaped for found in texts) else "missing"


def _sending(task: Task, made: Sequence[CallRecord], catalog: Catalog, *, read_only: bool) -> Sending | None:
    """How the first step of the reference with several calls of one kind was sent."""
    begin = 0
    for step in task.references[0].steps:
        calls = sorted(made[begin : begin + len(step)], key=lambda call: call.received_ns)
        begin += len(step)
        if len(calls) > 1 and all(catalog.tool(call.tool).read_only is read_only for call in step):
            left = [(before.sent_ns or before.returned_ns or 0, call.received_ns) for before, call in pairwise(calls)]
            return "together" if any(received < sent for sent, received in left) else "in a row"
    return None


_TOOLS = {"loaded": "at hand", "by search": "named, and found by the client's search", "missing": "there"}


def report_lines(client: McpClient, found: Findings) -> Iterator[str]:
    """One line for each fact, and what is wrong at the end."""
    yield f"{client.title} as {found.client}, profile {found.profile}, task {found.task}"
    yield f"  tools    {found.tools_shown} of {found.tools_expected} {_TOOLS[found.tools]} on the first turn"
    yield f"  picture  {_picture_words(found)}"
    yield f"  card     {_card_words(found)}"
    yield f"  calls    {sent(found)}"
    yield f"  score    {score(found)}"
    if found.worst < found.best:
        yield f"  to do    {to_do(client, found)}"
    if not found.problems:
        yield "Everything works." if found.worst == found.best else "Everything works, but the score is not certain."
    for problem in found.problems:
        yield f"Not as it should be: {problem}."


def sent(found: Findings) -> str:
    """How calls of one turn are sent."""
    if found.reading == found.writing:
        return f"all {found.reading}"
    return f"to read-only tools {found.reading}, to others {found.writing}"


def score(found: Findings) -> str:
    """The score, and how it is to be read."""
    solved = "solved" if found.solved else "not solved"
    if found.worst == found.best:
        return f"{found.average:.3f}, {solved}"
    return f"{found.average:.3f}, {solved}; 1.000 was played, the record allows {found.worst:.3f} to {found.best:.3f}"


def to_do(client: McpClient, found: Findings) -> str:
    """What a person does about a score that is not certain."""
    if (found.reading, found.writing) == ("together", "together"):
        return (
            "check again when the machine does less. This client sends the calls of one turn together, and some were "
            "answered before the next one came: the record does not show that they belong together."
        )
    name, _, version = found.client.rpartition(" ")
    if KnownClients().measured(name, version) is not None:
        return (
            "nothing: it is this client's way. It sends some calls of one turn one after the other, which looks "
            "like several turns. Compare its runs by their ranges. `m3bench run --model` announces turns: its "
            "scores are certain."
        )
    return (
        f"ask {client.title} to run the probe (`m3bench client probe --print {client.key}`), so that m3bench knows how "
        "this version sends the calls of one turn: your own runs are then read by it, but not this check, which has a "
        "home of its own. Compare runs by their ranges where they stay."
    )


def _picture_words(found: Findings) -> str:
    return "reaches the model" if found.picture == "shown" else "does not reach the model: this client leaves it out"


def _card_words(found: Findings) -> str:
    match found.card:
        case "Markdown":
            return "reaches the model as Markdown"
        case "inside JSON":
            return "reaches the model as text inside JSON, as everything does in this client"
        case _:
            return "does not reach the model"

"""The findings of a trial in words, for a person who asked whether a client works."""

from collections.abc import Iterator

from m3bench.server.clients.client import Client
from m3bench.server.clients.trial.findings import Findings

_TOOLS = {"loaded": "at hand", "by search": "named, and found by the client's search", "missing": "there"}


def lines(client: Client, found: Findings) -> Iterator[str]:
    """One line for each fact, and what is wrong at the end."""
    yield f"{client.title} as {found.client}, profile {found.profile}, task {found.task}"
    yield f"  tools    {found.tools_shown} of {found.tools_expected} {_TOOLS[found.tools]} on the first turn"
    yield f"  picture  {_picture(found)}"
    yield f"  card     {_card(found)}"
    yield f"  calls    {sent(found)}"
    yield f"  score    {score(found)}"
    if not found.problems:
        yield "Everything works."
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
    if found.average == found.best:
        return f"{found.average:.3f}, {solved}"
    return (
        f"{found.average:.3f} to {found.best:.3f}, {solved}: calls that are sent in a row leave open which of them "
        "belong together, unless the client was probed"
    )


def _picture(found: Findings) -> str:
    return "reaches the model" if found.picture == "shown" else "does not reach the model: this client leaves it out"


def _card(found: Findings) -> str:
    match found.card:
        case "Markdown":
            return "reaches the model as Markdown"
        case "inside JSON":
            return "reaches the model as text inside JSON, as everything does in this client"
        case _:
            return "does not reach the model"

"""The `desk` server: a person who can be asked, and documents with the rules of the house.

It is offered only with tasks that need it. Person and documents come with the scene of a run's picture; what was told
so far is kept with the workspace, so that a host that starts again goes on where the last one was.
"""

import json
from pathlib import Path

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.desk import Desk, Document, State, reply
from m3bench.tasks.errors import ToolError

server = ToolServer("desk")

_STATE = "dialogue.json"


@server.tool
def ask_user(context: Context, question: str) -> str:
    if not question.strip():
        raise ToolError("The question is empty: say what you would like to know", outcome="invalid_arguments")
    desk = _desk(context)
    place = context.workspace.state(server.name) / _STATE
    said, after = reply(desk, _read(place), question)
    place.write_text(json.dumps(after.to_json()), encoding="utf-8")
    return said


@server.tool
def list_documents(context: Context) -> str:
    return "\n".join(map(_line, _desk(context).documents))


@server.tool
def read_document(context: Context, name: str) -> str:
    documents = _desk(context).documents
    wanted = name.strip().casefold()
    for document in documents:
        if wanted in (document.name.casefold(), document.title.casefold(), _line(document).casefold()):
            return f"{document.title}\n\n{document.text}"
    hint = did_you_mean(name, [document.name for document in documents]) or " list_documents shows which there are."
    raise ToolError(f"There is no document {name!r}.{hint}", outcome="not_found")


def _line(document: Document) -> str:
    return f"{document.name}: {document.title}"


def _desk(context: Context) -> Desk:
    found = next((scene.desk for scene in context.scenes if scene.desk is not None), None)
    if found is None:
        raise ToolError("Nobody is at the desk: there is no person and no document in this run", outcome="not_found")
    return found


def _read(place: Path) -> State:
    return State.from_json(json.loads(place.read_text(encoding="utf-8"))) if place.exists() else State()

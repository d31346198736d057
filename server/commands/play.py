"""`m3bench play`: a person plays tasks in a browser, over a server of their own; and studies with many people."""

import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.options import Data, Json, Sandbox, Tasks
from m3bench.server.commands.recorded import remember
from m3bench.server.commands.screen import console, number, plain_table, print_json, say
from m3bench.server.lab.results.analyses.people import PeopleFacts, half_width, people_facts
from m3bench.server.lab.results.resultset import DATA, read_resultset
from m3bench.server.lab.studies.people import PeopleStudy, PersonLine, read_people_plan
from m3bench.server.settings import Settings
from m3bench.server.store.factory import open_store
from m3bench.server.store.layout import database
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.lazy_modules import LazyModule

# The MCP library takes most of a second to import: help and completion do without it.
if TYPE_CHECKING:
    from m3bench.server.commands import serving
else:
    serving = LazyModule("m3bench.server.commands.serving")


def play(
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="A task's id; the page lets you choose when left out.")
    ] = None,
    tasks: Tasks = None,
    data: Data = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="The port to listen on; a free one when left out.")
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address, and open no browser.")] = False,
) -> None:
    """Play a task yourself, in a browser.

    \b
    m3bench play                             # choose a task on the page
    m3bench play barcode_lookup-1
    m3bench play --no-open                   # on a machine without a screen

    The page shows the question and its pictures, finds tools as you type, makes forms of their arguments and sends
    calls, several as one turn where you like; then you hand in the fields and see your score card. Everything works
    with the keyboard alone.

    You are an ordinary client with a seat of its own, named person: runs are recorded, scored and exported like any
    other, and `m3bench runs list` shows them. The server answers this machine only, and its address works once. Ctrl-C
    ends it; a task that was not handed in is then given up.
    """
    serving.serve_person(Settings.of(task=task, tasks=tasks, data=data), port, _ignored if no_open else _show)


def studio(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the set.", show_default=False)],
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="The port to listen on; a free one when left out.")
    ] = 0,
    sandbox: Sandbox = "process",
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address, and open no browser.")] = False,
) -> None:
    """See tasks while you write them, and what is wrong with them.

    \b
    m3bench tasks studio my-tasks

    A page in your browser has question, picture, fields and reference beside each other, and follows what you save. It
    plays the reference, has agents try that must not solve the task, and says in plain words what is wrong: that the
    picture is not needed, that the question has the answer, that another answer is as right. Ctrl-C ends it.
    """
    settings = Settings.of(sandbox=sandbox)
    if not (folder / "tasks.json").is_file():
        raise InputFileError(folder, "has no tasks.json: name the folder of a set")
    if serving.serve_studio(folder, settings, port, _ignored if no_open else _show):
        raise KeyboardInterrupt


def people(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="File with the plan, in YAML.", show_default=False)],
    links: Annotated[bool, typer.Option("--links", help="Print the link of each person, and serve nothing.")] = False,
    results: Annotated[
        bool, typer.Option("--results", help="Write and print what was played so far, and serve nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Hold a study with people, who play in their browsers.

    \b
    m3bench lab people people.yaml --links       # whom to send what
    m3bench lab people people.yaml               # serve, or go on
    m3bench lab people people.yaml --results     # how it stands

    Everybody has a link of their own, with tasks in balanced order; whoever stops goes on with the same link, also
    after the server was started again. What you wrote is shown and agreed to first. A task can be handed in once, and
    nobody is told a score. No name and no address is kept unless the plan asks for one.

    Ctrl-C ends the server and writes what was played as a result set, which any other command takes.
    """
    study = PeopleStudy(read_people_plan(plan))
    if not (links or results):
        try:
            serving.serve_people(study, lambda base: _told(study, base))
        finally:
            _collect(study)
        return
    if links:
        origin = study.plan.url or f"http://{study.plan.listen}"
        addresses = {number: f"{origin}/?link={study.token(number)}" for number in study.people}
        if json:
            print_json([{"person": number, "link": link} for number, link in addresses.items()])
        else:
            for number, link in addresses.items():
                typer.echo(f"{number}\t{link}")
        return
    lines, facts = _collect(study)
    if json:
        print_json({"people": [vars(line) for line in lines], "facts": None if facts is None else facts.to_json(),
                    "label_agreement": study.label_agreement()})  # fmt: skip
    else:
        _show_people(study, lines, facts)


def _told(study: PeopleStudy, base: str) -> None:
    tasks = {task for person in study.people.values() for task in person.tasks}
    each = min(len(person.tasks) for person in study.people.values())
    width = 100 * half_width(len(study.people), each, len(tasks))
    say(f"m3bench holds the study {study.plan.name} at {study.plan.url or base}: {len(study.people)} people, "
        f"{each} tasks each. Expect what they solve to ±{width:.0f} percentage points. Ctrl-C ends it.")  # fmt: skip


def _collect(study: PeopleStudy) -> tuple[list[PersonLine], PeopleFacts | None]:
    """Write the result set; what became of each person, and of them all."""
    place = RecordLocation(study.folder / DATA)
    if not database(place.folder).is_file():
        return [], None
    store = open_store(place)
    try:
        if any(run.state == "submitted" for run in store.runs()):
            serving.score_rest(study)
        samples = study.collect(store)
        lines = study.lines(store)
    finally:
        store.close()
    if not samples:
        return lines, None
    remember([study.folder])
    return lines, people_facts(read_resultset(study.folder))


def _show_people(study: PeopleStudy, lines: list[PersonLine], facts: PeopleFacts | None) -> None:
    table = plain_table("person", "agreed", "handed in", "labels", right=("person", "handed in", "labels"))
    for line in lines:
        table.add_row(str(line.number), "yes" if line.agreed else "no", f"{line.done} of {line.tasks}",
                      str(line.labelled))  # fmt: skip
    console().print(table)
    if facts is not None:
        ends = "" if facts.interval is None else f" ({facts.interval.low:.3f} to {facts.interval.high:.3f})"
        typer.echo(f"\nsolved {number(facts.solved)}{ends}, agreement (α) {number(facts.agreement)}, "
                   f"{facts.seconds / 60:.1f} minutes for a task (median)")  # fmt: skip
    for asked, agreement in study.label_agreement().items():
        typer.echo(f"labels of {asked!r}: agreement (α) {number(agreement)}")
    typer.echo(f"The result set is {study.folder}.", err=True)


def _ignored(address: str) -> None:
    """Open nothing."""


def _show(address: str) -> None:
    """Open a browser that has a window; one in the terminal would take that from us."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if isinstance(browser, webbrowser.BackgroundBrowser) or not isinstance(browser, webbrowser.GenericBrowser):
        threading.Thread(target=browser.open, args=(address,), daemon=True).start()

"""`m3bench install`: into the configuration of a client, and out of it again."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer
from rich.table import Table

from m3bench.proxy.transports.instant import InstantStart, prepared_file, read_prepared
from m3bench.server.clients.client import McpClient
from m3bench.server.clients.guide import page
from m3bench.server.clients.installation import (
    InstallRequest,
    Outcome,
    found_in,
    local,
    place_of,
    remote,
    this_machine,
    uninstall,
)
from m3bench.server.clients.installation import install as install_entry
from m3bench.server.clients.table import clients, find, profile_for
from m3bench.server.clients.trial.findings import report_lines
from m3bench.server.clients.trial.trial import program_of, try_client
from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import console, print_json
from m3bench.server.runs.profile_budget import Budget, budget_of
from m3bench.server.scoring.words import printable
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.library import Library

# The MCP library takes most of a second to import, and is needed only when nothing is prepared yet.
if TYPE_CHECKING:
    from m3bench.server.commands import serving
else:
    serving = LazyModule("m3bench.server.commands.serving")


@dataclass(frozen=True, kw_only=True)
class EntryOptions:
    """What is written into which configuration."""

    profile: Annotated[
        str | None, typer.Option(help="Tools to show; by default the largest profile the client can handle.")
    ] = None
    http: Annotated[
        str | None, typer.Option(metavar="URL", help="Connect to a running server instead of starting one.")
    ] = None
    project: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Use the configuration of this project, not your own.")
    ] = None
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Edit this file.")] = None

    @property
    def given(self) -> bool:
        """Whether a person said anything about it."""
        return any(option is not None for option in (self.profile, self.http, self.project, self.config))


def install(
    entry: EntryOptions,
    client: Annotated[
        str | None, typer.Argument(metavar="[CLIENT]", help="Which client; without one, all of them are listed.")
    ] = None,
    show: Annotated[
        bool, typer.Option("--print", help="Only print what would be written, and a link if there is one.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take m3bench out of the configuration again.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Have the client play a task with a scripted model, and say what it did.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the documentation page on clients.")] = False,
    json: Json = False,
) -> None:
    """Put m3bench into the configuration of an MCP client.

    \b
    m3bench install                          # the clients, and which of them have m3bench
    m3bench install cursor                   # into your own configuration
    m3bench install vscode --project .       # into that of a project
    m3bench install codex --print            # only show it
    m3bench install cursor --remove          # take it out again
    m3bench install codex --check            # does everything reach its model?

    Prints what changed in which file. The rest of the file stays, byte for byte, and a copy is kept beside it as
    FILE.m3bench-backup. A file that cannot be edited is not touched: the lines to paste are printed. Afterwards, ask
    the client to start a task.
    """
    if markdown:
        typer.echo(page(), nl=False)
        return
    if client is None:
        if entry.given or show or remove or check:
            raise UserError("Which client? `m3bench install` without options lists them.")
        _list(json)
        return
    chosen = find(client)
    if check:
        if entry.given or show or remove:
            raise UserError("--check uses a home of its own and the entry that is installed by default: use it alone.")
        _check(chosen, json)
        return
    path = place_of(chosen, this_machine(), config=entry.config, project=entry.project)
    if remove:
        _remove(chosen, path, json)
        return
    request = _request(chosen, path, entry)
    if show:
        _print(request, json)
    else:
        _install(request, json)


def _request(client: McpClient, path: Path, entry: EntryOptions) -> InstallRequest:
    if entry.http is not None:
        if entry.profile is not None:
            raise UserError("A running server's profile is chosen where it is started: leave out --profile.")
        return remote(client, path, entry.http)
    request = local(client, path, entry.profile)
    assert request.profile is not None
    shown = _budget(request.profile).tools
    if client.most_tools is not None and shown > client.most_tools:
        _tell(f"The profile {request.profile} shows {shown} tools; {client.title} takes {client.most_tools} well.")
    return request


def _budget(profile: str) -> Budget:
    return budget_of(profile, load_catalog().ready, Library())


def _install(request: InstallRequest, json: bool) -> None:
    client = request.client
    try:
        outcome = install_entry(request)
    except InputFileError:
        _paste(request, json)
        raise
    if request.profile is not None:
        _prepare(request.profile, client.content_only)
    if json:
        print_json(
            {
                **_told(outcome, client),
                "profile": request.profile,
                "budget": _facts(request),
                "entry": request.entry,
                "link": request.link,
            }
        )
        return
    _show(outcome)
    if outcome.state == "already there":
        console().print(f"{client.title} already has m3bench: {outcome.path}", soft_wrap=True)
        return
    console().print(f"{client.title}: {outcome.state} in {outcome.path}", style="bold", soft_wrap=True)
    for line in (*_kept(outcome), *_advice(request), client.after):
        console().print(line, soft_wrap=True)
    console().print("Then ask it: start a task.")


def _prepare(profile: str, content_only: bool) -> None:
    """Have the client's first start find its answers ready."""
    if read_prepared(prepared_file(InstantStart(profile, content_only))) is not None:
        return
    # In a thread of its own, because whoever calls this may run an event loop already.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, serving.prepare_start, profile, content_only).result()


def _check(client: McpClient, json: bool) -> None:
    """Have the client play, and say what came of it; status 1 when something is missing."""
    program_of(client)
    if not json:
        _tell(f"{client.title} plays a task in a home of its own, with a scripted model; this takes a minute or less.")
    found = try_client(client)
    if json:
        print_json({**found.to_json(), "problems": list(found.problems)})
    else:
        for line in report_lines(client, found):
            console().print(printable(line), soft_wrap=True, highlight=False)
    if found.problems:
        raise typer.Exit(1)


def _paste(request: InstallRequest, json: bool) -> None:
    """What a person can do by hand."""
    if json:
        print_json(
            {"client": request.client.key, "path": str(request.path), "state": "refused", "snippet": request.snippet}
        )
        return
    _tell("The file was not touched. These are the lines to add to it by hand:")
    typer.echo(request.snippet, nl=False)


def _remove(client: McpClient, path: Path, json: bool) -> None:
    outcome = uninstall(client, path)
    if json:
        print_json(_told(outcome, client))
        return
    _show(outcome)
    says = "removed from" if outcome.state == "removed" else "not in"
    console().print(f"{client.title}: m3bench is {says} {path}", soft_wrap=True)


def _print(request: InstallRequest, json: bool) -> None:
    if json:
        print_json(
            {
                "client": request.client.key,
                "path": str(request.path),
                "format": request.client.format,
                "profile": request.profile,
                "entry": request.entry,
                "snippet": request.snippet,
                "link": request.link,
                "advice": _advice(request),
                "after": request.client.after,
            }
        )
        return
    _tell(f"{request.client.title} reads {request.path}. Add this:")
    typer.echo(request.snippet, nl=False)
    if request.link is not None:
        _tell(f"Or open this link:\n{request.link}")
    for line in (*_advice(request), request.client.after):
        _tell(line)


def _advice(request: InstallRequest) -> list[str]:
    """What a person should know of the entry."""
    client, lines = request.client, []
    if request.profile is None and client.content_only:
        lines.append("Start the server with --content-only: this client loses pictures beside structured content.")
    elif request.picked:
        why = f"it takes {client.most_tools} tools well" if client.most_tools else "it has no known limit on tools"
        lines.append(f"Profile {request.profile}, since {why}; --profile chooses another.")
    if request.profile is not None:
        lines.append(f"It shows {_budget(request.profile)}.")
    if client.approval:
        lines.append("Its tools run without asking you.")
    elif client.approval_by_hand:
        lines.append(f"Approval: {client.approval_by_hand}")
    return lines


def _facts(request: InstallRequest) -> dict[str, int] | None:
    return _budget(request.profile).to_json() if request.profile is not None else None


def _kept(outcome: Outcome) -> list[str]:
    return [f"What the file held before is in {outcome.backup}"] if outcome.backup else []


def _told(outcome: Outcome, client: McpClient) -> dict[str, object]:
    return {
        "client": client.key,
        "path": str(outcome.path),
        "state": outcome.state,
        "backup": str(outcome.backup) if outcome.backup else None,
        "diff": list(outcome.diff),
    }


def _show(outcome: Outcome) -> None:
    """The difference, in colours on a terminal."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in outcome.diff:
        console().print(printable(line), style=styles.get(line[:1], "dim"), soft_wrap=True)


def _list(json: bool) -> None:
    machine = this_machine()
    rows = []
    for client in clients().values():
        path = place_of(client, machine)
        there, ours = found_in(client, path)
        rows.append((client, path, there, ours))
    if json:
        print_json(
            [
                {
                    "client": client.key,
                    "title": client.title,
                    "path": str(path),
                    "exists": there,
                    "installed": ours,
                    "profile": profile_for(client),
                }
                for client, path, there, ours in rows
            ]
        )
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("client", "", "m3bench", "configuration"):
        table.add_column(heading, overflow="fold")
    for client, path, there, ours in rows:
        state = "unreadable" if ours is None else "installed" if ours else "–" if there else "no file"
        table.add_row(client.key, client.title, state, str(path))
    screen = console()
    screen.print(table)
    screen.print("m3bench install CLIENT puts it in, m3bench install CLIENT --print only shows how.")


def _tell(line: str) -> None:
    print(line, file=sys.stderr)

"""Installs our entry into a client's configuration, or removes it.

The command parses options and reports what happened; nothing is printed here.
"""

import os
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from m3bench.server.clients import files
from m3bench.server.clients.client import NAME, Entry, Launch, Machine, McpClient, System
from m3bench.server.clients.documents import entry_in, installed, leads_to, removed, settings_in, snippet
from m3bench.server.clients.table import profile_for
from m3bench.tasks.errors import InputFileError, UserError

State = Literal["installed", "updated", "already there", "removed", "not there"]

_LONGEST_LINE = 160


@dataclass(frozen=True, kw_only=True)
class InstallRequest:
    """What is to be installed into a client's configuration."""

    client: McpClient
    path: Path
    entry: Entry
    profile: str | None
    """None when the server runs elsewhere and has its own."""
    picked: bool = False
    """Whether we chose the profile."""

    @property
    def snippet(self) -> str:
        """The entry as a file that has nothing else in it."""
        return snippet(self.client, self.entry)

    @property
    def link(self) -> str | None:
        """A link that installs it with one click."""
        return self.client.link(NAME, self.entry) if self.client.link else None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a file."""

    state: State
    path: Path
    backup: Path | None = None
    diff: tuple[str, ...] = ()


def this_machine() -> Machine:
    """The machine we run on."""
    systems: dict[str, System] = {"darwin": "macos", "win32": "windows"}
    return Machine(system=systems.get(sys.platform, "linux"), home=Path.home(), env=os.environ, folder=Path.cwd())


def place_of(client: McpClient, machine: Machine, *, config: Path | None = None, project: Path | None = None) -> Path:
    """The file to edit: the one named, that of a project, or the person's own.

    Raises:
        UserError: The client has no files for projects.
    """
    if config is not None:
        return config.expanduser().absolute()
    if project is None:
        return client.place(machine)
    if client.project is None:
        raise UserError(f"{client.title} has no configuration of its own for a project: leave out --project.")
    return project.expanduser().absolute() / client.project


def program() -> tuple[str, ...]:
    """How this installation is started, by absolute paths: clients start us from any folder, with any PATH."""
    name = "m3bench.exe" if sys.platform == "win32" else "m3bench"
    python = Path(sys.executable).absolute()
    for folder in (python.parent, Path(sysconfig.get_path("scripts"))):
        if (folder / name).is_file():
            return (str(folder / name),)
    return (str(python), "-m", "m3bench.server.cli")


def local(client: McpClient, path: Path, profile: str | None, start: Sequence[str] | None = None) -> InstallRequest:
    """A server that the client starts; without a profile, the largest it can take."""
    chosen = profile or profile_for(client)
    command, *before = start or program()
    args = [*before, "serve", "--profile", chosen]
    if client.content_only:
        args.append("--content-only")
    entry = {**client.stdio(Launch(command=command, args=tuple(args))), **client.approval}
    return InstallRequest(client=client, path=path, entry=entry, profile=chosen, picked=profile is None)


def remote(client: McpClient, path: Path, url: str) -> InstallRequest:
    """A server that listens at an address.

    Raises:
        UserError: It is not an address, or the client takes none.
    """
    if client.http is None:
        raise UserError(
            f"{client.title} takes no addresses in this file: leave out --http, and it starts the server itself."
        )
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and len(parts.path) > 1
    except ValueError:
        whole = False
    if not whole or any(mark <= " " for mark in url):
        raise UserError(
            f"--http cannot be {url!r}: give the whole address that `m3bench serve --http` prints, such as "
            "http://127.0.0.1:8700/mcp."
        )
    return InstallRequest(client=client, path=path, entry={**client.http(url), **client.approval}, profile=None)


def install(request: InstallRequest) -> Outcome:
    """Put the entry into the file.

    Raises:
        InputFileError: The file cannot be read, understood or written; it is as it was.
    """
    before = files.read(request.path)
    if before is None and request.client.must_exist:
        raise InputFileError(
            request.path, f"does not exist: run this where {request.client.title} has it, or name it with --config"
        )
    try:
        after = installed(before, request.client, request.entry)
        earlier = before is not None and entry_in(before, request.client) is not None
    except ValueError as error:
        raise InputFileError(request.path, f"cannot be edited: {error}") from error
    if after == before:
        return Outcome(state="already there", path=request.path)
    kept = None
    if before is not None and not any(leads_to(data, request.client, after) for data in _originals(request.path)):
        kept = files.keep(request.path, before)
    files.write(request.path, after)
    return Outcome(
        state="updated" if earlier else "installed",
        path=request.path,
        backup=kept,
        diff=_diff(request.path, before or b"", after),
    )


def uninstall(client: McpClient, path: Path) -> Outcome:
    """Take our entry out of the file.

    Raises:
        InputFileError: The file cannot be read, understood or written; it is as it was.
    """
    before = files.read(path)
    originals = _originals(path)
    try:
        if before is None or entry_in(before, client) is None:
            return Outcome(state="not there", path=path)
        after = removed(before, client, originals)
    except ValueError as error:
        raise InputFileError(path, f"cannot be edited: {error}") from error
    if after is None:
        files.remove(path)
    else:
        files.write(path, after)
    if after in originals:
        # The file is as it was, so there is nothing to remember.
        for kept in files.backups(path):
            if files.read(kept) == after:
                files.remove(kept)
    return Outcome(state="removed", path=path, diff=_diff(path, before, after or b""))


def found_in(client: McpClient, path: Path) -> tuple[bool, bool | None]:
    """Whether the file is there, and whether our entry is in it; None when it cannot be read."""
    try:
        data = files.read(path)
        return data is not None, data is not None and entry_in(data, client) is not None
    except (InputFileError, ValueError):
        return True, None


def may_ask(client: McpClient, machine: Machine) -> bool:
    """Whether a client may ask a person before a call, by what its files on this machine say.

    It asks nobody when our entry is in the file as we write it, nothing else there might be about permission, and
    nothing in the file or the environment makes it ask.
    """
    if client.asks or any(name in machine.env for name in client.asks_with):
        return True
    places = [client.place(machine), *([machine.folder / client.project] if client.project is not None else [])]
    try:
        found = [data for path in places if (data := files.read(path)) is not None]
        entries = [entry_in(data, client) for data in found]
        asked = any(set(client.asks_with) & set(settings_in(data, client)) for data in found)
    except (InputFileError, ValueError):
        return True
    ours = [entry for entry in entries if entry is not None]
    return asked or not ours or not all(_lets_run(entry, client) for entry in ours)


def _lets_run(entry: Entry, client: McpClient) -> bool:
    written = {**client.stdio(Launch(command="", args=())), **client.approval}
    approved = all(entry.get(key) == value for key, value in client.approval.items())
    return approved and set(entry) <= {*written, *_SILENT}


_SILENT = frozenset(["env", "cwd", "timeout", "required", "startup_timeout_sec", "tool_timeout_sec"])
"""Fields of an entry that say nothing of permission."""


def _originals(path: Path) -> list[bytes]:
    return [data for kept in files.backups(path) if (data := files.read(kept)) is not None]


def _diff(path: Path, before: bytes, after: bytes) -> tuple[str, ...]:
    """The difference as lines; long ones are cut."""
    old, new = (data.decode("utf-8-sig", "replace").splitlines() for data in (before, after))
    lines = unified_diff(old, new, str(path), str(path), lineterm="")
    return tuple(line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…" for line in lines)

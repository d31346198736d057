"""Looks at a client's configuration: whether m3bench is in it, and whether what stands there starts and answers.

Files are read and never written. What an entry names is started as the client would start it, asked for its tools and
ended again; a server that is only asked that leaves nothing behind.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from m3bench.server.clients.client import Machine, McpClient
from m3bench.server.clients.documents import entry_in
from m3bench.server.clients.files import read
from m3bench.server.commands.checks.diagnostics import Diagnostic, State
from m3bench.tasks.errors import InputFileError, first_cause
from m3bench.tasks.lazy_modules import LazyModule

# It takes most of a second to import, and most looks at a machine start no entry.
if TYPE_CHECKING:
    import mcp
else:
    mcp = LazyModule("mcp")

START_SECONDS = 30.0

_COMMAND, _ADDRESS, _ENVIRONMENT = ("command", "cmd"), ("url", "uri", "httpUrl", "serverUrl"), ("env", "envs")


@dataclass(frozen=True, kw_only=True)
class ConfigEntry:
    """What stands in a configuration file under our name."""

    path: Path
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str]
    address: str = ""

    @property
    def profile(self) -> str | None:
        """The profile it asks for; None when it runs elsewhere."""
        if self.address:
            return None
        given = [value for flag, value in zip(self.args, self.args[1:], strict=False) if flag == "--profile"]
        joined = [arg.partition("=")[2] for arg in self.args if arg.startswith("--profile=")]
        return (given + joined or ["full"])[-1]


def places(client: McpClient, machine: Machine) -> list[Path]:
    """Where the client looks: a person's own file, and that of the folder we are in."""
    known = [client.place(machine), *([machine.folder / client.project] if client.project else [])]
    return list(dict.fromkeys(path.absolute() for path in known))


def entries(client: McpClient, machine: Machine) -> tuple[list[ConfigEntry], list[Diagnostic]]:
    """Our entries in the client's files, and what is to be said about the files."""
    found: list[ConfigEntry] = []
    wrong: list[Diagnostic] = []
    looked = places(client, machine)
    for path in looked:
        try:
            data = read(path)
            entry = entry_in(data, client) if data is not None else None
        except (InputFileError, ValueError) as error:
            says = f"{path} cannot be read ({error}): repair it, {client.title} cannot read it either."
            wrong.append(_diagnostic("configuration", "wrong", says))
            continue
        if entry is not None:
            found.append(_entry(path, entry))
    if wrong:
        return found, wrong
    if not found:
        says = f"m3bench is not in {' or '.join(str(path) for path in looked)}: run m3bench install {client.key}."
        return found, [_diagnostic("configuration", "note", says)]
    says = f"m3bench is in {' and '.join(str(entry.path) for entry in found)}."
    if len(found) > 1:
        says += " It may be started twice: take it out of one with m3bench install --remove."
    return found, [_diagnostic("configuration", "ok" if len(found) == 1 else "note", says)]


def check_start(entry: ConfigEntry, client: McpClient) -> Iterator[Diagnostic]:
    """Whether the entry's program is there, starts and shows its tools; or its address answers."""
    again = f"run m3bench install {client.key} again"
    if not entry.address and not entry.command:
        yield _diagnostic("command", "wrong", f"The entry in {entry.path} names no program and no address: {again}.")
        return
    if entry.command:
        problem = _problem(entry.command)
        if problem is not None:
            yield _diagnostic("command", "wrong", f"{problem}: {again}.")
            return
        if not Path(entry.command).is_absolute():
            says = f"{entry.command!r} is found on your PATH; {client.title} may have another one: {again}."
            yield _diagnostic("command", "note", says)
    try:
        tools = anyio.run(_ask, entry)
    except Exception as error:
        what = entry.address or entry.command
        remedy = "start it with m3bench serve --http" if entry.address else again
        yield _diagnostic("start", "wrong", f"{what} does not answer ({_reason(error)}): {remedy}.")
        return
    yield _diagnostic("start", "ok", f"{entry.address or entry.command} answers and shows {tools} tools.")


async def _ask(entry: ConfigEntry) -> int:
    """How many tools a server shows."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            with anyio.fail_after(START_SECONDS):
                if entry.address:
                    async with mcp.Client(entry.address, mode="legacy") as client:
                        return len((await client.list_tools()).tools)
                env = {**os.environ, **entry.env}
                start = mcp.StdioServerParameters(command=entry.command, args=list(entry.args), env=env)
                async with mcp.Client(mcp.stdio_client(start, errlog=said), mode="legacy") as client:
                    return len((await client.list_tools()).tools)
        except Exception as error:
            said.seek(0)
            lines = [line.strip() for line in said.read()[-4000:].splitlines() if line.strip()]
            if lines:
                raise RuntimeError(lines[-1][:300]) from error
            raise


def _entry(path: Path, entry: Mapping[str, object]) -> ConfigEntry:
    def first(keys: tuple[str, ...]) -> object:
        return next((entry[key] for key in keys if entry.get(key)), None)

    command, args, env = first(_COMMAND), entry.get("args"), first(_ENVIRONMENT)
    if isinstance(command, list):
        command, args = command[0], command[1:]
    return ConfigEntry(
        path=path,
        command=str(command or ""),
        args=tuple(str(arg) for arg in args) if isinstance(args, list) else (),
        env={str(key): str(value) for key, value in env.items()} if isinstance(env, Mapping) else {},
        address=str(first(_ADDRESS) or ""),
    )


def _problem(command: str) -> str | None:
    path = Path(command)
    if path.is_absolute() and not path.is_file():
        return f"{command} is not there"
    if shutil.which(command) is None:
        return f"{command!r} is not a program that can be run"
    return None


def _reason(error: BaseException) -> str:
    """The innermost of what went wrong, in few words."""
    error = first_cause(error)
    if isinstance(error, TimeoutError):
        return f"not within {START_SECONDS:g} s"
    return (str(error) or type(error).__name__).splitlines()[0][:300]


def _diagnostic(subject: str, state: State, says: str) -> Diagnostic:
    return Diagnostic(subject=subject, state=state, says=says, need="always")

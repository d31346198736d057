"""Looks at one client: what it does with our tools' names, number, texts, pictures and times, and what to do about it.

Holds the table of clients against the profile that is in use; where the client was probed, the probe's word goes
before the table's.

Its configuration is read and never written: is m3bench in it, and does what stands there start and answer? An entry is
started as the client would start it, asked for its tools and ended again.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.server.clients.client import NAME, Machine, McpClient
from m3bench.server.clients.documents import entry_in
from m3bench.server.clients.files import read
from m3bench.server.clients.installation import this_machine
from m3bench.server.clients.table import clients, profile_for
from m3bench.server.commands.checks.diagnostics import Diagnostic, State
from m3bench.server.runs.profile_budget import budget_of
from m3bench.server.runs.retrieval import listed
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.server.settings import Settings
from m3bench.server.store.capability import cards_of, client_line, short
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import InputFileError, UserError, first_cause
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.library import Library
from m3bench.tasks.outcome import CALL_SECONDS
from m3bench.tasks.profiles import tools_of

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


AMPLE = 50_000
"""Characters of a result; longer ones are rare."""

Facts = Mapping[str, Any]
"""What a probe found, as JSON values by fact; empty when there was no probe."""


def check_clients(settings: Settings) -> list[Diagnostic]:
    """Which clients have m3bench in their configuration."""
    having, broken = [], []
    for client in clients().values():
        known, found = entries(client, this_machine())
        having += [client.title] if known else []
        broken += [finding.says for finding in found if finding.state == "wrong"]
    says = f"m3bench is in {', '.join(having)}; m3bench doctor --client NAME looks closer."
    if not having:
        says = "No client on this machine has m3bench: m3bench install NAME puts it into one."
    return [_diagnostic("clients", "note" if broken or not having else "ok", " ".join([says, *broken]))]


def check_client(client: McpClient, settings: Settings) -> list[Diagnostic]:
    """Everything about a client and m3bench in it."""
    known, found = entries(client, this_machine())
    for entry in known:
        found += check_start(entry, client)
    profile = next((entry.profile for entry in known if entry.profile), None) or profile_for(client)
    facts, probe = _probed(client, settings)
    content_only = all("--content-only" in entry.args for entry in known) if known else client.content_only
    return [
        *found,
        *check_tools(client, profile, facts),
        *_results(client, facts),
        *_pictures(client, facts, content_only),
        *_times(client, facts),
        *_starts(client),
        probe,
    ]


def check_tools(client: McpClient, profile: str, facts: Facts) -> Iterator[Diagnostic]:
    """Number, names and descriptions of the tools of a profile."""
    try:
        shown = (tool.wire() for tool in tools_of(profile, load_catalog().ready, Library()))
        tools = [*DEFINITIONS, *listed(profile, shown)]
    except UserError as error:
        says = f"{error} The configuration asks for it: run m3bench install {client.key} again."
        yield _diagnostic("profile", "wrong", says)
        return
    yield _count(client, profile, len(tools), facts)
    yield _diagnostic("profile", "ok", f"{profile}: {budget_of(profile, load_catalog().ready, Library())}.")
    yield _names(client, [str(tool["name"]) for tool in tools])
    yield _descriptions(client, tools)


def _count(client: McpClient, profile: str, count: int, facts: Facts) -> Diagnostic:
    says = f"The profile {profile} shows {count} tools"
    better = profile_for(client)
    reached = facts.get("tools_reached")
    listed = facts.get("tools_listed")
    if reached is not None and listed is not None and reached < min(count, listed):
        remedy = "take a smaller one with m3bench install --profile"
        return _diagnostic("tools", "wrong", f"{says}; the probe's model saw no more than {reached}: {remedy}.")
    most = client.most_tools
    if most is None:
        return _diagnostic("tools", "ok", f"{says}; no limit of {client.title} is known.")
    if count <= most:
        return _diagnostic("tools", "ok", f"{says}; {client.title} takes {most}.")
    cap = client.tool_cap is not None and count > client.tool_cap
    rest = "more do not reach the model" if cap else "trouble is known above that"
    says = f"{says}; {client.title} takes {most}, {rest}: run m3bench install {client.key} --profile {better}."
    return _diagnostic("tools", "wrong" if cap else "note", says)


def _names(client: McpClient, names: Sequence[str]) -> Diagnostic:
    naming = client.naming
    longest = max(names, key=lambda name: naming.counted(NAME, name))
    shown, length = naming.shown(NAME, longest), naming.counted(NAME, longest)
    misfits = [name for name in names if not naming.fits(NAME, name)]
    if misfits:
        says = f"{client.title} {naming.overflow} above {naming.limit} characters: {', '.join(misfits[:3])}"
        more = f" and {len(misfits) - 3} more" if len(misfits) > 3 else ""
        return _diagnostic("names", "wrong", f"{says}{more}. Take a smaller profile without them.")
    limit = f"of {naming.limit}" if naming.limit is not None else "and no limit is known"
    return _diagnostic("names", "ok", f"All fit; the longest is {shown}, {length} characters {limit}.")


def _descriptions(client: McpClient, tools: Sequence[Mapping[str, Any]]) -> Diagnostic:
    longest = max(tools, key=lambda tool: len(tool["description"]))
    length = len(longest["description"])
    if client.description_cap is None:
        return _diagnostic("descriptions", "ok", f"The longest has {length} characters; no limit is known.")
    if length <= client.description_cap:
        return _diagnostic("descriptions", "ok", f"The longest has {length} characters of {client.description_cap}.")
    says = f"That of {longest['name']} has {length} characters, cut at {client.description_cap}: the model sees less."
    return _diagnostic("descriptions", "note", f"{says} Say so beside scores.")


def _results(client: McpClient, facts: Facts) -> Iterator[Diagnostic]:
    whole, cap = facts.get("long_text"), client.result_cap
    ours = f"m3bench sends at most {MAX_RESULT_BYTES // 1000} kB"
    if isinstance(whole, int) and whole >= AMPLE:
        yield _diagnostic("results", "ok", f"{ours}; in the probe, texts came through whole to {whole // 1000} kB.")
    elif isinstance(whole, int):
        says = f"In the probe, texts came through whole to {whole // 1000} kB only: raise the client's limit, or say so"
        yield _diagnostic("results", "note", f"{says} beside scores.")
    elif cap is None:
        yield _diagnostic("results", "ok", f"{ours}; no limit of {client.title} is known.")
    elif cap.unit == "bytes" and cap.amount >= MAX_RESULT_BYTES:
        yield _diagnostic("results", "ok", f"{ours}; {client.title} takes {cap.amount // 1000} kB.")
    else:
        says = f"Above {cap.amount} {cap.unit} {cap.then}. Few results are that long; say so beside scores."
        yield _diagnostic("results", "note", says)


def _pictures(client: McpClient, facts: Facts, content_only: bool) -> Iterator[Diagnostic]:
    seen = facts.get("images")
    probe = f"find out with m3bench client probe --print {client.key}"
    if seen is not None:
        says = "Pictures reach the model, says the probe." if seen else (
            "Pictures did not reach the model in the probe: choose a model that sees pictures, or another client; "
            "tasks can still be solved by the path of the picture."
        )  # fmt: skip
        yield _diagnostic("pictures", "ok" if seen else "wrong", says)
    elif client.images == "shown":
        yield _diagnostic("pictures", "ok", "Pictures reach the model.")
    elif client.images == "lost":
        says = (
            "Pictures do not reach the model here; tasks can still be solved by the path of the picture. Say so beside"
        )
        yield _diagnostic("pictures", "note", f"{says} scores.")
    else:
        word = "is not known" if client.images == "not known" else "is reported to fail at times"
        yield _diagnostic("pictures", "note", f"Whether pictures reach the model {word}: {probe}.")
    structured = facts.get("structured") or client.structured
    if structured not in ("replaces everything", "hides pictures"):
        return
    state: State = "ok" if content_only else "wrong"
    remedy = "--content-only, with which m3bench install starts it, leaves it out." if content_only else (
        f"start m3bench with --content-only: run m3bench install {client.key} again, or add it to the entry."
    )  # fmt: skip
    yield _diagnostic("structured", state, f"Structured content hides pictures here; {remedy}")


def _times(client: McpClient, facts: Facts) -> Iterator[Diagnostic]:
    seconds = facts.get("call_seconds") or client.call_timeout
    ours = f"m3bench answers within {CALL_SECONDS:g} s"
    if seconds is None:
        yield _diagnostic("time limit", "ok", f"{ours}; no limit of {client.title} is known.")
    elif seconds > CALL_SECONDS:
        yield _diagnostic("time limit", "ok", f"{ours}; {client.title} waits {seconds:g} s.")
    else:
        says = f"{client.title} waits {seconds:g} s, {ours}: calls may be cut off; raise its time limit."
        yield _diagnostic("time limit", "note", says)


def _starts(client: McpClient) -> Iterator[Diagnostic]:
    for note in client.notes:
        if "twice" in note.says:
            says = f"{note.says} No action is needed: copies without a task do nothing."
            yield _diagnostic("starts twice", "ok", says)


def _probed(client: McpClient, settings: Settings) -> tuple[Facts, Diagnostic]:
    """The values of the newest card, and a line on it."""
    again = f"m3bench client probe --print {client.key}"
    try:
        found = [card for card in cards_of(settings.data, client.client_names) if card.get("complete")]
    except InputFileError as error:
        return {}, _diagnostic("probe", "wrong", f"{error}.")
    if not found:
        return {}, _diagnostic("probe", "note", f"{client.title} was not probed; {again} shows how to.")
    probed = max(found, key=lambda card: str(card["taken"]))
    name = f"{probed['client']['name']} {probed['client']['version']}"
    line = client_line(name, short(probed)).removeprefix("Client: ")
    says = f"{line} ({str(probed['taken'])[:10]})."
    return {key: fact["value"] for key, fact in probed["facts"].items()}, _diagnostic("probe", "ok", says)


def _diagnostic(subject: str, state: State, says: str) -> Diagnostic:
    return Diagnostic(subject=subject, state=state, says=says, need="always")

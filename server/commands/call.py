"""`m3bench tools call`: try any tool from the shell.

What a tool gave is shown for a person: texts as they are, JSON indented, pictures by the path they were saved under.
Results come from tools and files: nothing in them reaches the terminal as a control sequence.
"""

import json as json_text
import re
import shutil
import sys
from base64 import b64decode
from binascii import Error
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.json import JSON

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.wire import decode, dump
from m3bench.sandboxes.workspace import STATE
from m3bench.server.commands import manual
from m3bench.server.commands.options import Json, Sandbox
from m3bench.server.commands.screen import console, print_json
from m3bench.server.scoring.words import printable
from m3bench.server.serving import interrupts
from m3bench.server.serving.backend import backend_of, check_backend
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import Tool, nearest
from m3bench.tasks.errors import InvalidArgumentsError, M3Error, UserError
from m3bench.tasks.examples import load_examples
from m3bench.tasks.outcome import CALL_SECONDS, Reply

_DATA_URL = re.compile(r"data:image/(\w+)[^,]*;base64,([A-Za-z0-9+/=\s]+)$")
_SUFFIXES = {"jpeg": ".jpg", "svg+xml": ".svg"}

Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="FOLDER",
        help="The folder that tools work in, made if missing; a temporary one by default.",
    ),
]


class Rendering:
    """Shows results, and saves their pictures.

    Args:
        folder: Where pictures go.
        name: What they are called, without a suffix.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self.saved: list[Path] = []
        """The pictures that were saved."""

    def show(self, result: Mapping[str, Any]) -> None:
        """Print a `CallToolResult`."""
        out = console()
        failed = bool(result.get("isError"))
        shown: list[object] = []
        for block in result.get("content", ()):
            shown.append(self._block(out, block, failed))
        structured = result.get("structuredContent")
        if structured is not None and structured not in shown:
            out.print("Structured content", style="bold")
            self._json(out, structured)
        if not shown and structured is None:
            out.print("(The result is empty.)", style="dim")

    def _block(self, out: Console, block: Mapping[str, Any], failed: bool) -> object:
        """Print a block; the JSON value of its text when it has one."""
        match block.get("type"):
            case "text":
                text = block["text"]
                value = _json_of(text)
                if value is not None:
                    self._json(out, value)
                else:
                    out.print(_safe(text), style="red" if failed else None, soft_wrap=True)
                return value
            case "image":
                path = self._save(b64decode(block["data"]), block.get("mimeType", "image/png").partition("/")[2])
                out.print(f"picture {path}", soft_wrap=True)
            case "resource":
                resource = block["resource"]
                out.print(f"resource {printable(str(resource.get('uri')))}", soft_wrap=True)
                out.print(_safe(resource.get("text", "(binary)")), soft_wrap=True)
            case _:
                self._json(out, block)
        return None

    def _json(self, out: Console, value: object) -> None:
        # Dumping escapes control characters, so that this is safe to print.
        out.print(JSON(json_text.dumps(self._without_pictures(value), ensure_ascii=False), indent=2), soft_wrap=True)

    def _without_pictures(self, value: object) -> object:
        """The value with pictures in data URLs saved and named by their path."""
        match value:
            case dict():
                return {key: self._without_pictures(part) for key, part in value.items()}
            case list():
                return [self._without_pictures(part) for part in value]
            case str() if found := _DATA_URL.match(value):
                try:
                    return f"picture {self._save(b64decode(found[2], validate=False), found[1])}"
                except Error:
                    return value
            case _:
                return value

    def _save(self, data: bytes, kind: str) -> Path:
        suffix = _SUFFIXES.get(kind, f".{re.sub(r'[^a-z0-9]', '', kind)}")
        number = 1
        while (path := self._folder / f"{self._name}{f'-{number}' if number > 1 else ''}{suffix}").exists():
            number += 1
        path.write_bytes(data)
        self.saved.append(path)
        return path


def call(
    tool: Annotated[str, typer.Argument(metavar="SERVER/TOOL", help="The tool; a server alone lists its tools.")],
    arguments: Annotated[
        str | None,
        typer.Argument(metavar="[JSON]", help="Its arguments, a JSON object; - reads them from standard input."),
    ] = None,
    workspace: Workspace = None,
    example: Annotated[
        bool,
        typer.Option("--example", help="Copy the files of the tool's example there, and call it if no JSON is given."),
    ] = False,
    sandbox: Sandbox = "process",
    json: Json = False,
) -> None:
    """Call a tool and show its result.

    \b
    m3bench tools call wiki                  # the tools of a server
    m3bench tools call wiki/search           # how to call one
    m3bench tools call wiki/search '{"query": "lighthouse"}'
    m3bench tools call excel/get_workbook_metadata --example
    echo '{"numbers": [1, 2]}' | m3bench tools call math/sum -

    Without JSON it shows what the tool does, its arguments and an example. Relative paths in arguments are files of
    the workspace, and what a tool writes appears there. In the same workspace servers remember what was done before:

    \b
    m3bench tools call ppt/create_presentation '{"id": "talk"}' -w work
    m3bench tools call ppt/add_slide '{"layout_index": 0}' -w work
    m3bench tools call ppt/save_presentation '{"file_path": "talk.pptx"}' -w work

    Pictures are saved and their paths printed. The exit code is 1 when the tool returns an error and 2 when it cannot
    be called.
    """
    if "/" not in tool and "__" not in tool and arguments is None:
        server = manual.find_server(tool)
        if json:
            print_json([manual.definition(found) for found in server.tools] if server.ready else [])
        else:
            manual.show_server(server)
        return
    found = manual.find_tool(tool)
    if arguments is None and not example:
        if json:
            print_json(manual.definition(found))
        else:
            manual.show_tool(found)
        return
    _call(found, _arguments(found, arguments), workspace, example, sandbox, json)


def _arguments(tool: Tool, given: str | None) -> dict[str, object]:
    """The arguments, checked; what is wrong with them is explained."""
    if given is None:
        return dict(load_examples(tool.server).calls[tool.name])
    text = sys.stdin.read() if given == "-" else given
    try:
        values = decode(text.encode(errors="replace"))
    except ValueError as error:
        raise UserError(
            f"The arguments are not JSON: {error} in {text[:80]!r}. Put an object like "
            '\'{"name": "value"}\' in single quotes, or give - and write it to standard input.'
        ) from error
    declared = tool.input_schema.get("properties", {})
    strangers = [name for name in values if name not in declared] if isinstance(values, dict) else []
    hints = [
        f"did you mean {close[0]!r} by {name!r}?"
        for name in strangers
        if (close := nearest(name, [known for known in declared if known not in values], 1))
    ]
    try:
        tool.check(values)
    except InvalidArgumentsError as error:
        lines = [f"{tool.qualified} cannot be called like that:", *(f"  {problem}" for problem in error.problems)]
        lines += [f"  {hint}" for hint in hints]
        raise UserError("\n".join([*lines, f"`m3bench tools call {tool.qualified}` shows its arguments."])) from error
    if strangers and not tool.elsewhere:
        names = ", ".join(map(repr, strangers))
        print(f"m3bench: {tool.qualified} takes no {names}: ignored. {' '.join(hints)}".rstrip(), file=sys.stderr)
    return dict(values)


def _call(
    tool: Tool, arguments: dict[str, object], workspace: Path | None, example: bool, sandbox: str, json: bool
) -> None:
    folder, kept = folder_of(workspace), False
    try:
        reply, made = interrupts.run(_reply, tool, arguments, folder, example, sandbox)
        result = decode(reply.result)
        if json:
            print_json({"tool": tool.qualified, "outcome": reply.outcome, "result": result, "files": made})
        else:
            rendering = Rendering(folder, tool.name)
            rendering.show(result)
            for path in made:
                console().print(f"file {path}", soft_wrap=True)
            made += map(str, rendering.saved)
        kept = bool(made)
    except OSError as error:
        raise UserError(f"{folder} cannot be worked in: {error.strerror}.") from error
    finally:
        if workspace is None and not kept:
            shutil.rmtree(folder, ignore_errors=True)
    if reply.outcome not in ("success", "empty"):
        why = "not in the frozen world" if reply.outcome == "gap" else reply.outcome.replace("_", " ")
        print(f"m3bench: {tool.qualified} failed: {why}.", file=sys.stderr)
        raise typer.Exit(1)


async def _reply(
    tool: Tool, arguments: dict[str, object], folder: Path, example: bool, sandbox: str
) -> tuple[Reply, list[str]]:
    """The answer, and the files that were made or changed."""
    examples = load_examples(tool.server)
    if example and not any((folder / name).exists() for name in examples.files):
        examples.write_files(folder)
    spec = SandboxSpec(workspace=folder, servers=(tool.server,), scenes=examples.scenes if example else ())
    failure: M3Error
    settings = Settings.of(sandbox=sandbox)
    check_backend(settings)
    async with backend_of(settings) as backend:
        try:
            place = await backend.open(spec)
            for name, given in examples.setup if example else ():
                reply = await place.call(name, dump(given), CALL_SECONDS)
                if reply.outcome != "success":
                    raise UserError(f"The example cannot be prepared in {folder}: {name} failed. Use an empty folder.")
            before = _files(folder)
            reply = await place.call(tool.qualified, dump(arguments), CALL_SECONDS)
            return reply, [str(folder / name) for name, state in _files(folder).items() if before.get(name) != state]
        except M3Error as error:
            # Raised in here, the backend's task group would wrap it.
            failure = error
    raise failure


def folder_of(workspace: Path | None) -> Path:
    """The folder to work in, which exists now; a temporary one when none was chosen."""
    if workspace is None:
        return Path(mkdtemp(prefix="m3bench-"))
    try:
        workspace.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--workspace {workspace} cannot be a folder: {error.strerror}.") from error
    return workspace.resolve()


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of the files of a workspace, without what servers keep for themselves."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and STATE not in path.relative_to(folder).parts
    }


def _json_of(text: str) -> dict[str, object] | list[object] | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json_text.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _safe(text: str) -> str:
    return "\n".join(printable(line) for line in text.expandtabs(4).split("\n"))

"""`m3bench call`: try any tool from the shell."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from m3bench.tasks.catalog import Tool
    from m3bench.tasks.outcome import Reply


def call(
    tool: Annotated[str, typer.Argument(metavar="SERVER/TOOL", help="The tool; a server alone lists its tools.")],
    arguments: Annotated[
        str | None,
        typer.Argument(metavar="[JSON]", help="Its arguments, a JSON object; - reads them from standard input."),
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace",
            "-w",
            metavar="DIR",
            help="The folder it works in, made if missing; a temporary one by default.",
        ),
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Put the files of the tool's example there; call it if no JSON is given.")
    ] = False,
    sandbox: Annotated[str, typer.Option(help="Where the tool runs: process, docker or inprocess.")] = "process",
    json: Annotated[bool, typer.Option("--json", help="Print the outcome and the raw result as JSON.")] = False,
) -> None:
    """Call a tool and show its result. Without JSON: what the tool does, its arguments and an example.

    \b
    m3bench call wiki                      # the tools of a server
    m3bench call wiki/search               # how to call one
    m3bench call wiki/search '{"query": "lighthouse"}'
    m3bench call excel/get_workbook_metadata --example
    echo '{"numbers": [1, 2]}' | m3bench call math/sum -

    Relative paths in arguments are files of the workspace, and what a tool writes appears there. In the same
    workspace servers remember what was done before:

    \b
    m3bench call ppt/create_presentation '{"id": "talk"}' -w work
    m3bench call ppt/add_slide '{"layout_index": 0}' -w work
    m3bench call ppt/save_presentation '{"file_path": "talk.pptx"}' -w work

    Pictures are saved and their paths printed. The exit code is 1 when the tool returns an error and 2 when it cannot
    be called.
    """
    from m3bench.server.commands import manual
    from m3bench.server.commands.screen import print_json

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


def _arguments(tool: "Tool", given: str | None) -> dict[str, Any]:
    """The arguments, checked; what is wrong with them is explained."""
    from m3bench.sandboxes.wire import decode
    from m3bench.tasks.catalog import nearest
    from m3bench.tasks.errors import InvalidArgumentsError, UserError
    from m3bench.tasks.examples import load_examples

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
        raise UserError("\n".join([*lines, f"`m3bench call {tool.qualified}` shows its arguments."])) from error
    if strangers and not tool.elsewhere:
        names = ", ".join(map(repr, strangers))
        print(f"m3bench: {tool.qualified} takes no {names}: left aside. {' '.join(hints)}".rstrip(), file=sys.stderr)
    return dict(values)


def _call(
    tool: "Tool", arguments: dict[str, Any], workspace: Path | None, example: bool, sandbox: str, json: bool
) -> None:
    import shutil

    from m3bench.sandboxes.wire import decode
    from m3bench.server.commands.rendering import Rendering
    from m3bench.server.commands.screen import console, print_json
    from m3bench.server.serving import interrupts
    from m3bench.tasks.errors import UserError

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
    tool: "Tool", arguments: dict[str, Any], folder: Path, example: bool, sandbox: str
) -> "tuple[Reply, list[str]]":
    """The answer, and the files that were made or changed."""
    from m3bench.sandboxes.backends.base import SandboxSpec
    from m3bench.sandboxes.wire import dump
    from m3bench.server.serving.backend import backend_of, check_backend
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import M3Error, UserError
    from m3bench.tasks.examples import load_examples
    from m3bench.tasks.outcome import CALL_SECONDS

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
    from tempfile import mkdtemp

    from m3bench.tasks.errors import UserError

    if workspace is None:
        return Path(mkdtemp(prefix="m3bench-"))
    try:
        workspace.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--workspace {workspace} cannot be a folder: {error.strerror}.") from error
    return workspace.resolve()


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of the files of a workspace, without what servers keep for themselves."""
    from m3bench.sandboxes.workspace import STATE

    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and STATE not in path.relative_to(folder).parts
    }

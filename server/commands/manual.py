"""The page of a tool or a server: what it does, what it takes, and a call to start from.

Everything comes from the catalog and the examples; no sandbox is started.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table

from m3bench.server.commands.screen import console
from m3bench.tasks.catalog import Catalog, Server, Tool, did_you_mean, load_catalog, nearest
from m3bench.tasks.errors import UserError
from m3bench.tasks.examples import load_examples
from m3bench.tasks.schema import describe


def find_server(name: str, catalog: Catalog | None = None) -> Server:
    """The server of a name; one that does not exist is told the nearest names."""
    catalog = catalog or load_catalog()
    if name not in catalog.by_name:
        raise UserError(f"There is no server {name!r}.{_hint(name, catalog.by_name, 'm3bench servers')}")
    return catalog.by_name[name]


def find_tool(name: str) -> Tool:
    """The tool of a name, `server/tool` or `server__tool`, that can be called."""
    catalog = load_catalog()
    server, _, tool = name.partition("/" if "/" in name else "__")
    found = find_server(server)
    if not found.ready:
        raise UserError(f"The server {server!r} is not built yet: m3bench servers lists those that are.")
    qualified = f"{server}/{tool}"
    if qualified not in catalog.by_tool:
        close = [f"{server}/{name}" for name in nearest(tool, [tool.name for tool in found.tools])]
        hint = f" Did you mean {', '.join(close)}?" if close else ""
        raise UserError(
            f"The server {server!r} has no tool {tool!r}.{hint} m3bench tools call {server} lists its tools."
        )
    return catalog.by_tool[qualified]


def definition(tool: Tool) -> dict[str, object]:
    """What a program needs to know of a tool."""
    return {
        "tool": tool.qualified,
        "description": tool.description,
        "inputSchema": dict(tool.input_schema),
        "annotations": dict(tool.annotations),
        "example": load_examples(tool.server).calls[tool.name],
    }


def show_server(server: Server) -> None:
    """A server's tools, each in a line or two."""
    out = console()
    out.print(f"{server.name}: {server.title}", style="bold")
    if server.needs:
        out.print(f"Needs {server.needs}.")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for tool in server.tools:
        table.add_row(tool.name, _first_sentence(tool.description))
    out.print()
    out.print(table)
    out.print(f"\n`m3bench tools call {server.name}/{server.tools[0].name}` shows how to call one.", style="dim")


def show_tool(tool: Tool) -> None:
    """A tool's description, its arguments as a table, and an example to copy."""
    out = console()
    out.print(tool.qualified, style="bold")
    out.print(tool.description)
    out.print("It changes nothing." if tool.read_only else "It may write into the workspace.", style="dim")
    out.print()
    if tool.input_schema.get("properties"):
        out.print(_arguments(tool))
    else:
        out.print("It takes no arguments: call it with '{}'.")
    examples = load_examples(tool.server)
    call = f"m3bench tools call {tool.qualified}"
    out.print("\nFor example", style="bold")
    out.print(f"  {call} {shlex.quote(json.dumps(examples.calls[tool.name], ensure_ascii=False))}", soft_wrap=True)
    if examples.files or examples.setup:
        out.print(f"  {call} --example", soft_wrap=True)
        out.print("The second brings along the files that the first expects in the workspace.", style="dim")


def _arguments(tool: Tool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("argument", style="cyan", no_wrap=True)
    table.add_column("type", max_width=36, overflow="fold")
    table.add_column("default", max_width=20, overflow="fold")
    table.add_column("", overflow="fold")
    for row in _rows(tool.input_schema, ""):
        table.add_row(*row)
    return table


def _rows(schema: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    """Name, type, default and meaning of each property, nested ones by path."""
    for name, part in schema.get("properties", {}).items():
        needed = "required" if name in schema.get("required", ()) else ""
        default = json.dumps(part["default"], ensure_ascii=False) if "default" in part else needed
        yield prefix + name, _type(part), default, part.get("description", "")
        for branch in part.get("anyOf", [part]):
            yield from _rows(branch, f"{prefix}{name}.")
            yield from _rows(branch.get("items", {}), f"{prefix}{name}[].")


def _type(schema: Mapping[str, Any]) -> str:
    bounds = [
        f"{word} {schema[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if schema.get(key) is not None
    ]
    if "minItems" in schema:
        bounds.append(f"at least {schema['minItems']}")
    return ", ".join([describe(schema), *([" ".join(bounds)] if bounds else [])])


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."


def _hint(name: str, known: Mapping[str, object], where: str) -> str:
    return f"{did_you_mean(name, known)} {where} lists them all."

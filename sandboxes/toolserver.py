"""How a server module says which functions are its tools.

A module makes one `ToolServer` and decorates plain typed functions with `@server.tool`. An `async def` runs
on the host's event loop and must not block it for more than some milliseconds; a `def` runs in a worker
thread, one at a time per server and sandbox, in the order of arrival, so that tools which rewrite the same
file need no locks. Names, schemas and texts are the catalog's: nothing of that is repeated here.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from m3bench.sandboxes.content import Layout, pretty

Function = TypeVar("Function", bound=Callable[..., object])


@dataclass(frozen=True)
class Handler:
    """A registered function and how to call it."""

    function: Callable[..., Any]
    wants_context: bool
    is_async: bool


class ToolServer:
    """The tools of one server.

    Args:
        name: The server's name in the catalog.
        layout: How dicts become text.
        error: The text of a raised `ToolError`, with `{tool}` and `{message}` filled in.
    """

    def __init__(
        self, name: str, *, layout: Layout = pretty, error: str = "Error executing tool {tool}: {message}"
    ) -> None:
        self.name = name
        self.layout = layout
        self.error = error
        self.handlers: dict[str, Handler] = {}

    def tool(self, function: Function) -> Function:
        """Register a function under its own name, `_` for `-` where the catalog has dashes.

        A parameter called `context` receives the sandbox's `Context`; all others are the tool's arguments.
        """
        self.handlers[function.__name__] = Handler(
            function=function,
            wants_context="context" in inspect.signature(function).parameters,
            is_async=inspect.iscoroutinefunction(function),
        )
        return function

    def handler(self, tool: str) -> Handler:
        """The function behind a catalog name. A trailing underscore keeps a function off a builtin's name."""
        plain = tool.replace("-", "_")
        return self.handlers[plain] if plain in self.handlers else self.handlers[plain + "_"]

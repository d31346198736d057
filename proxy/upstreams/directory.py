"""Which third-party server something belongs to: tools, prompts and resources of several servers under one roof.

Tools are shown as `server__tool`, or under their own names when asked for without prefix; prompts and resources under
their own. What is here is worked out from lists alone; nobody is asked anything.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from mcp.shared.uri_template import UriTemplate

from m3bench.proxy.logs import tell
from m3bench.proxy.protocol.messages import Json
from m3bench.tasks.catalog import SEPARATOR

Owned = tuple[str, Json]
"""An entry of a list, and the server that it belongs to."""


class ToolDirectory:
    """Tools under the names that clients see.

    Args:
        tools: The tool lists of the servers.
        prefix: Whether tools are shown with their server's name.
        reserved: Names that no tool may be shown under.
        told: What was left out and said so before; grows.
    """

    def __init__(
        self, tools: Mapping[str, Sequence[Json]], *, prefix: bool, reserved: Collection[str], told: set[str]
    ) -> None:
        self.routes: dict[str, tuple[str, str]] = {}
        """Exposed name to server and tool."""
        self.entries: dict[str, Json] = {}
        """The tools as they go over the wire, by exposed name."""
        for server, tool in [(owner, tool) for owner in sorted(tools) for tool in tools[owner]]:
            name = str(tool.get("name", ""))
            exposed = f"{server}{SEPARATOR}{name}" if prefix else name
            if exposed in reserved or exposed in self.routes:
                text = f"m3bench: the tool {exposed!r} of {server!r} is left out: the name is taken"
                if text not in told:
                    told.add(text)
                    tell(text)
                continue
            self.routes[exposed] = (server, name)
            schema = tool.get("inputSchema")
            # One tool with a schema that is no object would make clients drop the whole list.
            fixed = schema if isinstance(schema, dict) and schema.get("type") == "object" else {"type": "object"}
            self.entries[exposed] = {**tool, "name": exposed, "inputSchema": fixed}

    @property
    def tools(self) -> tuple[Json, ...]:
        """The tools in their order."""
        return tuple(self.entries[name] for name in sorted(self.entries))


def named_prompts(prompts: Iterable[Owned], reserved: Collection[str]) -> dict[str, Owned]:
    """Prompts by the names that clients see: their own, with the server's before it where that one is taken."""
    found: dict[str, Owned] = {}
    for server, prompt in prompts:
        name = str(prompt.get("name", ""))
        shown = name if name not in reserved and name not in found else f"{server}{SEPARATOR}{name}"
        found.setdefault(shown, (server, prompt))
    return found


def distinct(entries: Iterable[Owned], key: str) -> list[Json]:
    """Entries without those whose key an earlier one has."""
    found: dict[object, Json] = {}
    for _, entry in entries:
        found.setdefault(entry.get(key), entry)
    return list(found.values())


def owners(uri: str, resources: Iterable[Owned], templates: Iterable[Owned]) -> list[str]:
    """The servers that a URI belongs to: the one that lists it, else those with a template for it; may be none."""
    for server, resource in resources:
        if resource.get("uri") == uri:
            return [server]
    fitting = [server for server, template in templates if _fits(str(template.get("uriTemplate", "")), uri)]
    return list(dict.fromkeys(fitting))


def _fits(template: str, uri: str) -> bool:
    try:
        return template == uri or UriTemplate.parse(template).match(uri) is not None
    except ValueError:
        return False

"""A server made with FastMCP: it learns tools, remembers, and asks the person in front of the client."""

import mcp_types as types
from fastmcp import Context, FastMCP
from fastmcp.tools import Tool
from mcp.shared.exceptions import MCPError

server: FastMCP[object] = FastMCP(name="fast", version="1")
notes: list[str] = []


@server.tool
async def note(text: str) -> str:
    """Remember a text; returns all that are remembered."""
    notes.append(text)
    return ", ".join(notes)


@server.tool
async def learn(name: str, ctx: Context) -> str:
    """Have one more tool."""

    def learned() -> str:
        return f"I am {name}."

    server.add_tool(Tool.from_function(learned, name=name))
    await ctx.send_notification(types.ToolListChangedNotification())
    return "learned"


@server.tool
async def ask(ctx: Context) -> str:
    """Ask the person for a name."""
    answer = await ctx.elicit("Who are you?", response_type=str)
    return f"{answer.action}"


@server.prompt
def greet(who: str) -> str:
    """Greet somebody."""
    if who == "nobody":
        raise MCPError(code=-32099, message="there is nobody", data={"who": who})
    return f"Greet {who}."


@server.resource("notes://{number}")
def remembered(number: str) -> str:
    """What was remembered."""
    return f"{number}: {', '.join(notes)}"


if __name__ == "__main__":
    server.run(show_banner=False)

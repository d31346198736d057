"""Clients that play while a page is looked at: each has a loop in a thread of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp_types import Implementation

NUMBERS = [4, 8, 15, 16, 23, 42]


class Player:
    """A client of a server that listens."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    def call(self, name: str, **arguments: Any) -> Any:
        """Call a tool and wait for its result."""
        return self._portal.call(partial(self._client.call_tool, name, arguments))

    def start(self, task: str) -> str:
        """Start a task; returns the run's handle."""
        result = self.call("start_task", task_id=task)
        assert not result.is_error, result
        handle: str = result.meta["m3bench/task"]["run"]
        return handle

    def play(self, task: str = "sum-1") -> str:
        """A whole run, with one call that fails; returns its handle."""
        run = self.start(task)
        self.call("math__sum", numbers=NUMBERS)
        self.call("math__sum", numbers="many")
        self.call("submit", answer="108")
        self.call("score")
        return run


@contextmanager
def player(url: str, name: str = "player", at: str = "/mcp") -> Iterator[Player]:
    """A client that sits down on a seat and leaves in the end."""
    with start_blocking_portal() as portal:
        client = Client(url + at, mode="legacy", client_info=Implementation(name=name, version="1"))
        with portal.wrap_async_context_manager(client):
            yield Player(portal, client)

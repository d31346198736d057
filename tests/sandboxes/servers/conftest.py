"""Fixtures for trying tools: a sandbox without any process around it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher, ToolResult
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.examples import load_examples
from m3bench.tasks.outcome import text_of, without_gap
from m3bench.tasks.scene import Scene


@pytest.fixture(autouse=True)
def no_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether somebody has fetched the trained detector on this machine makes no difference."""
    monkeypatch.setattr("m3bench.sandboxes.vision.weights.folder", lambda: tmp_path / "no networks")


class Bench:
    """A workspace and a way to call tools in it."""

    def __init__(self, folder: Path, scenes: tuple[Scene, ...] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.workspace = Workspace(folder)
        self._dispatcher = Dispatcher(load_catalog().ready, Context(workspace=self.workspace, scenes=scenes))

    def reply(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> ToolResult:
        """Call a tool by its canonical name."""

        async def call() -> ToolResult:
            with anyio.fail_after(60):
                return await self._dispatcher.call(tool, {**(arguments or {}), **more})

        return anyio.run(call)

    def text(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> str:
        """The text of a call that must succeed, or find nothing as the public server does without an error.

        The sentence about the world's gap is left out: `test_gaps` is about that.
        """
        reply = self.reply(tool, arguments, **more)
        assert reply.outcome in ("success", "empty"), reply
        assert not reply.result["isError"], reply
        return _text(reply)

    def error(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> str:
        """The text of a call that must fail, with or without `isError`."""
        reply = self.reply(tool, arguments, **more)
        assert reply.outcome != "success", reply
        return _text(reply)


def _text(reply: ToolResult) -> str:
    return without_gap(text_of(reply.result))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty workspace."""
    return Bench(tmp_path / "workspace")


@pytest.fixture
def prepared(tmp_path: Path) -> Callable[[str], Bench]:
    """Makes workspaces prepared as a server's examples ask."""
    made = 0

    def prepare(server: str) -> Bench:
        nonlocal made
        made += 1
        examples = load_examples(server)
        bench = Bench(tmp_path / f"workspace-{made}", examples.scenes)
        examples.write_files(bench.folder)
        for tool, arguments in examples.setup:
            bench.text(tool, arguments)
        return bench

    return prepare

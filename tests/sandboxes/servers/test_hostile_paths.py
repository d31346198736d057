"""Every tool that takes a path, against every path that it must not follow."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from m3bench.tasks.catalog import Tool, load_catalog
from m3bench.tasks.examples import load_examples
from tests.hostile import HOSTILE, set_traps, surroundings
from tests.sandboxes.servers.conftest import Bench

_PATH = re.compile(r"(\./|/workspace/)?[\w./-]+\.(xlsx|pptx|potx|png|jpe?g|webp|gif|bmp|tiff?|pdf|json)")


def _path_arguments(tool: Tool) -> list[str]:
    """The arguments that name files, judged by the tool's example."""
    example = load_examples(tool.server).calls[tool.name]
    return [name for name, value in example.items() if isinstance(value, str) and _PATH.fullmatch(value)]


PATH_TOOLS = [pytest.param(tool, id=tool.qualified) for tool in load_catalog().ready.tools if _path_arguments(tool)]


@pytest.mark.sample(10)
@pytest.mark.parametrize("tool", PATH_TOOLS)
def test_no_tool_touches_anything_outside_the_workspace(
    tool: Tool, prepared: Callable[[str], Bench], tmp_path: Path
) -> None:
    bench = prepared(tool.server)
    set_traps(bench.folder)
    (tmp_path / "outside.txt").write_text("outside")
    before = surroundings(tmp_path)
    example = load_examples(tool.server).calls[tool.name]
    for field in _path_arguments(tool):
        for path in HOSTILE:
            reply = bench.reply(tool.qualified, {**example, field: path})
            text = reply.result["content"][0]["text"]
            # Some servers make a file name of their own from what they are given, or when nothing is given.
            own_name = '"/workspace/' in text or not path.strip()
            assert reply.outcome != "success" or own_name, (field, path, text)
            assert "root:" not in text
            assert str(tmp_path) not in text
    assert surroundings(tmp_path) == before

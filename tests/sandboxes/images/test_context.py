"""What is sent to the engine: always the same bytes, and for sandboxes nothing that knows the answers."""

import ast
import re
import tarfile
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.images import context, wheels
from m3bench.sandboxes.images.builder import SERVICE
from m3bench.sandboxes.images.wheels import Target
from m3bench.tasks.errors import UserError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a wheel, as far as a context is concerned."""
    (tmp_path / "some-1-py3-none-any.whl").write_bytes(b"PK")
    return tmp_path


def archive(recipe: str, members: list[tuple[str, Path | bytes]]) -> bytes:
    file = BytesIO()
    context.write(file, recipe, members)
    return file.getvalue()


def names(data: bytes) -> list[str]:
    with tarfile.open(fileobj=BytesIO(data)) as opened:
        return opened.getnames()


def test_the_same_files_are_the_same_bytes(folder: Path) -> None:
    first = archive("sandbox.Dockerfile", context.sandbox(folder))
    (folder / "some-1-py3-none-any.whl").touch()
    assert archive("sandbox.Dockerfile", context.sandbox(folder)[::-1]) == first


def test_the_sandbox_gets_what_it_runs_and_nothing_else(folder: Path) -> None:
    found = names(archive("sandbox.Dockerfile", context.sandbox(folder)))
    code = {name for name in found if name.startswith("m3bench/")}
    assert set(found) - code == {"Dockerfile", "bare.py", "sbom.py", "wheels/some-1-py3-none-any.whl"}
    assert {"m3bench/sandboxes/host.py", "m3bench/tasks/data/catalog/math.json"} <= code
    parts = {tuple(name.split("/")[1:3]) for name in code}
    modules = {
        *("__init__", "atomic_files", "catalog", "coercion", "errors", "fault", "jsonrpc", "lines", "outcome"),
        *(
            "desk",
            "folding",
            "foreign_files",
            "formulas",
            "json_types",
            "lazy_modules",
            "scene",
            "schema",
            "table_tools",
        ),
    }
    folders = {"data", "drawing", "office", "studio"}
    assert {part[1] for part in parts if part[0] == "tasks"} == {*folders, *(f"{name}.py" for name in modules)}
    assert {part[0] for part in parts} == {"sandboxes", "tasks"}
    data = {name.split("/")[3] for name in code if name.startswith("m3bench/tasks/data/")}
    assert data == {"catalog", "further", "office_fonts.json", "tables"}


def test_every_module_that_the_sandbox_imports_is_in_its_image() -> None:
    places = {place for place, _ in image.contents()}
    missing = []
    for place, path in image.contents():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))) if place.endswith(".py") else ():
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("m3bench."):
                module = node.module.removeprefix("m3bench.").replace(".", "/")
                if not places & {f"{module}.py", f"{module}/__init__.py"}:
                    missing.append(f"{place} imports {node.module}")
    assert missing == []


def test_the_service_gets_what_the_sandbox_has_not_got(folder: Path) -> None:
    found = set(names(archive("server.Dockerfile", context.service(folder))))
    assert {"m3bench/server/cli.py", "m3bench/proxy/front.py", "m3bench/tasks/checks.py"} <= found
    assert not found & {f"m3bench/{place}" for place, _ in image.contents()}
    assert any(name.startswith("metadata/m3bench-") for name in found)


def test_compose_names_the_image_of_this_version() -> None:
    assert f"{SERVICE}:{image.installed_version()}" in (ROOT / "docker" / "compose.yaml").read_text()


def test_the_folder_of_recipes_does_not_hide_the_sdk() -> None:
    assert not (ROOT / "docker" / "__init__.py").exists()
    import docker

    assert docker.__file__ is not None


@pytest.mark.slow
def test_a_folder_without_the_wheels_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Wheels cannot be had from .*: .*anyio.* Add them there\."):
        wheels.collect(Target("3.11", "aarch64", 36), ["anyio"], tmp_path / "to", source=tmp_path)


def test_the_service_needs_what_the_project_says_it_needs() -> None:
    named = {re.split("[<>=]", line)[0] for line in wheels.service()}
    assert {*wheels.SANDBOX, "docker", "mcp", "pydantic", "typer"} - {"lxml"} <= named
    assert not named & {"pytest", "torch", "tzdata", "ruff"}


def test_workers_get_inspect_besides() -> None:
    assert {re.split("[<>=]", line)[0] for line in {*wheels.worker()} - {*wheels.service()}} == {"inspect-ai"}


def test_the_driver_is_the_one_of_the_lock_for_every_machine(tmp_path: Path) -> None:
    locked = (ROOT / "locks" / "all.txt").read_text()
    blocks = re.split(r"\n(?=\S)", locked.rstrip("\n"))
    pinned = "\n".join(block for block in blocks if block.startswith("psycopg")) + "\n"
    assert wheels.DRIVER.read_text() == pinned
    assert {re.split("[=[]", line)[0] for line in pinned.splitlines() if line[0] != " "} == {
        "psycopg", "psycopg-binary", "psycopg-pool",
    }  # fmt: skip


@pytest.mark.slow
def test_a_driver_that_is_not_the_locked_file_is_refused(tmp_path: Path) -> None:
    """A folder of wheels may hold anything; what is installed beside the record must be what was looked at."""
    source = tmp_path / "from"
    source.mkdir()
    for name, version in re.findall(r"^(\S+)==(\S+)", wheels.DRIVER.read_text(), re.MULTILINE):
        folder = f"{name.replace('-', '_')}-{version}"
        with ZipFile(source / f"{folder}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{folder}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            wheel.writestr(
                f"{folder}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{folder}.dist-info/RECORD", "")
    with pytest.raises(UserError, match=r"(?i)Wheels cannot be had from .*(hash|match)"):
        wheels.collect_driver(Target("3.11", "x86_64", 36), tmp_path / "to", source=source)


@pytest.mark.slow
def test_a_library_that_needs_a_newer_python_than_the_image_has_is_left_to_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "newer-7.dist-info").mkdir()
    about = "Metadata-Version: 2.1\nName: newer\nVersion: 7\nRequires-Python: >=3.11.5\n"
    (tmp_path / "newer-7.dist-info" / "METADATA").write_text(about)
    monkeypatch.syspath_prepend(tmp_path)
    pinned = {python: wheels.pins(Target(python, "x86_64", 36)) for python in ("3.11.2", "3.11.14")}
    assert {*pinned["3.11.14"]} - {*pinned["3.11.2"]} >= {"newer==7"}
    assert any(line.startswith("typer==") for line in pinned["3.11.2"])


def test_sound_is_put_in_when_it_is_asked_for_and_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not {*wheels.SOUND} & {*wheels.sandbox()}
    monkeypatch.setattr(wheels, "find_spec", lambda name: object())
    assert {*wheels.sandbox(sound=True)} == {*wheels.sandbox(), *wheels.SOUND}
    monkeypatch.setattr(wheels, "find_spec", lambda name: None if name == "av" else object())
    with pytest.raises(UserError, match=r"av cannot be found: pip install 'm3bench\[sound\]'"):
        wheels.sandbox(sound=True)

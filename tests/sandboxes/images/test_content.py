"""The sandbox image, searched byte by byte over all its layers for anything that knows the answers."""

import ast
import json
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine
from m3bench.sandboxes.images.builder import read_sbom
from m3bench.tasks.library import Library

pytestmark = pytest.mark.docker

ROOT = Path(__file__).parents[3]

CANARY = "m3bench canary 5f0c9e27: a reference that nobody may see"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    engine = DockerEngine()
    yield engine.answer(lambda client: client)
    engine.close()


def found_in(client: Client, name: str, texts: Iterable[str], folder: Path) -> set[str]:
    """Which texts are in an image as it is saved: every file of every layer, deleted ones too, and its history."""
    patterns = folder / "texts"
    patterns.write_text("".join(f"{text}\n" for text in texts))
    command = ["grep", "--text", "--fixed-strings", "--only-matching", f"--file={patterns}"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"LC_ALL": "C"}) as search:
        assert search.stdin is not None
        assert search.stdout is not None
        with suppress(BrokenPipeError):
            for chunk in client.get_image(name, chunk_size=1 << 20):
                search.stdin.write(chunk)
        search.stdin.close()
        return set(search.stdout.read().decode().splitlines())


def secrets() -> Iterator[str]:
    """Texts of tasks, and of every module that knows how they are made, checked or scored."""
    for task in Library().set.tasks:
        # Arguments and checks quote the world, which is in the image on purpose; these three are ours alone.
        yield from (text for text in _texts([task.question, task.wording, task.answer]) if len(text) >= 30)
    inside = {path for _, path in image.contents()}
    for folder in ("server", "proxy", "tasks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
            if path not in inside and len(said.partition("\n")[0]) >= 30:
                yield said.partition("\n")[0]


def _texts(data: Any) -> Iterator[str]:
    """Every text in a structure, as it is written in JSON."""
    if isinstance(data, str):
        yield json.dumps(data, ensure_ascii=False)[1:-1]
    elif isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from _texts(item)


def test_nothing_that_knows_the_answers_is_in_any_layer(client: Client, tmp_path: Path) -> None:
    texts = set(secrets())
    assert len(texts) > 100
    there = "The program inside a sandbox: serves the chosen servers over stdio as one MCP server."
    assert found_in(client, image.reference(), {there, *texts}, tmp_path) == {there}


def test_a_canary_planted_in_a_layer_and_deleted_in_the_next_would_be_found(client: Client, tmp_path: Path) -> None:
    # There is no shell to say it to.
    plant = f"open('/tmp/x', 'w').write('{CANARY[:20]}' + '{CANARY[20:]}')"
    steps = [json.dumps(["python3", "-c", code]) for code in (plant, "import os; os.unlink('/tmp/x')")]
    recipe = f"FROM {image.reference()}\nUSER 0\n" + "".join(f"RUN {step}\n" for step in steps)
    file = BytesIO(recipe.encode())
    lines = client.build(fileobj=file, tag="m3bench-canary", rm=True, network_mode="none", decode=True)
    assert not [line for line in lines if "error" in line]
    try:
        assert found_in(client, "m3bench-canary", {CANARY}, tmp_path) == {CANARY}
    finally:
        client.remove_image("m3bench-canary", force=True)


def test_our_files_in_the_image_are_those_of_the_list(client: Client) -> None:
    made = client.create_container(image.reference())
    try:
        chunks, _ = client.get_archive(made, "/m3bench/code")
        with tarfile.open(fileobj=BytesIO(b"".join(chunks))) as archive:
            files = {entry.name.removeprefix("code/m3bench/"): entry for entry in archive if entry.isfile()}
        chunks, _ = client.get_archive(made, "/m3bench/lib")
        with tarfile.open(fileobj=BytesIO(b"".join(chunks))) as archive:
            libraries = {entry.name.split("/")[1] for entry in archive if entry.name.count("/") == 1}
    finally:
        client.remove_container(made)
    assert {name for name in files if "__pycache__" not in name} == {place for place, _ in image.contents()}
    assert {(entry.uid, entry.mode & 0o222) for entry in files.values()} == {(0, 0o200)}
    assert {"numpy", "PIL", "openpyxl"} <= libraries
    assert not libraries & {"mcp", "pydantic", "docker", "pip", "typer", "m3bench"}


@pytest.fixture(scope="module")
def files(client: Client) -> dict[str, tarfile.TarInfo]:
    """Everything in the image by its path."""
    made = client.create_container(image.reference())
    try:
        with TemporaryFile() as file:
            for chunk in client.export(made):
                file.write(chunk)
            file.seek(0)
            with tarfile.open(fileobj=file) as archive:
                return {f"/{entry.name.removeprefix('./')}": entry for entry in archive}
    finally:
        client.remove_container(made)


def test_there_is_no_program_in_the_image_but_python(files: dict[str, tarfile.TarInfo]) -> None:
    places = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
    programs = [path for path in files if path.rpartition("/")[0] in places]
    assert programs
    assert [path for path in programs if not path.rpartition("/")[2].startswith("python3")] == []
    known = ("apt", "dpkg", "perl", "pip", "bash", "dash", "busybox")
    assert [path for path, entry in files.items() if entry.isreg() and path.rpartition("/")[2] in known] == []
    assert [path for path, entry in files.items() if entry.isreg() and entry.mode & 0o6000] == []


def test_the_image_lists_what_it_is_made_of_with_licences(client: Client) -> None:
    parts = json.loads(read_sbom(client, image.reference()))
    components = {component["purl"].partition("@")[0]: component for component in parts["components"]}
    assert parts["bomFormat"] == "CycloneDX"
    assert {"pkg:pypi/numpy", "pkg:pypi/pillow", "pkg:deb/debian/libc6"} <= set(components)
    assert components["pkg:pypi/numpy"]["version"] == version("numpy")
    without = [purl for purl, component in components.items() if not component["licenses"]]
    assert without == []


def test_the_image_runs_as_nobody_in_particular_and_says_what_it_is(client: Client) -> None:
    config = client.inspect_image(image.reference())["Config"]
    assert config["User"] == f"{image.USER}:{image.GROUP}"
    assert config["WorkingDir"] == image.MOUNT
    assert config["Entrypoint"] == ["python3", *image.PROGRAM]
    assert config["Labels"] == image.labels()
    assert not config.get("Volumes")
    assert not config.get("ExposedPorts")

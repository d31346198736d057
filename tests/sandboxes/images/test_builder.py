"""Building images on a real engine: what goes wrong is one clear message with the remedy."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine
from m3bench.sandboxes.images.builder import build, look_at
from m3bench.tasks.errors import UserError

pytestmark = pytest.mark.docker


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    engine = DockerEngine()
    yield engine.answer(lambda client: client)
    engine.close()


def silent(line: str) -> None:
    """Nobody is told."""


def test_an_image_says_what_it_runs_on(client: Client) -> None:
    target = look_at(client, image.reference(), silent)
    assert target.python.startswith("3.")
    assert target.machine in ("aarch64", "x86_64")
    assert target.glibc >= 36


def test_a_base_that_is_nowhere_is_told_with_the_remedy(client: Client) -> None:
    with pytest.raises(UserError, match=r"has no image localhost:9/nowhere:1 and cannot pull it .* Give --base"):
        build(client, "localhost:9/nowhere:1", None, silent)


def test_a_base_without_python_is_told(client: Client) -> None:
    lines = client.build(fileobj=BytesIO(b"FROM scratch\nLABEL empty=1\n"), tag="m3bench-empty", rm=True, decode=True)
    assert not [line for line in lines if "error" in line]
    try:
        with pytest.raises(UserError, match="m3bench-empty cannot be used as a base: it needs python3 and glibc"):
            build(client, "m3bench-empty", None, silent)
    finally:
        client.remove_image("m3bench-empty", force=True)


def test_a_folder_that_lacks_wheels_is_told(client: Client, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Wheels cannot be had from"):
        build(client, image.reference(), tmp_path, silent)


def test_a_step_that_fails_is_told_with_what_it_printed(client: Client, tmp_path: Path) -> None:
    from m3bench.sandboxes.images import builder

    lines = client.build(
        fileobj=BytesIO(f'FROM {image.reference()}\nRUN ["python3", "-c", "exit(\'wrong turn\')"]\n'.encode()),
        rm=True, forcerm=True, network_mode="none", decode=True,
    )  # fmt: skip
    with pytest.raises(UserError, match=r"(?s)x cannot be built\. Step 2/2 : RUN .*wrong turn.* wrong turn"):
        builder._follow("x", lines, silent)

"""The files of a release: made twice they are the same bytes, and they say what is in them."""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from runpy import run_path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.pages import ROOT

RELEASE: dict[str, Any] = run_path(str(ROOT / "docs" / "release.py"))
EPOCH = 1_700_000_000
FOLDERS = ("docker", "proxy", "sandboxes", "server", "tasks")
FILES = ("LICENSE", "NOTICE", "README.md", "pyproject.toml")


def checkout(folder: Path, *, age: int = 0) -> Path:
    """What is checked out here, as a checkout of another time."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, folder)
    for path in sorted(folder.rglob("*")):
        os.utime(path, (EPOCH + age, EPOCH + age))
    return folder


def test_an_archive_made_by_somebody_else_at_another_time_is_the_same() -> None:
    packed = []
    for number, names in enumerate((["m/a.py", "m/b.py"], ["m/b.py", "m/a.py"])):
        out = io.BytesIO()
        with (
            gzip.GzipFile(filename=f"{number}.tar", mode="wb", fileobj=out, mtime=number) as zipped,
            tarfile.open(fileobj=zipped, mode="w") as archive,
        ):
            for name in names:
                member = tarfile.TarInfo(name)
                member.mtime, member.uid, member.uname, member.size = number + 0.5, number, f"user{number}", len(name)
                archive.addfile(member, io.BytesIO(name.encode()))
        packed.append(RELEASE["_settled"](out.getvalue(), EPOCH))
    assert packed[0] == packed[1]
    with tarfile.open(fileobj=io.BytesIO(packed[0])) as archive:
        assert {name: archive.extractfile(name).read() for name in archive.getnames()} == {
            "m/a.py": b"m/a.py", "m/b.py": b"m/b.py",
        }  # fmt: skip


def test_what_the_wheel_stands_on_is_listed_with_versions_and_licences() -> None:
    listed = RELEASE["components"](ROOT, {"name": "m3bench", "version": "1.2.3", "license": "MIT"}, EPOCH)
    assert listed["metadata"]["component"]["purl"] == "pkg:pypi/m3bench@1.2.3"
    assert listed["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    locked = dict(re.findall(r"^([\w.-]+)==([^ ;]+)", (ROOT / "locks" / "run.txt").read_text("utf-8"), re.MULTILINE))
    assert {part["name"]: part["version"] for part in listed["components"]} == locked
    assert all(part["licenses"] for part in listed["components"])


def test_the_changes_are_those_of_the_version_or_else_those_not_yet_released(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.0.0 (2026)\n\n- Old.\n")
    assert RELEASE["changes"](tmp_path, "1.0.0") == "# m3bench 1.0.0\n\n- Old.\n"
    assert RELEASE["changes"](tmp_path, "1.1.0") == "# m3bench 1.1.0\n\n- New.\n"


@pytest.mark.night
@pytest.mark.slow
def test_wheel_and_source_archive_are_the_same_bytes_when_made_twice(tmp_path: Path) -> None:
    made = []
    for number, umask in enumerate((0o022, 0o077)):
        old = os.umask(umask)
        try:
            source, target = checkout(tmp_path / f"tree{number}", age=number * 1000), tmp_path / f"made{number}"
            target.mkdir()
            RELEASE["build"](source, target, EPOCH)
        finally:
            os.umask(old)
        made.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(target.iterdir())})
    assert made[0] == made[1]
    assert len(made[0]) == 2
    # The source archive is whole: the wheel that is built from it is the one that was built from the tree.
    (packed,) = (tmp_path / "made0").glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (inside,) = (tmp_path / "unpacked").iterdir()
    again = tmp_path / "again"
    again.mkdir()
    wheel = RELEASE["build"](inside, again, EPOCH, ("build_wheel",))
    assert hashes(wheel) == hashes(tmp_path / "made0" / wheel.name)


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def hashes(wheel: Path) -> dict[str, str]:
    return {name: hashlib.sha256(data).hexdigest() for name, data in contents(wheel).items()}


@pytest.mark.night
def test_a_release_is_whole_and_its_sums_are_right(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("there is no repository here: a release is made from a commit")
    target = tmp_path / "dist"
    environment = {**os.environ, "DOCKER_HOST": "tcp://127.0.0.1:1"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "release.py"), str(target)], env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "release: no images: No Docker engine answers" in done.stderr
    names = {path.name for path in target.iterdir()}
    ends = {".whl", ".gz", ".mcpb", ".json", ".md", ""}
    assert {Path(name).suffix for name in names} == ends
    lines = (target / "SHA256SUMS").read_text("utf-8").splitlines()
    assert {line[66:]: line[:64] for line in lines} == {
        name: hashlib.sha256((target / name).read_bytes()).hexdigest() for name in names - {"SHA256SUMS"}
    }
    (bundle,) = target.glob("*.mcpb")
    manifest = json.loads(contents(bundle)["manifest.json"])
    assert manifest["server"]["type"] == "uv"
    assert str(ROOT) not in json.dumps(manifest)

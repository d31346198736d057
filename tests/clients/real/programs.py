"""The programs of the clients that people use, as `package-lock.json` pins them.

They are installed once, in the environment of the tests; `python -m tests.clients.real.programs` does it ahead of them.
When the registry cannot be reached, the tests are skipped with one line, even in CI; whatever else goes wrong fails.
Some clients bring a program for each kind of machine, and the registry does not always have all of them.
"""

import errno
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

from tests.clients.node import find_node, install_locked

HERE = Path(__file__).parent
FOLDER = Path(sys.prefix) / "clients"
STAMP = FOLDER / ".installed"

OUTAGE = re.compile(
    r"ENOTFOUND|ETIMEDOUT|ECONNRESET|ECONNREFUSED|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET|network|"
    r"\b(?:E|code )(?:403|407|429|5\d\d)\b",
    re.IGNORECASE,
)
"""What npm says when the registry, or the way to it, is at fault."""

NO_PROGRAM = re.compile(r"for your platform", re.IGNORECASE)
"""What a client says that came without its program."""


def search_path() -> str:
    """Where the clients' programs and Node are found, before whatever else there is."""
    return os.pathsep.join([str(FOLDER / "node_modules" / ".bin"), str(Path(find_node()).parent), "/usr/bin", "/bin"])


def install() -> str | None:
    """Install them unless they are there; why that was not possible, None when they are."""
    locked = sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == locked:
        return None
    FOLDER.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, FOLDER)
    problem = install_locked(find_node(), FOLDER, *json.loads((HERE / "package.json").read_text())["dependencies"])
    if problem is None:
        STAMP.write_text(locked)
    return problem


@cache
def missing(program: str, folder: Path = FOLDER) -> str | None:
    """Why a client cannot be started on this machine, though it is installed; None when it can."""
    command = [str(folder / "node_modules" / ".bin" / program), "--version"]
    env = {**os.environ, "PATH": search_path()}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        starts = done.returncode == 0 or not NO_PROGRAM.search(f"{done.stdout}\n{done.stderr}")
    except subprocess.TimeoutExpired:
        starts = True  # The machine has much to do.
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        starts = False  # A text stands where the program should.
    return None if starts else f"the registry has no {program} for {platform.system()} on {platform.machine()}"


if __name__ == "__main__":
    sys.exit(install())

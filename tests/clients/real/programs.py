"""The programs of the clients that people use, as `package-lock.json` pins them.

They are installed once, in the environment of the tests; `python -m tests.clients.real.programs` does it ahead of them.
When the registry cannot be reached, the tests are skipped with one line, even in CI; whatever else goes wrong fails.
"""

import os
import re
import shutil
import sys
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
    problem = install_locked(find_node(), FOLDER)
    if problem is None:
        STAMP.write_text(locked)
    return problem


if __name__ == "__main__":
    sys.exit(install())

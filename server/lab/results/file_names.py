"""Names of files that last, made of the names of sets, runs and tasks.

A name of plain letters is its own file name; another one is made plain and gets a few digits of its hash, so that no
two names meet in one file.
"""

import re
from hashlib import sha256

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_MADE = re.compile(r"-[0-9a-f]{16}$")
"""How a made name ends; a name that ends so is no plain one, or it could be chosen to be that of another."""
_OTHER = re.compile(r"[^a-z0-9_]+")


def file_name(name: str) -> str:
    """A name for a file, without its ending."""
    if _PLAIN.fullmatch(name) and not _MADE.search(name):
        return name
    digest = sha256(name.encode(errors="replace")).hexdigest()[:16]
    return f"{_OTHER.sub('-', name.lower())[:60].strip('-') or 'page'}-{digest}"

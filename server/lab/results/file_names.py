"""Names of files that last, made of the names of sets, runs and tasks.

A name of plain letters is its own file name; another one is made plain and gets a few digits of its hash, so that no
two names meet in one file.
"""

import re
from hashlib import sha256

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_OTHER = re.compile(r"[^a-z0-9_]+")


def file_name(name: str) -> str:
    """A name for a file, without its ending."""
    if _PLAIN.fullmatch(name):
        return name
    digest = sha256(name.encode(errors="replace")).hexdigest()[:8]
    return f"{_OTHER.sub('-', name.lower())[:60].strip('-') or 'page'}-{digest}"

"""Where a record is: a data folder, or a PostgreSQL database with a data folder for the files of its runs.

Only names; nothing is opened or made. `factory` opens the store that belongs to a location.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from m3bench.server.store.layout import database


@dataclass(frozen=True)
class RecordLocation:
    """Where a record is."""

    folder: Path
    """The data folder: workspaces, what submitted runs left, capability cards; and the database, when it is a file."""
    url: str | None = None
    """The address of the database, when it is not a file."""

    def __str__(self) -> str:
        return str(self.folder) if self.url is None else without_password(self.url)

    @property
    def begun(self) -> bool:
        """Whether there may be a record: a database that is a file is there, one that is not has to be asked."""
        return self.url is not None or database(self.folder).exists()


def without_password(url: str) -> str:
    """An address as it may be shown and logged."""
    hidden = re.sub(r"(?<=://)([^/@?]*?):[^/?]*@", r"\1@", url)
    return re.sub(r"(?i)([?&]password=)[^&]*", r"\1…", hidden)

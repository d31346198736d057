"""What a person may choose, in one place, with the environment variable of each setting beside its default."""

import os
from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, Field

Sync = Literal["normal", "full"]


class Settings(BaseModel):
    """The choices of one server process."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: Path = Field(default_factory=lambda: Path(os.environ.get("M3BENCH_DATA") or user_data_path("m3bench")))
    """Where runs are kept (`M3BENCH_DATA`)."""
    tasks: Path | None = None
    """A folder with a set of tasks; the bundled set when left out."""
    profile: str = "full"
    """Which tools a seat shows."""
    sandbox: Literal["process", "inprocess"] = "process"
    """Where the tool servers of a run live."""
    ranked: bool = False
    """In ranked mode the client is told that it was scored, and nothing more."""
    content_only: bool = False
    """Leave structured content out of results."""
    sync: Sync = "normal"
    """`full` makes every recorded call survive the death of the machine."""
    max_calls: int = Field(default=200, gt=0)
    """Calls a run may make."""
    max_minutes: float = Field(default=60, gt=0)
    """Minutes a run may take."""
    spares: int = Field(default=0, ge=0)
    """Sandboxes kept warm."""

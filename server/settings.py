"""What a person may choose, in one place, with the environment variable of each setting beside its default."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_data_path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from m3bench.tasks.errors import UserError

Sync = Literal["normal", "full"]

MAX_CALLS, MAX_MINUTES = 200, 60.0
"""What a run may take, unless somebody says otherwise."""


WEATHER = r"^(fair|rough:\d{1,9})$"


def numbered_weather(given: object) -> object:
    """Rough weather without a number is that of the first."""
    return "rough:0" if given == "rough" else given


class Settings(BaseModel):
    """The choices of one server process."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def of(cls, **given: Any) -> "Settings":
        """Settings from what a person gave; None means not given.

        Raises:
            UserError: A value cannot be.
        """
        chosen = _with_store({name: value for name, value in given.items() if value is not None})
        try:
            return cls.model_validate(chosen)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            option = str(first["loc"][0]).replace("_", "-")
            raise UserError(f"--{option} cannot be {first['input']!r}: {first['msg']}.") from error

    def seat_profile(self, asked: str | None) -> str:
        """The profile of a seat whose client asked for one, or for none.

        Raises:
            UserError: In ranked mode the profile is the operator's, and another one was asked for. Nothing is said of
                whether there is such a profile: its name could be that of a task.
        """
        if self.ranked and asked and asked != self.profile:
            raise UserError("This server is ranked: its operator chose the tools. Connect without a profile.")
        return asked or self.profile

    @property
    def mode(self) -> Literal["practice", "ranked"]:
        """What kind of runs there will be."""
        return "ranked" if self.ranked else "practice"

    data: Path = Field(default_factory=lambda: Path(os.environ.get("M3BENCH_DATA") or user_data_path("m3bench")))
    """Where runs are kept (`M3BENCH_DATA`)."""
    store: str | None = None
    """The address of a PostgreSQL database that keeps runs and calls in place of a file in the data folder."""
    advertise: str | None = Field(default=None, pattern=r"^https?://[^/\s]+$")
    """Where other servers on the same database reach this one; by default the address it listens on."""
    tasks: Path | None = None
    """A folder with a set of tasks; the bundled set when left out."""
    seed: int | None = None
    """Make the tasks from this seed when the server starts, in memory alone (`M3BENCH_SEED`)."""
    secret_file: Path | None = None
    """In ranked mode, make the tasks from the secret in this file (or in `M3BENCH_SECRET`), in memory alone."""
    per_family: int = Field(default=1, ge=1)
    """How many tasks of each family are made so."""
    family: tuple[str, ...] = ()
    """Which families are made so; all of them when empty."""
    task: str | None = None
    """The one task that is offered; all of the set when left out."""
    profile: str = "full"
    """Which tools a seat shows."""
    seat: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{22,64}$")
    """The handle of the seat that a server over stdio is; a new one when left out."""
    sandbox: Literal["process", "docker", "inprocess"] = "process"
    """Where the tool servers of a run live."""
    runtime: str | None = None
    """Another OCI runtime for containers than the engine's default, such as `runsc`."""
    docker_host: tuple[str, ...] = Field(
        default_factory=lambda: tuple(os.environ.get("M3BENCH_DOCKER_HOSTS", "").replace(",", " ").split())
    )
    """Docker engines that containers are spread over (`M3BENCH_DOCKER_HOSTS`); the one of `DOCKER_HOST` when empty."""
    require_isolation: bool = False
    """Whether to start only where sandboxes lack nothing."""
    weather: Annotated[str, BeforeValidator(numbered_weather)] = Field(default="fair", pattern=WEATHER)
    """Whether tools fail and change as they do in use; the number decides when."""
    ranked: bool = False
    """In ranked mode the client is told that it was scored, and nothing more."""
    event: Path | None = None
    """The file of a ranked event: who may play, and when."""
    content_only: bool = False
    """Leave structured content out of results."""
    encoder: str = Field(
        default_factory=lambda: os.environ.get("M3BENCH_ENCODER") or "minilm",
        pattern=r"^(minilm|sentence-transformers(:.+)?)$",
    )
    """What compares arguments (`M3BENCH_ENCODER`): `minilm`, or `sentence-transformers:MODEL`."""
    sync: Sync = "normal"
    """`full` makes every recorded call survive the death of the machine."""
    max_calls: int = Field(default=MAX_CALLS, gt=0)
    """Calls a run may make."""
    max_minutes: float = Field(default=MAX_MINUTES, gt=0)
    """Minutes a run may take."""
    spares: int = Field(default=0, ge=0)
    """Sandboxes kept warm."""
    servers: Path | None = None
    """A file with third-party servers in the usual `mcpServers` form."""
    prefix: bool = True
    """Whether their tools are shown as `server__tool`."""
    record: Path | None = None
    """A cassette to record their answers on."""
    replay: tuple[Path, ...] = ()
    """Cassettes to answer from in their place."""
    on_miss: Literal["error", "live"] = "error"
    """What a question that is not on the cassette comes to."""


def _with_store(given: dict[str, Any]) -> dict[str, Any]:
    """What a person gave, with the record where `--store` or `M3BENCH_STORE` says; options count more than that."""
    store = given.pop("store", None) or (os.environ.get("M3BENCH_STORE") if "data" not in given else None)
    if not store:
        return given
    if "://" not in store:
        if given.get("data") not in (None, Path(store)):
            raise UserError(f"--store {store!r} names a folder, and --data another one: leave one of them out.")
        return {**given, "data": Path(store)}
    if not store.lower().startswith(("postgresql://", "postgres://")):
        scheme = store.partition("://")[0]
        raise UserError(f"--store cannot be {scheme}://…: name a folder, or postgresql://USER@HOST:PORT/DATABASE.")
    return {**given, "store": store}

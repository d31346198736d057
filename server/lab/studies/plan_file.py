"""A study as a person writes it down: `plan.yaml`, read and checked before anything is played.

    name: first
    models: [openai/gpt-5, {model: anthropic/claude, name: claude, price: "3,15"}]
    agents: [oracle, null]
    solvers: [react, executor]
    profiles: [standard]
    sets: [bundled, {name: ours, tasks: my-set}]
    repeats: 3

What is played with what is in `cells`; this module only says what the file means.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from m3bench.server.lab.headless.plan import listed_ids
from m3bench.server.lab.headless.providers.retries import RETRY_MINUTES
from m3bench.server.settings import WEATHER, numbered_weather
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.yaml_files import read_yaml

BUNDLED_SET = "bundled"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Abilities(_Part):
    """What a model can do, where the plan knows better than a look-up; what is left out is looked up."""

    tools: bool | None = None
    """Whether it has tool calls of its own; otherwise calls are written as text."""
    tool_cap: int | None = Field(default=None, ge=1)
    """The most tools that it takes."""
    context: int | None = Field(default=None, ge=1)
    """Tokens of its window."""
    vision: bool | None = None
    """Whether it sees pictures; otherwise it plays without, ranked apart."""
    parallel_calls: bool | None = None
    """Whether it makes several calls in a turn."""
    structured_output: bool | None = None
    """Whether it can be relied on for JSON."""


class StudyModel(_Part):
    """A model."""

    model: str = Field(pattern=r".+/.+")
    """`PROVIDER/NAME`, as Inspect names models."""
    name: str = ""
    """Its name in tables; its own name when left out."""
    price: str | None = Field(default=None, pattern=r"^\d+(\.\d+)?(,\d+(\.\d+)?){1,2}$")
    """Dollars for a million tokens, `IN,OUT`; what Inspect knows when left out."""
    generate: dict[str, Any] = {}
    """How it writes: `temperature` and the like."""
    arguments: dict[str, Any] = {}
    """For its provider."""
    can: Abilities = Abilities()
    """What it can do."""

    @property
    def provider(self) -> str:
        """Whose limits it shares."""
        return self.model.partition("/")[0]


class StudySet(_Part):
    """Tasks to play."""

    name: str = BUNDLED_SET
    tasks: Path | None = None
    """Folder of the set; the bundled one when left out."""
    families: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    """Of single tasks; `@FILE` for those of a file."""
    limit: int | None = Field(default=None, ge=1)
    """Number of tasks, taken from the families in turn."""


class SampleLimits(_Part):
    """Of a sample; those left out are as in `m3bench run`."""

    max_calls: int = Field(default=200, ge=1)
    max_steps: int | None = Field(default=None, ge=1)
    max_minutes: float | None = Field(default=None, gt=0)
    max_messages: int | None = Field(default=None, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    batch: int | None = Field(default=None, ge=1)
    calling: Literal["native", "text"] | None = None


class Caps(_Part):
    """What the whole study may use, everything played before included; it stops when one of them is reached."""

    cost: float | None = Field(default=None, gt=0)
    """Dollars."""
    tokens: int | None = Field(default=None, gt=0)
    """Read and written."""


class Expected(_Part):
    """What a sample takes, for the forecast, where nothing was measured yet."""

    input_tokens: int = Field(default=60_000, ge=0)
    output_tokens: int = Field(default=2_000, ge=0)
    seconds: float = Field(default=60.0, ge=0)


class StudyPlan(_Part):
    """A study."""

    name: str = Field(default="study", pattern=r"^\w[\w.-]*$")
    folder: Path | None = None
    """Where results go; a folder with the study's name beside the plan when left out."""
    models: tuple[StudyModel, ...] = ()
    agents: tuple[str, ...] = ()
    """Baseline agents; `all` for every one."""
    solvers: tuple[Literal["react", "executor", "m3-bench", "mcp-bench", "mcpverse"], ...] = Field(
        default=("react",), min_length=1
    )
    profiles: tuple[str, ...] = Field(default=("standard",), min_length=1)
    sets: tuple[StudySet, ...] = Field(default=(StudySet(),), min_length=1)
    repeats: int = Field(default=1, ge=1)
    limits: SampleLimits = SampleLimits()
    budget: Caps = Caps()
    expect: Expected = Expected()
    parallel: int | None = Field(default=None, ge=1)
    """Samples at a time."""
    providers: dict[str, Annotated[int, Field(ge=1)]] = {}
    """Samples at a time of all models of a provider together."""
    retry_minutes: float = Field(default=RETRY_MINUTES, ge=0)
    """Time for which a request that a provider could not take is tried again."""
    ask: bool = True
    """Whether models are asked what they can do, where nobody knows it."""
    sandbox: Literal["process", "docker", "inprocess"] = "process"
    weather: Annotated[str, BeforeValidator(numbered_weather)] = Field(default="fair", pattern=WEATHER)
    """Whether tools fail and change as they do in use."""
    seed: int = 0

    @field_validator("models", mode="before")
    @classmethod
    def _models(cls, given: object) -> object:
        """A model may be named alone."""
        return (
            [{"model": model} if isinstance(model, str) else model for model in given]
            if isinstance(given, list)
            else given
        )

    @field_validator("agents", mode="before")
    @classmethod
    def _agents(cls, given: object) -> object:
        """YAML takes the agent `null` for nothing."""
        return ["null" if agent is None else agent for agent in given] if isinstance(given, list) else given

    @field_validator("sets", mode="before")
    @classmethod
    def _sets(cls, given: object) -> object:
        """A set may be given as its folder, or as `bundled`."""
        return [_set(entry) for entry in given] if isinstance(given, list) else given


def _set(given: object) -> object:
    if not isinstance(given, str):
        return given
    return {} if given == BUNDLED_SET else {"name": Path(given).name, "tasks": given}


def read_plan(path: Path) -> StudyPlan:
    """Read a plan; folders in it are meant from where it lies.

    Raises:
        InputFileError: It cannot be read, or says something that makes no sense.
    """
    parts = (StudyModel, StudySet, SampleLimits, Caps, Expected, Abilities)
    plan = read_yaml(path, StudyPlan, parts, what="the plan of a study", word="setting")
    if not plan.models and not plan.agents:
        raise InputFileError(path, "names nobody who plays: give models or agents")
    for provider in plan.providers:
        if provider not in (known := sorted({model.provider for model in plan.models})):
            raise InputFileError(path, f"no model has this provider: {', '.join(known)}", field=f"providers.{provider}")
    here = path.parent
    sets = tuple(
        tasks.model_copy(
            update={
                "tasks": None if tasks.tasks is None else here / tasks.tasks.expanduser(),
                "ids": listed_ids(tasks.ids, here),
            }
        )
        for tasks in plan.sets
    )
    folder = here / (plan.folder.expanduser() if plan.folder is not None else Path(plan.name))
    return plan.model_copy(update={"sets": sets, "folder": folder})

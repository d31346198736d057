"""A task: pictures or a recording, a question, ways to solve it, and the fields that are to be handed in.

The client sees the question, which names no tool and lists no steps, and what each field asks for. The concrete wording
is for people who read the task; references, checks and the right values of the fields are for scoring: none of them
leaves the server before a run is sealed. This is the format of a task file; unknown fields are an error.
"""

from pathlib import PurePath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from m3bench.tasks.answers.fields import Field as AnswerField
from m3bench.tasks.checks import Check
from m3bench.tasks.tolerance import Tolerance
from m3bench.tasks.trajectory import Call, Step, Trajectory
from m3bench.tasks.trap import Reason, StrayOrder

SCHEMA = 2
"""Version of the task format. Sets of version 1 have checks and no fields; they still load and are judged by those."""

MEDIA = "media"
"""The folder of the workspace that holds a run's pictures and recordings."""

_PICTURE_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
_RECORDING_TYPES = {".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4"}


def picture_type(name: str) -> str:
    """The media type of a picture, by its file name."""
    return _PICTURE_TYPES.get(PurePath(name).suffix.lower(), "application/octet-stream")


def recording_type(name: str) -> str:
    """The media type of a recording, sound or film, by its file name."""
    return _RECORDING_TYPES.get(PurePath(name).suffix.lower(), "application/octet-stream")


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReferenceCall(_Model):
    """A call of a reference."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    tolerances: dict[str, Tolerance] = Field(default_factory=dict)
    """Arguments for which other values are equally valid."""


class Reference(_Model):
    """One way to solve a task."""

    note: str = ""
    """How this solution differs from the others."""
    steps: tuple[tuple[ReferenceCall, ...], ...]

    @property
    def trajectory(self) -> Trajectory:
        """The reference as a value that can be scored against."""
        return Trajectory(
            steps=tuple(
                Step(
                    calls=tuple(
                        Call(tool=call.tool, arguments=call.arguments, tolerances=call.tolerances) for call in step
                    )
                )
                for step in self.steps
            )
        )


class Task(_Model):
    """One task."""

    id: str
    family: str
    question: str
    """What the client is asked; natural and without tool names."""
    role: str = ""
    """Who asks, by what that person does: `teacher`; empty where the question does not say."""
    skills: tuple[str, ...] = ()
    """What eyes must do for it, by names of `data/skills.toml`; left empty, what is planned for its family and goal."""
    wording: str
    """The same task in concrete words."""
    pictures: tuple[str, ...]
    """File names in the set's `pictures` folder; in a run they lie in the workspace's media folder."""
    recordings: tuple[str, ...] = ()
    """Sound and film: file names in the set's `recordings` folder; in a run they lie beside the pictures."""
    servers: tuple[str, ...]
    """What the references need."""
    distractors: tuple[str, ...] = ()
    """Ten servers that are shown beside them in the standard profile."""
    references: tuple[Reference, ...] = Field(min_length=1)
    fields: tuple[AnswerField, ...] = ()
    """What is to be handed in, with what is right; a client is shown only `AnswerField.shown` of each."""
    checks: tuple[Check, ...] = ()
    """How the tasks of version 1 and those without fields are judged."""
    answer: str = ""
    """What a client that played the first reference would say: passes the checks, and is as hidden as they are."""
    difficulty: Literal["easy", "medium", "hard"] = "medium"
    order: StrayOrder | None = None
    """What its material tells an agent to do that nobody asked for."""
    doubt: Reason | None = None
    """Why it has no answer, or why one that looks like it has none."""

    @property
    def tools(self) -> frozenset[str]:
        """The canonical names of every tool that some reference uses."""
        return frozenset(call.tool for reference in self.references for step in reference.steps for call in step)


class TaskSet(_Model):
    """Tasks that belong together; the content of a set's `tasks.json`."""

    schema_: Literal[2] = Field(alias="schema")
    name: str
    version: str
    tasks: tuple[Task, ...]

    @model_validator(mode="before")
    @classmethod
    def _upgraded(cls, data: object) -> object:
        """Version 1 is this one without fields."""
        return {**data, "schema": SCHEMA} if isinstance(data, dict) and data.get("schema") == 1 else data

"""Writes tasks as a Harbor dataset: a folder for each, and one for the image of the server that runs beside agents.

    m3bench.json   what this is, so that it can be replaced
    README.md      how to run it
    image/         the recipe of the server's image, and the set unless it is the bundled one
    tasks/ID/      task.toml, instruction.md, environment/, tests/, solution/

The same tasks give the same bytes. References are in `solution/` and in the image alone: Harbor copies the first into
an agent's container only for its oracle, and the second is another container. Of `environment/` an agent sees all.

Trainers that start one container for each task take a dataset for a single one: there the server is beside the agent as
another user, whose files the agent cannot read, and the verifier works in the same container.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import tomlkit

from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.catalog import expose
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.profiles import owned_by
from m3bench.tasks.task import Task

MARKER = "m3bench.json"
FORMAT = "m3bench/harbor"
ORGANISATION = "m3bench"
"""What the names of Harbor's tasks begin with."""

SEAT = "the-agent-of-this-trial"
"""Where the agent sits: the run on this seat counts, and a ranked seat has one attempt at a task."""

URL = f"http://127.0.0.1:8000/seat/{SEAT}/mcp"
COLLECTED = "/verdict"
"""Where the server's container lays out what Harbor collects from it."""

AGENT_SECONDS = 3600.0
_TEXTS = Path(__file__).parent / "texts"
_HEALTH = "python3 -c \"import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)\""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset to be written.

    Args:
        library: The set.
        tasks: Those of its tasks that are wanted.
        profile: The tool profile; `standard`, `task` and `family` mean those of each task.
        base: The image that agents' containers start from: Debian with the Python of the server's image.
        service: The server's image, as `m3bench image build` makes it.
        image: What the image with the set is called.
        single: Whether a task needs one container and nothing beside it.
    """

    library: Library
    tasks: Sequence[Task]
    profile: str
    base: str
    service: str
    image: str
    single: bool = False

    def write(self, folder: Path, tell: Callable[[str], None] = lambda task: None) -> None:
        """Write the dataset into a folder, replacing an earlier one; `tell` is called with the id of each task.

        Raises:
            InputFileError: The folder holds something else, or cannot be written.
        """
        try:
            _clear(folder)
            self._put(folder / MARKER, _json(self._marker))
            self._put(folder / "README.md", self._filled("README.md"))
            self._write_image(folder / "image")
            for task in self.tasks:
                self._write_task(folder / "tasks" / task.id, task)
                tell(task.id)
        except OSError as error:
            raise InputFileError(folder, f"cannot be written ({error.strerror or error})") from error

    def profile_of(self, task: Task) -> str:
        """The tool profile of a task."""
        owner = owned_by(self.profile)
        return self.profile if owner is None else f"{self.profile}:{task.id if owner == 'task' else task.family}"

    @property
    def _marker(self) -> JsonObject:
        return {"format": FORMAT, "version": 1, **self._facts, "tasks": [task.id for task in self.tasks]}

    @cached_property
    def _facts(self) -> JsonObject:
        found = self.library.set
        return {"m3bench": version("m3bench"), "set": found.name, "set_version": found.version,
                "set_hash": self.library.hash}  # fmt: skip

    @cached_property
    def _bundled(self) -> bool:
        return self.library.hash == Library(BUNDLED).hash

    def _write_image(self, folder: Path) -> None:
        self._put(folder / "Dockerfile", self._filled("single-image.Dockerfile" if self.single else "image.Dockerfile"))
        for name in ("m3bench.sh", "serve.sh", *(("as-server.sh", "up.sh") if self.single else ())):
            self._put(folder / name, self._filled(name))
        if not self._bundled:
            for name, data in self.library.files():
                self._put(folder / "set" / name, data)

    def _write_task(self, folder: Path, task: Task) -> None:
        self._put(folder / "task.toml", tomlkit.dumps(self._config(task)).encode())
        self._put(folder / "instruction.md", self._filled("instruction.md", task))
        for name, data in self.library.media(task):
            self._put(folder / "environment" / "pictures" / name, data)
        if self.single:
            self._put(folder / "environment" / "Dockerfile", self._filled("single-environment.Dockerfile", task))
            self._put(folder / "tests" / "test.sh", self._filled("single-test.sh", task))
        else:
            self._put(folder / "environment" / "Dockerfile", self._filled("environment.Dockerfile", task))
            self._put(folder / "environment" / "docker-compose.yaml", self._filled("docker-compose.yaml", task))
            self._put(folder / "tests" / "Dockerfile", self._filled("tests.Dockerfile", task))
            self._put(folder / "tests" / "test.sh", self._filled("test.sh", task))
        for name in ("solve.sh", "solve.py"):
            self._put(folder / "solution" / name, self._filled(name, task))
        self._put(folder / "solution" / "reference.json", _json(_reference(task)))

    def _config(self, task: Task) -> JsonObject:
        """The content of `task.toml`."""
        started = f"sh /m3bench/harbor/up.sh {task.id} {self.profile_of(task)} {AGENT_SECONDS / 60:g}"
        health = started if self.single else _HEALTH
        return {
            "schema_version": "1.4",
            "artifacts": [{"source": COLLECTED, **({} if self.single else {"service": "m3bench"})}],
            "task": {
                "name": f"{ORGANISATION}/{task.id}",
                "version": version("m3bench"),
                "description": task.question,
                "keywords": ["m3bench", "mcp", "tools", "multimodal"],
            },
            "metadata": {**self._facts, "family": task.family, "difficulty": task.difficulty,
                         "profile": self.profile_of(task)},
            "agent": {"timeout_sec": AGENT_SECONDS, **({"user": "agent"} if self.single else {})},
            "verifier": self._verifier(task),
            "environment": {
                "build_timeout_sec": 600.0,
                "healthcheck": {"command": health, "interval_sec": 2.0, "timeout_sec": 10.0, "retries": 60},
                "mcp_servers": [{"name": "m3bench", "transport": "streamable-http", "url": URL}],
            },
        }  # fmt: skip

    def _verifier(self, task: Task) -> JsonObject:
        if self.single:
            return {"timeout_sec": 600.0, "environment_mode": "shared", "user": "root"}
        collect = f"sh /m3bench/harbor/m3bench.sh lab harbor collect {COLLECTED} --task {task.id}"
        return {
            "timeout_sec": 600.0,
            "environment_mode": "separate",
            "collect": [{"service": "m3bench", "command": collect, "timeout_sec": 300.0}],
            "environment": {"build_timeout_sec": 600.0},
        }

    def _filled(self, name: str, task: Task | None = None) -> bytes:
        words = {
            "BASE": self.base, "SERVICE": self.service, "IMAGE": self.image, "URL": URL,
            "VERSION": version("m3bench"), "SET": self.library.set.name, "COUNT": str(len(self.tasks)),
            "MINUTES": f"{AGENT_SECONDS / 60:g}",
        }  # fmt: skip
        if task is not None:
            pictures = " and ".join(f"`/task/{name}`" for name in (*task.pictures, *task.recordings))
            words |= {"TASK": task.id, "PROFILE": self.profile_of(task), "PICTURES": pictures}
        text = (_TEXTS / name).read_text("utf-8")
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        # Last of all: a question may hold anything.
        return (text.replace("@QUESTION@", task.question) if task is not None else text).encode()

    def _put(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if path.suffix == ".sh":
            path.chmod(0o755)


def _reference(task: Task) -> dict[str, object]:
    steps: list[list[JsonObject]] = [
        [{"name": expose(call.tool), "arguments": call.arguments} for call in step] for step in task.references[0].steps
    ]
    return {"steps": steps, "answer": task.answer, "fields": right_fields(task.fields)}


def _clear(folder: Path) -> None:
    """Remove an earlier dataset; create the folder if it is missing."""
    if folder.is_file():
        raise InputFileError(folder, "is a file: name a folder for the dataset with -o")
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        return
    if not (folder / MARKER).is_file():
        raise InputFileError(folder, "is not empty and was not written by `m3bench lab harbor export`: choose another")
    for part in ("image", "tasks"):
        shutil.rmtree(folder / part, ignore_errors=True)


def _json(data: Mapping[str, object]) -> bytes:
    return f"{json.dumps(data, ensure_ascii=False, indent=1)}\n".encode()

"""A set of three tasks, and the scripts of a model that plays them: right, sloppily, and not at all."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m3bench.server.lab.results.resultset import Result, Sample, read_resultset, read_samples
from tests.sets import write_set

ROOT = Path(__file__).parents[4]

NUMBERS = [4, 8, 15, 16, 23, 42]

Turn = dict[str, Any]

RIGHT: list[Turn] = [
    {
        "text": "Both can be asked for at once.",
        "calls": [
            {"tool": "math__median", "arguments": {"numbers": NUMBERS}},
            {"tool": "math__mean", "arguments": {"numbers": NUMBERS}},
        ],
    },
    {"calls": [{"tool": "math__subtract", "arguments": {"minuend": 18, "subtrahend": 15.5}}]},
    {"calls": [{"tool": "submit", "arguments": {"answer": "They differ by 2.5."}}]},
]
SLOPPY: list[Turn] = [
    {
        "calls": [
            {"tool": "math__sums", "arguments": {"numbers": NUMBERS}},
            {"tool": "math__sum", "arguments": {"numbers": "all of them"}},
        ]
    },
    {"calls": [{"tool": "math__sum", "arguments": {"numbers": NUMBERS[1:]}}]},
    {"text": "About 104.", "input_tokens": 900, "output_tokens": 7},
]
GIVES_UP: list[Turn] = [{"text": "I cannot read the note."}]

SCRIPT = {"survey-1": RIGHT, "sum-1": SLOPPY, "sum-2": GIVES_UP}


def three_tasks(folder: Path) -> Path:
    """Write the set into a folder and return it."""
    write_set(folder)
    path = folder / "tasks.json"
    data = json.loads(path.read_bytes())
    data["tasks"].append(deepcopy(data["tasks"][-1]) | {"id": "sum-2"})
    path.write_text(json.dumps(data))
    return folder


def write_script(path: Path, tasks: dict[str, list[Turn]]) -> str:
    """Write a script and return the name of the model that plays it."""
    path.write_text(json.dumps({"tasks": tasks}))
    return f"m3bench/{path}"


def command(model: str, tasks: Path, output: Path, *options: str) -> list[str]:
    """The command line that has a model play a set of tasks."""
    head = [sys.executable, "-m", "m3bench.server.cli", "run", "--model", model]
    return [*head, "--tasks", str(tasks), "--output", str(output), *options]


def run(model: str, tasks: Path, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Have a model play a set of tasks."""
    arguments = command(model, tasks, output, *options)
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A run that a test is about."""

    script: dict[str, list[Turn]] | None = None
    """What the model does; Inspect's own mock model is taken when left out."""
    options: tuple[str, ...] = ()
    results: str = ""
    """The folder of results, when it is not the scene's own."""


class Outcome:
    """What a scene came to."""

    def __init__(self, folder: Path, code: int, stderr: str) -> None:
        self.folder = folder
        self.code = code
        self.stderr = stderr

    @property
    def results(self) -> dict[str, Result]:
        """The results by task."""
        return {result.sample.task: result for result in read_resultset(self.folder).results}

    @property
    def samples(self) -> dict[tuple[str, int], Sample]:
        """The samples."""
        return read_samples(self.folder)


def play_scenes(folder: Path, scenes: Mapping[str, Scene]) -> dict[str, Outcome]:
    """Run scenes one after the other, in one process with no way out: Inspect takes its time to start."""
    tasks = three_tasks(folder / "set")
    spec = []
    for name, scene in scenes.items():
        script = folder / f"{scene.results or name}.json"
        model = f"m3bench/{script}" if scene.script is not None else "mockllm/model"
        spec.append(
            {
                "script": str(script),
                "content": {"tasks": scene.script or {}},
                "arguments": command(model, tasks, folder / (scene.results or name), *scene.options)[3:],
            }
        )
    done = subprocess.run(
        [sys.executable, "-m", "tests.server.lab.headless.worker"],
        input=json.dumps(spec),
        capture_output=True,
        text=True,
        timeout=580,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return {
        name: Outcome(folder / (scene.results or name), outcome["code"], outcome["stderr"])
        for (name, scene), outcome in zip(scenes.items(), json.loads(done.stdout), strict=True)
    }


class stopped:
    """A run in a process group of its own, stopped by a signal when the body ends; the value is the process."""

    def __init__(self, arguments: list[str], number: signal.Signals) -> None:
        self._arguments = arguments
        self._number = number

    def __enter__(self) -> subprocess.Popen[str]:
        self.process = subprocess.Popen(
            self._arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        return self.process

    def __exit__(self, *_: object) -> None:
        os.killpg(self.process.pid, self._number)
        self.output = self.process.communicate(timeout=60)


@dataclass(frozen=True)
class Asked:
    """One time that a model was asked, as Inspect's log has it."""

    before: tuple[str, ...]
    """The messages before the last one, by role and text."""
    prompt: str
    """The last message."""
    tools: tuple[str, ...]
    """The native tools that it was given."""
    said: str


def asked(folder: Path) -> dict[str, list[Asked]]:
    """Every time that the model of a result set was asked, by task and in order."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import read_eval_log

    (path,) = (folder / "inspect").glob("*.eval")
    log = read_eval_log(str(path), resolve_attachments="full")
    found: dict[str, list[Asked]] = {}
    for sample in log.samples or []:
        events = [event for event in sample.events if isinstance(event, ModelEvent)]
        found[str(sample.id)] = [
            Asked(
                before=tuple(f"{message.role}: {message.text}" for message in event.input[:-1]),
                prompt=event.input[-1].text,
                tools=tuple(tool.name for tool in event.tools),
                said=event.output.completion,
            )
            for event in events
        ]
    return found

"""What Inspect finds of m3bench by its entry point: the task `m3bench/m3`, its solver and scorer, the script model."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.model import ModelAPI, modelapi

from m3bench.server.lab.headless.inspect_script import PROVIDER, ScriptModel
from m3bench.server.lab.headless.inspect_task import inspect_task, scorecard
from m3bench.server.lab.headless.plan import SampleAttempt, select
from m3bench.server.lab.headless.solver import SampleOptions, seated
from m3bench.server.settings import Settings
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.profiles import profile_of

__all__ = ["m3", "scorecard", "script", "seated"]


@modelapi(name=PROVIDER)
def script() -> type[ModelAPI]:
    """The model that plays a script."""
    return ScriptModel


@task
def m3(
    tasks: str | None = None,
    task: str | list[str] | None = None,
    family: str | list[str] | None = None,
    limit: int | None = None,
    profile: str = "standard",
    solver: str = "react",
    calling: str | None = None,
    max_steps: int | None = None,
    batch: int | None = None,
    planning: str | None = None,
    compress: int | None = None,
    max_calls: int = 200,
    minutes: float | None = None,
    sandbox: str = "process",
    data: str | None = None,
) -> Task:
    """Multimodal tasks that are solved with MCP tools.

    Args:
        tasks: Folder with a set of tasks; the bundled set when left out.
        task: Only these tasks; ids are separated by commas.
        family: Only tasks of these families; names are separated by commas.
        limit: At most so many tasks, taken from the families in turn.
        profile: The tools that are shown.
        solver: `react`, `executor`, `m3-bench`, `mcp-bench` or `mcpverse`.
        calling: How the model calls tools: `native` or `text`.
        max_steps: Turns a sample may take.
        batch: Calls in one step, for solvers that work in steps.
        planning: `rounds` or `one-shot`, for `mcp-bench`.
        compress: Characters above which `mcp-bench` has a result shortened.
        max_calls: Calls a sample may make.
        minutes: Time a sample may take.
        sandbox: Where tools run.
        data: Folder for the record of runs; where `m3bench serve` keeps them when left out.
    """
    settings = Settings.of(tasks=tasks, sandbox=sandbox, data=data, max_calls=max_calls)
    library = Library(settings.tasks or BUNDLED)
    chosen = select(library, _parts(family), _parts(task), limit)
    return inspect_task(
        library,
        [(SampleAttempt(played.id, 1), profile_of(profile, played)) for played in chosen],
        seated(
            SampleOptions(
                data=settings.data.absolute(),
                tasks=Path(tasks).absolute() if tasks is not None else None,
                sandbox=sandbox,
                max_calls=max_calls,
                agent=solver,
                calling=calling,
                max_steps=max_steps,
                batch=batch,
                planning=planning,
                compress=compress,
                minutes=minutes,
            )
        ),
        max_calls,
    )


def _parts(given: str | list[str] | None) -> list[str]:
    """One name or several: Inspect makes a list of what has a comma in it."""
    return [given] if isinstance(given, str) else list(given or ())

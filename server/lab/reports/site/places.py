"""Where the pages of a site lie; the address of a page does not depend on what else is on the site."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from m3bench.server.lab.results.file_names import file_name

HOME, BOARD, TASKS = "index.html", "board.html", "tasks.html"


@dataclass(frozen=True, kw_only=True)
class Places:
    """The pages that a site has."""

    sets: Mapping[str, str]
    """By the set's name."""
    runs: Mapping[str, str]
    """By the run's handle; those that have a page."""
    tasks: Mapping[str, str]
    """By the task's id; those that have a page."""

    @classmethod
    def of(cls, sets: Iterable[str], runs: Iterable[str], tasks: Iterable[str]) -> "Places":
        """The places of these."""
        return cls(
            sets={name: f"sets/{file_name(name)}.html" for name in sets},
            runs={run: f"runs/{file_name(run)}.html" for run in runs},
            tasks={task: f"tasks/{file_name(task)}.html" for task in tasks},
        )

    def links(self, *, up: bool, runs: Iterable[str] = (), tasks: Iterable[str] = ()) -> dict[str, Any]:
        """The links that a page has: to the pages of the site, and to these runs and tasks where they have one.

        Args:
            up: Whether the page lies in a folder of the site.
            runs: Handles.
            tasks: Ids.
        """
        before = "../" if up else ""
        return {
            "home": before + HOME,
            "board": before + BOARD,
            "tasks": before + TASKS if self.tasks else None,
            "set": {name: before + place for name, place in self.sets.items()},
            "run": {run: before + self.runs[run] for run in runs if run in self.runs},
            "task": {task: before + self.tasks[task] for task in tasks if task in self.tasks},
        }

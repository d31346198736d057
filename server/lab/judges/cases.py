"""Finds what is to be judged: runs by handle, `latest` or result set, each with its task and its calls.

A judge must read the question that the client read, so a run is judged with the very set of tasks it was made with;
another set of the same name is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from m3bench.server.lab.judges.material import JudgeMaterial, ShownPicture, artefacts, material
from m3bench.server.lab.results.recorded_runs import LATEST, Records
from m3bench.server.lab.results.resultset import HEADER, read_resultset, store_folder
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scoring.aggregate import Row
from m3bench.server.store.contract import Store
from m3bench.server.store.factory import open_store
from m3bench.server.store.layout import database, run_workspace
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import OWN_TOOLS, CallRecord, RunRecord, handed_in
from m3bench.tasks.catalog import Tool, load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import tools_of
from m3bench.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Case:
    """A run with what judges need."""

    folder: Path
    """The folder of its store."""
    run: RunRecord
    task: Task
    calls: tuple[CallRecord, ...]
    library: Library
    agent: str

    @cached_property
    def material(self) -> JudgeMaterial:
        """What a judge sees."""
        pictures = [ShownPicture(name=name, data=self.library.picture(name)) for name in self.task.pictures]
        plan = self.library.plans(self.task)[self.reference]
        return material(
            self.task,
            self.calls,
            handed_in(self.run),
            pictures,
            reference=self.reference,
            plan=plan,
            tools=self._tools(),
        )

    def _tools(self) -> tuple[Tool, ...]:
        """Those its profile showed; those of the task where the record does not say which."""
        return tools_of(self.run.setup.profile or f"task:{self.task.id}", load_catalog().ready, self.library)

    @cached_property
    def looked_at(self) -> JudgeMaterial:
        """What a judge sees who looks at what the run left."""
        brought = dict(self.library.media(self.task))
        found = artefacts(self.task, run_workspace(self.folder, self.run.id), brought)
        return replace(self.material, left=found.shown, left_unseen=found.unseen)

    @property
    def reference(self) -> int:
        """Index of the reference that fits best by the paper's metric; the first when the run was not scored."""
        card = card_of(self.run)
        if card is None:
            return 0
        return card.reference.index if card.paper is None else card.paper.reference

    @property
    def outcomes(self) -> dict[str, int] | None:
        """How often its calls had each outcome; None when it was not scored."""
        card = card_of(self.run)
        return card.outcomes if card is not None else None

    @property
    def row(self) -> Row | None:
        """The paper's metrics of its score card; None when it was not scored."""
        card = card_of(self.run)
        return card.paper_row if card is not None else None


def find_cases(names: Sequence[str], records: Records, library: Library) -> list[Case]:
    """The runs that are meant, each once, in the order given.

    Args:
        names: Handles, their beginnings, `latest`, or folders of result sets.
        records: The records that handles are looked up in.
        library: The tasks.

    Raises:
        UserError: There is no such run, it was never submitted, or its tasks are others.
    """
    found: dict[tuple[Path, str], Case] = {}
    for name in names:
        path = Path(name)
        cases = _of_folder(path, library) if name != LATEST and _is_folder(path) else [_named(name, records, library)]
        for case in cases:
            found.setdefault((case.folder.resolve(), case.run.id), case)
    return list(found.values())


def _is_folder(path: Path) -> bool:
    return (path / HEADER).is_file() or database(path).is_file()


def _of_folder(folder: Path, library: Library) -> list[Case]:
    results = read_resultset(folder)
    if not results.results:
        raise UserError(f"{folder} holds no scored runs: there is nothing to judge.")
    store = open_store(RecordLocation(store_folder(folder)))
    try:
        return [_case(store, result.run, library, results.header.agent) for result in results.results]
    finally:
        store.close()


def _named(name: str, records: Records, library: Library) -> Case:
    if Path(name).is_dir():
        raise UserError(f"The folder {name} holds no recorded runs: name a result set, a data folder or a run.")
    if not records.begun:
        raise UserError(f"There is no record of runs in {records}: name its folder with --data, or a result set.")
    store, run = records.find(name, submitted=True)
    return _case(store, run, library, "")


def _case(store: Store, run: RunRecord, library: Library, agent: str) -> Case:
    if run.answer is None:
        raise UserError(f"Run {run.id[:12]} is {run.state}: only a run that was submitted can be judged.")
    if run.setup.set_hash != library.hash:
        raise UserError(
            f"Run {run.id[:12]} was made with other tasks than those of {library.folder} "
            f"({run.setup.set_name} {run.setup.set_version}): name the folder of its set with --tasks."
        )
    calls = tuple(call for call in store.calls(run.id) if call.tool not in OWN_TOOLS)
    return Case(
        folder=store.folder,
        run=run,
        task=library.task(run.task),
        calls=calls,
        library=library,
        agent=agent or (calls[0].client if calls else ""),
    )

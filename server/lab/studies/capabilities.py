"""What each model of a study can do, known before the first sample costs anything, and what follows for its cells.

What the plan says under `can` comes first, then what Inspect knows of the model, then what the provider's interface is
known to refuse. What nobody knows is not assumed: the plan is played as written, and the dry run says what is unknown.
A cell that cannot be played as written is changed as little as possible, and says so: a narrower tool profile, calls in
text, or a task without its picture, whose results are ranked apart.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from m3bench.server.lab.headless.plan import profile_of, select
from m3bench.server.lab.studies.cells import Cell, cells_of
from m3bench.server.lab.studies.plan_file import Abilities, StudyModel, StudyPlan
from m3bench.server.runs.budget import CHARACTERS
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.profiles import tools_of

TOOL_CAPS = {"openai": 128, "azureai": 128}
"""By provider: more tools than this are refused."""

CONVERSATION = 12_000
"""Tokens of a window that are kept for the question, the picture, results and replies."""

NARROWER = ("standard", "task")
"""What is tried in place of a profile that shows too much."""

TEXT = "text"


def abilities(model: StudyModel) -> Abilities:
    """What is known of a model."""
    found = model.can
    if found.context is None:
        found = found.model_copy(update={"context": _window(model.model)})
    if found.tool_cap is None:
        found = found.model_copy(update={"tool_cap": TOOL_CAPS.get(model.provider)})
    return found


def not_known(model: StudyModel) -> list[str]:
    """What nobody knows of a model and would be worth saying in the plan."""
    found = abilities(model)
    return [name for name in ("tools", "vision", "context") if getattr(found, name) is None]


def adapted(cells: Sequence[Cell]) -> list[Cell]:
    """The cells as they can be played; of two that become the same, the first stays.

    Raises:
        UserError: A set of tasks or a profile does not exist.
    """
    libraries: dict[str, Library] = {}
    found: dict[str, Cell] = {}
    for cell in cells:
        changed = cell if cell.model is None else _changed(cell, cell.model, libraries)
        if (first := found.get(changed.name)) is not None:
            note = f"stands for {cell.name} too, which would be played the same way"
            found[changed.name] = replace(first, notes=(*first.notes, note))
        else:
            found[changed.name] = changed
    return list(found.values())


def most_tools(plan: StudyPlan, model: StudyModel) -> int:
    """The most tools that a cell of a model would list."""
    libraries: dict[str, Library] = {}
    most = 0
    for cell in cells_of(plan):
        if cell.model == model and cell.choice.solver == "react":
            library = libraries.setdefault(str(cell.choice.tasks or ""), Library(cell.choice.tasks or BUNDLED))
            most = max(most, _shown(cell, cell.choice.profile, library)[0])
    return most


def _changed(cell: Cell, model: StudyModel, libraries: dict[str, Library]) -> Cell:
    can, notes = abilities(model), []
    assert cell.options is not None
    options = cell.options
    if can.tools is False and options.calling != TEXT:
        options = replace(options, calling=TEXT)
        notes.append("the model has no tool calls of its own: calls are written as text")
    if can.vision is False:
        options = replace(options, sight=TEXT)
        notes.append("the model sees no pictures: it is told so, and its results are ranked apart")
    if can.parallel_calls is False and options.calling != TEXT:
        notes.append("the model makes one call at a time, which costs step coherence")
    if can.structured_output is False and (options.solver != "react" or options.calling == TEXT):
        notes.append("the model is not held to JSON: what cannot be read is put right once or counts as a bad call")
    cell = replace(
        cell, options=options, choice=replace(cell.choice, options=options.recorded()), notes=tuple(notes)
    )  # fmt: skip
    return _narrowed(cell, can, libraries)


def _narrowed(cell: Cell, can: Abilities, libraries: dict[str, Library]) -> Cell:
    """With a narrower profile, when the one planned shows more than the model takes."""
    assert cell.options is not None
    # The executor shows the schemas of the few tools that were chosen; calls in text are no list of tools.
    counted = can.tool_cap if cell.options.solver == "react" and cell.options.calling != TEXT else None
    if counted is None and can.context is None:
        return cell
    key = str(cell.choice.tasks or "")
    if key not in libraries:
        libraries[key] = Library(cell.choice.tasks or BUNDLED)
    library = libraries[key]
    planned = cell.choice.profile
    why = ""
    for profile in (planned, *(one for one in NARROWER if one != planned)):
        tools, tokens = _shown(cell, profile, library)
        over = counted is not None and tools > counted
        full = can.context is not None and tokens + CONVERSATION > can.context
        if not over and not full:
            return cell if profile == planned else _renamed(cell, profile, why)
        why = why or (
            f"the profile {planned} shows {tools} tools, and the model takes {counted}"
            if over
            else f"the tools of the profile {planned} take about {tokens:,} tokens, and the window has {can.context:,}"
        )
    short = "even that is more than it takes, so its samples may be cut short"
    narrowest = _renamed(cell, NARROWER[-1], why) if planned != NARROWER[-1] else cell
    return replace(narrowest, notes=(*narrowest.notes, short if narrowest is not cell else f"{why}; {short}"))


def _shown(cell: Cell, profile: str, library: Library) -> tuple[int, int]:
    """The most tools that a task of the cell shows, with the one to submit with, and their tokens."""
    catalog = load_catalog().ready
    tasks = select(library, cell.choice.families, cell.choice.ids, None)
    lists = {one: tools_of(one, catalog, library) for one in dict.fromkeys(profile_of(profile, task) for task in tasks)}
    most = max(map(len, lists.values()), default=0) + 1
    sizes = {tool.qualified: len(json.dumps(tool.wire(), ensure_ascii=False)) for one in lists.values() for tool in one}
    largest = max((sum(sizes[tool.qualified] for tool in one) for one in lists.values()), default=0)
    return most, largest // CHARACTERS


def _renamed(cell: Cell, profile: str, why: str) -> Cell:
    who, solver, _, tasks = cell.name.split(".")
    name = ".".join((who, solver, profile, tasks))
    choice = replace(cell.choice, name=name, profile=profile, folder=cell.choice.folder.parent / name)
    return replace(cell, name=name, choice=choice, notes=(*cell.notes, f"{why}: played with the profile {profile}"))


def _window(model: str) -> int | None:
    """The tokens of a model's window, as Inspect knows it."""
    try:
        from inspect_ai.model import get_model_info
    except ImportError:
        return None
    known = get_model_info(model)
    return known.context_length if known is not None else None

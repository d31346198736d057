"""What must agree before numbers of result sets may stand side by side.

The program, set of tasks, catalog, world, encoder, rules for steps and scores; the tool profile, the list of tasks, the
solver, the limits, the scoring profile, whether pictures were seen, the weather, and whether tools were at hand or had
to be searched for. Repeats may differ, since they are averaged to tasks first. A baseline agent and a client have no
solver but themselves, so any solver may stand beside them; so may a client of which it is not known how it comes by
the tools.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from m3bench.server.lab.results.resultset import ResultSet
from m3bench.tasks.errors import UserError

VERSIONS = ("m3bench", "tasks", "catalog", "world", "encoder", "content_only", "steps", "scores", "upstream")
"""Fields of a run's manifest that must agree."""

LIMITS = (
    "max_steps", "batch", "max_minutes", "max_messages", "max_tokens", "calling", "planning", "compress",
)  # fmt: skip
"""Options of a set that must agree between models; `max_calls` must agree between all that have it."""

MIN_COMMON = 30
"""Tasks that sets must share to be compared over these alone."""

_ANY = "\0any"
"""Agrees with everything."""


def conditions(results: ResultSet) -> list[dict[str, object]]:
    """The conditions of a set, one for each that its runs had; more than one means that they do not belong together."""
    header, driven = results.header, results.header.kind == "model"
    scored = sorted({result.card.scoring_profile for result in results.results})
    fixed = {
        "solver": header.solver if driven else _ANY,
        "scoring profile": ", ".join(scored),
        **{
            name.replace("_", " "): header.options.get(name) if driven else _ANY
            for name in LIMITS
            if name != "max_calls"
        },
        "sight": _sight(results),
        "loading of tools": _loading(results),
        "max calls": header.options.get("max_calls", _ANY),
        "task list": _task_list(results),
    }
    found: dict[str, dict[str, object]] = {}
    for manifest in results.manifests:
        versions = {name: manifest.get(name) for name in VERSIONS}
        weather = {"weather": manifest["weather"]} if "weather" in manifest else {}
        condition = {**versions, "profile": _profile(results, manifest), **fixed, **weather}
        found.setdefault(json.dumps(condition, sort_keys=True, default=str), condition)
    return list(found.values())


def keys(results: ResultSet) -> tuple[str, ...]:
    """Short names for the conditions of a set."""
    texts = (json.dumps(condition, sort_keys=True, default=str) for condition in conditions(results))
    return tuple(sorted(sha256(text.encode()).hexdigest()[:12] for text in texts))


def tasks_of(results: ResultSet) -> tuple[str, ...]:
    """The tasks that a set is about: those that were to be played, or for a client's record those that were."""
    return results.header.tasks


def differences(sets: Sequence[ResultSet], names: Sequence[str] | None = None) -> list[str]:
    """What sets disagree on, in words; empty when they compare."""
    called = names or [results.header.name for results in sets]
    known = [(name, found) for name, results in zip(called, sets, strict=True) for found in conditions(results)]
    words = []
    for field in dict.fromkeys(field for _, condition in known for field in condition):
        seen: dict[str, list[str]] = {}
        for name, condition in known:
            value = condition.get(field, "fair" if field == "weather" else None)
            if value != _ANY:
                seen.setdefault(json.dumps(value, sort_keys=True, default=str), []).append(name)
        if len(seen) > 1:
            told = (f"{_brief(value)} ({', '.join(dict.fromkeys(owners))})" for value, owners in seen.items())
            words.append(f"{field} is {' and '.join(told)}")
    return words


def refuse_unlike(sets: Sequence[ResultSet], names: Sequence[str] | None, otherwise: str) -> None:
    """Refuse sets that do not compare.

    Raises:
        UserError: They do not; says in what, and `otherwise` what can be done.
    """
    if unlike := differences(sets, names):
        only_tasks = len(unlike) == 1 and unlike[0].startswith("task list")
        remedy = f" --common compares them over the tasks that all of them have, if these are {MIN_COMMON} or more."
        raise UserError(
            f"These result sets were not made under the same conditions: {'; '.join(unlike)}. "
            f"Compare like with like{otherwise}.{remedy if only_tasks else ''}"
        )


def over_common_tasks(sets: Sequence[ResultSet], least: int = MIN_COMMON) -> list[ResultSet]:
    """The sets cut down to the tasks that all of them have, voids included.

    Raises:
        UserError: They share too few.
    """
    shared = [task for task in tasks_of(sets[0]) if all(task in tasks_of(other) for other in sets[1:])] if sets else []
    if len(shared) < least:
        raise UserError(
            f"These result sets have {len(shared)} tasks in common; at least {least} are needed to compare over them."
        )
    kept = frozenset(shared)
    return [
        replace(
            results,
            header=results.header.model_copy(update={"tasks": tuple(shared)}),
            results=tuple(result for result in results.results if result.sample.task in kept),
            void=tuple(sample for sample in results.void if sample.task in kept),
        )
        for results in sets
    ]


def distinct_names(sets: Sequence[ResultSet]) -> list[str]:
    """A name for each set: its own, with its folder where two have the same.

    Raises:
        UserError: One folder was given twice.
    """
    folders = [results.folder.resolve() for results in sets]
    twice = next((results for results, at in zip(sets, folders, strict=True) if folders.count(at) > 1), None)
    if twice is not None:
        raise UserError(f"The result set {twice.folder} was given twice.")
    names = [results.header.name for results in sets]
    return [
        f"{name} ({results.folder})" if names.count(name) > 1 else name
        for name, results in zip(names, sets, strict=True)
    ]


def profile_of(results: ResultSet) -> str:
    """The tool profile without the task or family that it was for."""
    return results.header.profile.partition(":")[0]


def _profile(results: ResultSet, manifest: Mapping[str, object]) -> str:
    """The tool profile of some runs; `standard:ID` of each task's own is `standard`, if that was chosen."""
    profile = str(manifest.get("profile"))
    kind = profile.partition(":")[0]
    return kind if results.header.profile == kind else profile


def _loading(results: ResultSet) -> str:
    """How tools reach the model: those of `run` are all loaded, unless the profile itself is about searching."""
    if results.header.kind != "client":
        return "at once" if results.header.kind == "model" else _ANY
    found = {result.card.client.tools for result in results.results if result.card.client is not None}
    known = sorted({"loaded": "at once"}.get(loading, loading) for loading in found - {"not known"})
    return ", ".join(known) or _ANY


def _sight(results: ResultSet) -> str:
    """Whether the model saw the pictures: it handed in the marks of most of them."""
    if results.header.kind == "baseline":
        return _ANY
    if told := results.header.options.get("sight"):
        return str(told)
    found = [result.card.sight == "seen" for result in results.results if result.card.sight is not None]
    return _ANY if not found else "seen" if 2 * sum(found) > len(found) else "not seen"


def _task_list(results: ResultSet) -> str:
    tasks = sorted(tasks_of(results))
    return f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}, {_digest(tasks)}"


def _digest(names: Iterable[str]) -> str:
    return sha256("\n".join(names).encode()).hexdigest()[:8]


def _brief(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:24]}…{value[-9:]}"

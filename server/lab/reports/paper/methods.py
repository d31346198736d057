"""The methods paragraph: what was measured, with what, how often and how it was analysed, with versions and hashes.

Everything in it is read from the result sets; an author copies it and cuts what the venue does not want.
"""

from collections.abc import Mapping, Sequence

from m3bench.server.lab.results.comparability import profile_of
from m3bench.server.lab.results.resultset import ResultSet, task_set_of

_SHORT = 12
"""Digits of a hash in running text."""


def methods(sets: Sequence[ResultSet], families: int) -> str:
    """The paragraph for sets that were made under the same conditions, in Markdown without markup.

    Args:
        sets: The sets.
        families: How many families their tasks belong to.
    """
    manifest = sets[0].manifests[0]
    parts = [
        _what(sets, manifest, families),
        _who(sets),
        _limits(sets),
        _counts(sets),
        _numbers(sets),
        "Repeats are averaged per task. Intervals are 95 % posterior intervals of a logistic-normal model with "
        "families as clusters. Sets are compared task by task with an exact permutation test over families. A rank is "
        "the range of places that the data allow at 95 %, each set by itself, after Mogstad, Romano, Shaikh "
        "and Wilhelm.",
    ]
    return " ".join(part for part in parts if part)


def hashes(sets: Sequence[ResultSet]) -> dict[str, str]:
    """What the numbers rest on, in full: versions and hashes by name."""
    manifest = sets[0].manifests[0]
    tasks = task_set_of(manifest)
    found = {
        "m3bench": manifest.get("m3bench"),
        "set of tasks": f"{tasks.get('name')} version {tasks.get('version')}, {tasks.get('hash')}",
        "catalog of tools": manifest.get("catalog"),
        "world": manifest.get("world"),
        "encoder": manifest.get("encoder"),
        "rules for steps": manifest.get("steps"),
        "rules for scores": manifest.get("scores"),
    }
    return {name: str(value) for name, value in found.items() if value is not None}


def _what(sets: Sequence[ResultSet], manifest: Mapping[str, object], families: int) -> str:
    tasks = task_set_of(manifest)
    count = len(sets[0].header.tasks)
    return (
        f"We used m3bench {manifest.get('m3bench')} with {_many(count, 'task')} in "
        f"{_many(families, 'family', 'families')} of the set {tasks.get('name')} version {tasks.get('version')} "
        f"(SHA-256 {_short(tasks.get('hash'))}), the catalog of tools {_short(manifest.get('catalog'))} and the frozen "
        f"world {_short(manifest.get('world'))}; agents saw the tools of the profile {profile_of(sets[0])}."
    )


def _who(sets: Sequence[ResultSet]) -> str:
    told = []
    for kind, words in (("model", "the models"), ("baseline", "the scripted baselines"), ("client", "the clients"),
                        ("people", "")):  # fmt: skip
        names = list(dict.fromkeys(results.header.agent for results in sets if results.header.kind == kind))
        if names:
            told.append(f"{words if len(names) > 1 else words.removesuffix('s')} {_list(names)}".strip())
    solvers = sorted({results.header.solver for results in sets if results.header.solver})
    driven = f" Models were driven by the solver {_list(solvers)}." if solvers else ""
    repeats = sorted({results.header.repeats for results in sets})
    often = f"{_many(repeats[0], 'time')}" if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]} times"
    return f"We measured {_list(told)}, each task {often}.{driven}"


def _limits(sets: Sequence[ResultSet]) -> str:
    words = {"max_calls": "calls", "max_steps": "steps", "max_minutes": "minutes", "max_messages": "messages",
             "max_tokens": "tokens"}  # fmt: skip
    options = [results.header.options for results in sets]
    found = {
        name: {value for option in options if isinstance(value := option.get(name), int | float)} for name in words
    }
    told = [f"{values.pop()} {words[name]}" for name, values in found.items() if len(values) == 1]
    return f"A sample was limited to {_list(told)}." if told else ""


def _counts(sets: Sequence[ResultSet]) -> str:
    scored = sum(len(results.results) for results in sets)
    void = sum(len(results.void) for results in sets)
    missing = sum(len(results.missing) for results in sets)
    days = sorted(result.run.started[:10] for results in sets for result in results.results)
    when = f" on {days[0]}" if days[0] == days[-1] else f" between {days[0]} and {days[-1]}"
    lost = [
        f"{_many(void, 'sample is', 'samples are')} void through faults that were not the agent's and left out"
    ] if void else []  # fmt: skip
    lost += [f"{_many(missing, 'sample is', 'samples are')} missing"] if missing else []
    return f"{_many(scored, 'sample')} were scored{when}{'; ' if lost else ''}{_list(lost)}."


def _numbers(sets: Sequence[ResultSet]) -> str:
    profiles = sorted({result.card.scoring_profile for results in sets for result in results.results})
    scored = "by effect" if profiles == ["effect"] else "by the metric of M3-Bench" if profiles == ["m3"] else "mixed"
    return (
        "A task counts as solved when every field of the answer is right and every check of files and log passes. "
        f"The average is the mean of six metrics of the calls against a reference, {scored}."
    )


def _short(value: object) -> str:
    return str(value)[:_SHORT]


def _many(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def _list(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""

"""The tables of a group of result sets, from its leaderboard and the analyses of its sets.

Nothing is computed here: every number is one of `numbers.json`, whose leaderboard is what `m3bench leaderboard --json`
prints for the same sets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from m3bench.server.lab.reports.paper.analyses import SetAnalysis
from m3bench.server.lab.reports.paper.plots import Taken, per_sample
from m3bench.server.lab.reports.paper.tables import Column, Form, PaperTable, Value
from m3bench.server.lab.reports.slices import CUTS
from m3bench.server.lab.reports.standings import BoardEntry, Leaderboard, PairLine
from m3bench.server.lab.results.analyses.failures import CLASSES
from m3bench.server.lab.results.analyses.taxonomy import GROUPS
from m3bench.server.scorecard.misperception import PERCEPTION_CLASSES
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.statistics.estimates import Estimate, Interval
from m3bench.tasks.levels import LEVELS
from m3bench.tasks.profiles import MCPVERSE

Analyses = Mapping[str, SetAnalysis]
"""Of each set, by its name."""


def tables(board: Leaderboard, analyses: Analyses) -> Iterator[PaperTable]:
    """The tables of a group."""
    entries = board.entries
    yield _results(entries)
    yield _metrics(entries)
    if board.pairs:
        yield _pairs(board.pairs)
    yield _families(entries)
    if any(entry.measures for entry in entries):
        yield _conduct(entries)
    yield from _sliced(entries, analyses)
    yield _mcpverse(entries, analyses)
    yield _failures(entries, analyses)
    yield _errors(entries, analyses)
    yield from _perception(entries, analyses)
    yield _efficiency(entries, analyses)
    if any(entry.repeats.most > 1 for entry in entries):
        yield _repeats(entries)
    yield _arguments(entries, analyses)
    yield _tools(entries, analyses)


def _results(entries: Sequence[BoardEntry]) -> PaperTable:
    columns = (
        Column(name="rank", heading="rank"), Column(name="set", heading="set"), Column(name="kind"),
        Column(name="agent"), Column(name="solver"), Column(name="profile"),
        Column(name="scored", heading="samples", form="count"), Column(name="void", heading="void", form="count"),
        Column(name="missing", form="count"),
        Column(name="solved", heading="solved", form="share"),
        Column(name="solved", heading="95 % interval", form="share", interval=True),
        Column(name="average", heading="average", form="score"),
        Column(name="average", heading="95 % interval", form="score", interval=True),
        Column(name="average_rank"), Column(name="m3_average", heading="M3 metric", form="score"),
        Column(name="input_tokens", form="count"), Column(name="output_tokens", form="count"),
        Column(name="cost", form="cost"), Column(name="seconds", form="amount"), Column(name="conditions"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for entry in entries:
        summary, counts, usage, by_average = entry.summary, entry.counts, entry.usage, entry.ranks.get("average")
        rows.append(
            (entry.place, entry.name, entry.kind, entry.agent, entry.solver, entry.profile, counts.scored, counts.void,
             counts.missing, summary.success, between(summary.success_interval), summary.metrics["average"],
             between(summary.intervals.get("average")), None if by_average is None else by_average.text, summary.paper,
             usage.input_tokens, usage.output_tokens, usage.cost, usage.seconds, " ".join(entry.manifest))
        )  # fmt: skip
    caption = (
        "Tasks solved and average, means over tasks with 95 % intervals; a rank is the range of places that "
        "the data allow at 95 %."
    )
    return PaperTable(name="results", caption=caption, columns=columns, rows=tuple(rows))


def _conduct(entries: Sequence[BoardEntry]) -> PaperTable:
    columns = (
        Column(name="set", heading="set"), Column(name="measure", heading="measure"), Column(name="means"),
        Column(name="tasks", heading="tasks", form="count"), Column(name="value", heading="value", form="share"),
        Column(name="value", heading="95 % interval", form="share", interval=True),
    )  # fmt: skip
    rows = tuple(
        (entry.name, measure.label, measure.means, measure.tasks, measure.value, between(measure.interval))
        for entry in entries
        for measure in entry.measures or ()
    )
    caption = "Conduct: shares of the tasks that each measure can be said of, with 95 % intervals."
    return PaperTable(name="conduct", caption=caption, columns=columns, rows=rows)


def _metrics(entries: Sequence[BoardEntry]) -> PaperTable:
    columns = (Column(name="set", heading="set"), *(
        Column(name=name, heading=name.replace("_", " ").replace("argument ", ""), form="score")
        for name in (*AVERAGED, "average")
    ))  # fmt: skip
    rows = ((entry.name, *(entry.summary.metrics.get(name) for name in (*AVERAGED, "average"))) for entry in entries)
    return PaperTable(name="metrics", caption="The six metrics and their average.", columns=columns, rows=tuple(rows))


def _pairs(pairs: Sequence[PairLine]) -> PaperTable:
    columns = (
        Column(name="number", heading="of"), Column(name="first", heading="first"),
        Column(name="second", heading="second"), Column(name="tasks", form="count"),
        Column(name="clusters", form="count"), Column(name="difference", heading="difference", form="change"),
        Column(name="difference", heading="95 % interval", form="change", interval=True),
        Column(name="p", heading="p", form="p"),
        Column(name="clear", heading="clear"), Column(name="better", form="count"),
        Column(name="worse", form="count"), Column(name="detectable", form="score"),
    )  # fmt: skip
    rows = (
        (pair.number, pair.first, pair.second, pair.tasks, pair.clusters, pair.difference, between(pair.interval),
         pair.p, pair.clear, pair.better, pair.worse, pair.detectable)
        for pair in pairs
    )  # fmt: skip
    caption = (
        "Every two sets, task by task: second minus first, with the permutation test. Ranks rest on the differences "
        "that are clear."
    )
    return PaperTable(name="pairs", caption=caption, columns=columns, rows=tuple(rows))


def _families(entries: Sequence[BoardEntry]) -> PaperTable:
    names = sorted({name for entry in entries for name in entry.families})
    rows = (
        (name, *(entry.families[name].success if name in entry.families else None for entry in entries))
        for name in names
    )
    return _across("families", "Share of tasks solved in each family.", ["family"], entries, "share", rows)


def _sliced(entries: Sequence[BoardEntry], analyses: Analyses) -> Iterator[PaperTable]:
    for cut, words in (*((name, name.replace("_", " ")) for name in CUTS), ("client", "client")):
        columns = (
            Column(name=cut, heading=words), Column(name="set", heading="set"),
            Column(name="tasks", heading="tasks", form="count"), Column(name="samples", form="count"),
            Column(name="solved", heading="solved", form="share"),
            Column(name="solved", heading="95 % interval", form="share", interval=True),
            Column(name="average", heading="average", form="score"),
            Column(name="average", heading="95 % interval", form="score", interval=True),
        )  # fmt: skip
        found = [
            (name, entry.name, part) for entry in entries for name, part in analyses[entry.name].slices[cut].items()
        ]
        order = {name: place for place, name in enumerate(dict.fromkeys(name for name, _, _ in found))}
        rows = tuple(
            (name, owner, part.tasks, part.runs, part.success, between(part.success_interval),
             part.metrics["average"], between(part.intervals.get("average")))
            for name, owner, part in sorted(found, key=lambda line: order[line[0]])
        )  # fmt: skip
        yield PaperTable(name=cut, caption=f"Tasks solved and average by {words}.", columns=columns, rows=rows)


def _mcpverse(entries: Sequence[BoardEntry], analyses: Analyses) -> PaperTable:
    columns = (
        Column(name="set", heading="set"), Column(name="mode", heading="mode"),
        *(Column(name=level, heading=level, form="share") for level in LEVELS),
        Column(name="sr", heading="SR", form="share"),
    )  # fmt: skip
    modes = {profile: mode.removeprefix("mcpverse-") for mode, profile in MCPVERSE.items()}
    rows = (
        (entry.name, modes.get(entry.profile, ""),
         *(levels[name].success if name in levels else None for name in LEVELS), analyses[entry.name].success_rate)
        for entry in entries
        for levels in [analyses[entry.name].slices["level"]]
    )  # fmt: skip
    caption = "As MCPVerse counts: the share of tasks solved at each level, and SR, the mean of the levels."
    return PaperTable(name="mcpverse", caption=caption, columns=columns, rows=tuple(rows))


def scale(entries: Sequence[tuple[int, BoardEntry]]) -> PaperTable | None:
    """What is solved with so many tools, over all groups; None where all have equally many."""
    if len({tools for tools, _ in entries}) < 2:
        return None
    columns = (
        Column(name="agent", heading="agent"), Column(name="solver", heading="solver"),
        Column(name="tools", heading="tools", form="count"), Column(name="profile", heading="profile"),
        Column(name="solved", heading="solved", form="share"),
        Column(name="solved", heading="95 % interval", form="share", interval=True),
    )  # fmt: skip
    rows: dict[tuple[str, str, int, str], tuple[Value, ...]] = {}
    for tools, entry in sorted(entries, key=lambda pair: (pair[1].agent, pair[1].solver or "", pair[0])):
        key = (entry.agent, entry.solver or "", tools, entry.profile)
        solved = entry.summary
        rows[key] = (*key, solved.success, between(solved.success_interval))
    caption = "Tasks solved against the number of tools that were shown, each with a task's own among them."
    return PaperTable(name="scale", caption=caption, columns=columns, rows=tuple(rows.values()))


def _failures(entries: Sequence[BoardEntry], analyses: Analyses) -> PaperTable:
    counts = [analyses[entry.name].failures for entry in entries]
    rows = (
        (name, charged or "", *(count.get(name, 0) for count in counts))
        for name, (charged, _) in CLASSES.items()
        if any(name in count for count in counts)
    )
    caption = "What became of every sample: one class each, and whom it is charged to."
    return _across("failures", caption, ["class", "charged to"], entries, "count", rows)


def _errors(entries: Sequence[BoardEntry], analyses: Analyses) -> PaperTable:
    found = [{line.error: line.runs for line in analyses[entry.name].errors} for entry in entries]
    rows: list[tuple[Value, ...]] = [
        (group, name, *(runs.get(name, 0) for runs in found))
        for group, names in GROUPS.items()
        for name in names
        if any(name in runs for runs in found)
    ]
    caption = "Failed samples with each error, in the groups of TOBench; a sample may have several."
    return _across("errors", caption, ["group", "error"], entries, "count", rows)


def _perception(entries: Sequence[BoardEntry], analyses: Analyses) -> Iterator[PaperTable]:
    """What was got wrong about pictures, and how well each skill was done, where runs tell."""
    facts = [analyses[entry.name].perception for entry in entries]
    if not any(facts):
        return
    wrong: list[tuple[Value, ...]] = [
        (name, *(found.classes.get(name, 0) if found else 0 for found in facts))
        for name in PERCEPTION_CLASSES
        if any(found and name in found.classes for found in facts)
    ]
    caption = "Failed samples by what was got wrong about the picture, where the record tells."
    yield _across("perception", caption, ["class"], entries, "count", wrong)
    skills = sorted({skill for found in facts if found for skill in found.skills})
    rates: list[tuple[Value, ...]] = [
        (skill, *(found.skills[skill].rate if found and skill in found.skills else None for found in facts))
        for skill in skills
    ]
    caption = "Share of samples in which a skill of the eyes was done right, among those that tell."
    yield _across("skills", caption, ["skill"], entries, "share", rates)


def _efficiency(entries: Sequence[BoardEntry], analyses: Analyses) -> PaperTable:
    taken: tuple[Taken, ...] = ("calls", "tokens", "cost", "seconds")
    columns = (
        Column(name="set", heading="set"), Column(name="solved_samples", heading="solved samples", form="count"),
        *(Column(name=f"{name}_per_solved", heading=f"{'USD' if name == 'cost' else name} per solved",
                 form="cost" if name == "cost" else "amount") for name in taken),
        *(Column(name=f"{name}_per_sample", form="amount") for name in taken),
    )  # fmt: skip
    rows = (
        (entry.name, found.solved, found.calls_per_solved, found.tokens_per_solved, found.cost_per_solved,
         found.seconds_per_solved, *(per_sample(entry, name) for name in taken))
        for entry in entries
        for found in [analyses[entry.name].efficiency]
    )  # fmt: skip
    caption = "What all scored samples took, for each one that was solved."
    return PaperTable(name="efficiency", caption=caption, columns=columns, rows=tuple(rows))


def _repeats(entries: Sequence[BoardEntry]) -> PaperTable:
    columns = (
        Column(name="set", heading="set"), Column(name="k", heading="k", form="count"),
        Column(name="pass_at", heading="pass@k", form="share"),
        Column(name="pass_at", heading="95 % interval", form="share", interval=True),
        Column(name="pass_hat", heading="pass^k", form="share"),
        Column(name="pass_hat", heading="95 % interval", form="share", interval=True),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for entry in entries:
        for k, at in entry.repeats.pass_at.items():
            hat = entry.repeats.pass_hat[k]
            rows.append((entry.name, k, *_estimated(at), *_estimated(hat)))
    caption = "The chance that at least one of k attempts solves a task, and that all of them do."
    return PaperTable(name="repeats", caption=caption, columns=columns, rows=tuple(rows))


def _arguments(entries: Sequence[BoardEntry], analyses: Analyses) -> PaperTable:
    columns = (
        Column(name="set", heading="set"), Column(name="error", heading="error"),
        Column(name="kind", heading="kind of argument"), Column(name="count", heading="times", form="count"),
    )  # fmt: skip
    rows = (
        (entry.name, error.error, error.kind, error.count)
        for entry in entries
        for error in analyses[entry.name].arguments
    )
    caption = "What was wrong with calls and their arguments."
    return PaperTable(name="arguments", caption=caption, columns=columns, rows=tuple(rows))


def _tools(entries: Sequence[BoardEntry], analyses: Analyses) -> PaperTable:
    """Without headings: a table of some hundred lines is data, not something to print."""
    columns = tuple(Column(name=name) for name in ("set", "wanted", "called", "answered", "count"))
    rows = (
        (entry.name, pair.wanted, pair.called, pair.answered, pair.count)
        for entry in entries
        for pair in analyses[entry.name].tools
    )
    return PaperTable(name="tools", caption="Tools wanted and tools called.", columns=columns, rows=tuple(rows))


def _across(
    name: str,
    caption: str,
    first: Sequence[str],
    entries: Sequence[BoardEntry],
    form: Form,
    rows: Iterable[tuple[Value, ...]],
) -> PaperTable:
    """A table with a column for every set."""
    columns = (
        *(Column(name=heading.replace(" ", "_"), heading=heading) for heading in first),
        *(Column(name=entry.name, heading=entry.name, form=form) for entry in entries),
    )
    return PaperTable(name=name, caption=caption, columns=columns, rows=tuple(rows), narrow=True)


def _estimated(estimate: Estimate | None) -> tuple[Value, Value]:
    return (None, None) if estimate is None else (estimate.value, between(estimate.interval))


def between(interval: Interval | None) -> tuple[float, float] | None:
    """An interval as a cell holds it."""
    return None if interval is None else (interval.low, interval.high)

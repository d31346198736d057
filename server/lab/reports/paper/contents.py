"""The tables of a group of result sets, from the document of its leaderboard and the analyses of its sets.

Nothing is computed here: every number is one of `numbers.json`, whose leaderboard is what `m3bench leaderboard --json`
prints for the same sets.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from m3bench.server.lab.reports.paper.plots import per_sample
from m3bench.server.lab.reports.paper.tables import Column, Table, Value
from m3bench.server.lab.reports.slices import CUTS
from m3bench.server.lab.results.analyses.failures import CLASSES
from m3bench.server.scoring.profiles import AVERAGED

Document = Mapping[str, Any]


def tables(board: Document, analyses: Mapping[str, Document]) -> Iterator[Table]:
    """The tables of a group.

    Args:
        board: The leaderboard's document.
        analyses: Of each set, by its name.
    """
    entries = board["entries"]
    yield _results(entries)
    yield _metrics(entries)
    if board["pairs"]:
        yield _pairs(board["pairs"])
    yield _families(entries)
    yield from _sliced(entries, analyses)
    yield _failures(entries, analyses)
    yield _efficiency(entries, analyses)
    if any(entry["repeats"]["most"] > 1 for entry in entries):
        yield _repeats(entries)
    yield _arguments(entries, analyses)
    yield _tools(entries, analyses)


def _results(entries: Sequence[Document]) -> Table:
    columns = (
        Column(name="rank", heading="rank", form="count"), Column(name="set", heading="set"), Column(name="kind"),
        Column(name="agent"), Column(name="solver"), Column(name="profile"),
        Column(name="scored", heading="samples", form="count"), Column(name="void", heading="void", form="count"),
        Column(name="missing", form="count"),
        Column(name="solved", heading="solved", form="share"),
        Column(name="solved", heading="95 % interval", form="share", interval=True),
        Column(name="average", heading="average", form="score"),
        Column(name="average", heading="95 % interval", form="score", interval=True),
        Column(name="average_rank", form="count"), Column(name="m3_average", heading="M3 metric", form="score"),
        Column(name="input_tokens", form="count"), Column(name="output_tokens", form="count"),
        Column(name="cost", form="cost"), Column(name="seconds", form="amount"), Column(name="conditions"),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for entry in entries:
        summary, counts, usage = entry["summary"], entry["counts"], entry["usage"]
        rows.append(
            (entry["rank"], entry["name"], entry["kind"], entry["agent"], entry["solver"], entry["profile"],
             counts["scored"], counts["void"], counts["missing"], summary["success"],
             between(summary["success_interval"]), summary["metrics"]["average"],
             between(summary["intervals"].get("average")), entry["ranks"].get("average", {}).get("rank"),
             summary["paper"], usage["input_tokens"], usage["output_tokens"], usage["cost"], usage["seconds"],
             " ".join(entry["manifest"]))
        )  # fmt: skip
    caption = (
        "Tasks solved and average, means over tasks with 95 % intervals; sets that share a rank cannot be told apart."
    )
    return Table(name="results", caption=caption, columns=columns, rows=tuple(rows))


def _metrics(entries: Sequence[Document]) -> Table:
    columns = (Column(name="set", heading="set"), *(
        Column(name=name, heading=name.replace("_", " ").replace("argument ", ""), form="score")
        for name in (*AVERAGED, "average")
    ))  # fmt: skip
    rows = (
        (entry["name"], *(entry["summary"]["metrics"].get(name) for name in (*AVERAGED, "average")))
        for entry in entries
    )
    return Table(name="metrics", caption="The six metrics and their average.", columns=columns, rows=tuple(rows))


def _pairs(pairs: Sequence[Document]) -> Table:
    columns = (
        Column(name="number", heading="of"), Column(name="first", heading="first"),
        Column(name="second", heading="second"), Column(name="tasks", form="count"),
        Column(name="clusters", form="count"), Column(name="difference", heading="difference", form="change"),
        Column(name="difference", heading="95 % interval", form="change", interval=True),
        Column(name="p", heading="p", form="p"), Column(name="p_holm", heading="p (Holm)", form="p"),
        Column(name="clear", heading="clear"), Column(name="better", form="count"),
        Column(name="worse", form="count"), Column(name="detectable", form="score"),
    )  # fmt: skip
    rows = (
        (one["number"], one["first"], one["second"], one["tasks"], one["clusters"], one["difference"],
         between(one["interval"]), one["p"], one["p_holm"], one["clear"], one["better"], one["worse"],
         one["detectable"])
        for one in pairs
    )  # fmt: skip
    caption = "Every two sets, task by task: second minus first, with the permutation test and Holm's adjustment."
    return Table(name="pairs", caption=caption, columns=columns, rows=tuple(rows))


def _families(entries: Sequence[Document]) -> Table:
    names = sorted({name for entry in entries for name in entry["families"]})
    rows = (
        (name, *(entry["families"][name]["success"] if name in entry["families"] else None for entry in entries))
        for name in names
    )
    return _across("families", "Share of tasks solved in each family.", ["family"], entries, "share", rows)


def _sliced(entries: Sequence[Document], analyses: Mapping[str, Document]) -> Iterator[Table]:
    for cut, words in (*((name, name.replace("_", " ")) for name in CUTS), ("client", "client")):
        columns = (
            Column(name=cut, heading=words), Column(name="set", heading="set"),
            Column(name="tasks", heading="tasks", form="count"), Column(name="samples", form="count"),
            Column(name="solved", heading="solved", form="share"),
            Column(name="solved", heading="95 % interval", form="share", interval=True),
            Column(name="average", heading="average", form="score"),
            Column(name="average", heading="95 % interval", form="score", interval=True),
        )  # fmt: skip
        found = [(name, entry["name"], part) for entry in entries
                 for name, part in analyses[entry["name"]][cut].items()]  # fmt: skip
        order = list(dict.fromkeys(name for name, _, _ in found))
        found.sort(key=lambda one: order.index(one[0]))
        rows = (
            (name, owner, part["tasks"], part["runs"], part["success"], between(part["success_interval"]),
             part["metrics"]["average"], between(part["intervals"].get("average")))
            for name, owner, part in found
        )  # fmt: skip
        yield Table(name=cut, caption=f"Tasks solved and average by {words}.", columns=columns, rows=tuple(rows))


def _failures(entries: Sequence[Document], analyses: Mapping[str, Document]) -> Table:
    counts = [analyses[entry["name"]]["failures"] for entry in entries]
    rows = (
        (name, charged or "", *(one.get(name, 0) for one in counts))
        for name, (charged, _) in CLASSES.items()
        if any(name in one for one in counts)
    )
    caption = "What became of every sample: one class each, and whom it is charged to."
    return _across("failures", caption, ["class", "charged to"], entries, "count", rows)


def _efficiency(entries: Sequence[Document], analyses: Mapping[str, Document]) -> Table:
    taken = ("calls", "tokens", "cost", "seconds")
    columns = (
        Column(name="set", heading="set"), Column(name="solved_samples", heading="solved samples", form="count"),
        *(Column(name=f"{name}_per_solved", heading=f"{'USD' if name == 'cost' else name} per solved",
                 form="cost" if name == "cost" else "amount") for name in taken),
        *(Column(name=f"{name}_per_sample", form="amount") for name in taken),
    )  # fmt: skip
    rows = (
        (entry["name"], found["solved"], *(found[f"{name}_per_solved"] for name in taken),
         *(per_sample(entry, name) for name in taken))
        for entry in entries
        for found in [analyses[entry["name"]]["efficiency"]]
    )  # fmt: skip
    caption = "What all scored samples took, for each one that was solved."
    return Table(name="efficiency", caption=caption, columns=columns, rows=tuple(rows))


def _repeats(entries: Sequence[Document]) -> Table:
    columns = (
        Column(name="set", heading="set"), Column(name="k", heading="k", form="count"),
        Column(name="pass_at", heading="pass@k", form="share"),
        Column(name="pass_at", heading="95 % interval", form="share", interval=True),
        Column(name="pass_hat", heading="pass^k", form="share"),
        Column(name="pass_hat", heading="95 % interval", form="share", interval=True),
    )  # fmt: skip
    rows: list[tuple[Value, ...]] = []
    for entry in entries:
        found = entry["repeats"]
        for k, at in found["pass_at"].items():
            hat = found["pass_hat"][k]
            rows.append(
                (entry["name"], int(k), at and at["value"], between(at and at["interval"]), hat and hat["value"],
                 between(hat and hat["interval"]))
            )  # fmt: skip
    caption = "The chance that at least one of k attempts solves a task, and that all of them do."
    return Table(name="repeats", caption=caption, columns=columns, rows=tuple(rows))


def _arguments(entries: Sequence[Document], analyses: Mapping[str, Document]) -> Table:
    columns = (
        Column(name="set", heading="set"), Column(name="error", heading="error"),
        Column(name="kind", heading="kind of argument"), Column(name="count", heading="times", form="count"),
    )  # fmt: skip
    rows = (
        (entry["name"], one["error"], one["kind"], one["count"])
        for entry in entries
        for one in analyses[entry["name"]]["arguments"]
    )
    caption = "What was wrong with calls and their arguments."
    return Table(name="arguments", caption=caption, columns=columns, rows=tuple(rows))


def _tools(entries: Sequence[Document], analyses: Mapping[str, Document]) -> Table:
    """Without headings: a table of some hundred lines is data, not something to print."""
    columns = tuple(Column(name=name) for name in ("set", "wanted", "called", "answered", "count"))
    rows = (
        (entry["name"], one["wanted"], one["called"], one["answered"], one["count"])
        for entry in entries
        for one in analyses[entry["name"]]["tools"]
    )
    return Table(name="tools", caption="Tools wanted and tools called.", columns=columns, rows=tuple(rows))


def _across(
    name: str, caption: str, first: Sequence[str], entries: Sequence[Document], form: Any, rows: Any
) -> Table:  # fmt: skip
    """A table with a column for every set."""
    columns = (
        *(Column(name=one.replace(" ", "_"), heading=one) for one in first),
        *(Column(name=entry["name"], heading=entry["name"], form=form) for entry in entries),
    )
    return Table(name=name, caption=caption, columns=columns, rows=tuple(rows), narrow=True)


def between(interval: Sequence[float] | None) -> tuple[float, float] | None:
    """An interval as a cell holds it."""
    return None if interval is None else (interval[0], interval[1])

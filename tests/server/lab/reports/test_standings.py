"""Leaderboards: ranks with ties, and no mixing of what does not compare."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from m3bench.server.lab.reports.site.files import site, write_site
from m3bench.server.lab.reports.standings import PUBLISHED, CommonTasks, RankShown, leaderboard_document
from m3bench.server.lab.results.resultset import ResultSet
from m3bench.server.scorecard.model import Client
from m3bench.server.scoring.statistics.estimates import Interval
from m3bench.tasks.errors import UserError
from tests.server.lab.reports.made_sets import MANIFEST, made_set


def _ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


def test_sets_are_ordered_and_those_that_cannot_be_told_apart_share_a_rank() -> None:
    document = leaderboard_document(
        [made_set("low", 60, skill=0.1), made_set("top", 60, skill=0.9), made_set("twin", 60, skill=0.9, seed=2)]
    )
    assert [entry.rank for entry in document.entries] == [1, 1, 3]
    assert document.entries[2].name == "low"
    for number in ("solved", "average"):
        clear = {frozenset((pair.first, pair.second)): pair.clear for pair in document.pairs if pair.number == number}
        assert clear == {
            frozenset(("low", "top")): True,
            frozenset(("low", "twin")): True,
            frozenset(("top", "twin")): False,
        }
    assert document.cautions == {}
    assert [entry.place for entry in document.entries] == ["1–2", "1–2", "3"]
    assert document.entries[2].ranks["average"] == RankShown(rank=3, interval=(3, 3))


def test_intervals_over_few_families_have_a_caution_even_where_nothing_is_compared() -> None:
    alone = leaderboard_document([made_set("alone", 5)])
    assert "does not cover families unlike these" in alone.cautions["solved"]
    two = leaderboard_document([made_set("one", 5), made_set("two", 5)])
    assert "There are no ranks" in two.cautions["average"]
    assert leaderboard_document([made_set("alone", 60)]).cautions == {}


def test_what_was_solved_comes_before_the_average() -> None:
    solver, caller = made_set("solver", 60, skill=0.6), made_set("caller", 60, skill=0.8)
    solving = {id(result): result.card.model_copy(update={"success": True}) for result in solver.results}
    failing = {id(result): result.card.model_copy(update={"success": False}) for result in caller.results}
    sets = [
        replace(one, results=tuple(replace(result, card=cards[id(result)]) for result in one.results))
        for one, cards in ((caller, failing), (solver, solving))
    ]
    entries = leaderboard_document(sets).entries
    assert [(entry.name, entry.rank) for entry in entries] == [("solver", 1), ("caller", 2)]
    assert entries[0].ranks["average"].rank == 2


def test_repeats_that_are_all_the_same_change_no_interval_and_no_rank() -> None:
    once = [made_set("one", 56, skill=0.4), made_set("other", 56, skill=0.6)]
    often = [
        replace(
            one,
            header=one.header.model_copy(update={"repeats": 6}),
            results=tuple(
                replace(result, sample=result.sample.model_copy(update={"repeat": repeat}))
                for result in one.results
                for repeat in range(1, 7)
            ),
        )
        for one in once
    ]
    before, after = leaderboard_document(once), leaderboard_document(often)
    for one, other in zip(before.entries, after.entries, strict=True):
        assert one.ranks == other.ranks
        assert _ends(one.summary.success_interval) == pytest.approx(_ends(other.summary.success_interval))
        average = _ends(one.summary.intervals["average"])
        assert average == pytest.approx(_ends(other.summary.intervals["average"]))


def played_by(name: str, tools: str) -> ResultSet:
    """A client's record."""
    made = made_set(name, 60)
    client = Client.model_validate({"name": f"{name} 1", "tools": tools})
    results = tuple(replace(result, card=result.card.model_copy(update={"client": client})) for result in made.results)
    return replace(made, header=made.header.model_copy(update={"kind": "client", "solver": ""}), results=results)


def test_clients_whose_models_search_for_tools_are_ranked_apart() -> None:
    searching, loading, unknown = (
        played_by(name, tools) for name, tools in (("s", "by search"), ("l", "loaded"), ("u", "not known"))
    )
    for other in (loading, made_set("model", 60)):
        with pytest.raises(UserError, match=r'loading of tools is "by search" .s. and "at once"'):
            leaderboard_document([searching, other])
        assert {entry.rank for entry in leaderboard_document([searching, other], mixed=True).entries} == {None}
    for alike in ([loading, made_set("model", 60)], [searching, unknown], [searching, played_by("t", "by search")]):
        assert None not in {entry.rank for entry in leaderboard_document(alike).entries}


def test_a_set_of_two_easy_tasks_does_not_rank_beside_a_whole_one() -> None:
    whole, small = made_set("whole", 60, skill=0.5), made_set("small", 2, skill=1.0)
    with pytest.raises(UserError, match=r"task list is .*60 tasks.*2 tasks.*--common"):
        leaderboard_document([whole, small])
    with pytest.raises(UserError, match="2 tasks in common; at least 30"):
        leaderboard_document([whole, small], common=True)
    assert {entry.rank for entry in leaderboard_document([whole, small], mixed=True).entries} == {None}


def test_sets_with_other_tasks_are_compared_over_those_that_both_have_and_it_is_said() -> None:
    whole, half = made_set("whole", 60), made_set("half", 40)
    document = leaderboard_document([whole, half], common=True)
    assert document.common == CommonTasks(tasks=40)
    assert [entry.counts.scored for entry in document.entries] == [40, 40]


@pytest.mark.parametrize(
    ("field", "value"),
    [("profile", "full"), ("solver", "executor"), ("options", {"max_calls": 10}), ("options", {"max_steps": 3})],
)
def test_another_profile_solver_or_limit_is_another_condition(field: str, value: object) -> None:
    one, other = made_set("one", 40), made_set("other", 40)
    one = replace(one, header=one.header.model_copy(update={"options": {"max_calls": 200}}))
    changed = {"options": {"max_calls": 200}, field: value}
    manifests = ({**MANIFEST, "profile": value},) if field == "profile" else other.manifests
    other = replace(other, header=other.header.model_copy(update=changed), manifests=manifests)
    with pytest.raises(UserError, match=r"profile|solver|max calls|max steps"):
        leaderboard_document([one, other])


def test_a_baseline_stands_beside_any_solver() -> None:
    base = made_set("oracle", 40)
    base = replace(base, header=base.header.model_copy(update={"kind": "baseline", "solver": ""}))
    assert leaderboard_document([made_set("one", 40), base]).mixed == ()


def test_a_record_with_several_profiles_is_no_set_to_rank() -> None:
    one = made_set("one", 40)
    both = replace(
        one,
        header=one.header.model_copy(update={"kind": "client", "profile": "full, mini"}),
        manifests=tuple({**MANIFEST, "profile": name} for name in ("full", "mini")),
    )
    with pytest.raises(UserError, match="profile is"):
        leaderboard_document([both])


@pytest.mark.parametrize("field", ["m3bench", "tasks", "catalog", "world", "encoder", "steps", "scores", "upstream"])
def test_sets_under_other_conditions_are_not_mixed_unless_asked_for_and_then_it_is_said(field: str) -> None:
    sets = [made_set("one", 10), made_set("other", 10, manifest={**MANIFEST, field: "another"})]
    with pytest.raises(UserError, match=field):
        leaderboard_document(sets)
    document = leaderboard_document(sets, mixed=True)
    assert [line.partition(" ")[0] for line in document.mixed] == [field]


def test_another_sandbox_or_task_profile_is_no_other_condition() -> None:
    other = made_set("other", 10, manifest={**MANIFEST, "sandbox": "docker", "profile": "standard:y", "tools": 41})
    assert leaderboard_document([made_set("one", 10), other]).mixed == ()


def test_two_sets_of_one_name_are_told_apart_by_their_folders() -> None:
    first, second = (replace(made_set("one", 5), folder=Path(f"runs/{name}")) for name in ("a", "b"))
    names = {entry.name for entry in leaderboard_document([first, second]).entries}
    assert names == {"one (runs/a)", "one (runs/b)"}


def test_one_set_twice_and_empty_sets_are_refused() -> None:
    with pytest.raises(UserError, match="given twice"):
        leaderboard_document([made_set("one", 5), made_set("one", 5)])
    with pytest.raises(UserError, match="no scored run"):
        leaderboard_document([made_set("one", 0)])


@pytest.mark.slow
def test_every_file_of_the_site_says_the_same_and_is_the_same_twice(tmp_path: Path) -> None:
    sets = [made_set("one", 20), made_set("=other", 20, skill=0.9)]
    document = write_site(tmp_path, sets)
    assert json.loads((tmp_path / "leaderboard.json").read_text("utf-8")) == json.loads(json.dumps(document.to_json()))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "leaderboard.csv").read_text("utf-8"))))
    assert [row["name"] for row in rows] == ["'=other", "one"]
    for row, entry in zip(rows, document.entries, strict=True):
        assert float(row["average"]) == entry.summary.metrics["average"]
    assert dict(site(sets, document)) == dict(site(sets, document))
    assert (tmp_path / "figures" / "averages.png").read_bytes().startswith(b"\x89PNG")


def test_published_figures_are_whole_and_carry_no_rank() -> None:
    assert len(PUBLISHED) == 14
    for row in PUBLISHED:
        assert len(row) == 10
        assert all(0 <= float(value) <= 1 for name, value in row.items() if name != "name")
    entries = leaderboard_document([made_set("one", 5)]).entries
    assert [entry.name for entry in entries] == ["one"]

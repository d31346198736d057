"""What is said at the end of a run: a table with what its intervals do not cover."""

from rich.console import Console

from m3bench.server.lab.headless.outcome import AgentOutcome, summarise, table
from tests.server.lab.reports.made_sets import made_set


def shown(*outcomes: AgentOutcome) -> str:
    screen = Console(width=120)
    with screen.capture() as printed:
        screen.print(table(outcomes))
    return " ".join(printed.get().split())


def test_few_families_are_said_once_and_enough_not_at_all() -> None:
    few, also_few, enough = (summarise(made_set(name, runs)) for name, runs in (("a", 5), ("b", 5), ("c", 56)))
    assert few.caution is not None
    assert few.to_json()["caution"] == few.caution
    assert shown(few, also_few).count("The tasks are of 5 families") == 1
    assert enough.caution is None
    assert "families" not in shown(enough)


def test_sets_with_other_families_are_named() -> None:
    few, enough = summarise(made_set("few", 5)), summarise(made_set("enough", 56))
    assert "few: The tasks are of 5 families" in shown(few, enough)


def test_a_single_task_has_no_interval_and_nothing_is_said_of_it() -> None:
    found = summarise(made_set("one", 1))
    assert (found.success_interval, found.caution) == (None, None)

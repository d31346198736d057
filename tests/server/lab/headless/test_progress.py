"""What a person sees while samples are made."""

import io
import re
from collections.abc import Callable

import pytest

from m3bench.server.lab.headless.progress import Progress, duration, progress
from m3bench.server.lab.results.resultset import Sample, SampleUsage
from m3bench.server.scorecard.model import ScoreCard
from tests.server.scorecard.cards import made_card


def card(average: float | None) -> ScoreCard:
    return made_card(metrics={"average": average})


def clock(*times: float) -> Callable[[], float]:
    left = iter(times)
    return lambda: next(left)


def test_a_line_says_how_far_how_fast_at_what_cost_and_what_was_last() -> None:
    lines: list[str] = []
    shown = Progress(10, lambda done, line: lines.append(line), clock(0, 4, 8, 12))
    shown.tell("oracle", Sample(task="a-1", repeat=1, state="scored"), card(1.0))
    shown.tell("openai/gpt-5", Sample(task="b-1", repeat=1, state="scored", usage=SampleUsage(cost=0.5)), card(None))
    shown.tell("oracle", Sample(task="c-1", repeat=1, state="void", usage=SampleUsage(cost=0.25)), None)
    assert lines == [
        "1/10 · 15.0/min · oracle a-1 1.000",
        "2/10 · 15.0/min · $0.50 · 24 s left · openai/gpt-5 b-1 unscored",
        "3/10 · 15.0/min · $0.75 · 22 s left · oracle c-1 void · 1 void",
    ]


@pytest.mark.parametrize("parallel", [1, 3, 8])
def test_the_time_that_is_left_is_about_right_whenever_it_is_told(parallel: int) -> None:
    seconds, total = 20.0, 40
    # Each place finishes a sample every twenty seconds, one after the other.
    ends = sorted(seconds * (turn + 1) + at for turn in range(total) for at in range(parallel))[:total]
    lines: list[str] = []
    shown = Progress(total, lambda done, line: lines.append(line), clock(0, *ends), parallel)
    for number in range(total):
        shown.tell("null", Sample(task=f"t-{number}", repeat=1, state="scored"), card(0.0))
    told = [(end, re.search(r"(\d+) (s|min) left", line)) for end, line in zip(ends, lines, strict=True)]
    assert [found is not None for _, found in told[:-1]].index(True) <= 2 * parallel
    for end, found in told:
        if found is not None and ends[-1] - end > 2 * seconds:
            left = float(found[1]) * (60 if found[2] == "min" else 1)
            assert 0.5 < left / (ends[-1] - end) < 1.5


def test_off_a_terminal_there_are_some_twenty_plain_lines() -> None:
    out = io.StringIO()
    with progress(400, out) as shown:
        for number in range(400):
            shown.tell("null", Sample(task=f"t-{number}", repeat=1, state="scored"), card(0.0))
    lines = out.getvalue().splitlines()
    assert len(lines) == 21
    assert lines[0].startswith("1/400")
    assert lines[-1].startswith("400/400")
    assert "\x1b" not in out.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_there_is_a_bar_that_takes_hostile_names_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    with progress(2, out) as shown:
        shown.tell("null", Sample(task="[bold]x[/nothing]", repeat=1, state="scored"), card(0.5))
    assert "[bold]x[/nothing]" in out.getvalue()
    assert "1/2" in out.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (99, "99 s"), (120, "2 min"), (5900, "98 min"), (7200, "2.0 h")]
)
def test_spans_are_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text

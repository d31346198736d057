"""Steps are certain where the record proves them; elsewhere a boundary is open, and the ranges hold the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.proxy.steps.hints import HINT, WAIT
from m3bench.proxy.steps.segmentation import ClientSending, Timed, segment, shown
from tests.proxy.clients import ALLOWED, BEHAVIOURS, MANNERS, MS, PAUSES_MS, as_models_write, simulate
from tests.proxy.measuring import RUNS, in_manner, measure, simulated
from tests.proxy.plays import plays

SLOW = pytest.mark.slow

PLAYED = ("together", "one by one, 1-300 ms", "read-only together, others one by one", "pool of 4")


AS_MODELS_PLAY = (
    "together",
    "one by one, 1-5 ms",
    "one by one, 1-300 ms",
    "read-only together, others one by one",
    "pool of 4",
    "hints, one by one",
    "probed, together",
    "probed, one by one",
    "probed, read-only together",
)
"""Behaviours whose turns can be told from the pauses between them."""


def call(
    received: float,
    sent: float,
    arguments: dict[str, Any] | None = None,
    text: str = "",
    meta: Mapping[str, Any] = MappingProxyType({}),
) -> Timed:
    return Timed(
        tool="world/find", arguments=arguments or {}, text=text, received_ns=round(received * MS),
        sent_ns=round(sent * MS), meta=dict(meta),
    )  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.parametrize("pause", [pause if pause == 0 else pytest.param(pause, marks=SLOW) for pause in PAUSES_MS])
@pytest.mark.parametrize("behaviour", PLAYED)
def test_perfect_play_of_every_family_is_in_the_range_however_it_is_sent(behaviour: str, pause: int) -> None:
    for play in plays():
        found = measure(play, simulate(behaviour, play.references[0], play.task, pause))
        assert found.true.average == 1.0
        assert not found.missed, play.task
        assert found.ranges.values["average"][1] == 1.0, play.task
        certain = not found.segmentation.readings.open
        assert certain == (not any(decision.open for decision in found.segmentation.decisions))
        if certain:
            assert found.card.average == 1.0, play.task


@pytest.mark.parametrize("behaviour", AS_MODELS_PLAY)
def test_perfect_play_is_read_as_such_where_a_model_takes_its_time(behaviour: str) -> None:
    for play in plays()[::3]:
        if len(play.references[0]) > 1:  # a single turn has no pause to be told by
            assert measure(play, simulate(behaviour, play.references[0], play.task)).card.average == 1.0, play.task


def test_both_certain_and_open_records_occur() -> None:
    found = [measure(play, simulate("together", play.references[0], 0, 20)) for play in plays()]
    assert 0 < sum(one.segmentation.readings.open == 0 for one in found) < len(found)


@pytest.mark.all_sample(6)
@SLOW
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_true_value_is_in_the_range_in_every_run(behaviour: str) -> None:
    """With all behaviours 2000 runs."""
    assert len(BEHAVIOURS) * RUNS == 2000
    for number, (play, log) in enumerate(simulated(behaviour)):
        found = measure(play, log)
        assert not found.missed, (number, play.task, found.ranges.values, found.true.metrics)


@pytest.mark.slow
def test_some_runs_of_every_behaviour_are_in_their_ranges() -> None:
    for behaviour in BEHAVIOURS:
        for play, log in simulated(behaviour, 3):
            assert not measure(play, log).missed, (behaviour, play.task)


NARROW = 0.05


@pytest.mark.sample(1)
@pytest.mark.parametrize("manner", MANNERS)
def test_the_range_of_a_client_that_nobody_knows_holds_the_truth_and_is_narrow(manner: str) -> None:
    """Fifty perfect and fifty flawed plays; the median is narrow unless another manner looks the same."""
    found = list(in_manner(manner, 100))
    held = ["average" not in one.missed for one in found]
    certain = [one.width < 1e-9 for one in found]
    assert sum(held) >= 98
    assert all(holds for holds, is_certain in zip(held, certain, strict=True) if is_certain)
    narrow = median(one.width for one in found) <= NARROW
    assert narrow != bool(MANNERS[manner].same_as), "what is listed as the same on the wire is wide, and nothing else"


def test_some_plays_of_every_manner_are_in_their_ranges() -> None:
    for manner in MANNERS:
        assert not any(found.missed for found in in_manner(manner, 2)), manner


MEASURED = {
    "together": ClientSending(read_only="together", others="together"),
    "in a row": ClientSending(read_only="in a row", others="in a row"),
    "reads together": ClientSending(read_only="together", others="in a row"),
}
"""What a trial found of clients whose users let everything run."""


@pytest.mark.sample(2)
@pytest.mark.parametrize("manner", ALLOWED)
@pytest.mark.parametrize("known", MEASURED)
@pytest.mark.parametrize("prior", [True, False], ids=["another version", "this version"])
def test_whatever_holds_calls_of_a_known_client_back_makes_no_value_wrong(
    known: str, manner: str, *, prior: bool
) -> None:
    for found in in_manner(manner, 30, replace(MEASURED[known], prior=prior)):
        assert "average" not in found.missed


AS_WRITTEN = ClientSending(read_only="together", others="in a row", prior=True, as_written=True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("apart", ["together", "one call a turn"])
def test_calls_that_leave_as_a_model_writes_them_are_read_by_the_turns_that_data_flow_proves(apart: str) -> None:
    """A second for each call and three for a turn: most perfect plays are read as they were, however they were sent."""
    exact = 0
    for play in plays():
        log = as_models_write(play.references[0], play.task, one_a_turn=apart != "together")
        found = measure(play, replace(log, sending=AS_WRITTEN), by_effect=True)
        assert "average" not in found.missed
        exact += found.error < 1e-9
        careful = measure(play, replace(log, sending=replace(AS_WRITTEN, as_written=False)), by_effect=True)
        assert careful.ranges == found.ranges, "what is certain stays so"
    assert exact > (0.5 if apart == "together" else 0.9) * len(plays())


def test_no_calls_make_no_steps() -> None:
    assert segment([]).steps == ()


def test_a_call_that_arrives_before_an_answer_leaves_is_in_the_same_step() -> None:
    found = segment([call(0, 900), call(500, 600), call(700, 800)])
    assert found.steps == ((0, 1, 2),)
    assert [decision.evidence for decision in found.decisions] == ["first", "overlap", "overlap"]
    assert found.readings.open == 0


@pytest.mark.parametrize("gap", [0.1, 20, 180, 5000])
def test_a_call_after_all_answers_begins_a_step_but_no_gap_makes_that_certain(gap: float) -> None:
    found = segment([call(0, 10), call(2, 8), call(10 + gap, 20 + gap)])
    assert found.steps == ((0, 1), (2,))
    assert [decision.open for decision in found.decisions] == [False, False, True]


def test_a_value_from_an_answer_begins_a_step_however_fast_it_comes() -> None:
    found = segment([call(0, 10, text="id ChIJ-77aQ"), call(12, 20, {"place": "ChIJ-77aQ"})])
    assert found.steps == ((0,), (1,))
    assert found.evidence == ("first", "dataflow")
    assert found.readings.open == 0


def test_a_value_from_further_back_needs_a_boundary_somewhere_between() -> None:
    found = segment([call(0, 10, text="id ChIJ-77aQ"), call(12, 20), call(22, 30, {"place": "ChIJ-77aQ"})])
    assert found.steps == ((0,), (1,), (2,))
    assert set(found.readings.every()) == {((0, 1, 2),), ((0, 1),), ((0, 2),)}


@pytest.mark.parametrize(
    "value",
    ["Zion National Park in the United States", "programs.fish.enable", "1995", "599", "covid-19", "python3.11"],
)
def test_what_a_model_knows_by_itself_is_no_dataflow(value: str) -> None:
    assert segment([call(0, 10, text=f"It says {value}."), call(12, 20, {"query": value})]).readings.open == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": 327, "y": 775},
        {"price": 1241.5},
        {"id": "9olnehd"},
        {"text": "They grew it by hand for years and nobody ate it."},
    ],
)
def test_what_nobody_guesses_is_dataflow(arguments: dict[str, object]) -> None:
    text = "Box 327, 775; 1241.5 BRL; post 9olnehd: They grew it by hand for years and nobody ate it."
    assert segment([call(0, 10, text=text), call(12, 20, arguments)]).evidence == ("first", "dataflow")


def test_a_value_the_question_gave_is_no_dataflow() -> None:
    calls = [call(0, 10, text="order 8812734"), call(12, 20, {"order": 8812734})]
    assert segment(calls, known="Where is order 8812734?").readings.open == 1
    assert segment(calls).readings.open == 0


def test_a_value_both_calls_were_given_is_no_dataflow() -> None:
    calls = [call(0, 10, {"path": "./report-77812.xlsx"}, text="made ./report-77812.xlsx"),
             call(12, 20, {"path": "./report-77812.xlsx"})]  # fmt: skip
    assert segment(calls).readings.open == 1


def test_a_rounded_number_comes_from_where_it_was_said_in_full() -> None:
    calls = [
        call(0, 10, text="at 37.19874"),
        call(12, 20, {"near": 1}, text="near 37.199"),
        call(22, 30, {"lat": 37.199}),
    ]
    assert segment(calls).readings.open == 2


def test_overlap_outweighs_dataflow_and_the_contradiction_is_said() -> None:
    found = segment([call(0, 900), call(1, 10, text="id ChIJ-77aQ"), call(12, 20, {"place": "ChIJ-77aQ"})])
    assert found.steps == ((0, 1, 2),)
    assert "own step" in found.decisions[2].contradiction


def test_a_hint_that_a_step_begins_closes_a_boundary_that_the_record_leaves_open() -> None:
    found = segment([call(0, 10, meta={HINT: 1}), call(12, 20, meta={HINT: 2})])
    assert (found.steps, found.evidence, found.readings.open) == (((0,), (1,)), ("first", "hint"), 0)
    turns = segment([call(0, 10, meta={"vscode.requestId": "a"}), call(11, 20, meta={"vscode.requestId": "b"})])
    assert turns.readings.open == 0


@pytest.mark.parametrize("said", [({HINT: 1}, {}), ({}, {WAIT: True})])
def test_a_hint_of_one_step_is_not_believed_after_all_answers_left(
    said: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    meta, arguments = said
    calls = [call(0, 10, meta=meta), call(412, 420, arguments, meta=meta)]
    found = segment(calls)
    assert found.steps == ((0,), (1,))
    assert found.decisions[1].open
    assert "all answers had left" in found.decisions[1].contradiction
    quick = segment([calls[0], replace(calls[1], received_ns=12 * MS, sent_ns=20 * MS)])
    assert (quick.steps, quick.decisions[1].open) == (((0, 1),), True), "read so, and not certain"
    assert not quick.decisions[1].contradiction


def test_a_hint_of_one_step_is_believed_of_a_client_that_is_known_to_send_calls_in_a_row() -> None:
    found = segment(
        [call(0, 10, meta={HINT: 1}), call(12, 20, meta={HINT: 1})], sending=ClientSending(others="in a row")
    )
    assert (found.steps, found.readings.open) == (((0, 1),), 0)


def test_a_hint_against_overlap_or_dataflow_is_not_believed() -> None:
    overlapping = segment([call(0, 50, meta={HINT: 1}), call(12, 20, meta={HINT: 2})])
    assert overlapping.steps == ((0, 1),)
    assert "still to come" in overlapping.decisions[1].contradiction
    calls = [call(0, 10, text="id ChIJ-77aQ", meta={HINT: 1}), call(12, 20, {"place": "ChIJ-77aQ"}, meta={HINT: 1})]
    feeding = segment(calls, sending=ClientSending(others="in a row"))
    assert feeding.steps == ((0,), (1,))
    assert "uses an earlier answer" in feeding.decisions[1].contradiction


def test_a_client_that_sends_calls_together_began_a_step_when_it_sent_one_alone() -> None:
    both = ClientSending(read_only="together", others="together", late=False)
    alone = segment([call(0, 10), call(2000, 2010)], sending=both)
    assert (alone.evidence, alone.readings.open) == (("first", "client"), 0)
    assert segment([call(0, 10), call(12, 20)], sending=both).readings.open == 1, "the answer may have been faster"
    two = [call(0, 1500), call(5, 1600)]
    after_two = segment([*two, call(1700, 1710)], sending=both)
    assert after_two.readings.open == 1, "two may be all that it sends at a time"
    assert segment([*two, call(2700, 2710)], sending=both).readings.open == 0, "but the next would not wait for long"
    half = ClientSending(read_only="together", late=False)
    assert segment([call(0, 10), call(2000, 2010)], sending=half).readings.open == 1
    asked = replace(both, late=True)
    assert segment([call(0, 10), call(2000, 2010)], sending=asked).readings.open == 1, "somebody may have allowed it"
    assert segment([call(0, 10), call(2, 10), call(2000, 2010)], sending=asked).readings.open == 0, "not of this tool"


def test_a_client_that_sends_calls_in_a_row_is_read_so_where_no_model_is_as_fast() -> None:
    found = segment([call(0, 10), call(15, 20), call(4000, 4010)], sending=ClientSending(others="in a row"))
    assert found.steps == ((0, 1), (2,))
    assert [decision.open for decision in found.decisions] == [False, True, False]


def test_a_call_in_the_background_proves_nothing() -> None:
    found = segment([call(0, 400_000), call(1000, 1100), call(130_000, 130_100)])
    assert found.steps == ((0, 1), (2,))
    assert found.decisions[2].open


def test_calls_of_two_conversations_are_never_in_one_step() -> None:
    calls = [
        call(0, 50, meta={"threadId": "a"}),
        call(1, 60, meta={"threadId": "b"}),
        call(2, 40, meta={"threadId": "a"}),
    ]
    assert segment(calls).steps == ((0, 2), (1,))


ROWS = st.tuples(
    st.integers(0, 500),
    st.integers(0, 300),
    st.sampled_from([None, "a", "b"]),
    st.sampled_from(["", "88121", "77343"]),
    st.booleans(),
)
SENDING = st.sampled_from(
    [ClientSending(), ClientSending(others="in a row"), ClientSending(read_only="together", others="in a row")]
)


@given(st.lists(ROWS, max_size=8), SENDING)
def test_every_reading_and_the_one_that_is_scored_respect_the_evidence(
    rows: Sequence[tuple[int, int, str | None, str, bool]], sending: ClientSending
) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    calls = [
        call(
            start, start + took, {"id": value} if uses else {}, "" if uses else value, meta={HINT: hint} if hint else {}
        )
        for start, took, hint, value, uses in rows
    ]
    found = segment(calls, sending=sending)
    readings = {found.readings.steps(begins) for begins in found.readings.every()}
    assert found.steps in readings
    assert len(readings) <= 2**found.readings.open
    for steps in readings:
        assert sorted(index for step in steps for index in step) == list(range(len(calls)))
        assert list(steps) == sorted(steps)
    for index, decision in enumerate(found.decisions):
        begins = {any(step[0] == index for step in steps) for steps in readings}
        assert begins == ({True, False} if decision.open else {decision.begins})


IN_A_ROW = ClientSending(read_only="in a row", others="in a row", prior=True)
TOGETHER = ClientSending(read_only="together", others="together", prior=True, late=False)


def test_what_is_known_of_another_version_holds_until_the_conversation_contradicts_it() -> None:
    alone = [call(0, 10), call(2000, 2010)]
    assert segment(alone, sending=TOGETHER).evidence == ("first", "client")
    waited = [*alone, call(3000, 3400), call(3402, 3500)]
    assert segment(waited, sending=TOGETHER).readings.open == 3, "it waited for an answer that took its time"
    certain = segment(waited, sending=replace(TOGETHER, prior=False))
    assert certain.decisions[1].evidence == "client"
    overlapping = [call(0, 400), call(2, 300), call(402, 500)]
    assert segment(overlapping, sending=IN_A_ROW).steps == ((0, 1), (2,)), "it does send calls together"


def test_a_conversation_shows_how_its_client_sends_calls() -> None:
    bursts = [call(0, 900), call(2, 800), call(4, 700)]
    turn = [call(3000, 3010), call(6000, 6010)]
    found = segment([*bursts, *turn])
    assert found.steps == ((0, 1, 2), (3,), (4,))
    assert not any(decision.open for decision in found.decisions), "two more would have come with the first"
    assert shown([*bursts, *turn]) == ClientSending(others="together")
    two = [call(9000, 9500), call(9002, 9400), call(12_000, 12_100)]
    assert not segment([*bursts, *two]).decisions[5].open, "it could have sent a third"


def test_how_soon_is_too_soon_is_told_by_the_turns_that_are_known() -> None:
    proven = [call(0, 10, text="id ChIJ-77aQ"), call(210, 220, {"place": "ChIJ-77aQ"})]
    assert segment([*proven, call(225, 230)]).steps == ((0,), (1, 2))
    assert segment([*proven, call(350, 355)]).steps == ((0,), (1,), (2,)), "turns take 200 ms here"


def test_where_nobody_pauses_as_a_model_does_nothing_is_too_soon() -> None:
    instant = [call(0, 10), call(12, 20), call(24, 30)]
    assert segment(instant).steps == ((0,), (1,), (2,))
    assert segment([*instant, call(2000, 2010)]).steps == ((0, 1, 2), (3,)), "a model thought for two seconds"
    late = [call(received + 9000, sent + 9000) for received, sent in ((0, 60), (20, 60), (61, 100))]
    assert segment(late).steps == ((0, 1), (2,)), "nobody knows what was before the first call"
    in_a_row = ClientSending(others="in a row")
    assert segment(instant, sending=in_a_row).steps == ((0, 1, 2),)
    proven = [call(0, 10, text="id ChIJ-77aQ"), call(30, 40, {"place": "ChIJ-77aQ"}), call(45, 50)]
    assert segment(proven).steps == ((0,), (1,), (2,)), "turns take 20 ms here: no model's"


def test_calls_of_both_kinds_that_overlap_show_that_both_are_sent_together() -> None:
    found = segment([call(0, 300), replace(call(2, 280), read_only=True), call(310, 700), call(312, 650)])
    assert found.steps == ((0, 1), (2, 3))


def in_a_row(*gaps: float) -> list[Timed]:
    """An answer, and calls that use it after a turn of two seconds, each so long after the one before."""
    calls = [call(0, 10, text="id ChIJ-77aQ"), call(2010, 2020, {"place": "ChIJ-77aQ"})]
    for gap in gaps:
        begin = calls[-1].sent_ns / MS + gap
        calls.append(call(begin, begin + 10))
    return calls


def test_calls_that_keep_coming_sooner_than_any_turn_go_on_with_a_step() -> None:
    assert segment(in_a_row(5, 5)).readings.open == 0
    assert segment(in_a_row(5, 5)).steps == ((0,), (1, 2, 3))
    assert segment(in_a_row(5)).readings.open == 1, "once is no habit"
    assert segment(in_a_row(5), sending=IN_A_ROW).readings.open == 0, "but it is what this client is known for"
    assert segment(in_a_row(5, 5, 60)).readings.open == 1, "not as soon as the others"
    assert segment(in_a_row(5, 5)[1:]).readings.open == 2, "how long a turn takes is not known"


def test_a_client_that_goes_on_at_once_began_a_step_when_it_did_not() -> None:
    other = replace(call(9000, 9010), tool="world/look")
    first_of_its_tool = segment([*in_a_row(5, 5), other])
    assert first_of_its_tool.decisions[4].open, "a person may have had to allow it"
    again = call(12_000, 12_010)
    assert not segment([*in_a_row(5, 5), other, again]).decisions[5].open
    assert segment(in_a_row(5, 5, 3000)).readings.open == 3, "somebody may approve every call"


KNOWN = {
    "together": TOGETHER,
    "in a row": replace(IN_A_ROW, late=False),
}


@pytest.mark.parametrize("manner", KNOWN)
def test_a_pause_begins_a_step_where_a_client_is_known_not_to_pause_and_asks_nobody(manner: str) -> None:
    calls = [call(0, 900), call(1500, 1700), call(2300, 2400)]
    found = segment(calls, sending=KNOWN[manner])
    assert (found.steps, found.readings.open) == (((0,), (1,), (2,)), 0)
    assert segment(calls, sending=replace(KNOWN[manner], late=True)).readings.open == 2
    assert segment(calls, sending=ClientSending(late=False)).readings.open == 2, "how it sends calls is not known"
    busy = [call(0, 10), call(410, 500)]
    assert segment(busy, sending=KNOWN[manner]).readings.open == 1, "a machine may be busy"


def test_what_contradicts_how_a_client_sends_calls_also_says_that_it_may_pause() -> None:
    overlapping = [call(0, 400), call(2, 300), call(1402, 1500)]
    assert segment(overlapping, sending=KNOWN["in a row"]).readings.open == 1


def test_a_call_that_follows_at_once_goes_on_where_other_waits_are_many_times_longer() -> None:
    """As Copilot CLI sends two calls of which the first is answered before the second is read."""
    fast = [call(0, 600), call(1210, 1214), call(1219, 1227), call(1884, 1894)]
    assert segment(fast, sending=TOGETHER).steps == ((0,), (1, 2), (3,))
    assert segment(fast).steps == ((0,), (1,), (2,), (3,)), "nobody knows how this client sends calls"
    instant = [call(0, 600), call(640, 644), call(649, 657), call(690, 700)]
    assert segment(instant, sending=TOGETHER).steps == ((0,), (1,), (2,), (3,)), "no model is so fast"


def test_a_client_that_sends_calls_in_a_row_is_read_by_its_own_pace() -> None:
    unhurried = [call(0, 730), call(818, 1027), call(1133, 1217)]
    assert segment(unhurried, sending=IN_A_ROW).steps == ((0,), (1,), (2,)), "it goes on sooner within a turn"
    slower = [call(0, 730), call(818, 1027), call(2600, 2700)]
    assert segment(slower, sending=IN_A_ROW).steps == ((0, 1), (2,))
    proven = [call(0, 940, text="id ChIJ-77aQ"), call(1128, 1508, {"place": "ChIJ-77aQ"}), call(1519, 3356)]
    assert segment([*proven, call(3436, 3440)], sending=IN_A_ROW).steps == ((0,), (1, 2), (3,))


def test_a_client_that_sends_two_at_a_time_goes_on_with_a_step_however_long_the_first_two_take() -> None:
    pair = [call(0, 400), call(2, 500, text="id ChIJ-77aQ")]
    more = [call(503, 900), call(505, 1000)]
    turn = call(3000, 3100, {"place": "ChIJ-77aQ"})
    assert segment([*pair, *more, turn]).steps == ((0, 1, 2, 3), (4,))
    late = [call(903, 1300), call(905, 1400)]
    assert segment([*pair, *late, turn]).steps == ((0, 1), (2, 3), (4,)), "as late as a model may come"

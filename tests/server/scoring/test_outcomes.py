"""Outcomes by rule, and the rates over them."""

import pytest

from m3bench.server.scoring.outcomes import CallFacts, Cause, Outcome, classify, rates


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        (CallFacts(), Outcome.SUCCESS),
        (CallFacts(readable=False, tool_exists=False), Outcome.ILLEGAL_FORMAT),
        (CallFacts(tool_exists=False, arguments_fit=False), Outcome.UNKNOWN_TOOL),
        (CallFacts(arguments_fit=False, found=False), Outcome.INVALID_ARGUMENTS),
        (CallFacts(arguments_accepted=False), Outcome.INVALID_ARGUMENTS),
        (CallFacts(found=False), Outcome.NOT_FOUND),
    ],
)
def test_the_first_thing_that_went_wrong_decides(facts: CallFacts, outcome: Outcome) -> None:
    assert classify(facts) is outcome


@pytest.mark.parametrize("cause", [cause for cause in Cause if cause is not Cause.AGENT])
def test_what_is_not_the_agents_doing_is_no_outcome_of_its(cause: Cause) -> None:
    assert classify(CallFacts(found=False, cause=cause)) is None


def test_rates_are_over_the_agents_calls() -> None:
    found = rates(
        [
            CallFacts(),
            CallFacts(found=False),
            CallFacts(arguments_accepted=False),
            CallFacts(arguments_fit=False),
            CallFacts(tool_exists=False),
            CallFacts(readable=False),
            CallFacts(found=False, cause=Cause.SANDBOX),
            CallFacts(found=False, cause=Cause.SANDBOX),
        ]
    )
    assert found.valid_tool_name == 4 / 6
    assert found.schema_compliance == 3 / 4
    assert found.execution_success == 1 / 6
    assert found.outcomes == {
        Outcome.ILLEGAL_FORMAT: 1,
        Outcome.UNKNOWN_TOOL: 1,
        Outcome.INVALID_ARGUMENTS: 2,
        Outcome.NOT_FOUND: 1,
        Outcome.SUCCESS: 1,
    }
    assert found.excluded == {Cause.SANDBOX: 2}


def test_a_rate_over_nothing_is_no_rate() -> None:
    empty = rates([])
    assert (empty.valid_tool_name, empty.schema_compliance, empty.execution_success) == (None, None, None)
    assert rates([CallFacts(tool_exists=False)]).schema_compliance is None

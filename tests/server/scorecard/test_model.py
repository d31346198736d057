"""The form of a score card: what is written is read back, and the published schema is the model's."""

import json
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import (
    ActualCall,
    Alignment,
    BestReference,
    ChangedArgument,
    CheckResult,
    Client,
    ExtraArgument,
    Fault,
    Improvement,
    Instead,
    Match,
    MissingArgument,
    PaperScore,
    ReferenceCall,
    ScoreCard,
    ScoringProfile,
)
from m3bench.server.scorecard.schema import schema_text
from m3bench.server.scoring.alignment import Way
from tests.examples import examples
from tests.server.scorecard.cards import made_card

SCHEMA = Path(__file__).parents[3] / "docs" / "scorecard.schema.json"
PUBLISHED = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_bytes()))

text = st.text(max_size=8)
odd_text = st.text(st.characters(exclude_categories=()), max_size=8)
"""Half characters too, which a client may send."""
share = st.floats(0, 1)
place = st.integers(0, 5)
places = st.lists(place, max_size=3).map(tuple)
value = st.recursive(
    st.none() | st.booleans() | st.integers() | odd_text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(odd_text, inner, max_size=2),
    max_leaves=4,
)
values = st.dictionaries(odd_text, value, max_size=2)
difference = st.one_of(
    st.builds(MissingArgument, argument=odd_text, kind=st.just("missing"), reference=value),
    st.builds(ExtraArgument, argument=odd_text, kind=st.just("extra"), actual=value),
    st.builds(ChangedArgument, argument=odd_text, kind=st.just("changed"), reference=value, actual=value),
)


def several(one: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(one, max_size=most).map(tuple)


cards = st.builds(
    ScoreCard,
    scoring_version=st.integers(1, 9),
    scoring_profile=st.sampled_from(get_args(ScoringProfile)),
    paper=st.none()
    | st.builds(
        PaperScore,
        metrics=st.dictionaries(text, st.none() | share, max_size=3),
        ranges=st.dictionaries(text, st.tuples(share, share), max_size=2),
        reference=place,
        reference_calls=place,
        matched=place,
    ),
    task=text,
    family=text,
    metrics=st.dictionaries(text, st.none() | share, max_size=3),
    ranges=st.dictionaries(text, st.tuples(share, share), max_size=2),
    success=st.none() | st.booleans(),
    checks=several(st.builds(CheckResult, check=text, passed=st.booleans(), reason=text)),
    outcomes=st.dictionaries(text, place, max_size=2),
    excluded=st.dictionaries(text, place, max_size=2),
    reference=st.builds(BestReference, index=place, of=place),
    alignment=st.builds(
        Alignment,
        reference_steps=several(several(st.builds(ReferenceCall, tool=text, arguments=values))),
        actual_steps=several(several(st.builds(ActualCall, tool=odd_text, arguments=values, outcome=st.none() | text))),
        matches=several(
            st.builds(
                Match,
                reference=place,
                actual=place,
                also=places,
                similarity=share,
                strong=st.booleans(),
                differences=several(difference),
                way=st.none() | st.sampled_from(get_args(Way)),
                note=text,
            )
        ),
        missed=places,
        extra=places,
        not_needed=places,
        instead=several(st.builds(Instead, reference=place, actual=place, note=text)),
        needs=several(places),
    ),
    evidence=several(text),
    open=place,
    reasons=st.dictionaries(text, text, max_size=2),
    improvements=several(
        st.builds(
            Improvement,
            kind=st.sampled_from(get_args(Fault)),
            gain=share,
            average=share,
            reference=places,
            actual=places,
            text=text,
        )
    ),
    client=st.none() | st.builds(Client, name=odd_text, revision=text, capabilities=st.none() | values),
)


@settings(max_examples=examples(30))
@given(cards)
def test_a_card_is_read_back_as_it_was_written_and_fits_the_published_schema(card: ScoreCard) -> None:
    written = json.loads(json.dumps(card.to_json()))
    assert read_card(written) == card
    assert read_card(written).to_json() == written
    PUBLISHED.validate(written)


def test_the_published_schema_is_the_models() -> None:
    advice = "run `python -m m3bench.server.scorecard.schema > docs/scorecard.schema.json`"
    assert SCHEMA.read_text("utf-8") == schema_text(), advice


@pytest.mark.parametrize("change", [{"unknown": 1}, {"metrics": {"recall": "high"}}, {"schema": 2}, {"open": None}])
def test_a_card_with_anything_else_in_it_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        made_card(**change)


def test_arguments_may_be_nested_as_deeply_as_json_can_be_read() -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"down": [deep]}
    call = ActualCall(tool="math/sum", arguments={"deep": deep, "big": 10**400})
    assert call.to_json()["arguments"] == {"deep": deep, "big": 10**400}


def test_a_card_counts_what_it_holds() -> None:
    checks = [{"check": "one", "passed": True}, {"check": "two", "passed": False, "reason": "no"}]
    card = made_card(checks=checks, outcomes={"success": 3, "not_found": 2}, excluded={"sandbox": 1, "client": 1})
    assert (card.average, card.checks_passed, card.calls_failed, card.calls_excluded) == (1.0, 1, 2, 2)
    assert card.range_of("average") == (1.0, 1.0)
    row = card.row
    assert (row.id, row.family, row.reference_calls, row.actual_calls, row.matched) == ("a-1", "a", 1, 1, 1)

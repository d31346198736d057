"""Documents become JSON field by field, in order."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pytest

from m3bench.server.lab.results.documents import JsonDocument, plain
from m3bench.server.scoring.statistics.estimates import Interval


@dataclass(frozen=True, kw_only=True)
class Part(JsonDocument):
    class_: str


@dataclass(frozen=True, kw_only=True)
class Whole(JsonDocument):
    left_out: ClassVar[frozenset[str]] = frozenset({"links"})

    second: tuple[Part, ...]
    first: Mapping[int, Interval | None]
    nothing: float | None = None
    links: str | None = None


def test_fields_keep_their_order_and_only_some_are_left_out_when_they_are_none() -> None:
    whole = Whole(second=(Part(class_="solved"),), first={1: Interval(low=0.25, high=0.5), 2: None})
    expected = {"second": [{"class": "solved"}], "first": {"1": [0.25, 0.5], "2": None}, "nothing": None}
    assert whole.to_json() == expected
    assert list(whole.to_json()) == list(expected)


def test_what_has_no_form_in_json_is_refused() -> None:
    with pytest.raises(TypeError, match="bytes"):
        plain({"result": b"raw"})

"""The `okx` server: one market, whatever the size of the candles it is seen through."""

import json
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.sandboxes.servers.okx import MINUTES, UNITS
from m3bench.sandboxes.world import coins
from m3bench.sandboxes.world.clock import NOW
from tests.examples import examples
from tests.sandboxes.servers.conftest import Bench

PAIRS = sorted(coins.pairs())
BARS = [*MINUTES, *UNITS]
Candle = dict[str, Any]


def candles(bench: Bench, instrument: str, bar: str, limit: int = 100) -> list[Candle]:
    rows = json.loads(bench.text("okx/get_candlesticks", instrument=instrument, bar=bar, limit=limit))
    return [{**row, **{key: Decimal(row[key]) for key in row if key not in ("timestamp", "synthetic")}} for row in rows]


def ticker(bench: Bench, instrument: str) -> dict[str, str]:
    return dict(json.loads(bench.text("okx/get_price", instrument=instrument)))


def opened(candle: Candle) -> datetime:
    return datetime.fromisoformat(candle["timestamp"])


def merged(parts: list[Candle]) -> Candle:
    """One candle of several, which come newest first."""
    return {
        "timestamp": parts[-1]["timestamp"],
        "open": parts[-1]["open"],
        "high": max(part["high"] for part in parts),
        "low": min(part["low"] for part in parts),
        "close": parts[0]["close"],
        "volume": sum(part["volume"] for part in parts),
        "volumeCurrency": sum(part["volumeCurrency"] for part in parts),
        "synthetic": parts[0]["synthetic"],
    }


def test_there_are_many_coins_and_the_real_comes_in_both_directions() -> None:
    assert len({pair.base for pair in coins.pairs().values() if pair.quote == "USDT"}) >= 40
    assert {"BTC-BRL", "ETH-BRL", "USDT-BRL", "BRL-USDT", "BRL-USD", "BTC-USD", "ETH-BTC"} <= set(PAIRS)


@pytest.mark.sample(5)
@pytest.mark.parametrize("instrument", PAIRS)
def test_the_ticker_is_the_end_of_the_last_candle_and_sums_up_a_day(bench: Bench, instrument: str) -> None:
    now = ticker(bench, instrument)
    hours = candles(bench, instrument, "1H", 24)
    day = merged(hours)
    assert now["instrument"] == instrument
    assert now["timestamp"] == "2025-11-01T12:00:00.000Z"
    assert Decimal(now["lastPrice"]) == hours[0]["close"]
    assert Decimal(now["high24h"]) == day["high"]
    assert Decimal(now["low24h"]) == day["low"]
    assert Decimal(now["volume24h"]) == day["volume"]
    assert Decimal(now["bid"]) <= hours[0]["close"] <= Decimal(now["ask"])
    assert Decimal(now["bid"]) < Decimal(now["ask"])


def test_every_number_that_is_drawn_is_named_as_such(bench: Bench) -> None:
    now = ticker(bench, "ETH-BTC")
    assert now["synthetic"].split() == [key for key in now if key not in ("instrument", "timestamp", "synthetic")]
    for bar in ("1m", "1D", "1M"):
        for candle in candles(bench, "BTC-USDT", bar, 3):
            assert candle["synthetic"].split() == [key for key in candle if key not in ("timestamp", "synthetic")]


@pytest.mark.sample(5)
@pytest.mark.parametrize("bar", BARS)
@pytest.mark.parametrize("instrument", ["BTC-USDT", "PEPE-USDT", "USDT-BRL"])
def test_candles_are_whole_and_follow_one_another(bench: Bench, instrument: str, bar: str) -> None:
    found = candles(bench, instrument, bar, 30)
    assert len(found) == 30
    for newer, older in pairwise(found):
        assert opened(newer) > opened(older)
        assert newer["open"] == older["close"]
    for candle in found:
        assert 0 < candle["low"] <= min(candle["open"], candle["close"])
        assert max(candle["open"], candle["close"]) <= candle["high"]
        assert candle["volume"] > 0
        assert candle["low"] * candle["volume"] <= candle["volumeCurrency"] * Decimal("1.001")
        assert candle["volumeCurrency"] <= candle["high"] * candle["volume"] * Decimal("1.001")
    assert opened(found[0]) < NOW


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("small", "large", "count"),
    [
        ("1m", "3m", 90),
        ("1m", "5m", 50),
        ("5m", "15m", 90),
        ("15m", "30m", 140),
        ("15m", "1H", 70),
        ("30m", "2H", 70),
        ("1H", "4H", 70),
        ("2H", "6H", 90),
        ("1H", "12H", 20),
        ("4H", "1D", 40),
        ("1D", "1W", 40),
        ("1D", "1M", 9),
    ],
)
@pytest.mark.parametrize("instrument", ["ETH-USDT", "SHIB-USDT", "BTC-BRL", "ETH-BTC"])
def test_small_candles_add_up_to_large_ones(bench: Bench, instrument: str, small: str, large: str, count: int) -> None:
    parts = candles(bench, instrument, small, 300)
    wholes = candles(bench, instrument, large, count + 1)
    compared = 0
    for newer, whole in zip([None, *wholes], wholes, strict=False):
        end = opened(newer) if newer else NOW
        inside = [part for part in parts if opened(whole) <= opened(part) < end]
        if opened(parts[-1]) <= opened(whole):
            assert merged(inside) == whole
            compared += 1
    assert compared >= min(count, 9)


@settings(max_examples=examples(25), deadline=None)
@given(st.sampled_from(PAIRS), st.integers(1, 600))
def test_any_day_of_any_pair_begins_where_the_day_before_ended(instrument: str, back: int) -> None:
    pair = coins.pairs()[instrument]
    day = max(pair.first + 1, (NOW.date() - datetime(1970, 1, 1).date()).days - back)
    before, after = coins.minutes(pair, day - 1), coins.minutes(pair, day)
    assert len(before) == len(after) == coins.MINUTES
    assert before.close[-1] == after.open[0]
    assert (after.high >= after.close).all()
    assert (after.low <= after.open).all()
    assert (after.volume >= 0).all()


@pytest.mark.parametrize(
    ("one", "other", "product"),
    [
        ("BTC-USDT", "USDT-BRL", "BTC-BRL"),
        ("ETH-BTC", "BTC-USDT", "ETH-USDT"),
        ("SOL-USDT", "USDT-USD", "SOL-USD"),
        ("BTC-USDT", "USDT-EUR", "BTC-EUR"),
    ],
)
def test_triangles_close(bench: Bench, one: str, other: str, product: str) -> None:
    for bar in ("1H", "1D"):
        rows = zip(*(candles(bench, name, bar, 50) for name in (one, other, product)), strict=True)
        for left, right, whole in rows:
            assert float(left["close"] * right["close"]) == pytest.approx(float(whole["close"]), rel=4e-4)


def test_a_pair_and_its_reverse_are_reciprocal(bench: Bench) -> None:
    there, back = ticker(bench, "USDT-BRL"), ticker(bench, "BRL-USDT")
    assert float(there["lastPrice"]) * float(back["lastPrice"]) == pytest.approx(1, abs=2e-4)


@pytest.mark.parametrize(
    ("instrument", "low", "high"),
    [
        ("BTC-USDT", 109_000, 111_000),
        ("ETH-USDT", 3_800, 3_950),
        ("SOL-USDT", 180, 190),
        ("USDC-USDT", 0.999, 1.001),
        ("DAI-USDT", 0.998, 1.002),
        ("USDT-BRL", 5.3, 5.45),
        ("BTC-BRL", 580_000, 600_000),
    ],
)
def test_the_market_stands_where_it_stood(bench: Bench, instrument: str, low: float, high: float) -> None:
    assert low < float(ticker(bench, instrument)["lastPrice"]) < high


def test_days_open_at_midnight_in_hong_kong(bench: Bench) -> None:
    day, week, month = (opened(candles(bench, "BTC-USDT", bar, 1)[0]) + timedelta(hours=8) for bar in UNITS)
    assert day.isoformat() == "2025-11-01T00:00:00+00:00"
    assert week.isoformat() == "2025-10-27T00:00:00+00:00"
    assert month.isoformat() == "2025-11-01T00:00:00+00:00"


def test_a_young_pair_has_no_candles_before_it_was_listed(bench: Bench) -> None:
    found = candles(bench, "HYPE-USDT", "1M", 300)
    assert len(found) == 12
    assert found[-1]["timestamp"] == "2024-11-30T16:00:00.000Z"


def test_limits_are_kept(bench: Bench) -> None:
    assert len(candles(bench, "BTC-USDT", "1m")) == 100
    assert len(candles(bench, "BTC-USDT", "1m", 100_000)) == 300
    assert "limit" in bench.error("okx/get_candlesticks", instrument="BTC-USDT", limit=0)
    assert "limit" in bench.error("okx/get_candlesticks", instrument="BTC-USDT", limit=-5)


def test_names_are_read_without_regard_to_case(bench: Bench) -> None:
    assert ticker(bench, " btc-usdt") == ticker(bench, "BTC-USDT")


@pytest.mark.parametrize("instrument", ["", "BTC", "BTCUSDT", "NOPE-USDT", "BTC-BTC", "USDT-USDT", "BTC-USDT-SWAP"])
def test_an_unknown_pair_is_refused_in_the_words_of_the_exchange(bench: Bench, instrument: str) -> None:
    for tool in ("get_price", "get_candlesticks"):
        reply = bench.reply(f"okx/{tool}", instrument=instrument)
        assert reply.outcome == ("gap" if instrument in ("NOPE-USDT", "BTC-USDT-SWAP") else "not_found")
        assert reply.result["isError"] is True
        assert bench.error(f"okx/{tool}", instrument=instrument) == (
            "MCP error -32603: Failed to fetch data: OKX API error: "
            "Instrument ID, Instrument ID code, or Spread ID doesn't exist."
        )


def test_an_unknown_bar_is_refused_with_those_there_are(bench: Bench) -> None:
    text = bench.error("okx/get_candlesticks", instrument="BTC-USDT", bar="1h")
    assert text.startswith("MCP error -32603: Failed to fetch data: OKX API error: Parameter bar error")
    assert all(bar in text for bar in BARS)

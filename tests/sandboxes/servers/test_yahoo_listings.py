"""What `yahoo-finance` says of shares, funds and levels of which the world has no history of prices."""

import json

import pytest

from m3bench.sandboxes.world import listings, stocks, tables
from tests.sandboxes.servers.conftest import Bench

INFO = "yahoo-finance/get_stock_info"


@pytest.mark.parametrize(
    ("ticker", "name", "kind"),
    [
        ("abt", "Abbott Laboratories", "EQUITY"),
        ("BF.B", "Brown–Forman", "EQUITY"),
        ("7203.T", "Toyota Motor Corporation", "EQUITY"),
        ("SPY", "SPDR S&P 500 ETF Trust", "ETF"),
        ("^FTSE", "FTSE 100", "INDEX"),
        ("USDJPY=X", "USD/JPY", "CURRENCY"),
        ("BZ=F", "Brent Crude Oil", "FUTURE"),
        ("brk.b", "Berkshire Hathaway Inc.", "EQUITY"),
    ],
)
def test_a_usual_ticker_has_its_name(bench: Bench, ticker: str, name: str, kind: str) -> None:
    card = json.loads(bench.text(INFO, ticker=ticker))
    assert (card["longName"], card["quoteType"]) == (name, kind)


def test_a_listing_says_that_it_has_no_price_and_shows_none(bench: Bench) -> None:
    card = json.loads(bench.text(INFO, ticker="SPY"))
    assert "prices" in card["NotCovered"].split()
    assert not any("rice" in key for key in card)
    said = bench.error(
        "yahoo-finance/get_historical_stock_prices", ticker="SPY", start_date="2025-10-01", end_date="2025-10-08"
    )
    assert "SPDR S&P 500" in said


def test_levels_that_are_no_known_closes_are_named_as_synthetic(bench: Bench) -> None:
    for ticker in ("^FTSE", "EURGBP=X", "NG=F", "BTC-USD"):
        card = json.loads(bench.text(INFO, ticker=ticker))
        assert "regularMarketPrice" in card["Synthetic"].split()


def test_each_ticker_is_held_once_and_its_exchange_has_a_name() -> None:
    records = tables.load("listings")
    names = [record["id"] for record in records]
    assert len(names) == len(set(names))
    assert not set(names) & {*stocks.companies(), *stocks.instruments()}
    assert all(listings.card(record)["fullExchangeName"] for record in records)

"""The `yahoo-finance` server: what one tool says of a share, no other contradicts."""

import json
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from m3bench.sandboxes.servers.yahoo_finance import INTERVALS, MINUTES
from m3bench.sandboxes.world import sessions, stocks, tables
from tests.examples import examples
from tests.sandboxes.servers.conftest import Bench

TICKERS = sorted(stocks.companies())
LAST_WEEK = {"start_date": "2025-10-27", "end_date": "2025-11-01"}
LAST_YEAR = {"start_date": "2024-11-01", "end_date": "2025-11-01"}
Row = dict[str, Any]


def ask(bench: Bench, tool: str, **arguments: Any) -> Any:
    return json.loads(bench.text(f"yahoo-finance/{tool}", arguments))


def history(bench: Bench, ticker: str, interval: str = "1d", **window: str) -> list[Row]:
    return list(ask(bench, "get_historical_stock_prices", ticker=ticker, interval=interval, **window))


def problem(bench: Bench, tool: str, **arguments: Any) -> str:
    reply = bench.reply(f"yahoo-finance/{tool}", arguments)
    assert reply.outcome != "success"
    assert reply.result["isError"] is False
    return bench.error(f"yahoo-finance/{tool}", arguments)


def merged(rows: list[Row]) -> Row:
    return {
        "Open": rows[0]["Open"],
        "High": max(row["High"] for row in rows),
        "Low": min(row["Low"] for row in rows),
        "Close": rows[-1]["Close"],
        "Volume": sum(row["Volume"] for row in rows),
        "Dividends": pytest.approx(sum(row["Dividends"] for row in rows)),
        "Stock Splits": max(row["Stock Splits"] for row in rows),
    }


def bars_of(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("Date", "Synthetic")}


def test_there_are_many_companies_of_all_sectors() -> None:
    assert len(TICKERS) >= 45
    assert len({company["sector"] for company in stocks.companies().values()}) >= 8
    assert {"AAPL", "BABA", "BRK-A", "BRK-B", "GOOG", "GOOGL", "IBM", "TSLA", "V"} <= set(TICKERS)


@pytest.mark.all_sample(10)
@pytest.mark.sample(3)
@pytest.mark.parametrize("ticker", TICKERS)
def test_the_quote_agrees_with_the_history(bench: Bench, ticker: str) -> None:
    quote = ask(bench, "get_stock_info", ticker=ticker)
    year = history(bench, ticker, **LAST_YEAR)
    last, before = year[-1], year[-2]
    assert last["Date"] == "2025-10-31T04:00:00.000Z"
    assert quote["currentPrice"] == quote["regularMarketPrice"] == last["Close"]
    assert quote["previousClose"] == before["Close"]
    assert (quote["open"], quote["dayHigh"], quote["dayLow"]) == (last["Open"], last["High"], last["Low"])
    assert quote["volume"] == last["Volume"]
    assert quote["fiftyTwoWeekHigh"] == max(row["High"] for row in year)
    assert quote["fiftyTwoWeekLow"] == min(row["Low"] for row in year)
    assert quote["marketCap"] == round(quote["sharesOutstanding"] * last["Close"])
    assert quote["fiftyDayAverage"] == pytest.approx(sum(row["Close"] for row in year[-50:]) / 50, abs=1e-3)
    assert quote["averageVolume10days"] == pytest.approx(sum(row["Volume"] for row in year[-10:]) / 10, abs=1)
    assert len(quote) > 100
    for row in year:
        assert 0 < row["Low"] <= min(row["Open"], row["Close"]) <= max(row["Open"], row["Close"]) <= row["High"]
        assert row["Volume"] > 0


@pytest.mark.sample(3)
@pytest.mark.parametrize("ticker", TICKERS)
def test_a_share_is_about_as_restless_as_it_should_be(ticker: str) -> None:
    closes = stocks.daily(ticker).close / 100
    moves = closes[1:] / closes[:-1] - 1
    assert 0.5 < float(moves.std()) / stocks.companies()[ticker]["volatility"] < 1.6
    assert abs(moves).max() < 0.3


def test_only_days_of_trading_have_rows(bench: Bench) -> None:
    rows = history(bench, "AAPL", start_date="2024-11-25", end_date="2024-12-03")
    days = ["2024-11-25", "2024-11-26", "2024-11-27", "2024-11-29", "2024-12-02"]
    assert [row["Date"] for row in rows] == [f"{day}T05:00:00.000Z" for day in days]
    assert history(bench, "AAPL", start_date="2025-11-01", end_date="2025-11-03") == []
    assert history(bench, "AAPL", start_date="2030-01-01", end_date="2030-02-01") == []
    assert len(history(bench, "AAPL", start_date="2000-01-01", end_date="2100-01-01")) == len(sessions.days()) - 1


def test_a_row_names_its_columns_that_are_drawn(bench: Bench) -> None:
    """The closes of a few days are the real ones; the days between, and whatever is within a day, are drawn."""
    rows = history(bench, "AAPL", start_date="2025-04-08", end_date="2025-04-11")
    assert [(row["Close"], row["Synthetic"]) for row in rows[:2]] == [
        (172.42, "Open High Low Volume"),
        (198.85, "Open High Low Volume"),
    ]
    assert rows[2]["Synthetic"] == "Open High Low Close Volume"
    months = history(bench, "AAPL", "1mo", start_date="2025-05-01", end_date="2025-07-01")
    assert [row["Synthetic"] for row in months] == ["Open High Low Close Volume", "Open High Low Volume"]
    assert {row["Synthetic"] for row in history(bench, "AAPL", "1h", **LAST_WEEK)} == {"Open High Low Close Volume"}


@pytest.mark.slow
def test_the_quote_names_its_numbers_that_are_drawn(bench: Bench) -> None:
    """Apple's last close is known, and its year has just ended."""
    quote = ask(bench, "get_stock_info", ticker="AAPL")
    drawn = quote["Synthetic"].split()
    assert set(drawn) <= set(quote)
    assert {"open", "dayHigh", "previousClose", "volume", "fiftyTwoWeekHigh", "targetMeanPrice", "bid"} <= set(drawn)
    assert not {"symbol", "longName", "sector", "currentPrice", "marketCap", "sharesOutstanding", "totalRevenue",
                "lastDividendValue"} & set(drawn)  # fmt: skip
    for ticker in TICKERS:
        named = ask(bench, "get_stock_info", ticker=ticker)["Synthetic"].split()
        assert ("currentPrice" in named) != stocks.is_known(ticker, sessions.days()[-1])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_option_chain", {"expiration_date": "2025-11-21", "option_type": "calls"}),
        ("get_recommendations", {"recommendation_type": "recommendations"}),
        ("get_recommendations", {"recommendation_type": "upgrades_downgrades"}),
        *(
            ("get_holder_info", {"holder_type": kind})
            for kind in ("institutional_holders", "insider_transactions", "insider_purchases", "insider_roster_holders")
        ),
    ],
)
def test_rows_that_are_drawn_say_so(bench: Bench, tool: str, arguments: dict[str, str]) -> None:
    rows = ask(bench, tool, ticker="AAPL", **arguments)
    assert rows
    assert all(row["Synthetic"] for row in rows)


def test_the_end_of_a_window_is_not_in_it(bench: Bench) -> None:
    rows = history(bench, "IBM", start_date="2024-10-01", end_date="2024-10-03")
    assert [row["Date"] for row in rows] == ["2024-10-01T04:00:00.000Z", "2024-10-02T04:00:00.000Z"]


@pytest.mark.sample(6)
@pytest.mark.parametrize("interval", MINUTES)
@pytest.mark.parametrize("ticker", ["TSLA", "F", "BRK-A"])
def test_bars_within_a_day_add_up_to_the_day(bench: Bench, ticker: str, interval: str) -> None:
    days = history(bench, ticker, **LAST_WEEK)
    inside = history(bench, ticker, interval, **LAST_WEEK)
    for day in days:
        rows = [row for row in inside if row["Date"][:10] == day["Date"][:10]]
        assert len(rows) == -(-sessions.FULL_MINUTES // MINUTES[interval])
        assert rows[0]["Date"].endswith("T13:30:00.000Z")
        assert merged(rows) == bars_of(day)


@pytest.mark.parametrize(("interval", "length"), [("1wk", 10), ("1mo", 7), ("3mo", 7)])
@pytest.mark.parametrize("ticker", ["NVDA", "PEP"])
def test_days_add_up_to_weeks_months_and_quarters(bench: Bench, ticker: str, interval: str, length: int) -> None:
    window = {"start_date": "2024-04-01", "end_date": "2025-07-01"}
    days, wholes = history(bench, ticker, **window), history(bench, ticker, interval, **window)
    starts = [row["Date"][:length] for row in wholes]
    for whole, (start, end) in zip(wholes, pairwise([*starts, "9999"]), strict=True):
        assert merged([day for day in days if start <= day["Date"][:length] < end]) == bars_of(whole)
    assert sum(row["Volume"] for row in wholes) == sum(row["Volume"] for row in days)


def test_five_days_make_a_bar(bench: Bench) -> None:
    days, fives = history(bench, "KO", **LAST_YEAR), history(bench, "KO", "5d", **LAST_YEAR)
    for place, whole in enumerate(fives):
        assert merged(days[5 * place : 5 * place + 5]) == bars_of(whole)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.dates(date(2023, 1, 3), date(2025, 10, 31)), length=st.integers(1, 90), data=st.data())
def test_a_narrow_window_shows_what_a_wide_one_shows(
    bench: Bench, start: date, length: int, data: st.DataObject
) -> None:
    ticker = data.draw(st.sampled_from(["AMD", "DIS", "V"]))
    end = start + timedelta(days=length)
    whole = history(bench, ticker, start_date="2023-01-01", end_date="2025-11-01")
    inside = [row for row in whole if start.isoformat() <= row["Date"][:10] < end.isoformat()]
    assert history(bench, ticker, start_date=start.isoformat(), end_date=end.isoformat()) == inside


def test_half_days_are_short(bench: Bench) -> None:
    rows = history(bench, "AAPL", "1h", start_date="2024-11-29", end_date="2024-11-30")
    assert [row["Date"][11:16] for row in rows] == ["14:30", "15:30", "16:30", "17:30"]


def test_share_classes_move_alike(bench: Bench) -> None:
    large, small = (history(bench, ticker, **LAST_YEAR) for ticker in ("BRK-A", "BRK-B"))
    for one, other in zip(large, small, strict=True):
        assert one["Close"] / other["Close"] == pytest.approx(1500, rel=1e-4)
    caps = [ask(bench, "get_stock_info", ticker=ticker)["marketCap"] for ticker in ("BRK-A", "BRK-B")]
    assert caps[0] == pytest.approx(caps[1], rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"start_date": "2025-10-31", "end_date": "2025-10-31"}, "must be before"),
        ({"start_date": "yesterday", "end_date": "2025-10-31"}, "'yesterday' is not a date"),
        ({"start_date": "2025-02-30", "end_date": "2025-10-31"}, "'2025-02-30' is not a date"),
        ({"start_date": "2025-10-01", "end_date": "2025-10-31", "interval": "1y"}, "1wk"),
        ({"start_date": "2025-09-01", "end_date": "2025-09-03", "interval": "1m"}, "last 30 days"),
        ({"start_date": "2025-10-05", "end_date": "2025-10-31", "interval": "1m"}, "8 days"),
        ({"start_date": "2025-06-01", "end_date": "2025-06-03", "interval": "5m"}, "last 60 days"),
        ({"start_date": "2023-06-01", "end_date": "2023-06-03", "interval": "1h"}, "last 730 days"),
    ],
)
def test_a_window_that_cannot_be_is_explained(bench: Bench, arguments: dict[str, str], says: str) -> None:
    text = problem(bench, "get_historical_stock_prices", ticker="AAPL", **arguments)
    assert text.startswith("Error: getting historical stock prices for AAPL: ")
    assert says in text


def test_dividends_and_splits_stand_in_actions_and_history(bench: Bench) -> None:
    actions = ask(bench, "get_stock_actions", ticker="NVDA")
    assert {"Date": "2024-06-10T04:00:00.000Z", "Dividends": 0.0, "Stock Splits": 10.0} in actions
    rows = {row["Date"]: row for row in history(bench, "NVDA", start_date="2023-01-01", end_date="2025-11-01")}
    for action in actions:
        if action["Date"] in rows:
            row = rows[action["Date"]]
            assert (row["Dividends"], row["Stock Splits"]) == (action["Dividends"], action["Stock Splits"])
    shown = [row for row in rows.values() if row["Dividends"] or row["Stock Splits"]]
    assert len(shown) == len([action for action in actions if action["Date"] in rows])
    assert ask(bench, "get_stock_actions", ticker="UBER") == []


@pytest.mark.sample(6)
@pytest.mark.parametrize("ticker", TICKERS)
def test_dividends_fall_on_trading_days_before_the_clock(ticker: str) -> None:
    assert set(stocks.dividends(ticker)) <= set(sessions.days())


@pytest.mark.sample(2)
@pytest.mark.parametrize("ticker", TICKERS)
def test_the_ratings_the_counts_and_the_quote_agree(bench: Bench, ticker: str) -> None:
    months = ask(bench, "get_recommendations", ticker=ticker, recommendation_type="recommendations")
    assert [month["period"] for month in months] == ["0m", "-1m", "-2m", "-3m"]
    counts = {name: count for name, count in months[0].items() if name not in ("period", "Synthetic")}
    quote = ask(bench, "get_stock_info", ticker=ticker)
    assert quote["numberOfAnalystOpinions"] == sum(counts.values())
    weights = sum((place + 1) * count for place, count in enumerate(counts.values()))
    assert quote["recommendationMean"] == pytest.approx(weights / sum(counts.values()), abs=1e-4)
    said = ask(bench, "get_recommendations", ticker=ticker, recommendation_type="upgrades_downgrades", months_back=36)
    assert len(said) == sum(counts.values())
    grades = {house["name"]: house["grades"] for house in tables.load("brokers")}
    for place, name in enumerate(counts):
        assert counts[name] == sum(grades[row["Firm"]].index(row["ToGrade"]) == place for row in said)


def test_rating_changes_are_the_newest_of_each_firm_within_the_window(bench: Bench) -> None:
    ask_for = {"ticker": "META", "recommendation_type": "upgrades_downgrades"}
    half, year = (ask(bench, "get_recommendations", **ask_for, months_back=months) for months in (6, 12))
    assert len(half) >= 20
    assert [row for row in year if row["GradeDate"] >= "2025-05-01"] == half
    assert len({row["Firm"] for row in half}) == len(half)
    dates = [row["GradeDate"] for row in half]
    assert dates == sorted(dates, reverse=True)
    assert dates[0] < "2025-11-01T12:00:00"
    assert ask(bench, "get_recommendations", **ask_for) == year


def test_an_action_says_how_the_grade_changed(bench: Bench) -> None:
    seen = set()
    grades = {house["name"]: house["grades"] for house in tables.load("brokers")}
    for ticker in TICKERS[::4]:
        for row in ask(bench, "get_recommendations", ticker=ticker, recommendation_type="upgrades_downgrades"):
            seen.add(row["Action"])
            if row["Action"] == "init":
                assert row["FromGrade"] == ""
                continue
            new, old = (grades[row["Firm"]].index(row[side]) for side in ("ToGrade", "FromGrade"))
            assert row["Action"] in (("main", "reit") if new == old else ("up",) if new < old else ("down",))
    assert {"main", "reit", "up", "down"} <= seen


@pytest.mark.sample(6)
@pytest.mark.parametrize("ticker", TICKERS)
def test_there_is_news_of_every_company_newest_first(bench: Bench, ticker: str) -> None:
    items = bench.text("yahoo-finance/get_yahoo_finance_news", ticker=ticker).split("\n\n")
    assert len(items) >= 2
    for item in items:
        title, link = item.split("\n")
        assert title.startswith("- ")
        assert link.startswith("  https://finance.yahoo.com/news/")


def test_news_is_from_before_the_clock_and_never_twice() -> None:
    items = tables.load("company_news")
    assert all("2025-01-01" <= item["date"] <= "2025-11-01" for item in items)
    assert len({item["title"] for item in items}) == len(items)


def test_tickers_are_read_without_regard_to_case(bench: Bench) -> None:
    assert ask(bench, "get_stock_info", ticker=" aapl ") == ask(bench, "get_stock_info", ticker="AAPL")


def test_what_does_not_apply_is_left_out(bench: Bench) -> None:
    quote = ask(bench, "get_stock_info", ticker="BA")
    assert quote["trailingEps"] < 0
    assert "trailingPE" not in quote
    assert "dividendRate" not in quote
    assert None not in quote.values()


@pytest.mark.parametrize(
    ("tool", "more"),
    [
        ("get_historical_stock_prices", LAST_WEEK),
        ("get_stock_info", {}),
        ("get_yahoo_finance_news", {}),
        ("get_stock_actions", {}),
        ("get_financial_statement", {"financial_type": "cashflow"}),
        ("get_holder_info", {"holder_type": "major_holders"}),
        ("get_option_expiration_dates", {}),
        ("get_option_chain", {"expiration_date": "2025-11-07", "option_type": "puts"}),
        ("get_recommendations", {"recommendation_type": "recommendations"}),
    ],
)
def test_an_unknown_ticker_is_a_sentence_without_the_error_flag(bench: Bench, tool: str, more: dict[str, str]) -> None:
    for ticker in ("ZZZZ", "", "Apple"):
        assert problem(bench, tool, ticker=ticker, **more) == f"Company ticker {ticker} not found."


@pytest.mark.parametrize(
    ("tool", "arguments", "begins"),
    [
        ("get_financial_statement", {"financial_type": "income"}, "Error: invalid financial type income"),
        ("get_holder_info", {"holder_type": "all"}, "Error: invalid holder type all."),
        ("get_option_chain", {"expiration_date": "2025-11-07", "option_type": "call"}, "Invalid option type: call."),
        (
            "get_option_chain",
            {"expiration_date": "2025-11-08", "option_type": "calls"},
            "No options available for 2025-11-08.",
        ),
        ("get_recommendations", {"recommendation_type": "buy"}, "Invalid recommendation_type: buy"),
        (
            "get_recommendations",
            {"recommendation_type": "upgrades_downgrades", "months_back": -1},
            "Error: getting recommendations for MSFT:",
        ),
    ],
)
def test_an_unknown_choice_is_a_sentence(bench: Bench, tool: str, arguments: dict[str, Any], begins: str) -> None:
    assert problem(bench, tool, ticker="MSFT", **arguments).startswith(begins)


def test_every_interval_answers(bench: Bench) -> None:
    for interval in INTERVALS:
        rows = history(bench, "MCD", interval, **LAST_WEEK)
        assert rows
        assert all(datetime.fromisoformat(row["Date"]) for row in rows)
        assert rows[-1]["Close"] == ask(bench, "get_stock_info", ticker="MCD")["currentPrice"]


@pytest.mark.parametrize(
    ("ticker", "kind", "price"),
    [
        ("^gspc", "INDEX", 6840.2),
        ("^DJI", "INDEX", 47562.87),
        ("EURUSD=X", "CURRENCY", 1.1537),
        ("GC=F", "FUTURE", 3996.5),
    ],
)
def test_indices_currencies_and_futures_have_prices(bench: Bench, ticker: str, kind: str, price: float) -> None:
    card = ask(bench, "get_stock_info", ticker=ticker)
    assert (card["symbol"], card["quoteType"], card["regularMarketPrice"]) == (ticker.upper(), kind, price)
    rows = history(bench, ticker, **LAST_WEEK)
    assert (len(rows), rows[-1]["Close"]) == (5, price)
    assert all(row["Low"] <= min(row["Open"], row["Close"]) for row in rows)
    known = kind == "INDEX"
    assert ("Close" in rows[-1]["Synthetic"].split()) is not known
    assert ("regularMarketPrice" in card["Synthetic"].split()) is not known
    assert "sharesOutstanding" not in card
    assert ask(bench, "get_stock_actions", ticker=ticker) == []


def test_an_index_has_no_reports(bench: Bench) -> None:
    arguments = {"ticker": "^GSPC", "financial_type": "income_stmt"}
    assert problem(bench, "get_financial_statement", **arguments) == "No financial statements found for ^GSPC."
    assert bench.reply("yahoo-finance/get_yahoo_finance_news", ticker="^GSPC").outcome == "gap"

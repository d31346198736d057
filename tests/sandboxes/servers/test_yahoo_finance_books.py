"""The `yahoo-finance` server's books: statements that add up, owners that own no more than there is, fair options."""

import json
import math
from datetime import date
from itertools import pairwise
from typing import Any

import pytest

from m3bench.sandboxes.world import options, stocks
from tests.sandboxes.servers.conftest import Bench

TICKERS = sorted(stocks.companies())
OFTEN = ("", "quarterly_")
Card = dict[str, Any]


def ask(bench: Bench, tool: str, **arguments: Any) -> Any:
    return json.loads(bench.text(f"yahoo-finance/{tool}", arguments))


def cards(bench: Bench, ticker: str, kind: str) -> list[Card]:
    return list(ask(bench, "get_financial_statement", ticker=ticker, financial_type=kind))


def holders(bench: Bench, ticker: str, kind: str) -> list[Card]:
    return list(ask(bench, "get_holder_info", ticker=ticker, holder_type=kind))


def total(card: Card, *names: str) -> int:
    return sum(card.get(name, 0) for name in names)


@pytest.mark.sample(8)
@pytest.mark.parametrize("often", OFTEN)
@pytest.mark.parametrize("ticker", TICKERS)
def test_a_balance_balances(bench: Bench, ticker: str, often: str) -> None:
    for card in cards(bench, ticker, f"{often}balance_sheet"):
        debts, equity = card["Total Liabilities Net Minority Interest"], card["Stockholders Equity"]
        assert card["Total Assets"] == debts + equity
        assert equity == total(card, "Capital Stock", "Retained Earnings")
        assert card["Total Debt"] == total(card, "Current Debt", "Long Term Debt")
        if "Current Assets" in card:
            assert card["Total Assets"] == card["Current Assets"] + card["Total Non Current Assets"]
            later = card["Total Non Current Liabilities Net Minority Interest"]
            assert debts == card["Current Liabilities"] + later
            assert card["Current Assets"] == total(
                card,
                "Cash And Cash Equivalents",
                "Other Short Term Investments",
                "Receivables",
                "Inventory",
                "Other Current Assets",
            )
        signed = {"Retained Earnings", "Stockholders Equity", "Net Debt", "date"}
        assert all(amount >= 0 for name, amount in card.items() if name not in signed)


@pytest.mark.sample(8)
@pytest.mark.parametrize("often", OFTEN)
@pytest.mark.parametrize("ticker", TICKERS)
def test_an_income_statement_adds_up(bench: Bench, ticker: str, often: str) -> None:
    for card in cards(bench, ticker, f"{often}income_stmt"):
        gross = card["Total Revenue"] - card.get("Cost Of Revenue", 0)
        assert card.get("Gross Profit", gross) == gross
        assert card["Operating Income"] == gross - card["Operating Expense"]
        assert card["Operating Expense"] == total(
            card, "Research And Development", "Selling General And Administration", "Other Operating Expenses"
        )
        other = card["Interest Income"] - card["Interest Expense"] + card["Other Non Operating Income Expenses"]
        assert card["Pretax Income"] == card["Operating Income"] + other
        assert card["Net Income"] == card["Pretax Income"] - card["Tax Provision"]
        assert card["EBITDA"] == card["Pretax Income"] + total(card, "Interest Expense", "Reconciled Depreciation")
        assert card["Basic EPS"] == pytest.approx(card["Net Income"] / card["Basic Average Shares"], abs=0.006)


@pytest.mark.sample(8)
@pytest.mark.parametrize("often", OFTEN)
@pytest.mark.parametrize("ticker", TICKERS)
def test_cash_flows_from_one_balance_to_the_next(bench: Bench, ticker: str, often: str) -> None:
    flows = cards(bench, ticker, f"{often}cashflow")
    for card in flows:
        changes = total(card, "Operating Cash Flow", "Investing Cash Flow", "Financing Cash Flow")
        assert card["Changes In Cash"] == changes
        assert card["End Cash Position"] == card["Beginning Cash Position"] + changes
        assert card["Free Cash Flow"] == card["Operating Cash Flow"] + card["Capital Expenditure"]
        assert card["Operating Cash Flow"] == total(
            card,
            "Net Income From Continuing Operations",
            "Depreciation And Amortization",
            "Stock Based Compensation",
            "Change In Working Capital",
        )
    for newer, older in pairwise(flows):
        assert newer["Beginning Cash Position"] == older["End Cash Position"]
    balances, incomes = (cards(bench, ticker, f"{often}{kind}") for kind in ("balance_sheet", "income_stmt"))
    for flow, balance, income in zip(flows, balances, incomes, strict=True):
        assert flow["date"] == balance["date"] == income["date"]
        assert flow["End Cash Position"] == balance["Cash And Cash Equivalents"]
        assert flow["Net Income From Continuing Operations"] == income["Net Income"]


@pytest.mark.sample(6)
@pytest.mark.parametrize("ticker", TICKERS)
def test_periods_are_in_order_and_published(bench: Bench, ticker: str) -> None:
    years = [date.fromisoformat(card["date"]) for card in cards(bench, ticker, "income_stmt")]
    quarters = [date.fromisoformat(card["date"]) for card in cards(bench, ticker, "quarterly_income_stmt")]
    assert (len(years), len(quarters)) == (4, 5)
    assert all(newer.year == older.year + 1 for newer, older in pairwise(years))
    assert all(89 <= (newer - older).days <= 92 for newer, older in pairwise(quarters))
    assert date(2025, 6, 1) < quarters[0] <= date(2025, 9, 30)


@pytest.mark.parametrize("ticker", ["AAPL", "V", "COST", "SBUX", "CSCO"])
def test_the_quarters_of_a_year_add_up_to_it(bench: Bench, ticker: str) -> None:
    for kind in ("income_stmt", "cashflow"):
        year, quarters = cards(bench, ticker, kind)[0], cards(bench, ticker, f"quarterly_{kind}")[:4]
        assert year["date"] == quarters[0]["date"]
        kept = ("date", "EPS", "Shares", "Position")
        for name, amount in year.items():
            if not any(word in name for word in kept):
                assert sum(quarter[name] for quarter in quarters) == amount, name
    year, quarter = (cards(bench, ticker, f"{often}balance_sheet")[0] for often in OFTEN)
    assert year == quarter


@pytest.mark.all_sample(10)
@pytest.mark.sample(3)
@pytest.mark.parametrize("ticker", TICKERS)
def test_the_quote_sums_up_the_last_four_quarters(bench: Bench, ticker: str) -> None:
    quote = ask(bench, "get_stock_info", ticker=ticker)
    quarters = cards(bench, ticker, "quarterly_income_stmt")[:4]
    balance = cards(bench, ticker, "quarterly_balance_sheet")[0]
    assert quote["totalRevenue"] == sum(card["Total Revenue"] for card in quarters)
    assert quote["netIncomeToCommon"] == sum(card["Net Income"] for card in quarters)
    assert quote["totalDebt"] == balance["Total Debt"]
    if quote["financialCurrency"] == "USD":
        earned = quote["netIncomeToCommon"] / quote["sharesOutstanding"]
        assert quote["trailingEps"] == pytest.approx(earned, abs=0.006)
    if "trailingPE" in quote:
        assert quote["trailingPE"] == pytest.approx(quote["currentPrice"] / quote["trailingEps"], rel=1e-4)


@pytest.mark.sample(8)
@pytest.mark.parametrize("ticker", TICKERS)
def test_holders_own_no_more_than_there_is(bench: Bench, ticker: str) -> None:
    parts = {row["metric"]: row["Value"] for row in holders(bench, ticker, "major_holders")}
    assert parts["insidersPercentHeld"] + parts["institutionsPercentHeld"] <= 1
    assert parts["institutionsFloatPercentHeld"] <= 1
    quote = ask(bench, "get_stock_info", ticker=ticker)
    assert quote["heldPercentInstitutions"] == parts["institutionsPercentHeld"]
    for kind in ("institutional_holders", "mutualfund_holders"):
        rows = holders(bench, ticker, kind)
        assert len(rows) == 10
        assert sum(row["pctHeld"] for row in rows) <= parts["institutionsPercentHeld"]
        assert [row["pctHeld"] for row in rows] == sorted((row["pctHeld"] for row in rows), reverse=True)
        for row in rows:
            assert row["Shares"] == pytest.approx(row["pctHeld"] * quote["sharesOutstanding"], abs=1)
            assert row["Value"] == pytest.approx(row["Shares"] * quote["currentPrice"], abs=1)


@pytest.mark.sample(5)
@pytest.mark.parametrize("ticker", TICKERS[::3])
def test_what_insiders_did_is_summed_up_and_within_the_days_prices(bench: Bench, ticker: str) -> None:
    deeds = holders(bench, ticker, "insider_transactions")
    names = {officer["name"].upper() for officer in stocks.companies()[ticker]["officers"]}
    days = ask(bench, "get_historical_stock_prices", ticker=ticker, start_date="2024-10-01", end_date="2025-11-01")
    prices = {row["Date"][:10]: row for row in days}
    for deed in deeds:
        assert deed["Insider"] in names
        day = prices[deed["Start Date"][:10]]
        if deed["Value"]:
            assert day["Low"] <= deed["Value"] / deed["Shares"] + 1e-3
            assert deed["Value"] / deed["Shares"] - 0.5 <= day["High"]
    half = [deed for deed in deeds if deed["Start Date"] >= "2025-05-03"]
    gained = [deed for deed in half if deed["Text"].startswith("Stock Award")]
    lost = [deed for deed in half if deed["Text"].startswith(("Sale", "Stock Gift"))]
    sums = {row["Insider Purchases Last 6m"]: row for row in holders(bench, ticker, "insider_purchases")}
    for name, some in (("Purchases", gained), ("Sales", lost)):
        assert (sums[name]["Shares"], sums[name]["Trans"]) == (sum(deed["Shares"] for deed in some), len(some))
    roster = holders(bench, ticker, "insider_roster_holders")
    assert {row["Name"] for row in roster} == names
    assert sum(row["Shares Owned Directly"] for row in roster) <= sums["Total Insider Shares Held"]["Shares"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("ticker", [ticker for ticker in TICKERS if ticker not in options.WITHOUT])
def test_calls_fall_and_puts_rise_with_the_strike(bench: Bench, ticker: str) -> None:
    spot = ask(bench, "get_stock_info", ticker=ticker)["currentPrice"]
    dates = ask(bench, "get_option_expiration_dates", ticker=ticker)
    assert len(dates) >= 12
    assert dates == sorted(dates)
    assert dates[0] > "2025-11-01"
    for day in (dates[0], dates[6], dates[-1]):
        calls, puts = (
            ask(bench, "get_option_chain", ticker=ticker, expiration_date=day, option_type=side)
            for side in ("calls", "puts")
        )
        strikes = [line["strike"] for line in calls]
        assert strikes == sorted(set(strikes)) == [line["strike"] for line in puts]
        assert strikes[0] < spot < strikes[-1]
        assert all(low["lastPrice"] >= high["lastPrice"] for low, high in pairwise(calls))
        assert all(low["lastPrice"] <= high["lastPrice"] for low, high in pairwise(puts))
        years = (date.fromisoformat(day) - date(2025, 11, 1)).days / 365
        for call, put in zip(calls, puts, strict=True):
            assert call["inTheMoney"] == (call["strike"] < spot)
            assert put["inTheMoney"] == (put["strike"] > spot)
            assert call["bid"] <= call["lastPrice"] <= call["ask"]
            parity = spot - call["strike"] * math.exp(-options.RATE * years)
            assert call["lastPrice"] - put["lastPrice"] == pytest.approx(parity, abs=0.025)


def test_a_contract_is_named_as_exchanges_do(bench: Bench) -> None:
    lines = ask(bench, "get_option_chain", ticker="AAPL", expiration_date="2025-12-19", option_type="puts")
    assert "AAPL251219P00270000" in [line["contractSymbol"] for line in lines]
    assert all(line["lastTradeDate"].startswith("2025-10-31T") for line in lines)


def test_later_options_cost_more(bench: Bench) -> None:
    prices = [
        next(line.price for line in options.chain("MSFT", day, "calls") if line.strike == 520)
        for day in options.EXPIRIES
    ]
    assert prices == sorted(prices)


def test_a_share_without_options_says_so(bench: Bench) -> None:
    assert ask(bench, "get_option_expiration_dates", ticker="BRK-A") == []
    reply = bench.reply(
        "yahoo-finance/get_option_chain", ticker="BRK-A", expiration_date="2025-11-07", option_type="calls"
    )
    assert reply.outcome == "not_found"
    assert reply.result["content"][0]["text"].startswith("No options available for 2025-11-07.")

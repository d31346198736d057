"""Financial statements as they are shown: lines with the sums between them, in whole units of the currency."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from m3bench.sandboxes.world import statements, stocks
from m3bench.sandboxes.world.statements import MILLION, QUARTERS, Lines, Period

Card = dict[str, Any]

_EXPENSES = ("Research And Development", "Selling General And Administration", "Other Operating Expenses")
_CURRENT_ASSETS = ("Other Short Term Investments", "Receivables", "Inventory", "Other Current Assets")
_CURRENT_DEBTS = ("Payables And Accrued Expenses", "Current Debt", "Other Current Liabilities")
_LATER_DEBTS = ("Long Term Debt", "Other Non Current Liabilities")
_OPERATING = (
    "Net Income From Continuing Operations",
    "Depreciation And Amortization",
    "Stock Based Compensation",
    "Change In Working Capital",
)
_INVESTING = ("Capital Expenditure", "Net Investment Purchase And Sale")
_FINANCING = ("Cash Dividends Paid", "Repurchase Of Capital Stock", "Net Issuance Payments Of Debt")
DILUTION = 1.005
"""Shares with options and rewards counted in, over shares."""


def cards(ticker: str, kind: str) -> list[Card]:
    """The cards of a kind of statement, newest first, each with the `date` of the period's end."""
    periods: Sequence[Period]
    quarters = kind.startswith("quarterly_")
    periods = statements.quarterly(ticker)[:QUARTERS] if quarters else statements.annual(ticker)
    make = KINDS[kind.removeprefix("quarterly_")]
    return [{"date": period.end.isoformat(), **make(period, ticker)} for period in periods]


def income(period: Period, ticker: str) -> Card:
    """Revenue, less costs, less expenses, with interest and other income, less tax."""
    lines = period.income
    expense = sum(lines.get(name, 0) for name in _EXPENSES)
    cost = lines.get("Cost Of Revenue", 0)
    operating = lines["Total Revenue"] - cost - expense
    net = statements.net_income(lines)
    pretax = net + lines["Tax Provision"]
    ebit = pretax + lines["Interest Expense"]
    card = {"Total Revenue": lines["Total Revenue"]}
    if "Cost Of Revenue" in lines:
        card |= {"Cost Of Revenue": cost, "Gross Profit": lines["Total Revenue"] - cost}
    card |= _some(lines, _EXPENSES)
    card |= {"Operating Expense": expense, "Total Expenses": cost + expense, "Operating Income": operating}
    card |= _some(lines, ("Interest Income", "Interest Expense", "Other Non Operating Income Expenses"))
    card |= {"Pretax Income": pretax, "Tax Provision": lines["Tax Provision"], "Net Income": net, "EBIT": ebit}
    card |= {
        "Reconciled Depreciation": lines["Reconciled Depreciation"],
        "EBITDA": ebit + lines["Reconciled Depreciation"],
    }
    shares = stocks.companies()[ticker]["shares"]
    diluted = round(shares * DILUTION)
    return {
        **_whole(card),
        "Basic EPS": round(net * MILLION / shares, 2),
        "Diluted EPS": round(net * MILLION / diluted, 2),
        "Basic Average Shares": shares,
        "Diluted Average Shares": diluted,
    }


def balance(period: Period, ticker: str) -> Card:
    """What a company has and owes, and what is its owners'."""
    lines = period.balance
    has_terms = "Other Current Assets" in lines
    cash = lines["Cash And Cash Equivalents"]
    owed = sum(lines.get(name, 0) for name in (*_CURRENT_DEBTS, *_LATER_DEBTS))
    equity = lines["Capital Stock"] + lines["Retained Earnings"]
    debt = lines["Current Debt"] + lines["Long Term Debt"]
    later = ("Investments And Advances", "Net PPE", "Goodwill And Other Intangible Assets", "Other Non Current Assets")
    current = cash + sum(lines.get(name, 0) for name in _CURRENT_ASSETS)
    rest = sum(lines.get(name, 0) for name in later)
    card = {"Cash And Cash Equivalents": cash, **_some(lines, _CURRENT_ASSETS)}
    card |= {"Current Assets": current} if has_terms else {}
    card |= _some(lines, later)
    card |= {"Total Non Current Assets": rest} if has_terms else {}
    card |= {"Total Assets": current + rest, **_some(lines, _CURRENT_DEBTS)}
    card |= {"Current Liabilities": sum(lines[name] for name in _CURRENT_DEBTS)} if has_terms else {}
    card |= _some(lines, _LATER_DEBTS)
    card |= (
        {"Total Non Current Liabilities Net Minority Interest": sum(lines[name] for name in _LATER_DEBTS)}
        if has_terms
        else {}
    )
    card |= {
        "Total Liabilities Net Minority Interest": owed,
        **_some(lines, ("Capital Stock", "Retained Earnings")),
        "Stockholders Equity": equity,
        "Total Debt": debt,
        "Net Debt": debt - cash,
    }
    shares = stocks.companies()[ticker]["shares"]
    return {**_whole(card), "Share Issued": shares, "Ordinary Shares Number": shares}


def cash_flow(period: Period, _ticker: str) -> Card:
    """Where the cash of a period came from and went."""
    lines = period.cash
    operating, investing, financing = (
        sum(lines[name] for name in names) for names in (_OPERATING, _INVESTING, _FINANCING)
    )
    return _whole(
        {
            **_some(lines, _OPERATING),
            "Operating Cash Flow": operating,
            **_some(lines, _INVESTING),
            "Investing Cash Flow": investing,
            **_some(lines, _FINANCING),
            "Financing Cash Flow": financing,
            "Beginning Cash Position": lines["Beginning Cash Position"],
            "Changes In Cash": operating + investing + financing,
            "End Cash Position": lines["End Cash Position"],
            "Free Cash Flow": operating + lines["Capital Expenditure"],
        }
    )


KINDS: Mapping[str, Callable[[Period, str], Card]] = {
    "income_stmt": income,
    "balance_sheet": balance,
    "cashflow": cash_flow,
}


def _some(lines: Lines, names: Sequence[str]) -> Lines:
    return {name: lines[name] for name in names if name in lines}


def _whole(lines: Mapping[str, int]) -> Card:
    return {name: amount * MILLION for name, amount in lines.items()}

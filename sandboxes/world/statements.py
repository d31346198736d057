"""Financial statements of listed companies: annual and quarterly, and every sum in them holds.

A few figures of each year are facts of the table `company_reports`; single lines are shares of them, fixed per
company. Lines of a year are spread over its quarters without remainder and totals are added up from lines, so that
quarters add up to years, assets equal liabilities and equity, and the cash flow leads from one balance's cash to the
next. Amounts are whole units of the reporting currency. Statements are shown as lines with the sums between them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

from m3bench.sandboxes.world import noise, stocks, tables

Lines = dict[str, int]
MILLION = 1_000_000
YEARS = 4
QUARTERS = 5

_WEIGHTS = 1000
"""What the weights of a year's quarters are counted in; finer than they need be."""


@dataclass(frozen=True, kw_only=True)
class FinancialReport:
    """A year's own figures, in millions; those of a running year are expected ones."""

    ticker: str
    year_end: date
    running: bool
    reported_to: date
    """Up to when a running year is published."""
    currency: str
    tax_rate: float
    revenue: int
    gross_profit: int | None
    """None where there is no cost of goods: banks and insurers."""
    operating_income: int
    net_income: int
    assets: int
    equity: int
    operating_cash: int
    capital_spending: int


@dataclass(frozen=True, kw_only=True)
class Period:
    """The lines of a year or a quarter and of the balance at its end."""

    end: date
    income: Lines
    balance: Lines
    cash: Lines


def currency(ticker: str) -> str:
    """The currency in which a company reports."""
    return _reports(_reporter(ticker))[0].currency


def annual(ticker: str) -> tuple[Period, ...]:
    """The closed years, newest first."""
    return tuple(reversed([year for year, report in _years(_reporter(ticker)) if not report.running]))[:YEARS]


def quarterly(ticker: str) -> tuple[Period, ...]:
    """Every published quarter, newest first; a client is shown the first `QUARTERS` of them."""
    return tuple(reversed(_quarters(_reporter(ticker))))


def _reporter(ticker: str) -> str:
    return str(stocks.companies()[ticker]["reports_as"])


@cache
def _reports(ticker: str) -> tuple[FinancialReport, ...]:
    """Oldest first."""
    found = []
    for record in tables.load("company_reports"):
        if record["company_id"] != ticker:
            continue
        facts = {key: value for key, value in record.items() if key not in ("id", "company_id", "status")}
        facts["year_end"] = date.fromisoformat(record["year_end"])
        facts["reported_to"] = date.fromisoformat(record.get("reported_to", record["year_end"]))
        found.append(FinancialReport(ticker=ticker, running=record["status"] == "running", **facts))
    return tuple(sorted(found, key=lambda report: report.year_end))


@cache
def _years(ticker: str) -> tuple[tuple[Period, FinancialReport], ...]:
    """Every year with its report, oldest first. The year before the first is taken to have been a little smaller."""
    reports = _reports(ticker)
    before = _balance(reports[0], scale=0.94)
    years = []
    for report in reports:
        balance, income = _balance(report), _income(report)
        years.append((_period(report.year_end, income, balance, _cash_lines(report, income), before), report))
        before = balance
    return tuple(years)


@cache
def _quarters(ticker: str) -> tuple[Period, ...]:
    """Every published quarter, oldest first."""
    quarters: list[Period] = []
    before = _balance(_reports(ticker)[0], scale=0.94)
    previous = 0
    for year, report in _years(ticker):
        weights = _season(ticker, report.revenue / previous - 1 if previous else 0.0)
        start = before
        last = before
        for quarter in range(4):
            end = _month_end(year.end, 3 * (3 - quarter))
            if report.running and end > report.reported_to:
                break
            balance = _between(start, year.balance, quarter + 1)
            income = _spread(year.income, weights, quarter)
            flows = _spread(_leaves(year.cash), weights, quarter)
            quarters.append(_period(end, income, balance, flows, last))
            last = balance
        before, previous = year.balance, report.revenue
    return tuple(quarters)


def _period(end: date, income: Lines, balance: Lines, flows: Lines, before: Lines) -> Period:
    return Period(end=end, income=income, balance=_settled(balance), cash=_flow(flows, income, before, balance))


def net_income(income: Lines) -> int:
    """What is left of the revenue after all lines of an income statement."""
    gains = ("Total Revenue", "Interest Income", "Other Non Operating Income Expenses")
    memo = "Reconciled Depreciation"
    return sum(amount if name in gains else -amount for name, amount in income.items() if name != memo)


def _income(report: FinancialReport) -> Lines:
    """The lines of a year's income statement, in millions."""
    key = report.ticker
    pretax = round(report.net_income / (1 - report.tax_rate))
    interest_paid = round(report.assets * noise.between(0.004, 0.011, key, "interest paid"))
    interest_earned = round(report.assets * noise.between(0.003, 0.009, key, "interest earned"))
    lines = {"Total Revenue": report.revenue}
    if report.gross_profit is None:
        expense = report.revenue - report.operating_income
        lines["Selling General And Administration"] = round(expense * noise.between(0.55, 0.7, key, "overhead"))
        lines["Other Operating Expenses"] = expense - lines["Selling General And Administration"]
        interest_paid = interest_earned = 0
    else:
        expense = report.gross_profit - report.operating_income
        research = noise.between(*_RESEARCH.get(stocks.companies()[key]["sector"], (0.02, 0.12)), key, "research")
        lines["Cost Of Revenue"] = report.revenue - report.gross_profit
        lines["Research And Development"] = max(0, round(expense * research))
        lines["Selling General And Administration"] = expense - lines["Research And Development"]
    return {
        **lines,
        "Interest Income": interest_earned,
        "Interest Expense": interest_paid,
        "Other Non Operating Income Expenses": pretax - report.operating_income - interest_earned + interest_paid,
        "Tax Provision": pretax - report.net_income,
        "Reconciled Depreciation": _depreciation(report),
    }


_RESEARCH = {
    "Technology": (0.42, 0.62),
    "Communication Services": (0.35, 0.5),
    "Healthcare": (0.3, 0.5),
    "Consumer Cyclical": (0.05, 0.35),
}
"""The share of research in operating expenses, from … to, by sector."""


def _depreciation(report: FinancialReport) -> int:
    low, high = (0.012, 0.04) if report.gross_profit is not None else (0.0015, 0.0025)
    return round(report.assets * noise.between(low, high, report.ticker, "depreciation"))


def _balance(report: FinancialReport, scale: float = 1.0) -> Lines:
    """The lines of a year's closing balance, in millions; what is left over is in the lines called other."""
    key = report.ticker
    assets, equity = round(report.assets * scale), round(report.equity * scale)
    debts = assets - equity

    def share(low: float, high: float, name: str) -> float:
        """A company's own share, a little different each year."""
        return noise.between(low, high, key, name) * noise.between(0.93, 1.07, key, name, report.year_end.year, scale)

    if report.gross_profit is None:
        lines = {
            "Cash And Cash Equivalents": round(assets * share(0.06, 0.13, "cash")),
            "Receivables": round(assets * share(0.3, 0.36, "loans")),
            "Investments And Advances": round(assets * share(0.33, 0.4, "securities")),
            "Net PPE": round(assets * share(0.006, 0.01, "plant")),
            "Goodwill And Other Intangible Assets": round(assets * share(0.015, 0.02, "goodwill")),
        }
        owed = {
            "Payables And Accrued Expenses": round(debts * share(0.05, 0.07, "payables")),
            "Current Debt": round(debts * share(0.02, 0.03, "short debt")),
            "Long Term Debt": round(debts * share(0.09, 0.11, "long debt")),
        }
    else:
        lines = {
            "Cash And Cash Equivalents": round(assets * share(0.06, 0.12, "cash")),
            "Other Short Term Investments": round(assets * share(0.03, 0.1, "securities")),
            "Receivables": round(assets * share(0.07, 0.12, "receivables")),
            "Inventory": round(assets * share(0.01, 0.08, "stock")),
            "Other Current Assets": round(assets * share(0.02, 0.05, "other current")),
            "Net PPE": round(assets * share(0.14, 0.32, "plant")),
            "Goodwill And Other Intangible Assets": round(assets * share(0.05, 0.16, "goodwill")),
        }
        owed = {
            "Payables And Accrued Expenses": round(debts * share(0.18, 0.28, "payables")),
            "Current Debt": round(debts * share(0.03, 0.06, "short debt")),
            "Other Current Liabilities": round(debts * share(0.1, 0.18, "other current debts")),
            "Long Term Debt": round(debts * share(0.26, 0.38, "long debt")),
        }
    capital = round(assets * (share(0.08, 0.14, "capital") if "Inventory" in lines else share(0.02, 0.03, "capital")))
    return {
        **lines,
        "Other Non Current Assets": assets - sum(lines.values()),
        **owed,
        "Other Non Current Liabilities": debts - sum(owed.values()),
        "Capital Stock": capital,
        "Retained Earnings": equity - capital,
    }


_ASSETS = (
    "Cash And Cash Equivalents",
    "Other Short Term Investments",
    "Receivables",
    "Inventory",
    "Other Current Assets",
    "Investments And Advances",
    "Net PPE",
    "Goodwill And Other Intangible Assets",
    "Other Non Current Assets",
)
_OTHER_DEBTS = "Other Non Current Liabilities"


def _settled(balance: Lines) -> Lines:
    """The same with what is left of the assets as other liabilities, where rounding took a unit away."""
    assets = sum(balance.get(name, 0) for name in _ASSETS)
    claims = sum(amount for name, amount in balance.items() if name not in _ASSETS and name != _OTHER_DEBTS)
    return {**balance, _OTHER_DEBTS: assets - claims}


def _between(start: Lines, end: Lines, quarter: int) -> Lines:
    """A balance on the way from one year's end to the next."""
    return {name: (start[name] * (4 - quarter) + end[name] * quarter) // 4 for name in end}


def _cash_lines(report: FinancialReport, income: Lines) -> Lines:
    """The lines of a year's cash flow that do not follow from others, in millions."""
    key, year = report.ticker, report.year_end.year
    company = stocks.companies()[key]
    rewards = round(max(0, report.revenue) * noise.between(0.004, 0.06, key, "stock rewards"))
    paid_in = str(min(max(year, 2023), 2025))
    per_share = sum(amount for day, amount in company["dividends"] if day.startswith(paid_in))
    free = report.operating_cash - report.capital_spending
    paid = round(min(per_share * company["shares"] / MILLION, abs(report.net_income)))
    return {
        "Depreciation And Amortization": income["Reconciled Depreciation"],
        "Stock Based Compensation": rewards,
        "Change In Working Capital": report.operating_cash - report.net_income - _depreciation(report) - rewards,
        "Capital Expenditure": -report.capital_spending,
        "Net Investment Purchase And Sale": round(free * noise.between(-0.3, 0.15, key, year, "securities")),
        "Cash Dividends Paid": -paid,
        "Repurchase Of Capital Stock": -max(0, round((free - paid) * noise.between(0.3, 0.8, key, year, "buy-back"))),
    }


_PROFIT_FLOW = "Net Income From Continuing Operations"
_DEBT_FLOW = "Net Issuance Payments Of Debt"


def _flow(lines: Lines, income: Lines, before: Lines, after: Lines) -> Lines:
    """With the profit it begins with and the new debt that makes the cash arrive at the balance."""
    change = after["Cash And Cash Equivalents"] - before["Cash And Cash Equivalents"]
    flows = {_PROFIT_FLOW: net_income(income), **lines}
    return {
        **flows,
        _DEBT_FLOW: change - sum(flows.values()),
        "Beginning Cash Position": before["Cash And Cash Equivalents"],
        "End Cash Position": after["Cash And Cash Equivalents"],
    }


def _leaves(cash: Lines) -> Lines:
    derived = (_PROFIT_FLOW, _DEBT_FLOW, "Beginning Cash Position", "End Cash Position")
    return {name: amount for name, amount in cash.items() if name not in derived}


def _season(ticker: str, growth: float) -> tuple[int, ...]:
    """Weights of a year's quarters: the company's own season, rising when the year grows."""
    tilt = max(-0.4, min(0.6, growth)) / 4
    own = [noise.between(0.95, 1.05, ticker, "quarter", quarter) for quarter in range(4)]
    return tuple(round(_WEIGHTS * weight * (1 + tilt * (quarter - 1.5))) for quarter, weight in enumerate(own))


def _spread(lines: Mapping[str, int], weights: tuple[int, ...], quarter: int) -> Lines:
    """A quarter's part of each line; the four parts add up to the line."""
    whole, until, upto = sum(weights), sum(weights[:quarter]), sum(weights[: quarter + 1])
    return {name: amount * upto // whole - amount * until // whole for name, amount in lines.items()}


def _month_end(day: date, months_before: int) -> date:
    first = day.year * 12 + day.month - months_before
    return date(first // 12, first % 12 + 1, 1) - timedelta(days=1)


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
    periods = quarterly(ticker)[:QUARTERS] if quarters else annual(ticker)
    make = KINDS[kind.removeprefix("quarterly_")]
    return [{"date": period.end.isoformat(), **make(period, ticker)} for period in periods]


def income(period: Period, ticker: str) -> Card:
    """Revenue, less costs, less expenses, with interest and other income, less tax."""
    lines = period.income
    expense = sum(lines.get(name, 0) for name in _EXPENSES)
    cost = lines.get("Cost Of Revenue", 0)
    operating = lines["Total Revenue"] - cost - expense
    net = net_income(lines)
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

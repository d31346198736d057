"""The `yahoo-finance` server: quotes, history, statements, owners, options, ratings and headlines of listed shares.

Answers are compact JSON, failures plain sentences without `isError`. Prices are adjusted, in the currency of the
share; bars of the exchange's day carry New York's midnight in UTC. Intraday bars reach back as far as on Yahoo:
30 days and eight at a time for a minute, 60 days up to 90 minutes, 730 for an hour. Headlines, which the public
server leaves empty with newer libraries, are given. The field `Synthetic`, which the public service lacks, names what
is generated and not reported; `row` stands for all of a row.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from m3bench.sandboxes.content import compact
from m3bench.sandboxes.gaps import covered, gap
from m3bench.sandboxes.identifiers import is_ticker
from m3bench.sandboxes.servers.yahoo_finance.quote import quote
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import analysts, holders, listings, noise, options, sessions, statements, stocks, tables
from m3bench.sandboxes.world.bars import Bars
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.holders import Holding, Transaction
from m3bench.tasks.errors import SoftError

MINUTES = {"1m": 1, "2m": 2, "5m": 5, "15m": 15, "30m": 30, "60m": 60, "90m": 90, "1h": 60}
INTERVALS = (*MINUTES, "1d", "5d", "1wk", "1mo", "3mo")
REACH_DAYS = {"1m": 30, "60m": 730, "1h": 730}
OTHER_REACH_DAYS = 60
MOST_DAYS_OF_MINUTES = 8

DRAWN = "Open High Low Close Volume"
DRAWN_BUT_CLOSE = "Open High Low Volume"

PriceRow = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class DateSpan:
    """A window of days, the last one not included."""

    start: date
    end: date

    def problem(self, interval: str) -> str | None:
        """What forbids bars of an interval here; None when nothing does."""
        if interval not in MINUTES:
            return None
        reach = REACH_DAYS.get(interval, OTHER_REACH_DAYS)
        earliest = NOW.date() - timedelta(days=reach)
        if self.start < earliest:
            return f"{interval} data is only available for the last {reach} days: start on {earliest} or later"
        if interval == "1m" and (min(self.end, NOW.date()) - self.start).days > MOST_DAYS_OF_MINUTES:
            return f"only {MOST_DAYS_OF_MINUTES} days of 1m data are given at a time: narrow the window"
        return None

    def numbers(self) -> range:
        """The trading days in it that have bars."""
        days = sessions.days()
        inside = [number for number in range(1, len(days)) if self.start <= days[number] < self.end]
        return range(inside[0], inside[-1] + 1) if inside else range(0)


def history(ticker: str, span: DateSpan, interval: str) -> list[PriceRow]:
    """The rows of a window, oldest first; larger bars count only the days in the window."""
    numbers = span.numbers()
    if not numbers:
        return []
    if interval in MINUTES:
        return [row for number in numbers for row in _inside(ticker, number, MINUTES[interval])]
    days = [sessions.days()[number] for number in numbers]
    heads = [_head(day, place, days, interval) for place, day in enumerate(days)]
    starts = [place for place in range(len(days)) if not place or heads[place] != heads[place - 1]]
    found = stocks.daily(ticker).part(numbers[0] - 1, numbers[-1]).grouped(starts)
    ends = [*starts[1:], len(days)]
    rows = _rows(found, [sessions.moment(heads[place]) for place in starts], stocks.ticks(ticker))
    for row, start, end in zip(rows, starts, ends, strict=True):
        _add_actions(row, ticker, days[start:end])
        if stocks.is_known(ticker, days[end - 1]):
            row["Synthetic"] = DRAWN_BUT_CLOSE
    return rows


def _head(day: date, place: int, days: list[date], interval: str) -> date:
    """The day that a bar is named after: the Monday, the first of the month or quarter, or its own first day."""
    if interval == "1wk":
        return day - timedelta(days=day.weekday())
    if interval == "1mo":
        return day.replace(day=1)
    if interval == "3mo":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return days[place - place % 5] if interval == "5d" else day


def _inside(ticker: str, number: int, size: int) -> list[PriceRow]:
    day = sessions.days()[number]
    minutes = stocks.minutes(ticker, number)
    starts = np.arange(0, len(minutes), size)
    opening = sessions.moment(day, sessions.OPENING)
    moments = [opening + timedelta(minutes=int(start)) for start in starts]
    rows = _rows(minutes.grouped(starts), moments, stocks.ticks(ticker))
    _add_actions(rows[0], ticker, [day])
    return rows


def _rows(found: Bars, moments: list[datetime], ticks: int) -> list[PriceRow]:
    columns = (found.open, found.high, found.low, found.close, found.volume)
    return [
        {
            "Date": moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "Open": first / ticks,
            "High": high / ticks,
            "Low": low / ticks,
            "Close": last / ticks,
            "Volume": volume,
            "Dividends": 0.0,
            "Stock Splits": 0.0,
            "Synthetic": DRAWN,
        }
        for moment, first, high, low, last, volume in zip(moments, *(c.tolist() for c in columns), strict=True)
    ]


def _add_actions(row: PriceRow, ticker: str, days: list[date]) -> None:
    paid, split = stocks.dividends(ticker), stocks.splits(ticker)
    row["Dividends"] = round(sum(paid.get(day, 0.0) for day in days), 4)
    for day in days:
        if day in split:
            row["Stock Splits"] = split[day]


server = ToolServer("yahoo-finance", layout=compact)

Row = dict[str, object]

STATEMENTS = tuple(f"{often}{kind}" for kind in statements.KINDS for often in ("", "quarterly_"))
PERIODS = ("0m", "-1m", "-2m", "-3m")
MOST_MONTHS = 1200
DRAWN_CONTRACT = "lastTradeDate lastPrice bid ask change percentChange volume openInterest impliedVolatility"
DRAWN_ROW = "row"


@server.tool
def get_historical_stock_prices(ticker: str, start_date: str, end_date: str, interval: str = "1d") -> str:
    symbol = _symbol(ticker)
    doing = f"getting historical stock prices for {symbol}"
    start, end = _day(start_date, doing), _day(end_date, doing)
    if interval not in INTERVALS:
        raise _failed(doing, f"interval {interval!r} is not one of {', '.join(INTERVALS)}")
    if start >= end:
        raise _failed(doing, f"start_date {start_date} must be before end_date {end_date}, which is not included")
    span = DateSpan(start=start, end=end)
    problem = span.problem(interval)
    if problem:
        raise _failed(doing, problem)
    found = history(symbol, span, interval)
    return covered(compact(found), found or not sessions.before_ours(start, end))


@server.tool
def get_stock_info(ticker: str) -> str:
    listed = None if stocks.find(ticker) else listings.find(ticker)
    return compact(listings.card(listed)) if listed else compact(quote(_symbol(ticker)))


@server.tool
async def get_yahoo_finance_news(ticker: str) -> str:
    symbol = _share(ticker, "news", held=False)
    company = stocks.companies()[symbol]["reports_as"]
    found = [item for item in tables.load("company_news") if item["company_id"] == company]
    if not found:
        raise gap(f"No news found for company {symbol}.")
    newest = sorted(found, key=lambda item: str(item["date"]), reverse=True)
    return "\n\n".join(f"- {item['title']}\n  {_link(item)}" for item in newest)


@server.tool
async def get_stock_actions(ticker: str) -> str:
    symbol = _symbol(ticker)
    paid, split = stocks.dividends(symbol), stocks.splits(symbol)
    return compact(
        [
            {"Date": _stamp(sessions.moment(day)), "Dividends": paid.get(day, 0.0), "Stock Splits": split.get(day, 0.0)}
            for day in sorted({*paid, *split})
        ]
    )


@server.tool
def get_financial_statement(ticker: str, financial_type: str) -> str:
    symbol = _share(ticker, "financial statements")
    if financial_type not in STATEMENTS:
        raise _unknown(f"Error: invalid financial type {financial_type}. Use one of: {', '.join(STATEMENTS)}.")
    return compact(statements.cards(symbol, financial_type))


@server.tool
def get_holder_info(ticker: str, holder_type: str) -> str:
    symbol = _share(ticker, "holders")
    if holder_type not in HOLDERS:
        raise _unknown(f"Error: invalid holder type {holder_type}. Use one of: {', '.join(HOLDERS)}.")
    return compact(HOLDERS[holder_type](symbol))


@server.tool
async def get_option_expiration_dates(ticker: str) -> str:
    return compact([day.isoformat() for day in options.expiries(_share(ticker, "options", held=False))])


@server.tool
def get_option_chain(ticker: str, expiration_date: str, option_type: str) -> str:
    symbol = _share(ticker, "options", held=False)
    if option_type not in ("calls", "puts"):
        raise _unknown(f"Invalid option type: {option_type}. Use 'calls' or 'puts'.")
    known = {day.isoformat(): day for day in options.expiries(symbol)}
    if expiration_date not in known:
        raise SoftError(
            f"No options available for {expiration_date}. get_option_expiration_dates lists the dates there are.",
            outcome="gap" if known and _may_expire(expiration_date) else "not_found",
        )
    return compact([_contract(line) for line in options.chain(symbol, known[expiration_date], option_type)])


@server.tool
def get_recommendations(ticker: str, recommendation_type: str, months_back: int = 12) -> str:
    symbol = _share(ticker, "recommendations")
    if recommendation_type == "recommendations":
        return compact(
            [
                {"period": period, **analysts.counts(symbol, analysts.months_before(place)), "Synthetic": DRAWN_ROW}
                for place, period in enumerate(PERIODS)
            ]
        )
    if recommendation_type != "upgrades_downgrades":
        raise _unknown(
            f"Invalid recommendation_type: {recommendation_type}. Use 'recommendations' or 'upgrades_downgrades'."
        )
    if not 0 <= months_back <= MOST_MONTHS:
        raise _failed(f"getting recommendations for {symbol}", f"months_back must be 0 to {MOST_MONTHS}")
    return compact(
        [
            {
                "GradeDate": _stamp(said.moment),
                "Firm": said.firm,
                "ToGrade": said.grade,
                "FromGrade": said.before,
                "Action": said.action,
                "Synthetic": DRAWN_ROW,
            }
            for said in analysts.latest(symbol, analysts.months_before(months_back))
        ]
    )


def _major_holders(symbol: str) -> list[Row]:
    company = stocks.companies()[symbol]
    floating = 1 - company["insiders"]
    values = {
        "insidersPercentHeld": company["insiders"],
        "institutionsPercentHeld": company["institutions"],
        "institutionsFloatPercentHeld": round(min(1.0, company["institutions"] / floating), 5),
        "institutionsCount": holders.institutions_count(symbol),
    }
    return [{"metric": name, "Value": value} for name, value in values.items()]


def _holdings(symbol: str, kind: str) -> list[Row]:
    def row(holding: Holding) -> Row:
        return {
            "Date Reported": f"{holders.REPORTED.isoformat()}T00:00:00.000Z",
            "Holder": holding.name,
            "pctHeld": holding.part,
            "Shares": holding.shares,
            "Value": holding.value,
            "pctChange": holding.change,
            "Synthetic": DRAWN_ROW,
        }

    return [row(holding) for holding in holders.holdings(symbol, kind)]


def _transactions(symbol: str) -> list[Row]:
    return [
        {
            "Shares": deed.shares,
            "Value": deed.value,
            "URL": "",
            "Text": _told(deed),
            "Insider": deed.name.upper(),
            "Position": deed.title,
            "Transaction": "",
            "Start Date": f"{deed.day.isoformat()}T00:00:00.000Z",
            "Ownership": "D",
            "Synthetic": DRAWN_ROW,
        }
        for deed in holders.transactions(symbol)
    ]


def _purchases(symbol: str) -> list[Row]:
    """Shares that came to insiders against sales and gifts in half a year."""
    came = holders.recent(symbol, ("award",))
    went = holders.recent(symbol, ("sale", "gift"))
    gained, lost = (sum(deed.shares for deed in deeds) for deeds in (came, went))
    held = holders.insider_shares(symbol)
    before = held - gained + lost
    first = "Insider Purchases Last 6m"
    rows: list[Row] = [
        {first: "Purchases", "Shares": gained, "Trans": len(came)},
        {first: "Sales", "Shares": lost, "Trans": len(went)},
        {first: "Net Shares Purchased (Sold)", "Shares": gained - lost, "Trans": len(came) + len(went)},
        {first: "Total Insider Shares Held", "Shares": held, "Trans": None},
        {first: "% Net Shares Purchased (Sold)", "Shares": _part(gained - lost, before), "Trans": None},
        {first: "% Buy Shares", "Shares": _part(gained, before), "Trans": None},
        {first: "% Sell Shares", "Shares": _part(lost, before), "Trans": None},
    ]
    return [{**row, "Synthetic": DRAWN_ROW} for row in rows]


def _part(some: int, whole: int) -> float:
    """A fraction of six decimals; never minus zero."""
    return round(some / whole, 6) or 0.0


def _roster(symbol: str) -> list[Row]:
    return [
        {
            "Name": insider.name.upper(),
            "Position": insider.title,
            "URL": "",
            "Most Recent Transaction": insider.last.kind.capitalize() if insider.last else None,
            "Latest Transaction Date": f"{insider.last.day.isoformat()}T00:00:00.000Z" if insider.last else None,
            "Shares Owned Directly": insider.shares,
            "Position Direct Date": f"{insider.last.day.isoformat()}T00:00:00.000Z" if insider.last else None,
            "Synthetic": DRAWN_ROW,
        }
        for insider in holders.roster(symbol)
    ]


HOLDERS = {
    "major_holders": _major_holders,
    "institutional_holders": lambda symbol: _holdings(symbol, "institution"),
    "mutualfund_holders": lambda symbol: _holdings(symbol, "fund"),
    "insider_transactions": _transactions,
    "insider_purchases": _purchases,
    "insider_roster_holders": _roster,
}


def _told(deed: Transaction) -> str:
    if deed.kind == "sale":
        return f"Sale at price {deed.low:.2f} - {deed.high:.2f} per share."
    return f"Stock {deed.kind.capitalize()}{'(Grant)' if deed.kind == 'award' else ''} at price 0.00 per share."


def _contract(line: options.Contract) -> Row:
    return {
        "contractSymbol": line.symbol,
        "lastTradeDate": _stamp(line.traded),
        "strike": line.strike,
        "lastPrice": line.price,
        "bid": line.bid,
        "ask": line.ask,
        "change": line.change,
        "percentChange": round(100 * line.change / (line.price - line.change), 4),
        "volume": line.volume,
        "openInterest": line.open_interest,
        "impliedVolatility": line.volatility,
        "inTheMoney": line.in_the_money,
        "contractSize": "REGULAR",
        "currency": "USD",
        "Synthetic": DRAWN_CONTRACT,
    }


def _symbol(ticker: str) -> str:
    company = stocks.find(ticker)
    if company is None and (listed := listings.find(ticker)):
        raise gap(f"Only the name and the exchange of {listed['id']} ({listed['name']}) are known.")
    if company is None:
        raise SoftError(f"Company ticker {ticker} not found.", outcome="gap" if is_ticker(ticker) else "not_found")
    return str(company["id"])


def _share(ticker: str, what: str, *, held: bool = True) -> str:
    """The symbol of a share; of an index, a currency or a future there is no such thing, or it is not `held`."""
    symbol = _symbol(ticker)
    if symbol in stocks.instruments():
        raise SoftError(f"No {what} found for {symbol}.", outcome="not_found" if held else "gap")
    return symbol


def _day(text: str, doing: str) -> date:
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d").date()
    except ValueError:
        raise _failed(doing, f"{text!r} is not a date such as 2025-10-31") from None


def _may_expire(text: str) -> bool:
    """Whether options may expire on a day: a weekday to come."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return False
    return day >= NOW.date() and day.weekday() < 5


def _link(item: tables.Record) -> str:
    number = noise.integer(100_000_000, 999_999_999, item["id"])
    return f"https://finance.yahoo.com/news/{item['id']}-{number}.html"


def _failed(doing: str, problem: str) -> SoftError:
    return SoftError(f"Error: {doing}: {problem}", outcome="invalid_arguments")


def _unknown(text: str) -> SoftError:
    return SoftError(text, outcome="invalid_arguments")


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")

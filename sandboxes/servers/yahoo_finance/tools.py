"""The tools of `yahoo-finance`: quotes, history, statements, owners, options, ratings and headlines of listed shares.

Answers are compact JSON, failures plain sentences without `isError`. Prices are adjusted, in the currency of the
share; bars of the exchange's day carry New York's midnight in UTC. Intraday bars reach back as far as on Yahoo:
30 days and eight at a time for a minute, 60 days up to 90 minutes, 730 for an hour. Headlines, which the public
server leaves empty with newer libraries, are given. What is drawn and not reported is named in `Synthetic`, a field
that the public service lacks; `row` stands for all of a row.
"""

from datetime import UTC, date, datetime

from m3bench.sandboxes.content import compact
from m3bench.sandboxes.gaps import covered, gap
from m3bench.sandboxes.identifiers import is_ticker
from m3bench.sandboxes.servers.yahoo_finance.history import INTERVALS, Span, history
from m3bench.sandboxes.servers.yahoo_finance.quote import quote
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import analysts, holders, noise, options, sessions, statement_cards, stocks, tables
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.holders import Holding, Transaction
from m3bench.tasks.errors import SoftError

server = ToolServer("yahoo-finance", layout=compact)

Row = dict[str, object]

STATEMENTS = tuple(f"{often}{kind}" for kind in statement_cards.KINDS for often in ("", "quarterly_"))
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
    span = Span(start=start, end=end)
    problem = span.problem(interval)
    if problem:
        raise _failed(doing, problem)
    found = history(symbol, span, interval)
    return covered(compact(found), found or not sessions.before_ours(start, end))


@server.tool
def get_stock_info(ticker: str) -> str:
    return compact(quote(_symbol(ticker)))


@server.tool
async def get_yahoo_finance_news(ticker: str) -> str:
    symbol = _symbol(ticker)
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
    symbol = _symbol(ticker)
    if financial_type not in STATEMENTS:
        raise _unknown(f"Error: invalid financial type {financial_type}. Use one of: {', '.join(STATEMENTS)}.")
    return compact(statement_cards.cards(symbol, financial_type))


@server.tool
def get_holder_info(ticker: str, holder_type: str) -> str:
    symbol = _symbol(ticker)
    if holder_type not in HOLDERS:
        raise _unknown(f"Error: invalid holder type {holder_type}. Use one of: {', '.join(HOLDERS)}.")
    return compact(HOLDERS[holder_type](symbol))


@server.tool
async def get_option_expiration_dates(ticker: str) -> str:
    return compact([day.isoformat() for day in options.expiries(_symbol(ticker))])


@server.tool
def get_option_chain(ticker: str, expiration_date: str, option_type: str) -> str:
    symbol = _symbol(ticker)
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
    symbol = _symbol(ticker)
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
    if company is None:
        raise SoftError(f"Company ticker {ticker} not found.", outcome="gap" if is_ticker(ticker) else "not_found")
    return str(company["id"])


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

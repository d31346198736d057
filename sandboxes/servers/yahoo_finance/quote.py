"""The flat card of `get_stock_info`: who a company is, where its share stands, and what its reports add up to.

Every number follows from the history, the statements and the ratings that the other tools show. Amounts of reports
are in the currency of the reports; what is per share is in that of the share. A field that the public service lacks,
`Synthetic`, names those whose numbers are drawn, or follow from drawn ones, and are no reported facts.
"""

from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from m3bench.sandboxes.world import analysts, noise, options, sessions, statements, stocks
from m3bench.sandboxes.world.analysts import KEYS
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.listings import EXCHANGES as EXCHANGES_OF_LISTINGS
from m3bench.sandboxes.world.stocks import Company

Card = dict[str, Any]

EXCHANGES = {"NMS": "NasdaqGS", "NYQ": "NYSE"}
DOLLARS = {"USD": 1.0, "CNY": 0.1404, "TWD": 0.0325}
"""What a unit of a reporting currency is worth at the world's instant."""
_YEAR_AGO = date(2024, 11, 1)
_QUARTER_DAYS = 63
_ALWAYS_FACTS = frozenset(
    (
        *("regularMarketTime", "sharesOutstanding", "impliedSharesOutstanding", "floatShares", "beta", "hasOptions"),
        *("lastFiscalYearEnd", "mostRecentQuarter", "heldPercentInsiders", "heldPercentInstitutions"),
    )
)
_FACTS_OF_A_KNOWN_CLOSE = frozenset(["currentPrice", "regularMarketPrice", "marketCap"])
_FACTS_OF_A_WHOLE_YEAR = frozenset(
    (
        *("totalRevenue", "grossProfits", "netIncomeToCommon", "operatingCashflow", "freeCashflow"),
        *("grossMargins", "profitMargins"),
    )
)


def quote(ticker: str) -> Card:
    """All that is known of a share, without what does not apply to it."""
    if ticker in stocks.instruments():
        return _instrument(ticker)
    company = stocks.companies()[ticker]
    drawn = {
        **_price(ticker, company),
        **_averages(ticker),
        **_reports(ticker, company),
        **_ratings(ticker, company),
        **_owners(company),
    }
    card = {**_who(company), **drawn, **_paid(ticker)}
    found = {name: value for name, value in card.items() if value is not None}
    facts = _facts(ticker)
    return {**found, "Synthetic": " ".join(name for name in found if name in drawn and name not in facts)}


_OF_SHARES = frozenset(
    ("currentPrice", "sharesOutstanding", "impliedSharesOutstanding", "floatShares", "marketCap", "beta")
)
_EXCHANGES_OF_OTHERS = {
    "SNP": "SNP", "DJI": "DJI", "NIM": "Nasdaq GIDS", "CGI": "Chicago Options", "CXI": "Cboe Indices", "CCY": "CCY",
    "CMX": "COMEX", "NYM": "NY Mercantile", "FGI": "FTSE Index", "ZRH": "Zurich", "OSA": "Osaka", "BSE": "BSE",
    "MEX": "Mexico", "JKT": "Jakarta", "NYI": "NYSE", "NYB": "ICE Futures", "CBT": "CBOT", "CME": "CME",
    "CCC": "CCC",
    **EXCHANGES_OF_LISTINGS,
}  # fmt: skip


def _instrument(ticker: str) -> Card:
    """What is known of an index, a currency pair or a future."""
    record = stocks.instruments()[ticker]
    price = _price(ticker, {**record, "shares": 0, "insiders": 0.0, "beta": None})
    drawn = {name: value for name, value in {**price, **_averages(ticker)}.items() if name not in _OF_SHARES}
    known = stocks.is_known(ticker, sessions.days()[-1])
    facts = {"regularMarketTime", *(("regularMarketPrice",) if known else ())}
    return {
        "symbol": ticker,
        "shortName": record["name"],
        "longName": record["name"],
        "quoteType": record["kind"],
        "typeDisp": record["kind"].capitalize(),
        "currency": record["currency"],
        "exchange": record["exchange"],
        "fullExchangeName": _EXCHANGES_OF_OTHERS[record["exchange"]],
        **({"exchangeTimezoneName": "America/New_York"} if record["currency"] == "USD" else {}),
        "priceHint": record["decimals"],
        "marketState": "CLOSED",
        **drawn,
        "Synthetic": " ".join(name for name in drawn if name not in facts),
    }


def _facts(ticker: str) -> frozenset[str]:
    """What is reported among the numbers: the last close where it is known, a year's totals where it has just ended."""
    known = stocks.is_known(ticker, sessions.days()[-1])
    whole = statements.quarterly(ticker)[0].end == statements.annual(ticker)[0].end
    return _ALWAYS_FACTS.union(_FACTS_OF_A_KNOWN_CLOSE if known else (), _FACTS_OF_A_WHOLE_YEAR if whole else ())


def _who(company: Company) -> Card:
    ticker, exchange = company["id"], company["exchange"]
    sector, industry = company["sector"], company["industry"]
    return {
        "address1": company["address"],
        "city": company["city"],
        "state": company["state"] or None,
        "zip": company["zip"],
        "country": company["country"],
        "phone": company["phone"],
        "website": company["website"],
        "industry": industry,
        "industryKey": _key(industry),
        "industryDisp": industry,
        "sector": sector,
        "sectorKey": _key(sector),
        "sectorDisp": sector,
        "longBusinessSummary": company["summary"],
        "fullTimeEmployees": company["employees"],
        "companyOfficers": [
            {
                "maxAge": 1,
                "name": officer["name"],
                "age": NOW.year - officer["born"],
                "title": officer["title"],
                "yearBorn": officer["born"],
                "fiscalYear": NOW.year - 1,
            }
            for officer in company["officers"]
        ],
        "maxAge": 86400,
        "priceHint": 2,
        "currency": "USD",
        "financialCurrency": statements.currency(ticker),
        "quoteType": "EQUITY",
        "typeDisp": "Equity",
        "symbol": ticker,
        "shortName": company["name"],
        "longName": company["name"],
        "displayName": company["name"].removeprefix("The ").split(",")[0].removesuffix(" Inc."),
        "exchange": exchange,
        "fullExchangeName": EXCHANGES[exchange],
        "exchangeTimezoneName": "America/New_York",
        "exchangeTimezoneShortName": "EDT",
        "gmtOffSetMilliseconds": -14_400_000,
        "market": "us_market",
        "region": "US",
        "language": "en-US",
        "quoteSourceName": "Delayed Quote",
        "exchangeDataDelayedBy": 0,
        "tradeable": False,
        "triggerable": True,
        "esgPopulated": False,
        "hasPrePostMarketData": True,
        "cryptoTradeable": False,
        "marketState": "CLOSED",
        "messageBoardId": f"finmb_{noise.integer(10_000, 999_999, company['reports_as'], 'board')}",
    }


def _price(ticker: str, company: Company) -> Card:
    days, ticks, digits = stocks.daily(ticker), stocks.ticks(ticker), stocks.decimals(ticker)
    opening, high, low, last, before = (
        int(value) / ticks for value in (days.open[-1], days.high[-1], days.low[-1], days.close[-1], days.close[-2])
    )
    volume = int(days.volume[-1])
    change = round(last - before, digits)
    cap = round(company["shares"] * last)
    spread = max(1 / ticks, round(last * 0.0002, digits))
    year = sessions.latest(_YEAR_AGO - timedelta(days=1))
    top, bottom = int(days.high[year:].max()) / ticks, int(days.low[year:].min()) / ticks
    half, whole = _mean(days.close[-50:], ticks), _mean(days.close[-200:], ticks)
    return {
        "currentPrice": last,
        "regularMarketPrice": last,
        "previousClose": before,
        "regularMarketPreviousClose": before,
        "open": opening,
        "regularMarketOpen": opening,
        "dayHigh": high,
        "dayLow": low,
        "regularMarketDayHigh": high,
        "regularMarketDayLow": low,
        "regularMarketDayRange": f"{low} - {high}",
        "regularMarketChange": change,
        "regularMarketChangePercent": round(100 * change / before, 5),
        "regularMarketTime": _seconds(sessions.moment(sessions.days()[-1], sessions.CLOSING)),
        "volume": volume,
        "regularMarketVolume": volume,
        "bid": round(last - spread, digits),
        "ask": round(last + spread, digits),
        "bidSize": noise.integer(1, 12, ticker, "bid"),
        "askSize": noise.integer(1, 12, ticker, "ask"),
        "sharesOutstanding": company["shares"],
        "impliedSharesOutstanding": company["shares"],
        "floatShares": round(company["shares"] * (1 - company["insiders"])),
        "marketCap": cap,
        "beta": company["beta"],
        "fiftyTwoWeekHigh": top,
        "fiftyTwoWeekLow": bottom,
        "fiftyTwoWeekRange": f"{bottom} - {top}",
        "fiftyTwoWeekHighChange": round(last - top, digits),
        "fiftyTwoWeekHighChangePercent": round(last / top - 1, 6),
        "fiftyTwoWeekLowChange": round(last - bottom, digits),
        "fiftyTwoWeekLowChangePercent": round(last / bottom - 1, 6),
        "52WeekChange": round(last / (int(days.close[year - 1]) / ticks) - 1, 6),
        "fiftyDayAverage": half,
        "fiftyDayAverageChange": round(last - half, 4),
        "fiftyDayAverageChangePercent": round(last / half - 1, 6),
        "twoHundredDayAverage": whole,
        "twoHundredDayAverageChange": round(last - whole, 4),
        "twoHundredDayAverageChangePercent": round(last / whole - 1, 6),
    }


def _averages(ticker: str) -> Card:
    volumes = stocks.daily(ticker).volume
    quarter, fortnight = int(np.rint(volumes[-_QUARTER_DAYS:].mean())), int(np.rint(volumes[-10:].mean()))
    return {
        "averageVolume": quarter,
        "averageDailyVolume3Month": quarter,
        "averageVolume10days": fortnight,
        "averageDailyVolume10Day": fortnight,
    }


def _paid(ticker: str) -> Card:
    """Dividends and splits; nothing of what never was."""
    price = stocks.last_close(ticker)
    paid, split = stocks.dividends(ticker), stocks.splits(ticker)
    card: Card = {}
    year = [amount for day, amount in paid.items() if day >= _YEAR_AGO]
    if year:
        last = max(paid)
        rate = round(paid[last] * len(year), 4)
        card |= {
            "dividendRate": rate,
            "dividendYield": round(100 * rate / price, 2),
            "trailingAnnualDividendRate": round(sum(year), 4),
            "trailingAnnualDividendYield": round(sum(year) / price, 6),
            "exDividendDate": _seconds(datetime.combine(last, time(), NOW.tzinfo)),
            "lastDividendValue": paid[last],
            "lastDividendDate": _seconds(datetime.combine(last, time(), NOW.tzinfo)),
        }
    if split:
        newest = max(split)
        card |= {
            "lastSplitFactor": f"{split[newest]:g}:1",
            "lastSplitDate": _seconds(datetime.combine(newest, time(), NOW.tzinfo)),
        }
    return card


def _reports(ticker: str, company: Company) -> Card:
    quarters = [statements.income(period, ticker) for period in statements.quarterly(ticker)[:4]]
    flows = [statements.cash_flow(period, ticker) for period in statements.quarterly(ticker)[:4]]
    newest = statements.quarterly(ticker)[0]
    yearly = statements.annual(ticker)[0]
    sheet = statements.balance(newest, ticker)
    dollars, shares, price = DOLLARS[statements.currency(ticker)], company["shares"], stocks.last_close(ticker)

    def total(name: str) -> int:
        return sum(card.get(name, 0) for card in quarters)

    def flow(name: str) -> int:
        return sum(card[name] for card in flows)

    revenue, net = total("Total Revenue"), total("Net Income")
    earned = round(net * dollars / shares, 2)
    expected = round(earned * noise.between(1.04, 1.16, company["reports_as"], "ahead"), 2)
    equity, debt, cash = sheet["Stockholders Equity"], sheet["Total Debt"], sheet["Cash And Cash Equivalents"]
    book = round(equity * dollars / shares, 3)
    cap = round(shares * price)
    worth = cap + round((debt - cash) * dollars)
    before = statements.income(statements.quarterly(ticker)[4], ticker)
    return {
        "totalRevenue": revenue,
        "revenuePerShare": round(revenue * dollars / shares, 3),
        "grossProfits": total("Gross Profit") or None,
        "ebitda": total("EBITDA"),
        "netIncomeToCommon": net,
        "operatingCashflow": flow("Operating Cash Flow"),
        "freeCashflow": flow("Free Cash Flow"),
        "grossMargins": round(total("Gross Profit") / revenue, 5) or None,
        "operatingMargins": round(quarters[0]["Operating Income"] / quarters[0]["Total Revenue"], 5),
        "ebitdaMargins": round(total("EBITDA") / revenue, 5),
        "profitMargins": round(net / revenue, 5),
        "revenueGrowth": round(quarters[0]["Total Revenue"] / before["Total Revenue"] - 1, 3),
        "totalCash": cash,
        "totalCashPerShare": round(cash * dollars / shares, 3),
        "totalDebt": debt,
        "debtToEquity": round(100 * debt / equity, 3) if equity > 0 else None,
        "currentRatio": _ratio(sheet, "Current Assets", "Current Liabilities"),
        "bookValue": book,
        "priceToBook": round(price / book, 5) if book else None,
        "returnOnAssets": round(net / sheet["Total Assets"], 5),
        "returnOnEquity": round(net / equity, 5) if equity > 0 else None,
        "trailingEps": earned,
        "epsTrailingTwelveMonths": earned,
        "forwardEps": expected,
        "epsForward": expected,
        "trailingPE": round(price / earned, 5) if earned > 0 else None,
        "forwardPE": round(price / expected, 5) if expected > 0 else None,
        "payoutRatio": round(_paid(ticker).get("trailingAnnualDividendRate", 0) / earned, 4) if earned > 0 else None,
        "priceToSalesTrailing12Months": round(cap / (revenue * dollars), 5),
        "enterpriseValue": worth,
        "enterpriseToRevenue": round(worth / (revenue * dollars), 3),
        "enterpriseToEbitda": round(worth / (total("EBITDA") * dollars), 3) if total("EBITDA") > 0 else None,
        "lastFiscalYearEnd": _seconds(datetime.combine(yearly.end, time(), NOW.tzinfo)),
        "mostRecentQuarter": _seconds(datetime.combine(newest.end, time(), NOW.tzinfo)),
    }


def _ratings(ticker: str, company: Company) -> Card:
    price, target = stocks.last_close(ticker), company["target"]
    mean = analysts.mean(ticker)
    return {
        "targetHighPrice": round(price * (target + 0.24), 2),
        "targetLowPrice": round(price * (target - 0.29), 2),
        "targetMeanPrice": round(price * target, 2),
        "targetMedianPrice": round(price * (target + 0.005), 2),
        "recommendationMean": mean,
        "recommendationKey": KEYS[min(4, round(mean) - 1)],
        "averageAnalystRating": f"{mean:.1f} - {KEYS[min(4, round(mean) - 1)].replace('_', ' ').title()}",
        "numberOfAnalystOpinions": sum(analysts.counts(ticker, NOW.date()).values()),
        "hasOptions": bool(options.expiries(ticker)),
    }


def _owners(company: Company) -> Card:
    short = noise.between(0.006, 0.022, company["reports_as"], "short")
    shorted = round(company["shares"] * short)
    return {
        "heldPercentInsiders": company["insiders"],
        "heldPercentInstitutions": company["institutions"],
        "sharesShort": shorted,
        "sharesPercentSharesOut": round(short, 4),
        "shortRatio": round(shorted / company["volume"], 2),
        "shortPercentOfFloat": round(short / (1 - company["insiders"]), 4),
    }


def _ratio(card: Card, above: str, below: str) -> float | None:
    return round(card[above] / card[below], 3) if above in card else None


def _mean(closes: Any, ticks: int) -> float:
    return round(float(closes.mean()) / ticks, 4)


def _key(name: str) -> str:
    return name.lower().replace(" & ", "-").replace(" - ", "-").replace(" ", "-")


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())

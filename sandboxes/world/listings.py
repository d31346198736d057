"""Listed shares and funds of which the world knows who they are and not what they cost.

`stocks` has those with a price. A name and its ticker are facts; prices, reports and owners of these are gaps.
"""

from collections.abc import Mapping
from functools import cache

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.tables import Record

EXCHANGES = {
    "NMS": "NasdaqGS", "NGM": "NasdaqGM", "NCM": "NasdaqCM", "NAS": "Nasdaq", "NYQ": "NYSE", "PCX": "NYSEArca",
    "BTS": "Cboe US", "PNK": "OTC Markets OTCPK", "JPX": "Tokyo", "KSC": "KSE", "TAI": "Taiwan", "HKG": "HKSE",
    "SHH": "Shanghai", "SHZ": "Shenzhen", "SES": "SES", "NSI": "NSE", "AMS": "Amsterdam", "GER": "XETRA",
    "PAR": "Paris", "EBS": "Swiss", "LSE": "LSE", "MIL": "Milan", "MCE": "MCE", "BRU": "Brussels", "CPH": "Copenhagen",
    "STO": "Stockholm", "HEL": "Helsinki", "TOR": "Toronto", "ASX": "ASX", "SAO": "São Paulo", "SAU": "Saudi",
    "JNB": "Johannesburg", "OSL": "Oslo", "MEX": "Mexico", "WSE": "Warsaw", "IST": "Istanbul", "VIE": "Vienna",
    "LIS": "Lisbon", "ISE": "Irish", "ATH": "Athens",
}  # fmt: skip
"""The short code of an exchange to what the service shows."""
_MISSING = "prices volumes reports holders options recommendations news"


def find(ticker: str) -> Record | None:
    """The share or fund of a ticker, in whatever case and with a dot or a dash before a class of shares."""
    symbol = ticker.strip().upper()
    return _listed().get(symbol) or _listed().get(symbol.replace(".", "-"))


def card(record: Record) -> dict[str, object]:
    """What is known of it, in the service's words."""
    kind = record.get("kind", "EQUITY")
    shown = {
        "symbol": record["id"],
        "shortName": record["name"],
        "longName": record["name"],
        "quoteType": kind,
        "typeDisp": {"EQUITY": "Equity", "ETF": "ETF", "MUTUALFUND": "Fund"}[kind],
        "currency": record["currency"],
        "exchange": record["exchange"],
        "fullExchangeName": EXCHANGES[record["exchange"]],
        "country": record.get("country"),
        "sector": record.get("sector"),
        "fundFamily": record.get("family"),
        "longBusinessSummary": f"A fund. What it follows or holds: {record['holds']}." if "holds" in record else None,
        "NotCovered": _MISSING,
    }
    return {name: value for name, value in shown.items() if value is not None}


@cache
def _listed() -> Mapping[str, Record]:
    return {record["id"]: record for record in tables.load("listings")}

"""`listings/american.json` from pytickersymbols 1.17.10 (PyPI, MIT): who the companies of the S&P 500 are.

Run it with the path of `indices_data.py` of the package. Taken are tickers, names, sectors and countries; texts and
figures are not. What the package has wrong, or as it is after the world's instant, is put right in `_NAMES` and
`_LATER`. The other files of the table are written by hand.
"""

import runpy
import sys
from typing import Any

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.build.writing import write

_SECTORS = {
    "Information Technology": "Technology", "Real Estate": "Real Estate", "Utilities": "Utilities",
    "Health Care": "Healthcare", "Financials": "Financial Services", "Consumer Discretionary": "Consumer Cyclical",
    "Consumer Staples": "Consumer Defensive", "Materials": "Basic Materials", "Industrials": "Industrials",
    "Communication Services": "Communication Services", "Energy": "Energy",
}  # fmt: skip
"""The index's word for a sector to the service's, the more telling first where a company has two."""
_OTHER_SECTORS = {
    **dict.fromkeys(("AMCR", "SW", "IP", "PKG", "AVY", "BALL", "ROL"), "Consumer Cyclical"),
    **dict.fromkeys(("GRMN", "BR", "ADP", "PAYX", "PAYC", "UBER", "FIS", "JKHY", "LDOS", "CPAY"), "Technology"),
    "GPN": "Industrials",
}
_NAMES = {
    "APO": "Apollo Global Management", "AIZ": "Assurant", "NSC": "Norfolk Southern Corporation", "KKR": "KKR & Co.",
    "BEN": "Franklin Resources", "PTC": "PTC Inc.", "EBAY": "eBay Inc.", "DOW": "Dow Inc.", "SLB": "SLB Limited",
    "KMB": "Kimberly-Clark",
}  # fmt: skip
_LATER: dict[str, str | None] = {"MRSH": "MMC", "FISV": "FI", "Q": None}
"""Tickers of after the world's instant, with what they were then."""
_NEW_YORK = {"DAL", "GDDY", "LUV", "NSC", "FI", "KMB", "CCL", "SW", "FDS"}
_NASDAQ = {"UAL", "PODD", "DPZ"}
_ABROAD = {"Ireland", "United Kingdom", "Switzerland", "Bermuda", "Netherlands", "Canada", "Singapore"}


def _record(stock: dict[str, Any]) -> dict[str, str] | None:
    ticker = _LATER.get(stock["symbol"], str(stock["symbol"]))
    if ticker is None:
        return None
    traded = stock.get("metadata", {}).get("traded_as", "")
    if ticker == "CBOE":
        exchange = "BTS"
    else:
        nasdaq = ticker in _NASDAQ or (traded.startswith("Nasdaq") and ticker not in _NEW_YORK)
        exchange = "NMS" if nasdaq else "NYQ"
    country = stock["country"].split(",")[-1].strip()
    sector = next(name for word, name in _SECTORS.items() if word in stock["industries"])
    return {
        "id": ticker.replace(".", "-"),
        "name": _NAMES.get(ticker, stock["name"]),
        "exchange": exchange,
        "currency": "USD",
        "country": country if country in _ABROAD else "United States",
        "sector": _OTHER_SECTORS.get(ticker, sector),
    }


def _main() -> None:
    stocks = runpy.run_path(sys.argv[1])["INDICES"]["S&P 500"]["companies"]
    held = {company["id"] for company in tables.load("companies")}
    found = [_record(stock) for stock in stocks]
    records = sorted((new for new in found if new and new["id"] not in held), key=lambda record: record["id"])
    source = "Tickers, names and sectors of pytickersymbols 1.17.10 (PyPI), with corrections of our own."
    write("listings/american", source, "MIT", records)


if __name__ == "__main__":
    _main()

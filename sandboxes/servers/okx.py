"""The `okx` server: the ticker of a trading pair, and its candles from a minute to a month.

All numbers are strings, times are ISO with milliseconds, candles come newest first and the newest may still be
open. Bars of six hours and more begin at midnight in Hong Kong (16:00 UTC), as on the exchange. At most 300 candles
come at once. The public server's protocol errors are results with `isError` and the same words here.

An answer has one field that the public service lacks: `synthetic` names the numbers that are drawn around rounded
market levels and were never traded.
"""

import json
import re
from datetime import datetime

from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import coins, noise
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.coins import TradingPair
from m3bench.tasks.errors import ToolError

server = ToolServer("okx", error="MCP error -32603: Failed to fetch data: {message}")

MOST_CANDLES = 300
MINUTES = {
    "1m": 1,
    "3m": 3,
    "5m": 5,
    "15m": 15,
    "30m": 30,
    "1H": 60,
    "2H": 120,
    "4H": 240,
    "6H": 360,
    "12H": 720,
}
_INSTRUMENT = re.compile(r"([A-Z0-9]{1,12})-(?!\1(?:-|$))[A-Z0-9]{2,8}(?:-SWAP|-\d{6}(?:-\d+-[CP])?)?", re.I)
DRAWN_TICKER = "lastPrice bid ask high24h low24h volume24h"
DRAWN_CANDLE = "open high low close volume volumeCurrency"
UNITS = {"1D": "day", "1W": "week", "1M": "month"}


@server.tool
def get_price(instrument: str) -> str:
    pair = _pair(instrument)
    day = coins.recent(pair, 1, coins.MINUTES)[0].grouped([0])
    last = int(day.close[0])
    below = noise.integer(0, 1, pair.base, pair.quote, "bid")
    return _json(
        {
            "instrument": f"{pair.base}-{pair.quote}",
            "lastPrice": _number(last, pair.decimals),
            "bid": _number(max(last - below, 1), pair.decimals),
            "ask": _number(last + 1 - below, pair.decimals),
            "high24h": _number(int(day.high[0]), pair.decimals),
            "low24h": _number(int(day.low[0]), pair.decimals),
            "volume24h": _number(int(day.volume[0]), pair.lot),
            "timestamp": _stamp(NOW),
            "synthetic": DRAWN_TICKER,
        }
    )


@server.tool
def get_candlesticks(instrument: str, bar: str = "1m", limit: float = 100) -> str:
    pair = _pair(instrument)
    count = _count(limit)
    if bar in MINUTES:
        found, opens = coins.recent(pair, MINUTES[bar], count)
    elif bar in UNITS:
        found, opens = coins.calendar(pair, UNITS[bar], count)
    else:
        known = ", ".join([*MINUTES, *UNITS])
        raise ToolError(f"OKX API error: Parameter bar error: use one of {known}", outcome="invalid_arguments")
    rows = zip(opens, *(values.tolist() for values in found.__dict__.values()), strict=True)
    candles = [
        {
            "timestamp": _stamp(opened),
            "open": _number(first, pair.decimals),
            "high": _number(high, pair.decimals),
            "low": _number(low, pair.decimals),
            "close": _number(last, pair.decimals),
            "volume": _number(volume, pair.lot),
            "volumeCurrency": _number(turnover, coins.TURNOVER_DECIMALS),
            "synthetic": DRAWN_CANDLE,
        }
        for opened, first, high, low, last, volume, turnover in rows
    ]
    return _json(candles[::-1])


def _pair(instrument: str) -> TradingPair:
    pair = coins.pairs().get(instrument.strip().upper())
    if pair is None:
        raise ToolError(
            "OKX API error: Instrument ID, Instrument ID code, or Spread ID doesn't exist.",
            outcome="gap" if _INSTRUMENT.fullmatch(instrument.strip()) else "not_found",
        )
    return pair


def _count(limit: float) -> int:
    if not limit >= 1:
        raise ToolError("OKX API error: Parameter limit error: ask for 1 or more", outcome="invalid_arguments")
    return int(min(limit, MOST_CANDLES))


def _number(value: int, decimals: int) -> str:
    """A whole number of smallest parts as a decimal without trailing zeros."""
    if not decimals:
        return str(value)
    digits = str(value).rjust(decimals + 1, "0")
    return f"{digits[:-decimals]}.{digits[-decimals:]}".rstrip("0").rstrip(".")


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _json(value: object) -> str:
    return json.dumps(value, indent=2)

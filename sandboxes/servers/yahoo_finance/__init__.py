"""The `yahoo-finance` server: quotes, history, statements, owners, options, ratings and headlines of listed shares."""

from m3bench.sandboxes.servers.yahoo_finance.tools import server

__all__ = ["server"]

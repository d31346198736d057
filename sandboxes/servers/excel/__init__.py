"""The `excel` server: 25 tools on .xlsx workbooks in the workspace, on openpyxl.

`workbook` opens and saves files and says how failures look; every other module with tools registers them on
the server it holds. Nothing here computes formulas.
"""

from m3bench.sandboxes.servers.excel import cells, charts, formats, formulas, pivots, ranges, sheets, shifting, tables
from m3bench.sandboxes.servers.excel.workbook import server

__all__ = ["cells", "charts", "formats", "formulas", "pivots", "ranges", "server", "sheets", "shifting", "tables"]

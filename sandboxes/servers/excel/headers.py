"""The header row of a table, which must be distinct texts and say the same as the table's own columns.

A workbook in which the two differ is repaired by Excel on opening. As Excel does when a table is made,
headers that are not text become text, empty ones get a name and repeated ones a number.
"""

from openpyxl.cell.cell import Cell
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.servers.excel import references, values
from m3bench.sandboxes.servers.excel.references import Area


def align_headers(worksheet: Worksheet) -> None:
    """Bring header cells and column names of a sheet's tables together; whoever wrote the cells last wins."""
    for table in worksheet.tables.values():
        if not table.headerRowCount:
            continue
        names = name_columns(worksheet, references.area(table.ref))
        if len(names) != len(table.tableColumns):
            # openpyxl makes them from the header row when it saves.
            table.tableColumns = []
        for column, name in zip(table.tableColumns, names, strict=False):
            column.name = name


def name_columns(worksheet: Worksheet, area: Area) -> list[str]:
    """Make the first row of an area distinct texts, and say which."""
    names: list[str] = []
    seen: set[str] = set()
    for number, column in enumerate(area.columns, 1):
        cell = worksheet.cell(area.top, column)
        header = str(values.text(cell.value)).strip() if cell.value is not None else ""
        header = _distinct(header or f"Column{number}", seen)
        seen.add(header.casefold())
        names.append(header)
        if isinstance(cell, Cell):
            cell.value = header
            cell.data_type = "s"
    return names


def _distinct(header: str, seen: set[str]) -> str:
    number, name = 2, header
    while name.casefold() in seen:
        number, name = number + 1, f"{header}{number}"
    return name

"""Reading what a table of nutrients answers."""

import re

from m3bench.tasks.families.base import need


def amount(text: str, label: str) -> float:
    """How much of a nutrient there is; a food of which the table does not say so makes no task."""
    found = re.search(rf"^- {label}[^:]*: ([\d.]+)", text, re.MULTILINE)
    need(found is not None, f"the table has no {label.casefold()} of it")
    assert found is not None
    return float(found[1])

"""`diagnoses` from the PyPI package simple-icd-10-cm (MIT): ICD-10-CM with its hierarchy, in the public domain.

Run it with the package installed. A record is a category with everything below it, a code per line of `codes`: what
follows the category in the code, the name, and after bars other terms for the same. A name that only continues the
one of its parent begins with `~`, which makes the table a third of the size; `world/diagnoses.py` reads it.
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from typing import Any

from m3bench.sandboxes.world.build.writing import write

PACKAGE = "simple-icd-10-cm"

icd: Any = import_module("simple_icd_10_cm")


def main() -> None:
    """Write the table."""
    categories = dict.fromkeys(code for code in icd.get_all_codes() if icd.is_category(code))
    records = [_record(code) for code in categories]
    source = f"ICD-10-CM of the CDC and CMS (public domain), extracted from {PACKAGE} {version(PACKAGE)} (PyPI)."
    write("diagnoses", source, "MIT", records)


def _record(code: str) -> dict[str, Any]:
    block = icd.get_parent(code)
    # A category that is a whole block has the block's code: the package must be told which is meant.
    chapter = icd.get_parent(block, prioritize_blocks=True)
    return {
        "id": code,
        "name": icd.get_description(code),
        "chapter": icd.get_description(chapter).rpartition(" (")[0],
        "block": icd.get_description(block, prioritize_blocks=True).rpartition(" (")[0],
        "terms": icd.get_inclusion_term(code),
        "codes": [_line(code, below) for below in _below(code)],
    }


def _below(code: str) -> Iterator[str]:
    for child in icd.get_children(code):
        yield child
        yield from _below(child)


def _line(category: str, code: str) -> str:
    name, above = icd.get_description(code), icd.get_description(icd.get_parent(code))
    shown = "~" + name[len(above) :] if name.startswith(above) else name
    rest = code.replace(".", "")[len(category) :]
    return " | ".join([f"{rest} {shown}", *icd.get_inclusion_term(code)])


if __name__ == "__main__":
    main()

"""Kinds of artefacts, by the ending of their file: how each becomes pages.

A new kind is one function that makes pages of a file, and a line in `FORMS`. Its shapes keep their names, so that the
checks of pages hold for them too. What changes the file is not said here: SVG pages have the tools of the studio,
office files their own servers.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from m3bench.tasks.studio.page import Page, PageError, read

FORMS: Mapping[str, Callable[[bytes], Sequence[Page]]] = {
    ".svg": lambda data: (read(data),),
}
"""Functions that make pages of a file and raise `PageError` when it is none of theirs."""


def pages(name: str, data: bytes) -> Sequence[Page]:
    """The pages of a file.

    Raises:
        PageError: It has none, or is of a kind that cannot be shown.
    """
    form = PurePosixPath(name).suffix.casefold()
    if form not in FORMS:
        raise PageError(f"a {form or 'file without an ending'} cannot be shown: only {', '.join(FORMS)} can")
    return FORMS[form](data)

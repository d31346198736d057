"""Colours as clients write them: RRGGBB, with or without # and an alpha byte."""

import re

from m3bench.tasks.errors import ToolError

_HEX = re.compile(r"#?([0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})")


def opaque(text: object, problem: str) -> str:
    """AARRGGBB as workbooks store it; six digits are fully opaque."""
    match = _HEX.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ToolError(f"{problem}: {text!s:.60} (use six hex digits such as FF0000)", outcome="invalid_arguments")
    return match[1].upper().rjust(8, "F")

"""Keeps a result under the size that every known client takes.

A picture that does not fit is replaced by a sentence, a text by its beginning; both say where the whole
result lies. Nothing is re-encoded, so what does reach the client is what the tool gave.
"""

import json
from typing import Any

from m3bench.proxy.messages import dump

MAX_RESULT_BYTES = 950_000
"""Claude Desktop refuses a result of one megabyte."""

_MARGIN = 2_000
"""Room for the note and the JSON around the blocks."""


def trim(result: bytes, where: str) -> bytes:
    """A result that fits, given that `result` does not; `where` says where the whole one lies."""
    data = json.loads(result)
    budget = MAX_RESULT_BYTES - _MARGIN
    kept: list[dict[str, Any]] = []
    for block in data.get("content", []):
        size = len(dump(block))
        if size <= budget:
            kept.append(block)
            budget -= size
        elif block.get("type") == "text":
            # A character takes at most six bytes as JSON, when it is escaped.
            kept.append({**block, "text": block["text"][: max(budget, 0) // 6]})
            budget = 0
        else:
            kept.append({"type": "text", "text": f"[{block.get('type')} of {size} bytes left out]"})
    kept.append({"type": "text", "text": f"[The result has {len(result)} bytes; {where}]"})
    short = {**data, "content": kept}
    if len(dump(short)) > MAX_RESULT_BYTES:
        short.pop("structuredContent", None)
    return dump(short)

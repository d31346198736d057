"""What can be on a card: things that a tool really returned, so that each of them can be looked up."""

import re

from m3bench.server.authoring.synthesis.lexicon import Start
from m3bench.server.authoring.synthesis.trial_sandbox import TrialSandbox

LONGEST = 60
"""Characters of a line on a card."""


async def pool(start: Start, trial: TrialSandbox) -> list[str]:
    """The things that a card can name, in a fixed order, each once."""
    found = list(start.values)
    if start.harvest is not None:
        source, field = start.harvest, start.harvest.field
        for arguments in source.calls:
            if field.startswith("/"):
                found += re.findall(field.strip("/"), await trial.text(source.tool, arguments) or "")
            else:
                found += [str(row[field]) for row in await trial.rows(source.tool, arguments) if field in row]
    return sorted({one.strip() for one in found if _is_legible(one.strip())})


def _is_legible(text: str) -> bool:
    """Whether a thing fits on a line and can be read without doubt."""
    return 2 <= len(text) <= LONGEST and text.isascii() and text.isprintable()

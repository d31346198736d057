"""What can be on a card: things that a tool really returned, so that each of them can be looked up."""

import re

from m3bench.server.lab.authoring.synthesis.lexicon import Kind
from m3bench.server.lab.authoring.synthesis.trial_sandbox import TrialSandbox

LONGEST = 60
"""Characters of a line on a card."""


async def pool(kind: Kind, trial: TrialSandbox) -> list[str]:
    """The things that a card can name, in a fixed order, each once."""
    found = list(kind.values)
    if kind.harvest is not None:
        source, field = kind.harvest, kind.harvest.field
        for arguments in source.calls:
            if field.startswith("/"):
                found += re.findall(field.strip("/"), await trial.text(source.tool, arguments) or "")
            else:
                found += [str(row[field]) for row in await trial.rows(source.tool, arguments) if field in row]
    return sorted({one.strip() for one in found if _is_legible(one.strip())})


def _is_legible(text: str) -> bool:
    """Whether a thing fits on a line and can be read without doubt."""
    return 2 <= len(text) <= LONGEST and text.isascii() and text.isprintable()

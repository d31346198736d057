"""The sandbox in which calls are tried while tasks are being made; it has all servers and caches answers.

Only answers of tools that change nothing are cached: the same call gives the same answer, and is made once. What can
be on a card comes from here as well: things that a tool really returned, so that each of them can be looked up.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from m3bench.sandboxes.backends.base import Sandbox
from m3bench.sandboxes.wire import decode, dump
from m3bench.server.lab.authoring.synthesis.lexicon import ThingKind
from m3bench.server.lab.authoring.synthesis.rows import Row, rows
from m3bench.tasks.catalog import Catalog, load_catalog
from m3bench.tasks.errors import InvalidArgumentsError, SandboxError
from m3bench.tasks.examples import load_examples
from m3bench.tasks.outcome import CALL_SECONDS, text_of


class TrialSandbox:
    """Makes calls and reads their answers.

    Args:
        sandbox: Where they are made.
        workspace: Its folder.
    """

    def __init__(self, sandbox: Sandbox, workspace: Path) -> None:
        self._sandbox = sandbox
        self._workspace = workspace
        self._known: dict[str, str | None] = {}
        self.catalog: Catalog = load_catalog().ready

    async def text(self, tool: str, arguments: Mapping[str, object]) -> str | None:
        """What a call answers; None when it does not succeed."""
        key = f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
        if key not in self._known:
            answer = await self._make(tool, arguments)
            if not self.catalog.tool(tool).read_only:
                return answer
            self._known[key] = answer
        return self._known[key]

    async def rows(self, tool: str, arguments: Mapping[str, object]) -> list[Row]:
        """What a call answers, row by row; nothing when it does not succeed."""
        text = await self.text(tool, arguments)
        return rows(text) if text else []

    async def prepare(self, server: str) -> Mapping[str, Mapping[str, object]]:
        """Make the workspace ready for a server's examples; they come back by bare tool name."""
        examples = load_examples(server)
        examples.write_files(self._workspace)
        for tool, arguments in examples.setup:
            await self._make(tool, arguments)
        return examples.calls

    async def _make(self, tool: str, arguments: Mapping[str, object]) -> str | None:
        try:
            self.catalog.tool(tool).check(arguments)
            reply = await self._sandbox.call(tool, dump(arguments), CALL_SECONDS)
        except (InvalidArgumentsError, SandboxError):
            return None
        return text_of(decode(reply.result)) if reply.outcome == "success" else None


LONGEST = 60
"""Characters of a line on a card."""


async def pool(kind: ThingKind, trial: TrialSandbox) -> list[str]:
    """The things that a card can name, in a fixed order, each once."""
    found = list(kind.values)
    if kind.harvest is not None:
        source, field = kind.harvest, kind.harvest.field
        for arguments in source.calls:
            if field.startswith("/"):
                found += re.findall(field.strip("/"), await trial.text(source.tool, arguments) or "")
            else:
                found += [str(row[field]) for row in await trial.rows(source.tool, arguments) if field in row]
    return sorted({thing.strip() for thing in found if _is_legible(thing.strip())})


def _is_legible(text: str) -> bool:
    """Whether a thing fits on a line and can be read without doubt."""
    return 2 <= len(text) <= LONGEST and text.isascii() and text.isprintable()

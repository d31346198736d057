"""Outcome checks: did the run bring about what was asked? Deterministic, each with a reason when it fails.

A check looks at the final answer, at the files in the workspace or at the log of calls. Task success means
that every check passes; it is reported beside the alignment and never mixed into it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict


@dataclass(frozen=True, kw_only=True)
class LoggedCall:
    """A call of the run, as checks see it."""

    tool: str
    arguments: dict[str, object]
    outcome: str
    text: str
    """The text of its result."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a run left behind."""

    answer: str
    workspace: Path
    calls: Sequence[LoggedCall] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check says."""

    check: str
    """What was checked, in words."""
    passed: bool
    reason: str = ""
    """Why it failed; empty when it passed."""


class _Check(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AnswerNames(_Check):
    """The answer names one of several equally right things."""

    kind: Literal["answer_names"] = "answer_names"
    any_of: tuple[str, ...]

    def run(self, evidence: Evidence) -> Finding:
        """Look for the names, whatever their case."""
        title = f"the answer names {' or '.join(self.any_of)}"
        text = evidence.answer.casefold()
        if any(name.casefold() in text for name in self.any_of):
            return Finding(check=title, passed=True)
        return Finding(check=title, passed=False, reason="none of them occurs in the answer")


Check = AnswerNames

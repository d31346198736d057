"""Review in the terminal: a person sees the run and the candidate side by side, and accepts or rejects it.

Texts of a run come from strangers: they are cut to a line and control characters are made visible before they
reach the screen. `Everyone` is used where nobody is asked.
"""

import json
from collections.abc import Callable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from m3bench.server.lab.authoring.curation.pipeline import Candidate, Ruling
from m3bench.server.scoring.words import printable
from m3bench.tasks.task import Reference

WIDEST = 160
"""Characters of a call's arguments that are shown."""
_MENU = "[a]ccept, [r]eject, [e]dit, [s]kip? "


class Everyone:
    """Answers the same to every candidate.

    Args:
        kind: What is answered.
        reason: Why.
    """

    def __init__(self, kind: str, reason: str) -> None:
        self._ruling = Ruling(kind=kind, reason=reason)  # type: ignore[arg-type]

    def review(self, candidate: Candidate) -> Ruling:
        """The same as to all."""
        return self._ruling


class Terminal:
    """Asks a person.

    Args:
        console: Where to show.
        ask: Prints a prompt and returns what was typed.
        edit: Lets the person change a text; None when they did not.
    """

    def __init__(self, console: Console, ask: Callable[[str], str], edit: Callable[[str], str | None]) -> None:
        self._console = console
        self._ask = ask
        self._edit = edit

    def review(self, candidate: Candidate) -> Ruling:
        """Show, and ask until there is an answer; the end of input skips."""
        show(self._console, candidate)
        while True:
            try:
                typed = self._ask(_MENU).strip().casefold()
            except EOFError:
                return Ruling(kind="skip", reason="no answer")
            match typed[:1]:
                case "a":
                    return Ruling(kind="accept", reason=self._why())
                case "r":
                    return Ruling(kind="reject", reason=self._why())
                case "s":
                    return Ruling(kind="skip")
                case "e":
                    changed = self._edit(reference_text(candidate.proposal.reference))
                    if changed is not None:
                        return Ruling(kind="edit", text=changed)
                    self._console.print("Nothing was changed.")

    def _why(self) -> str:
        try:
            return self._ask("Why? ").strip()
        except EOFError:
            return ""


def reference_text(reference: Reference) -> str:
    """A reference as a person edits it."""
    data = reference.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def show(console: Console, candidate: Candidate) -> None:
    """The run and the candidate side by side, and what was left out."""
    material, proposal = candidate.material, candidate.proposal
    console.print(Text(f"\n{material.task.id} · run {material.run[:12]}", style="bold"))
    console.print(Text(printable(material.task.question)))
    table = Table(box=None, pad_edge=False, expand=True, padding=(0, 2, 1, 0))
    table.add_column("what the run did", ratio=1)
    table.add_column("the candidate, proved" + (" (edited)" if candidate.edited else ""), ratio=1)
    table.add_row(_run_text(candidate), _reference_text(proposal.reference))
    console.print(table)
    for line in proposal.dropped:
        console.print(Text(f"left out: {printable(line)}", style="dim"))
    if candidate.same_as is not None:
        console.print(Text(f"The same as reference {candidate.same_as + 1} of the task.", style="green"))
    for problem in candidate.problems:
        console.print(Text(f"Your edit was not taken: {printable(problem)}", style="red"))


def _run_text(candidate: Candidate) -> Text:
    lines = Text()
    step = None
    for act in candidate.material.acts:
        if act.step != step:
            step = act.step
            lines.append(f"step {step + 1}\n", style="dim")
        lines.append(f"  {_call(act.tool, act.arguments)}", style="" if act.succeeded else "red")
        lines.append("\n" if act.succeeded else f"  {printable(act.outcome)}\n", style="red")
    return lines


def _reference_text(reference: Reference) -> Text:
    lines = Text()
    for number, calls in enumerate(reference.steps, 1):
        lines.append(f"step {number}\n", style="dim")
        for call in calls:
            lines.append(f"  {_call(call.tool, call.arguments)}\n")
    return lines


def _call(tool: str, arguments: object) -> str:
    text = printable(json.dumps(arguments, ensure_ascii=False))
    return f"{printable(tool)} {text if len(text) <= WIDEST else text[:WIDEST] + '…'}"

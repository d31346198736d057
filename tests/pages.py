"""Reads pages of the docs: the files they show, the commands they tell people to type, and what those print."""

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```", re.DOTALL | re.MULTILINE)

_NAMED = re.compile(r"^```\w+\n(.*?)^```|(?<!`)`([^`]+)`(?!`)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A line to type, and the lines that the page shows below it."""

    line: str
    output: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """A page as a reader would follow it."""

    files: dict[str, str]
    """Content by name: blocks whose info string names a file."""
    commands: list[Command]


def read_page(path: Path) -> Page:
    """The files and commands of a page, in order."""
    files: dict[str, str] = {}
    commands: list[Command] = []
    for kind, name, text in _BLOCK.findall(path.read_text("utf-8")):
        if name:
            files[name] = text
        if kind == "console":
            commands += _commands(text)
    return Page(files, commands)


def typed(path: Path) -> list[str]:
    """Every command of ours that a page names, in blocks and in sentences, in the order in which it stands there."""
    found: list[str] = []
    for block, inline in _NAMED.findall(path.read_text("utf-8")):
        lines = block.replace("\\\n", " ").splitlines() if block else [" ".join(inline.split())]
        plain = (re.sub(r"\s+#\s.*", "", line.removeprefix("$ ")).strip() for line in lines)
        found += [line for line in plain if line.startswith(("m3bench ", "make "))]
    return found


def _commands(text: str) -> list[Command]:
    commands: list[Command] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            commands.append(Command(re.sub(r"\s+#\s.*", "", line[2:]).strip()))
        elif line.strip() and commands:
            commands[-1].output.append(line)
    return commands

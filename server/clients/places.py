"""Where a client keeps its configuration file: a path below a known folder, or a rule of its own."""

from collections.abc import Callable
from pathlib import Path

from m3bench.server.clients.client import Machine


def place(text: str) -> Callable[[Machine], Path]:
    """What the table says of a place: `{home}/…` or `{settings}/…`, else the name of a rule."""
    if text in RULES:
        return RULES[text]
    return lambda machine: Path(text.format(home=machine.home, settings=machine.settings()))


def _claude_code(machine: Machine) -> Path:
    return Path(machine.env.get("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json"


def _codex(machine: Machine) -> Path:
    return Path(machine.env.get("CODEX_HOME") or machine.home / ".codex") / "config.toml"


def _continue(machine: Machine) -> Path:
    return Path(machine.env.get("CONTINUE_GLOBAL_DIR") or machine.home / ".continue") / "config.yaml"


def _goose(machine: Machine) -> Path:
    """The same folder on Linux and macOS."""
    if root := machine.env.get("GOOSE_PATH_ROOT"):
        return Path(root) / "config" / "config.yaml"
    if machine.system == "windows":
        return machine.settings() / "Block" / "goose" / "config" / "config.yaml"
    return machine.xdg() / "goose" / "config.yaml"


def _librechat(machine: Machine) -> Path:
    """The folder LibreChat runs in; it may be given another file, or an address, which cannot be edited."""
    named = machine.env.get("CONFIG_PATH") or ""
    return machine.folder / (named if named and "://" not in named else "librechat.yaml")


def _opencode(machine: Machine) -> Path:
    """The same folder on every system; a file that is named in the environment goes before it."""
    if named := machine.env.get("OPENCODE_CONFIG"):
        return Path(named)
    return machine.xdg() / "opencode" / "opencode.json"


RULES: dict[str, Callable[[Machine], Path]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "continue": _continue,
    "goose": _goose,
    "librechat": _librechat,
    "opencode": _opencode,
}

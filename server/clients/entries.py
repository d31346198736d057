"""The shapes of an entry in a configuration, where more than one client or more than one line is concerned."""

from pathlib import Path

from m3bench.server.clients.client import NAME, Entry, Launch, Machine

ABOUT = "A benchmark of tool use"
GOOSE_SECONDS = 300


def plain(launch: Launch) -> Entry:
    """A command and its arguments, as most clients write it."""
    return {"command": launch.command, "args": list(launch.args)}


def typed(launch: Launch) -> Entry:
    """The same with its kind beside it."""
    return {"type": "stdio", **plain(launch)}


def goose(launch: Launch) -> Entry:
    """Goose has words of its own."""
    return {
        "type": "stdio", "name": NAME, "description": ABOUT, "enabled": True,
        "cmd": launch.command, "args": list(launch.args), "envs": {}, "timeout": GOOSE_SECONDS,
    }  # fmt: skip


def goose_http(url: str) -> Entry:
    """An address in the words of Goose."""
    return {
        "type": "streamable_http", "name": NAME, "description": ABOUT, "enabled": True, "uri": url, "envs": {},
        "headers": {}, "timeout": GOOSE_SECONDS,
    }  # fmt: skip


def goose_place(machine: Machine) -> Path:
    """Goose keeps to the same folder on Linux and macOS."""
    if root := machine.env.get("GOOSE_PATH_ROOT"):
        return Path(root) / "config" / "config.yaml"
    if machine.system == "windows":
        return machine.settings() / "Block" / "goose" / "config" / "config.yaml"
    return machine.xdg() / "goose" / "config.yaml"


def librechat_place(machine: Machine) -> Path:
    """Where LibreChat is run; it may be told of another file, or of an address, which cannot be edited."""
    named = machine.env.get("CONFIG_PATH") or ""
    return machine.folder / (named if named and "://" not in named else "librechat.yaml")

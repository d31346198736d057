"""Modules that are loaded when they are first used: heavy libraries would make every start of a server or command slow.

The type checker sees the import itself, and everything else this:

    if TYPE_CHECKING:
        import numpy as np
    else:
        np = LazyModule("numpy")
"""

from importlib import import_module


class LazyModule:
    """A module that is imported when something of it is asked for.

    Args:
        name: Its full name.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        found: object = getattr(import_module(self._name), attribute)
        return found

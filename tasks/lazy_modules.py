"""Modules that are loaded when they are first used: heavy libraries would make every start of a server or command slow.

The type checker sees the import itself, and everything else this:

    if TYPE_CHECKING:
        import numpy as np
    else:
        np = LazyModule("numpy")
"""

import gc
import sys
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


class SparingModule(LazyModule):
    """A module whose first import leaves Pydantic models for their first use: of the protocol's many few are needed.

    Not for a process that forks others, each of which would build what it uses.
    """

    def __getattr__(self, attribute: str) -> object:
        if self._name in sys.modules:
            return super().__getattr__(attribute)
        config = import_module("pydantic").BaseModel.model_config
        config["defer_build"] = True
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().__getattr__(attribute)
        finally:
            del config["defer_build"]
            if collects:
                # What is there now stays: looking through it for what could go takes long.
                gc.freeze()
                gc.enable()

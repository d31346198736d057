"""The pictures that tools can open while a task is worked on: those of the task, and those that results have named.

A picture is known by its path in the run's workspace, which is what tools take. A result that shows a picture without
saying where it lies adds nothing: the model sees it, and no tool could open it.
"""

import re

_PATH = re.compile(r"(?<![\w/:.\\-])(?:\.{1,2}/)?\w[\w./-]*\.(?:png|jpe?g|webp|gif|bmp|tiff?)\b", re.IGNORECASE)
"""A relative path to a picture; neither an address nor the path of a machine."""


class ImagePool:
    """Paths of pictures, each with where it is from, in the order in which they came up."""

    def __init__(self) -> None:
        self._origins: dict[str, str] = {}

    def add(self, text: str, origin: str) -> None:
        """Take in the pictures that a text names; those that are known keep their first origin."""
        for path in _PATH.findall(text):
            self._origins.setdefault(path.removeprefix("./"), origin)

    def lines(self) -> str:
        """The pool for a model to read; empty when there is nothing in it."""
        return "\n".join(f"- ./{path} ({origin})" for path, origin in self._origins.items())

"""Where several values of an argument are valid: how far a call may differ from the reference and still match it fully.

A reference names one value; a tolerance says which others mean the same to whoever asked. Before a call is
compared with a reference call, its tolerated values are read as the reference's. Profile `open-m3-bench`, which
repeats published arithmetic, has no tolerances.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Tolerance(BaseModel):
    """Which values of one argument are as good as the reference's; exactly one of the fields is given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    free: bool = False
    """Any value, or none: a name or a place that the client may choose."""
    within: float | None = None
    """Numbers that differ by no more than this."""
    one_of: tuple[object, ...] = ()
    """These values; text in any case, and `None` for leaving the argument out."""
    words: tuple[str, ...] = ()
    """Any text that has all these words, in any case."""

    @model_validator(mode="after")
    def _one(self) -> "Tolerance":
        if sum((self.free, self.within is not None, bool(self.one_of), bool(self.words))) != 1:
            raise ValueError("a tolerance has exactly one of free, within, one_of and words")
        return self

    def accepts(self, wanted: object, value: object) -> bool:
        """Whether a value is as good as the wanted one; `None` when the argument is absent."""
        if self.free:
            return True
        if self.within is not None:
            return _number(wanted) and _number(value) and abs(float(wanted) - float(value)) <= self.within  # type: ignore[arg-type]
        if self.one_of:
            return any(_same(choice, value) for choice in self.one_of)
        return isinstance(value, str) and all(word.casefold() in value.casefold() for word in self.words)


def read_as(
    wanted: Mapping[str, Any], tolerances: Mapping[str, Tolerance], actual: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The actual arguments with every tolerated value in the reference's spelling."""
    read = dict(actual)
    for name, tolerance in tolerances.items():
        if tolerance.accepts(wanted.get(name), actual.get(name)):
            read.pop(name, None)
            if name in wanted:
                read[name] = wanted[name]
    return read


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(choice: object, value: object) -> bool:
    if isinstance(choice, str) and isinstance(value, str):
        return choice.casefold() == value.casefold()
    if isinstance(choice, Sequence) and isinstance(value, Sequence) and not isinstance(choice, str):
        return list(choice) == list(value)
    return (type(choice) is type(value) and choice == value) or (_number(choice) and _number(value) and choice == value)

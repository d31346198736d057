"""Every exception m3bench raises on purpose, in one tree.

    M3Error
    ├── UserError                 what the person gave cannot be used: exit code 2, one line, no traceback
    │   ├── InputFileError        a file is missing, unreadable or not what it should be
    │   ├── TrajectoryError       data is not a trajectory
    │   └── WeightsError          the encoder's weights are missing or not the known ones
    ├── StoreError                the record of runs and calls cannot be read or written
    ├── RunError                  the request does not fit the state of the run
    ├── CallError                 the call is wrong before any tool ran
    │   ├── UnknownToolError      no such server or tool
    │   └── InvalidArgumentsError the arguments do not fit the tool's schema
    ├── ToolError                 a tool ran and failed: a result with `isError`, shown to the client
    │   ├── SoftError             the same, reported without `isError` because the public server does so
    │   ├── PathError             a path leaves the workspace or names nothing usable
    │   └── LimitError            a file, picture or text is larger than a sandbox allows
    ├── UpstreamError             a third-party server answered with an error, or is not there
    ├── CassetteError             what was asked of a third-party server is not in the recording that stands for it
    ├── SandboxError              the place where tools run broke: no tool's output, not the agent's fault
    │   └── ToolCrashError        a tool of ours broke: the same, and a bug
    └── RunEndError               a run ended by something other than who played it
        └── ProviderError         a model cannot be asked, or did not answer

A class keeps its facts as attributes and writes its own message: what happened, what is known, what to do
next. Messages are read by models as well as by people.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

Failure = Literal["empty", "not_found", "gap", "invalid_arguments"]
"""How a tool can fail: as in `m3bench.tasks.outcome`."""


class M3Error(Exception):
    """Base of everything raised on purpose."""


class UserError(M3Error):
    """What the person gave cannot be used."""


class InputFileError(UserError):
    """A file is missing, unreadable or not what it should be."""

    def __init__(self, path: Path | str, problem: str, *, task: str | None = None, field: str | None = None) -> None:
        self.path = Path(path)
        self.problem = problem
        self.task = task
        self.field = field
        where = "".join(
            [
                str(path),
                f", task {task!r}" if task is not None else "",
                f", {field}" if field is not None else "",
            ]
        )
        super().__init__(f"{where}: {problem}")


class TrajectoryError(UserError):
    """Data is not a trajectory: says which field and what is wrong with it."""

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"{field} {problem}")


class WeightsError(UserError):
    """The encoder's weights are missing or not the known ones."""


class StoreError(M3Error):
    """The record of runs and calls cannot be read or written."""


class RunError(M3Error):
    """The request does not fit the state of the run; the message says what to do."""


class CallError(M3Error):
    """The call is wrong before any tool ran."""


class UnknownToolError(CallError):
    """No such server or tool."""

    def __init__(self, name: str, nearest: Sequence[str] = ()) -> None:
        self.name = name
        self.nearest = tuple(nearest)
        hint = f" Did you mean {', '.join(self.nearest)}?" if self.nearest else " tools/list shows what there is."
        super().__init__(f"Unknown tool {name!r}.{hint}")


class InvalidArgumentsError(CallError):
    """The arguments do not fit the tool's schema."""

    def __init__(self, tool: str, problems: Sequence[str]) -> None:
        self.tool = tool
        self.problems = tuple(problems)
        super().__init__(f"Invalid arguments for tool {tool}: {'; '.join(self.problems)}")


class ToolError(M3Error):
    """A tool ran and failed; the message is what the client reads, in a result with `isError`.

    Args:
        message: What went wrong and what to do next.
        outcome: How the call is classed: the thing asked for does not exist (`not_found`), it may exist but the
            frozen world does not hold it (`gap`, or `empty` where the public server gives an ordinary answer), or the
            arguments fit the schema but make no sense (`invalid_arguments`).
    """

    def __init__(self, message: str, *, outcome: Failure = "not_found") -> None:
        self.outcome = outcome
        super().__init__(message)


class SoftError(ToolError):
    """A failure that the public server reports as an ordinary result, without `isError`.

    The payload is rendered as a tool's return value is; the call still counts as failed.
    """

    def __init__(self, payload: object, *, outcome: Failure = "not_found") -> None:
        self.payload = payload
        super().__init__(str(payload), outcome=outcome)


class PathError(ToolError):
    """A path leaves the workspace or names nothing usable."""


class LimitError(ToolError):
    """A file, picture or text is larger than a sandbox allows."""

    def __init__(self, message: str) -> None:
        super().__init__(message, outcome="invalid_arguments")


class SandboxError(M3Error):
    """The place where tools run broke; neither the tool's output nor the agent's fault."""


class ToolCrashError(SandboxError):
    """A tool of ours broke on what it was given: a bug of the tool, whatever it was given."""


class UpstreamError(M3Error):
    """A third-party server returned an error, or is not there; not the agent's fault unless it has a code."""

    def __init__(self, server: str, problem: str, *, code: int | None = None, data: object = None) -> None:
        self.server = server
        self.problem = problem
        self.code = code
        self.data = data
        super().__init__(
            problem if code is not None else f"The upstream server {server!r} is not available: {problem}."
        )


class CassetteError(M3Error):
    """What was asked is not in the recording; not the agent's fault."""


class RunEndError(M3Error):
    """A run ended by something other than who played it.

    Args:
        message: What happened, in the words of the part that broke.
        fault: Whom it is charged to, as in `m3bench.tasks.fault`.
    """

    def __init__(self, message: str, *, fault: str) -> None:
        self.fault = fault
        super().__init__(message)


class ProviderError(RunEndError):
    """A model cannot be asked, or did not answer; the message has the provider's own words.

    Args:
        message: What the provider said.
        fault: The provider's, or `limit` when the model's own window was full after it had begun to play.
        gone: What will answer no other request either: the whole provider, or the one model.
    """

    def __init__(
        self,
        message: str,
        *,
        fault: Literal["provider", "limit"] = "provider",
        gone: Literal["", "model", "provider"] = "",
    ) -> None:
        self.gone = gone
        super().__init__(message, fault=fault)


_MACHINE_PATH = re.compile(r"""(?<![\w:/.~\\-])(?:/[^\s/:;,'"()<>|]+){2,}/?|\b[A-Za-z]:(?:\\[^\s\\:;,'"()<>|]+)+""")


def without_paths(text: str) -> str:
    """A text for a client: of files and folders of the machine it keeps the names, and not where they are."""
    return _MACHINE_PATH.sub(lambda found: re.split(r"[/\\]", found[0].rstrip("/"))[-1], text)


def plain(error: BaseException) -> str:
    """What an error says to somebody who is not at the machine."""
    said = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return without_paths(said)


def first_cause(error: BaseException) -> BaseException:
    """What went wrong first inside the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def is_ctrl_c(error: BaseException) -> bool:
    """Whether this is what became of a Ctrl-C.

    Groups of tasks wrap it, and libraries that were at work make an error of their own out of it: pydantic, one that
    has only its name left.
    """
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, KeyboardInterrupt) or "KeyboardInterrupt" in str(one):
            return True
        left += [one.__cause__, one.__context__, *(one.exceptions if isinstance(one, BaseExceptionGroup) else ())]
    return False

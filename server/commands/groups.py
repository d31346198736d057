"""Groups of commands, loaded when they are used; how `--help` is laid out; how a command ends.

A group knows its commands by name, one line of help and the function behind them. The function's module is imported
when the command runs, when its own help is shown or when a shell completes its options, and not to list it. So
command modules import what they need at their top, and `m3bench --help` is instant.

Paragraphs of a docstring flow to the width of the terminal (one that begins with \\b keeps its lines), and a flag shows
no value. A reader that closes the pipe (head, less) is no error: the command ends quietly with exit code 0. Ctrl-C is
one line and exit code 130, for commands that have nothing of their own to say about it.
"""

import gc
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from m3bench.server.commands.options import OLD_SPELLINGS, expanded
from m3bench.tasks.errors import is_ctrl_c

if TYPE_CHECKING:
    # Typer has a Click of its own, whose classes it does not export.
    from typer._click import Command, Context, HelpFormatter, Parameter
    from typer._click.shell_completion import CompletionItem

COMPLETION = "_M3BENCH_COMPLETE"
"""The variable that a shell sets when it asks for completions."""

_HERE = "m3bench.server.commands"
_KEEP = "\b"
_NARROW = 80
"""Below this many columns boxes leave no room for their contents: option names would be cut."""

_MANY_OBJECTS = 10_000
"""Python's own 700 new objects between two searches for circles take a sixteenth of a run."""

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class CommandEntry:
    """A command as its group knows it before it is loaded."""

    line: str
    """The line of help in the group's list: the first line of the command's own help."""
    function: str | None = None
    """Where it is, as `module:function`; for a group, what reads the group's own options."""
    commands: Mapping[str, "CommandEntry"] = field(default_factory=dict)
    """The commands of a group."""
    panel: str | None = None
    """The heading it is listed under."""


class LaidOutCommand(TyperCommand):
    """A command whose help is laid out, and that still takes the old spellings of options."""

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """The parameters, flags without a value."""
        return [_without_value(param) for param in super().get_params(ctx)]

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Read what was typed, old spellings as the new ones."""
        known = {spelling for param in self.get_params(ctx) for spelling in param.opts}
        return super().parse_args(ctx, [_respelled(word, known) for word in args])

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the help: in boxes where there is room, else plainly."""
        if get_terminal_size().columns < _NARROW:
            self.rich_markup_mode = None
        super().format_help(ctx, formatter)


class LazyCommands(MutableMapping[str, "Command"]):
    """Commands by name, each loaded when it is looked up.

    Args:
        entries: What is known of them.
    """

    def __init__(self, entries: Mapping[str, CommandEntry]) -> None:
        self.entries = entries
        self._loaded: dict[str, Command] = {}

    def __getitem__(self, name: str) -> "Command":
        if name not in self._loaded:
            self._loaded[name] = load(name, self.entries[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __setitem__(self, name: str, command: "Command") -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def listed(self) -> "dict[str, Command]":
        """What a list shows of them, without loading any."""
        return {
            name: TyperCommand(name, help=entry.line, rich_help_panel=entry.panel)
            for name, entry in self.entries.items()
        }


class LazyGroup(TyperGroup):
    """A group whose commands are loaded when they are used, and whose help is laid out."""

    def get_params(self, ctx: "Context") -> "list[Parameter]":
        """The parameters, flags without a value."""
        return [_without_value(param) for param in super().get_params(ctx)]

    def list_commands(self, ctx: "Context") -> list[str]:
        """The names of the commands."""
        return list(self.commands)

    def format_help(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the help, which loads no command."""
        with self._listing():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: "Context", incomplete: str) -> "list[CompletionItem]":
        """What may come next, which loads no command."""
        with self._listing():
            return super().shell_complete(ctx, incomplete)

    def make_context(
        self, info_name: str | None, args: list[str], parent: "Context | None" = None, **extra: Any
    ) -> "Context":
        """Read the words of the command line; `--help` prints here."""
        return _unless_closed(lambda: super(LazyGroup, self).make_context(info_name, args, parent, **extra))

    def invoke(self, ctx: "Context") -> object:
        """Run the command."""
        return _unless_closed(lambda: super(LazyGroup, self).invoke(ctx))

    @contextmanager
    def _listing(self) -> Iterator[None]:
        commands = self.commands
        self.commands = commands.listed() if isinstance(commands, LazyCommands) else commands
        try:
            yield
        finally:
            self.commands = commands


def load(name: str, entry: CommandEntry) -> "Command":
    """Import a command, or make a group whose commands are still to be imported."""
    function = expanded(function_of(entry.function)) if entry.function is not None else None
    if function is not None and COMPLETION in os.environ:
        import_module(f"{_HERE}.completion").attach(function)
    made = typer.Typer(add_completion=False)
    help = flowing(function.__doc__ if function is not None else entry.line)
    if not entry.commands:
        assert function is not None
        made.command(name, cls=LaidOutCommand, help=help, rich_help_panel=entry.panel)(function)
        return get_command(made)
    # A group with a function of its own does something without a command.
    alone = function is not None
    made.callback(
        cls=LazyGroup, help=help, invoke_without_command=alone, no_args_is_help=not alone, rich_help_panel=entry.panel
    )(function or (lambda: None))
    group = get_command(made)
    assert isinstance(group, LazyGroup)
    group.name, group.commands = name, LazyCommands(entry.commands)
    return group


def function_of(place: str) -> Callable[..., object]:
    """The function at `module:function`, whose module is imported."""
    module, _, name = place.partition(":")
    found: Callable[..., object] = getattr(import_module(f"{_HERE}.{module}"), name)
    if not gc.isenabled():
        # The program's start left it off; what is there now is never looked through again, and little comes in circles.
        gc.freeze()
        gc.set_threshold(_MANY_OBJECTS)
        gc.enable()
    return found


def flowing(text: str | None) -> str | None:
    """A docstring with each paragraph on one line; one that begins with \\b keeps its lines."""
    if text is None:
        return None
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(_lines(paragraph) for paragraph in paragraphs)


def _lines(paragraph: str) -> str:
    if paragraph.startswith(_KEEP):
        return paragraph.removeprefix(_KEEP).lstrip("\n")
    return paragraph.replace("\n", " ")


def _without_value(param: "Parameter") -> "Parameter":
    if getattr(param, "is_flag", False):
        param.metavar = ""
    return param


def _respelled(word: str, known: set[str]) -> str:
    """A word of a command line, an option's old spelling as the new one where the command has only that."""
    name, equals, value = word.partition("=")
    new = OLD_SPELLINGS.get(name)
    return f"{new}{equals}{value}" if new in known and name not in known else word


def _unless_closed(work: Callable[[], _Result]) -> _Result:
    try:
        result = work()
        sys.stdout.flush()
        return result
    except BrokenPipeError:
        # What is still buffered has no reader: it goes nowhere, so that flushing at the end raises nothing.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        raise typer.Exit(0) from None
    except (typer.Exit, SystemExit):
        raise
    except BaseException as error:
        if not is_ctrl_c(error):
            raise
        print("m3bench: stopped", file=sys.stderr)
        raise typer.Exit(130) from None

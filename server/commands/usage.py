"""How `--help` is laid out, and how a command ends when its reader goes away.

Paragraphs of a docstring flow to the width of the terminal (one that begins with \\b keeps its lines), and a flag names
no value. A reader that closes the pipe (head, less) is no error: the command ends quietly with exit code 0. Ctrl-C is
one line and exit code 130, for commands that have nothing of their own to say about it.
"""

import inspect
import os
import sys
from collections.abc import Callable
from shutil import get_terminal_size
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from m3bench.tasks.errors import is_ctrl_c

_KEEP = "\b"
_NARROW = 80
"""Below so many columns, boxes would leave no room for what is in them: names of options were cut."""


class Command(TyperCommand):
    """A command whose help is laid out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.help = flowing(self.help)

    def get_params(self, ctx: Any) -> list[Any]:
        """What the command takes, flags without a value."""
        return [_named(param) for param in super().get_params(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: in boxes where there is room, else plainly."""
        if get_terminal_size().columns < _NARROW:
            self.rich_markup_mode = None
        super().format_help(ctx, formatter)


class Group(TyperGroup):
    """A group of commands whose help is laid out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.help = flowing(self.help)

    def get_params(self, ctx: Any) -> list[Any]:
        """What the group takes, flags without a value."""
        return [_named(param) for param in super().get_params(ctx)]

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the words of the command line; `--help` prints here."""
        return _unless_closed(lambda: super(Group, self).make_context(*args, **kwargs))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        return _unless_closed(lambda: super(Group, self).invoke(ctx))


def lay_out(app: typer.Typer) -> None:
    """Give every command and every group of an app this layout."""
    app.info.cls = Group
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        group.cls = Group
        if group.typer_instance is not None:
            lay_out(group.typer_instance)


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


def _named(param: Any) -> Any:
    if getattr(param, "is_flag", False):
        param.metavar = ""
    return param


def _unless_closed(work: Callable[[], Any]) -> Any:
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

"""Options that several commands share, and options as fields of a dataclass.

One word means one thing in every command: `--tasks` a set of tasks, `--out` where to write, `--profile` the tools that
are shown, `--metric` how calls are scored. A command with many options takes a frozen dataclass whose fields are
annotated as parameters would be; `expanded` shows Typer the fields as parameters.
"""

import os
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, get_type_hints

import typer

from m3bench.tasks.atomic_files import read_private

ADVANCED = "Advanced"
"""The heading of options that most people never need; it comes last."""

OLD_SPELLINGS = {
    "--output": "--out",
    "--file": "--out",
    "--folder": "--out",
    "--set": "--tasks",
    "--task-set": "--tasks",
    "--profile": "--metric",
}
"""Former spellings of options, still read in this release by commands that have the new one and not the old one."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Data = Annotated[Path | None, typer.Option(help="Folder with the record of runs, instead of M3BENCH_DATA.")]
StoreAt = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Database with the record, as postgresql://USER@HOST/NAME, instead of M3BENCH_STORE; or a folder.",
    ),
]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's handle, its beginning, or `latest`.")]
Tasks = Annotated[
    Path | None,
    typer.Option("--tasks", metavar="FOLDER", help="A set of tasks; by default the bundled set."),
]
Families = Annotated[
    list[str] | None, typer.Option("--family", metavar="NAME", help="Only tasks of this family; may be repeated.")
]
Setting = Annotated[
    str | None, typer.Option(metavar="single|multi", help="Only tasks that need one server, or several.")
]
Level = Annotated[
    list[str] | None,
    typer.Option(
        metavar="L1|L2|L3",
        help="Only tasks of this MCPVerse level: up to 2 calls to one server, up to 5 calls, more. May be repeated.",
    ),
]
ArtFolder = Annotated[
    Path | None,
    typer.Option(
        "--art",
        metavar="FOLDER",
        help="The art packages; by default fetched with npm into the user's cache.",
    ),
]
OutFolder = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder to write into.")]


Weather = Annotated[
    str,
    typer.Option(
        metavar="fair|rough[:N]",
        help="rough: tools fail and change as they do in use; the number N decides when.",
        rich_help_panel=ADVANCED,
    ),
]

Sandbox = Annotated[str, typer.Option(metavar="process|docker|inprocess", help="Where tools run.")]


TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the bearer token that HTTP clients send, of 16 characters or more, instead of M3BENCH_TOKEN.",
    ),
]


def read_token(path: Path | None, variable: str) -> str | None:
    """The token of a file, else that of an environment variable; None when there is neither.

    There is no option with the token itself: everybody on a machine can read the arguments of its processes.

    Raises:
        InputFileError: The file cannot be read, or others can read it.
    """
    if path is not None:
        return read_private(path, "token").strip()
    # Compose files pass on variables that are not set as empty ones.
    return os.environ.get(variable) or None


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """Which record of runs is meant."""

    data: Data = None
    store: StoreAt = None


def expanded(function: Callable[..., object]) -> Callable[..., object]:
    """A function whose parameters that are dataclasses are replaced by the fields of these, for Typer to read."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
    if not groups:
        return function
    parameters: list[Parameter] = []
    for parameter in signature(function).parameters.values():
        if parameter.name in groups:
            parameters += _parameters(groups[parameter.name])
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[parameter.name]))

    @wraps(function)
    def call(**given: object) -> object:
        for name, kind in groups.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        return function(**given)

    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return call


def _parameters(kind: type) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
    ]

"""The options of `m3bench run`, in groups: who plays, which tasks with which tools, and what is for models alone."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.lab.headless.agents.registry import AGENTS


class Sandbox(StrEnum):
    """Where tools run."""

    process = "process"
    docker = "docker"
    inprocess = "inprocess"


class Solver(StrEnum):
    """What drives a model."""

    react = "react"
    executor = "executor"
    m3_bench = "m3-bench"
    mcp_bench = "mcp-bench"


WHO, WHAT, MODELS = "Who plays", "Which tasks, with which tools", "For models alone"
"""Groups of options."""

Model = Annotated[
    str | None,
    typer.Option(
        metavar="PROVIDER/NAME",
        help="The model to measure, as Inspect names it, such as openai/gpt-5.",
        rich_help_panel=WHO,
    ),
]
Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agent",
        metavar="NAME",
        help=f"A baseline agent: {', '.join(AGENTS)}; or all. May be repeated.",
        rich_help_panel=WHO,
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of whatever is random in a baseline agent.", rich_help_panel=WHO)]
Set = Annotated[
    Path | None,
    typer.Option("--tasks", help="Folder with a set of tasks; the bundled set when left out.", rich_help_panel=WHAT),
]
Families = Annotated[
    list[str] | None,
    typer.Option("--family", metavar="NAME", help="Only tasks of this family; may be repeated.", rich_help_panel=WHAT),
]
Ids = Annotated[
    list[str] | None,
    typer.Option("--task", metavar="ID", help="Only this task; may be repeated.", rich_help_panel=WHAT),
]
Limit = Annotated[
    int | None, typer.Option(min=1, help="Number of tasks, taken from the families in turn.", rich_help_panel=WHAT)
]
Repeat = Annotated[int, typer.Option(min=1, help="Samples of each task.", rich_help_panel=WHAT)]
Profile = Annotated[
    str,
    typer.Option(
        help="The tools that are shown: standard (the task's servers and up to ten others), task (its servers alone), "
        "family (those of its family), full, wide, compact, mini, retrieve, max-scale.",
        rich_help_panel=WHAT,
    ),
]
Setting = Annotated[
    str | None,
    typer.Option(
        metavar="single|multi",
        help="Only tasks that need one server, or several, as MCP-Bench tells them apart.",
        rich_help_panel=WHAT,
    ),
]
Level = Annotated[
    list[str] | None,
    typer.Option(
        metavar="L1|L2|L3",
        help="Only tasks of this level of MCPVerse: up to 2 calls to one server, up to 5 calls, more. May be repeated.",
        rich_help_panel=WHAT,
    ),
]
Calls = Annotated[int, typer.Option(min=1, help="Calls a sample may make.", rich_help_panel=WHAT)]
Where = Annotated[Sandbox, typer.Option(help="Where tools run.", rich_help_panel=WHAT)]
Encoder = Annotated[
    str,
    typer.Option(
        envvar="M3BENCH_ENCODER",
        help="What compares arguments: minilm, or sentence-transformers[:MODEL].",
        rich_help_panel=WHAT,
    ),
]
RequireIsolation = Annotated[
    bool,
    typer.Option(
        "--require-isolation",
        help="Do not start where sandboxes lack a guard; m3bench doctor says which.",
        rich_help_panel=WHAT,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Where the results go; runs/AGENT when left out."),
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="What tables call the results; the model's or agent's when left out.")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue results that were interrupted.")]
Parallel = Annotated[int | None, typer.Option(min=1, help="Samples at a time; by default what suits the machine.")]

Drive = Annotated[
    Solver,
    typer.Option(help="What drives the model; m3-bench and mcp-bench are those papers' loops.", rich_help_panel=MODELS),
]
Calling = Annotated[
    str | None,
    typer.Option(metavar="native|text", help="How the model calls tools.", rich_help_panel=MODELS),
]
Hearing = Annotated[
    bool,
    typer.Option(
        "--hearing",
        help="Send the model sound and film; else it is told where tools find them.",
        rich_help_panel=MODELS,
    ),
]
Steps = Annotated[int | None, typer.Option(min=1, help="Turns a sample may take.", rich_help_panel=MODELS)]
Batch = Annotated[int | None, typer.Option(min=1, help="Calls in one step; not for react.", rich_help_panel=MODELS)]
Planning = Annotated[
    str | None,
    typer.Option(
        metavar="rounds|one-shot",
        help="For mcp-bench: plan round by round, or all calls at once.",
        rich_help_panel=MODELS,
    ),
]
Compress = Annotated[
    int | None,
    typer.Option(min=100, help="For mcp-bench: characters above which a result is shortened.", rich_help_panel=MODELS),
]
Minutes = Annotated[float | None, typer.Option(min=0.01, help="Minutes a sample may take.", rich_help_panel=MODELS)]
Messages = Annotated[
    int | None, typer.Option(min=1, help="Messages in a sample's conversation.", rich_help_panel=MODELS)
]
Tokens = Annotated[int | None, typer.Option(min=1, help="Tokens a sample may use.", rich_help_panel=MODELS)]
Price = Annotated[
    str | None,
    typer.Option(
        metavar="IN,OUT",
        help="Dollars per million tokens read and written, and for cached ones as a third number.",
        rich_help_panel=MODELS,
    ),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option(
        "--model-arg",
        "-M",
        metavar="NAME=VALUE",
        help="An argument for the model's provider, as Inspect takes it.",
        rich_help_panel=MODELS,
    ),
]
Generate = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="How the model generates, such as temperature=0; may be repeated.",
        rich_help_panel=MODELS,
    ),
]

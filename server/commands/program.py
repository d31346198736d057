"""The commands of `m3bench`: the table of all of them, their former names, and how errors end the program.

A command is added with one line in the table. Exit codes: 0 done, 1 the answer is no (a check failed), 2 what was given
cannot be used, 130 Ctrl-C.
"""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.proxy.transports.instant import FirstMessages
from m3bench.server.commands.groups import CommandEntry, LazyCommands, LazyGroup, function_of
from m3bench.tasks.errors import M3Error
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from typer._click import Command, Context

    from m3bench.server.scoring import words
else:
    words = LazyModule("m3bench.server.scoring.words")

MORE = "More"
"""The heading of what is not on the way from a first look to a leaderboard."""

_TASKS = {
    "list": CommandEntry("List the tasks of a set.", "tasks:list_tasks"),
    "show": CommandEntry("Show a task: its question, its fields and its pictures.", "tasks:show"),
    "stats": CommandEntry("Count what a set holds, and how different its tasks are.", "tasks:stats"),
    "render": CommandEntry("Draw a page and a contact sheet of a set's tasks, to look at.", "task_making:render"),
    "generate": CommandEntry("Make a set of tasks from a seed.", "task_making:generate"),
    "photo": CommandEntry("Make tasks from your own photographs.", "photo:photo"),
    "fetch": CommandEntry("Fetch the photographs of the set `photos`.", "photo:fetch"),
    "plan": CommandEntry("Write down what each call of a set's references gives and needs.", "task_making:plan"),
    "studio": CommandEntry("See tasks while you write them, and what is wrong with them.", "play:studio"),
    "lint": CommandEntry("Look for mistakes and unfair tasks in a set, without playing it.", "task_checks:lint"),
    "verify": CommandEntry("Prove a set: every reference runs, passes its checks and scores 1.", "task_checks:verify"),
    "identity": CommandEntry(
        "Try whether calls about other things match those of a set's references, and honest variants do.",
        "task_checks:identity",
    ),
    "gate": CommandEntry("Have agents of known worth play a set, to see whether it may be released.", "gate:gate"),
    "export": CommandEntry("Write a set as public Open-M3-Bench files.", "tasks:export_tasks"),
    "import": CommandEntry("Make a set of tasks from public Open-M3-Bench files.", "tasks:import_tasks"),
}
_CLIENT = {
    "probe": CommandEntry("Find out what an MCP client passes on to its model.", "probe:probe"),
    "bundle": CommandEntry("Make an .mcpb bundle that Claude Desktop installs with a double click.", "bundle:bundle"),
}
_RUNS = {
    "list": CommandEntry("List the runs, newest first.", "runs:list_runs"),
    "show": CommandEntry("Show a run: its score card when it has one, and its calls.", "runs:show"),
    "watch": CommandEntry("Watch seats, running tasks and calls as they happen.", "watch:watch"),
    "export": CommandEntry("Write runs in formats that other programs read.", "runs:export_runs"),
    "delete": CommandEntry("Delete runs with their calls, files and score cards.", "runs:delete"),
    "prune": CommandEntry("Delete runs that ended long ago.", "runs:prune"),
}
_BOARD = {"accept": CommandEntry("Verify bundles, and put those that hold on a board.", "board:accept")}
_RANKED = {
    "make": CommandEntry("Make the secret that a ranked set is drawn from.", "ranked:make"),
    "event": CommandEntry("Make an event: who may play a ranked set, and when.", "ranked:make_event"),
    "open": CommandEntry("Score every submitted run of a secret set, once nobody plays it anymore.", "ranked:open_set"),
}
_HARBOR = {
    "export": CommandEntry("Write tasks as a Harbor dataset.", "harbor:export_harbor"),
    "import": CommandEntry("Make result sets of what Harbor's agents did.", "harbor:import_harbor"),
    "collect": CommandEntry("In a task's container: lay out the agent's run for the verifier.", "harbor:collect"),
    "reward": CommandEntry("In a task's container: score the collected run, and write the reward.", "harbor:reward"),
}
_LAB = {
    "study": CommandEntry("Play every model and agent of a plan on every set of tasks.", "study:study"),
    "people": CommandEntry("Hold a study with people, who play in their browsers.", "play:people"),
    "worker": CommandEntry("Play samples that a study put into a database.", "worker:worker"),
    "judge": CommandEntry("Let models judge recorded runs.", "judge:judge"),
    "score": CommandEntry("Score a file of what an agent did against reference trajectories.", "score:score"),
    "thresholds": CommandEntry("Fit the paper's threshold of similarity to people's labels.", "thresholds:thresholds"),
    "paper": CommandEntry("Write tables, figures, data and methods of result sets, for a paper.", "paper:paper"),
    "items": CommandEntry("Show which tasks are hard, which discriminate, and which few say most.", "items:items"),
    "pack": CommandEntry("Pack a result set into a bundle that others can verify.", "board:pack_bundle"),
    "verify": CommandEntry("Verify a bundle: score it again, and make every call again.", "board:verify_bundle"),
    "board": CommandEntry("Make a leaderboard of bundles that others sent.", commands=_BOARD),
    "ranked": CommandEntry("Make the secret of a ranked set, and open the set.", commands=_RANKED),
    "curate": CommandEntry("Make references from recorded runs.", "curate:curate"),
    "synthesize": CommandEntry("Make a set of new tasks from what tools can do.", "synthesize:synthesize"),
    "train-set": CommandEntry("Make tasks for training, with trajectories to copy.", "train_set:train_set"),
    "harbor": CommandEntry("Write tasks for Harbor, and read its results.", commands=_HARBOR),
}  # fmt: skip
_TOOLS = {
    "call": CommandEntry("Call a tool and show its result.", "call:call"),
    "serve": CommandEntry("Run bundled servers on their own, without the benchmark.", "tool_server:tool_server"),
    "replay": CommandEntry("Play a trajectory file through fresh sandboxes.", "replay:replay"),
    "vision": CommandEntry("Fetch a trained detector for pictures of your own.", "vision:vision"),
}
_WORLD = {
    "search": CommandEntry("Search the world's tables.", "world:search"),
    "audit": CommandEntry("Ask the tools about the real world, and say what is true, wrong or missing.", "world:audit"),
}
_IMAGE = {"build": CommandEntry("Build the images of this version.", "image:build")}
_SANDBOXES = {
    "list": CommandEntry("List containers, volumes and workspaces of sandboxes.", "sandboxes:list_sandboxes"),
    "reap": CommandEntry("Remove what is left of sandboxes whose owner is gone.", "sandboxes:reap_sandboxes"),
}
_STORE = {
    "check": CommandEntry("Check the record of runs; nothing is changed.", "store:check"),
    "repair": CommandEntry("Build a new database from the intact runs.", "store:repair"),
    "backup": CommandEntry("Copy the record, while servers use it.", "store:backup"),
}
_PEOPLE = {
    "invite": CommandEntry("Invite a person to a server with sign-in.", "people:invite"),
    "list": CommandEntry("List people with their invitations, devices and clients.", "people:list_people"),
    "end": CommandEntry("End a person's devices, clients and invitations.", "people:end"),
    "client": CommandEntry("Make a fixed client, for a service that cannot register.", "people:make_client"),
}
_KEYS = {
    "make": CommandEntry("Make the key that this account's servers sign runs with.", "keys:make"),
    "show": CommandEntry("Print the public key.", "keys:show"),
}

COMMANDS = {
    "demo": CommandEntry("See it work: three clients play one task; compare their score cards.", "demo:demo"),
    "play": CommandEntry("Play a task yourself, in a browser.", "play:play"),
    "install": CommandEntry("Put m3bench into the configuration of an MCP client.", "install:install"),
    "serve": CommandEntry("Serve the benchmark to an MCP client, over stdio or HTTP.", "serve:serve"),
    "run": CommandEntry("Play many tasks without a client: with a model, or with baseline agents.", "run:run"),
    "report": CommandEntry("Write a run or a result set as one HTML file.", "report:report"),
    "compare": CommandEntry("Compare two sets of results, task by task.", "compare:compare"),
    "leaderboard": CommandEntry("Rank result sets, as a table or a static site.", "leaderboard:leaderboard"),
    "tasks": CommandEntry("List, show, make and verify tasks.", commands=_TASKS),
    "servers": CommandEntry("List the tool servers, and check that they work here.", "servers:servers"),
    "doctor": CommandEntry("Check this machine, its clients and the Docker engine.", "doctor:doctor"),
    "client": CommandEntry("Probe MCP clients, and make the bundle for Claude Desktop.", commands=_CLIENT, panel=MORE),
    "runs": CommandEntry("List, show, watch, export and delete recorded runs.", "runs:runs", _RUNS, MORE),
    "lab": CommandEntry("Studies, judges, papers, boards, ranked events and new tasks.", commands=_LAB, panel=MORE),
    "tools": CommandEntry("Call the tools, serve them alone, and replay calls.", commands=_TOOLS, panel=MORE),
    "world": CommandEntry("Look into the frozen world that tools answer from.", "world:world", _WORLD, MORE),
    "image": CommandEntry("Build the Docker images.", commands=_IMAGE, panel=MORE),
    "sandboxes": CommandEntry("List sandboxes, and remove leftovers.", "sandboxes:sandboxes", _SANDBOXES, MORE),
    "store": CommandEntry("Check, repair and back up the record of runs.", commands=_STORE, panel=MORE),
    "people": CommandEntry("Invite people to a server with sign-in, and remove them.", commands=_PEOPLE, panel=MORE),
    "keys": CommandEntry("Make and show the key that runs are signed with.", commands=_KEYS, panel=MORE),
}  # fmt: skip
"""Every command by its name."""

RENAMED = {
    "probe": "client probe",
    "bundle": "client bundle",
    "watch": "runs watch",
    "study": "lab study",
    "worker": "lab worker",
    "judge": "lab judge",
    "score": "lab score",
    "thresholds": "lab thresholds",
    "paper": "lab paper",
    "submit-bundle": "lab pack",
    "verify-bundle": "lab verify",
    "board": "lab board",
    "ranked": "lab ranked",
    "curate": "lab curate",
    "synthesize": "lab synthesize",
    "export": "lab harbor",
    "export harbor": "lab harbor export",
    "import": "lab harbor",
    "import harbor": "lab harbor import",
    "harbor": "lab harbor",
    "call": "tools call",
    "tool-server": "tools serve",
    "replay": "tools replay",
    "vision": "tools vision",
}
"""Former names of commands, which this release still answers to, and what they are called now."""


class Program(LazyGroup):
    """`m3bench` itself, which also answers to the former names of commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = LazyCommands(COMMANDS)

    def resolve_command(self, ctx: "Context", args: list[str]) -> "tuple[str | None, Command | None, list[str]]":
        """The command that was typed, by its name of now or before."""
        for length in (2, 1):
            old = " ".join(args[:length])
            if old in RENAMED:
                if not ctx.resilient_parsing:
                    print(f"m3bench {old} is now m3bench {RENAMED[old]}.", file=sys.stderr)
                return super().resolve_command(ctx, [*RENAMED[old].split(), *args[length:]])
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="m3bench",
    cls=Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def m3bench(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and what results depend on.")] = False,
    json: Annotated[bool, typer.Option("--json", help="With --version: print JSON.")] = False,
) -> None:
    """A benchmark that is an MCP server: connect any MCP client and measure how well it uses tools."""
    if version:
        function_of("version:show")(json)
        raise typer.Exit
    if json or context.invoked_subcommand is None:
        raise typer.BadParameter("Missing command." if not json else "--json goes with --version, or after a command.")


def main(first: FirstMessages | None = None) -> None:
    """Run the command line.

    Args:
        first: What the client of `serve` was told already.
    """
    try:
        app(obj=first)
    except M3Error as error:
        # It may quote a file that somebody else made.
        said = "\n".join(words.printable(line) for line in str(error).split("\n"))
        print(f"m3bench: {said}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.filename is None:
            raise
        print(f"m3bench: {error.filename}: cannot be used ({error.strerror})", file=sys.stderr)
        sys.exit(2)

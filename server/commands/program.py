"""The commands of `m3bench`: assembles the commands and turns errors into one line and an exit code.

Command modules stay cheap to import: what a command needs is imported when it runs, so that `--help` is
instant. Exit codes: 0 done, 1 the answer is no (a check failed), 2 what was given cannot be used, 130 Ctrl-C.
"""

import os
import sys

import typer

from m3bench.proxy.opening import Opening
from m3bench.server.commands import (
    board,
    bundle,
    call,
    compare,
    completion,
    curate,
    demo,
    doctor,
    harbor,
    image,
    install,
    judge,
    keys,
    leaderboard,
    paper,
    probe,
    public,
    ranked,
    replay,
    report,
    run,
    runs,
    sandboxes,
    score,
    serve,
    servers,
    store,
    study,
    submissions,
    synthesize,
    tasks,
    thresholds,
    tool_server,
    usage,
    version,
    vision,
    watch,
    worker,
    world,
)
from m3bench.tasks.errors import M3Error

app = typer.Typer(
    name="m3bench",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback(invoke_without_command=True)(version.version)

IN_A_CLIENT, WITHOUT, LOOK, MAKE, HERE = (
    "Measure a client", "Measure models and agents", "Look at results", "Look at tasks and tools, make new ones",
    "This machine",
)  # fmt: skip

for panel, name, command in (
    (IN_A_CLIENT, "serve", serve.serve),
    (IN_A_CLIENT, "install", install.install),
    (IN_A_CLIENT, "bundle", bundle.bundle),
    (IN_A_CLIENT, "probe", probe.probe),
    (IN_A_CLIENT, "demo", demo.demo),
    (WITHOUT, "run", run.run),
    (WITHOUT, "study", study.study),
    (WITHOUT, "worker", worker.worker),
    (WITHOUT, "judge", judge.judge),
    (WITHOUT, "score", score.score),
    (WITHOUT, "compare", compare.compare),
    (WITHOUT, "thresholds", thresholds.thresholds),
    (WITHOUT, "submit-bundle", submissions.submit_bundle),
    (WITHOUT, "verify-bundle", submissions.verify_bundle),
    (LOOK, "report", report.report),
    (LOOK, "leaderboard", leaderboard.leaderboard),
    (LOOK, "paper", paper.paper),
    (LOOK, "watch", watch.watch),
    (MAKE, "servers", servers.servers),
    (MAKE, "call", call.call),
    (MAKE, "tool-server", tool_server.tool_server),
    (MAKE, "replay", replay.replay),
    (MAKE, "curate", curate.curate),
    (MAKE, "synthesize", synthesize.synthesize),
    (HERE, "doctor", doctor.doctor),
    (HERE, "vision", vision.vision),
):
    app.command(name, rich_help_panel=panel)(command)
tasks.commands.command("export")(public.export_tasks)
tasks.commands.command("import")(public.import_tasks)
app.add_typer(harbor.exports, rich_help_panel=WITHOUT)
app.add_typer(harbor.imports, rich_help_panel=WITHOUT)
app.add_typer(harbor.inside, rich_help_panel=WITHOUT)
app.add_typer(board.commands, rich_help_panel=LOOK)
app.add_typer(runs.commands, rich_help_panel=LOOK)
app.add_typer(tasks.commands, rich_help_panel=MAKE)
app.add_typer(world.commands, rich_help_panel=MAKE)
app.add_typer(image.commands, rich_help_panel=HERE)
app.add_typer(keys.commands, rich_help_panel=HERE)
app.add_typer(ranked.commands, rich_help_panel=IN_A_CLIENT)
app.add_typer(sandboxes.commands, rich_help_panel=HERE)
app.add_typer(store.commands, rich_help_panel=HERE)
usage.lay_out(app)


def main(opening: Opening | None = None) -> None:
    """Run the command line.

    Args:
        opening: What the client of `serve` was told already.
    """
    if completion.VARIABLE in os.environ:
        completion.attach(app)
    try:
        app(obj=opening)
    except M3Error as error:
        print(f"m3bench: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.filename is None:
            raise
        print(f"m3bench: {error.filename}: cannot be used ({error.strerror})", file=sys.stderr)
        sys.exit(2)

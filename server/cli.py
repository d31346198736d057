"""The `m3bench` command: assembles the commands and turns errors into one line and an exit code.

Command modules stay cheap to import: what a command needs is imported when it runs, so that `--help` is
instant. Exit codes: 0 done, 1 the answer is no (a check failed), 2 what was given cannot be used, 130 Ctrl-C.
"""

import os
import sys

import typer

from m3bench.server.commands import (
    bundle,
    call,
    completion,
    curate,
    demo,
    doctor,
    image,
    install,
    judge,
    leaderboard,
    probe,
    public,
    replay,
    report,
    run,
    runs,
    sandboxes,
    score,
    serve,
    servers,
    submissions,
    synthesize,
    tasks,
    version,
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
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)
app.command("probe")(probe.probe)
app.command("run")(run.run)
app.command("judge")(judge.judge)
app.command("install")(install.install)
app.command("bundle")(bundle.bundle)
app.command("servers")(servers.servers)
app.command("call")(call.call)
app.command("replay")(replay.replay)
app.command("score")(score.score)
app.command("report")(report.report)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("curate")(curate.curate)
app.command("synthesize")(synthesize.synthesize)
app.command("compare")(score.compare)
app.command("submit-bundle")(submissions.submit_bundle)
app.command("verify-bundle")(submissions.verify_bundle)
app.add_typer(image.commands)
app.add_typer(runs.commands)
app.add_typer(sandboxes.commands)
tasks.commands.command("export")(public.export_tasks)
tasks.commands.command("import")(public.import_tasks)
app.add_typer(tasks.commands)
app.add_typer(world.commands)


def main() -> None:
    """Run the command line."""
    if completion.VARIABLE in os.environ:
        completion.attach(app)
    try:
        app()
    except M3Error as error:
        print(f"m3bench: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader (head, less) closed the pipe: not an error of ours, and flushing again would raise.
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()

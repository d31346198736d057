"""`m3bench world`: what the frozen world holds, a search over it, and how much of what it says is true."""

import json as json_text
from typing import Annotated

import typer

from m3bench.sandboxes.selfcheck.audit import ask, counted, questions
from m3bench.sandboxes.world import integrity, tables
from m3bench.sandboxes.world.clock import NOW
from m3bench.server.commands import world_search
from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import progress
from m3bench.server.serving import interrupts
from m3bench.tasks.errors import UserError


def world(context: typer.Context, json: Json = False) -> None:
    """Look into the frozen world that tools answer from.

    \b
    m3bench world                 # its tables
    m3bench world search lighthouse

    Without a command, it lists the tables with their counts, and prints the world's hash and whether it is sound. The
    exit code is 1 when it is not.
    """
    if context.invoked_subcommand is not None:
        return

    counts = {name: len(tables.load(name)) for name in tables.names()}
    sizes = {name: sum(path.stat().st_size for path in tables.files(name)) for name in counts}
    problems = [problem for name in counts for problem in integrity.problems(name)]
    if json:
        listed = [
            {
                "table": name,
                "records": count,
                "bytes": sizes[name],
                "source": tables.table(name).sources,
                "licence": tables.table(name).licences,
            }
            for name, count in counts.items()
        ]
        answer = {"hash": tables.world_hash(), "now": NOW.isoformat(), "problems": problems, "tables": listed}
        typer.echo(json_text.dumps(answer, ensure_ascii=False, indent=2))
    else:
        width = max(map(len, counts), default=0)
        for name, count in counts.items():
            typer.echo(f"{name:{width}} {count:>7}  {'; '.join(tables.table(name).licences)}")
        megabytes = sum(sizes.values()) / 1e6
        typer.echo(
            f"{len(counts)} tables, {sum(counts.values())} records, {megabytes:.1f} MB, "
            f"frozen at {NOW:%Y-%m-%d %H:%M} UTC"
        )
        for problem in problems:
            typer.echo(f"problem: {problem}")
        typer.echo("not sound" if problems else "sound: form, ids, references and positions of every table hold")
        typer.echo(f"hash {tables.world_hash()}")
    if problems:
        raise typer.Exit(1)


def search(
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="What to look for, in any spelling.")],
    table: Annotated[str | None, typer.Option(metavar="NAME", help="Search only this table.")] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum number of results.")] = 10,
    json: Json = False,
) -> None:
    """Search the world's tables.

    \b
    m3bench world search eiffel tower
    m3bench world search --table movies --limit 3 inception

    Prints what is found, the best first; the exit code is 1 when nothing is.
    """
    if code := world_search.search(words, table, limit, as_json=json):
        raise typer.Exit(code)


def audit(
    server: Annotated[list[str] | None, typer.Argument(metavar="[SERVER]...", help="Only these servers.")] = None,
    json: Json = False,
) -> None:
    """Ask the tools about the real world, and say what is true, wrong or missing.

    \b
    m3bench world audit wiki

    Asks them for facts and makes searches. Prints how many of each server's answers are true, wrong or not held,
    and lists what is wrong.
    """
    known = sorted({question.tool.partition("/")[0] for question in questions()})
    unknown = [name for name in server or () if name not in known]
    if unknown:
        raise UserError(f"The audit asks nothing of {', '.join(unknown)}. Servers: {', '.join(known)}.")
    chosen = [question for question in questions() if not server or question.tool.partition("/")[0] in server]
    findings = interrupts.run(ask, progress(chosen, len(chosen), "Asking"))
    table = counted(findings)
    if json:
        other = [
            {"kind": finding.question.kind, "tool": finding.question.tool, "asked": finding.question.asked,
             "verdict": finding.verdict, "expected": finding.question.expected, "answer": finding.text[:500]}
            for finding in findings if finding.verdict != "true"
        ]  # fmt: skip
        typer.echo(json_text.dumps({"servers": table, "not_true": other}, ensure_ascii=False, indent=2))
        return
    width = max(map(len, table))
    typer.echo(f"{'':{width}}  {'facts':>6} true wrong  gap   {'searches':>8} true misleading  gap")
    for name, kinds in table.items():
        facts, searches = kinds["fact"], kinds["search"]
        typer.echo(
            f"{name:{width}}  {facts.total():>6} {facts['true']:>4} {facts['wrong']:>5} {facts['gap']:>4}   "
            f"{searches.total():>8} {searches['true']:>4} {searches['wrong']:>10} {searches['gap']:>4}"
        )
    for finding in findings:
        if finding.verdict == "wrong":
            question = finding.question
            what = "wrong" if question.kind == "fact" else "misleading"
            typer.echo(f"{what}: {question.tool} {question.asked!r} should be {question.expected}")

"""`m3bench world`: what the frozen world holds, a search over it, and how much of what it says is true."""

import json
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]

commands = typer.Typer(
    name="world",
    help="List the tables of the frozen world, search them, or compare them with reality.",
    invoke_without_command=True,
)


@commands.callback()
def world(context: typer.Context, as_json: Json = False) -> None:
    """List the tables of the frozen world with their counts, its hash, and whether it is sound."""
    if context.invoked_subcommand is not None:
        return
    from m3bench.sandboxes.world import integrity, tables
    from m3bench.sandboxes.world.clock import NOW

    counts = {name: len(tables.load(name)) for name in tables.names()}
    sizes = {name: sum(path.stat().st_size for path in tables.files(name)) for name in counts}
    problems = [problem for name in counts for problem in integrity.problems(name)]
    if as_json:
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
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
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


@commands.command("search")
def search(
    words: Annotated[list[str], typer.Argument(help="What to look for, in any spelling.")],
    table: Annotated[str | None, typer.Option(help="Search only this table.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of results.")] = 10,
    as_json: Json = False,
) -> None:
    """Search the world's tables."""
    from m3bench.server.commands import world_search

    if code := world_search.search(words, table, limit, as_json=as_json):
        raise typer.Exit(code)


@commands.command("audit")
def audit(
    server: Annotated[list[str] | None, typer.Argument(help="Only these servers.")] = None,
    as_json: Json = False,
) -> None:
    """Ask the tools for facts and searches about the real world and tell what is true, wrong or not held."""
    from m3bench.sandboxes.selfcheck.audit.asking import ask, counted
    from m3bench.sandboxes.selfcheck.audit.questions import questions
    from m3bench.server.commands.screen import progress
    from m3bench.server.serving import interrupts
    from m3bench.tasks.errors import UserError

    known = sorted({question.tool.partition("/")[0] for question in questions()})
    unknown = [name for name in server or () if name not in known]
    if unknown:
        raise UserError(f"Nothing is asked of {', '.join(unknown)}. Servers: {', '.join(known)}.")
    chosen = [one for one in questions() if not server or one.tool.partition("/")[0] in server]
    findings = interrupts.run(ask, progress(chosen, len(chosen), "Asking"))
    table = counted(findings)
    if as_json:
        other = [
            {"kind": it.question.kind, "tool": it.question.tool, "asked": it.question.asked, "verdict": it.verdict,
             "expected": it.question.expected, "answer": it.text[:500]}
            for it in findings if it.verdict != "true"
        ]  # fmt: skip
        typer.echo(json.dumps({"servers": table, "not_true": other}, ensure_ascii=False, indent=2))
        return
    width = max(map(len, table))
    typer.echo(f"{'':{width}}  {'facts':>6} true wrong  gap   {'searches':>8} true misleading  gap")
    for name, kinds in table.items():
        facts, searches = kinds["fact"], kinds["search"]
        typer.echo(
            f"{name:{width}}  {facts.total():>6} {facts['true']:>4} {facts['wrong']:>5} {facts['gap']:>4}   "
            f"{searches.total():>8} {searches['true']:>4} {searches['wrong']:>10} {searches['gap']:>4}"
        )
    for it in findings:
        if it.verdict == "wrong":
            what = "wrong" if it.question.kind == "fact" else "misleading"
            typer.echo(f"{what}: {it.question.tool} {it.question.asked!r} should be {it.question.expected}")

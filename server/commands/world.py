"""`m3bench world`: what the frozen world holds, and a search over it."""

import json
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]

commands = typer.Typer(
    name="world", help="List the tables of the frozen world, or search them.", invoke_without_command=True
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
    from m3bench.sandboxes.world import catalogue, tables
    from m3bench.tasks.errors import UserError

    if table is not None and table not in tables.names():
        raise UserError(f"There is no table {table!r}. Tables: {', '.join(tables.names())}.")
    found = catalogue.search(" ".join(words), [table] if table else tables.names(), limit)
    if as_json:
        answer = [{"score": score, "table": name, "record": record} for score, name, record in found]
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        for score, name, record in found:
            typer.echo(f"{score:.2f}  {name:14} {catalogue.label(record)}")
    if not found:
        typer.echo(f"Nothing in the world answers to {' '.join(words)!r}.", err=True)
        raise typer.Exit(1)

"""`m3bench serve`: what a person puts into an MCP client."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

Http = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve over HTTP instead of stdio, at /mcp.")]
Token = Annotated[
    str | None,
    typer.Option(envvar="M3BENCH_TOKEN", help="Bearer token that HTTP clients must send, of 16 characters or more."),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        envvar="M3BENCH_ALLOW_HOST", metavar="NAME", help="With --http: a further name that clients may call it by."
    ),
]
AllowOrigin = Annotated[
    list[str] | None,
    typer.Option(
        envvar="M3BENCH_ALLOW_ORIGIN", metavar="ORIGIN", help="With --http: a site whose pages may send requests."
    ),
]

RequireIsolation = Annotated[
    bool, typer.Option("--require-isolation", help="Do not start where sandboxes lack a guard; doctor says which.")
]


def serve(
    context: typer.Context,
    profile: Annotated[
        str,
        typer.Option(
            help="Tools to show: full, wide, compact, mini, retrieve, max-scale, family:NAME, task:ID or standard:ID."
        ),
    ] = "full",
    http: Http = None,
    token: Token = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    operator_token: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_OPERATOR_TOKEN",
            help="Token for the pages at /, instead of --token; with --ranked, scores are shown only with it.",
        ),
    ] = None,
    servers: Annotated[
        Path | None, typer.Option(help="Third-party MCP servers to front, a file in the usual mcpServers form.")
    ] = None,
    prefix: Annotated[bool, typer.Option(help="Show their tools as server__tool.")] = True,
    record: Annotated[Path | None, typer.Option(help="Add their answers to this cassette.")] = None,
    replay: Annotated[
        list[Path] | None, typer.Option(help="Answer from this cassette instead of asking them; from several as one.")
    ] = None,
    on_miss: Annotated[str, typer.Option(help="For calls that are not on the cassette: error, or live.")] = "error",
    tasks: Annotated[Path | None, typer.Option(help="Folder with a set of tasks.")] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            envvar="M3BENCH_SEED",
            help="Make tasks from this seed at the start (takes a minute or two); no reference is ever on disk.",
        ),
    ] = None,
    secret_file: Annotated[
        Path | None,
        typer.Option(
            help="With --ranked: make tasks from the secret in this file, or in M3BENCH_SECRET, in memory alone."
        ),
    ] = None,
    per_family: Annotated[
        int, typer.Option(min=1, metavar="N", help="With --seed or a secret: tasks of each family.")
    ] = 1,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="With --seed or a secret: only tasks of this family.")
    ] = None,
    task: Annotated[str | None, typer.Option(metavar="ID", help="Offer this task alone.")] = None,
    sandbox: Annotated[str, typer.Option(help="Where tools run: process, or docker.")] = "process",
    docker_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="With --sandbox docker: an engine for containers, as tcp://HOST:PORT, ssh://HOST or the name of a "
            "Docker context; repeat it for several. M3BENCH_DOCKER_HOSTS is a list of them.",
        ),
    ] = None,
    runtime: Annotated[
        str | None, typer.Option(help="Another OCI runtime for containers, such as runsc for gVisor.")
    ] = None,
    require_isolation: RequireIsolation = False,
    ranked: Annotated[bool, typer.Option("--ranked", help="Do not show score cards to the client.")] = False,
    event: Annotated[
        Path | None,
        typer.Option(help="With --ranked and --http: hold the event of this file, as `m3bench ranked event` makes it."),
    ] = None,
    content_only: Annotated[
        bool, typer.Option("--content-only", help="Leave structured content out of results.")
    ] = False,
    encoder: Annotated[
        str,
        typer.Option(
            envvar="M3BENCH_ENCODER", help="What compares arguments: minilm, or sentence-transformers[:MODEL]."
        ),
    ] = "minilm",
    sync: Annotated[
        str, typer.Option(help="normal, or full: recorded calls survive a crash of the machine.")
    ] = "normal",
    max_calls: Annotated[int, typer.Option(min=1, metavar="N", help="Calls a run may make.")] = 200,
    max_minutes: Annotated[float, typer.Option(min=0.01, metavar="N", help="Minutes a run may take.")] = 60,
    spares: Annotated[
        int, typer.Option(min=0, metavar="N", help="Sandboxes to keep warm, so that the first call is quick.")
    ] = 0,
    log: Annotated[
        str,
        typer.Option(envvar="M3BENCH_LOG", help="plain, or json: one object a line on standard error, and every call."),
    ] = "plain",
    data: Annotated[Path | None, typer.Option(help="Folder for the record of runs, instead of M3BENCH_DATA.")] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="PostgreSQL database for runs and calls, as postgresql://USER@HOST/NAME, instead of M3BENCH_STORE; "
            "--data then holds files alone.",
        ),
    ] = None,
    advertise: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_ADVERTISE",
            metavar="URL",
            help="With --http and --store: where the other servers on the same database reach this one, such as "
            "http://10.0.0.7:8000; where it listens when left out.",
        ),
    ] = None,
) -> None:
    """Serve the benchmark to an MCP client, over stdio or HTTP.

    Put "m3bench serve" into your client's list of MCP servers, then ask it to start a task.
    """
    from m3bench.proxy.instant import Start
    from m3bench.proxy.logs import write_logs
    from m3bench.server.app import App
    from m3bench.server.clients.table import KnownClients
    from m3bench.server.commands.installed import library_for
    from m3bench.server.runs.event import Event
    from m3bench.server.serving.transport import address_of, serve_http_app, serve_stdio_app
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import UserError

    write_logs(log)
    settings = Settings.of(
        profile=profile,
        servers=servers,
        prefix=prefix,
        record=record,
        replay=tuple(replay or ()),
        on_miss=on_miss,
        tasks=tasks,
        seed=seed,
        secret_file=secret_file,
        per_family=per_family,
        family=tuple(family or ()),
        task=task,
        sandbox=sandbox,
        docker_host=tuple(docker_host) if docker_host else None,
        runtime=runtime,
        require_isolation=require_isolation,
        ranked=ranked,
        event=event,
        content_only=content_only,
        encoder=encoder,
        sync=sync,
        max_calls=max_calls,
        max_minutes=max_minutes,
        spares=spares,
        data=data,
        store=store,
        advertise=advertise.rstrip("/") if advertise else None,
    )
    if docker_host and sandbox != "docker":
        raise UserError("--docker-host is about containers: use it with --sandbox docker.")
    if event is not None and (not ranked or http is None or token is not None):
        raise UserError("An event is ranked, over HTTP, and each participant has a token: --ranked --http, no --token.")

    def make() -> App:
        return App(settings, clients=KnownClients(), library=library_for(settings))

    if http is None:
        usual = all(one is None for one in (servers, record, replay, tasks, seed, secret_file))
        serve_stdio_app(make, context.obj, Start(profile, content_only) if usual else None)
    else:
        from m3bench.server.lab.live.pages import LivePages

        listen = address_of(http, token, operator_token, allow_hosts=allow_host or (), allow_origins=allow_origin or ())
        if event is not None:
            # Every client is a participant, and what the pages show is for the operator alone.
            idle = max(listen.idle_seconds, max_minutes * 60)
            listen = replace(listen, guests=Event.read(event).guests, idle_seconds=idle)
        serve_http_app(make, listen, LivePages if event is None or operator_token is not None else None)

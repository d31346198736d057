"""`m3bench serve`: what a person puts into an MCP client."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.proxy.logs import write_logs
from m3bench.proxy.transports.instant import InstantStart
from m3bench.server.commands.options import ADVANCED, Tasks, TokenFile, Weather, read_token
from m3bench.server.settings import MAX_CALLS, MAX_MINUTES, Settings
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

# The MCP library takes most of a second to import: help and completion do without it.
if TYPE_CHECKING:
    from m3bench.server.commands import serving, training_environment
else:
    serving = LazyModule("m3bench.server.commands.serving")
    training_environment = LazyModule("m3bench.server.commands.training_environment")


@dataclass(frozen=True, kw_only=True)
class HttpOptions:
    """Where to listen for clients, and who may connect."""

    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve over HTTP instead of stdio, at /mcp.")
    ] = None
    token_file: TokenFile = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            envvar="M3BENCH_ALLOW_HOST",
            metavar="NAME",
            help="With --http: another host name that clients may use.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            envvar="M3BENCH_ALLOW_ORIGIN",
            metavar="ORIGIN",
            help="With --http: a site whose pages may send requests.",
            rich_help_panel=ADVANCED,
        ),
    ] = None

    @property
    def token(self) -> str | None:
        """What clients must send."""
        return read_token(self.token_file, "M3BENCH_TOKEN")


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """What trainers are served."""

    openenv: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve episodes to trainers that speak OpenEnv, not clients.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    split: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="With --openenv: what the tasks are for; only with train are rewards given before an episode ends.",
            rich_help_panel=ADVANCED,
        ),
    ] = "test"
    reward: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART=WEIGHT",
            help="With --openenv: what solved, shaping, format, budget or grounding counts.",
            rich_help_panel=ADVANCED,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SignInOptions:
    """Who may sign in over HTTP, and under which address they know this server."""

    auth: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_AUTH",
            metavar="own|oidc=URL",
            help="With --http: people sign in, those invited with `m3bench people` or those of an OpenID provider.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    public_url: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_PUBLIC_URL",
            metavar="URL",
            help="With --auth: the address that clients and browsers use, such as https://bench.example; by "
            "default the address it listens on, for this machine only.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    grant: Annotated[
        list[str] | None,
        typer.Option(
            envvar="M3BENCH_GRANT",
            metavar="SCOPE=GROUP",
            help="With --auth oidc: members of this group may play, watch or operate; repeat it. Without it, a token's "
            "own scopes count.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    audience: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_AUDIENCE",
            metavar="NAME",
            help="With --auth oidc: what the provider calls this server in tokens, unless that is --public-url.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    token_minutes: Annotated[
        float,
        typer.Option(
            min=0.05,
            max=60,
            metavar="N",
            help="With --auth own: minutes until an access token must be renewed.",
            rich_help_panel=ADVANCED,
        ),
    ] = 15
    documents: Annotated[
        bool,
        typer.Option(
            envvar="M3BENCH_DOCUMENTS",
            help="With --auth own: read the documents on the internet by which Claude, Codex and others say who "
            "they are. Where that cannot be reached, leave it out: they then register.",
            rich_help_panel=ADVANCED,
        ),
    ] = True
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(
            envvar="M3BENCH_TRUST_PROXY",
            metavar="ADDRESS",
            help="With --http: a proxy, or a network of them, to believe about where requests come from; one on this "
            "machine when left out.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --http: serve HTTPS with this certificate (PEM).", rich_help_panel=ADVANCED
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The certificate's private key (PEM).", rich_help_panel=ADVANCED),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """What is served, and where its tools run: the choices that are settings of the server."""

    profile: Annotated[
        str,
        typer.Option(
            help="Tools to show: full, wide, compact, mini, retrieve, max-scale, family:NAME, task:ID, standard:ID or "
            "scale-N:ID."
        ),
    ] = "full"
    tasks: Tasks = None
    task: Annotated[str | None, typer.Option(metavar="ID", help="Offer only this task.")] = None
    sandbox: Annotated[str, typer.Option(metavar="process|docker", help="Where tools run.")] = "process"
    ranked: Annotated[bool, typer.Option("--ranked", help="Do not show score cards to the client.")] = False
    max_calls: Annotated[int, typer.Option(min=1, metavar="N", help="Calls a run may make.")] = MAX_CALLS
    max_minutes: Annotated[float, typer.Option(min=0.01, metavar="N", help="Minutes a run may take.")] = MAX_MINUTES
    servers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Third-party MCP servers to front, in the usual mcpServers form."),
    ] = None
    record: Annotated[Path | None, typer.Option(metavar="FILE", help="Add their answers to this cassette.")] = None
    replay: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Answer from this cassette instead of asking them; several are replayed as one."
        ),
    ] = None
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where runs are recorded, instead of M3BENCH_DATA.")
    ] = None
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="PostgreSQL database for runs and calls, as postgresql://USER@HOST/NAME, instead of M3BENCH_STORE; "
            "--data then holds only files.",
        ),
    ] = None
    prefix: Annotated[
        bool, typer.Option(help="Show tools of third-party servers as server__tool.", rich_help_panel=ADVANCED)
    ] = True
    on_miss: Annotated[
        str,
        typer.Option(
            metavar="error|live",
            help="With --replay: what to do with calls that are not recorded.",
            rich_help_panel=ADVANCED,
        ),
    ] = "error"
    seed: Annotated[
        int | None,
        typer.Option(
            envvar="M3BENCH_SEED",
            help="Make tasks from this seed at the start (takes a minute or two); no reference is ever on disk.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --ranked: make tasks from the secret in this file, or in M3BENCH_SECRET, only in memory.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    per_family: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="With --seed or a secret: number of tasks per family.", rich_help_panel=ADVANCED
        ),
    ] = 1
    family: Annotated[
        list[str] | None,
        typer.Option(
            envvar="M3BENCH_FAMILY",
            metavar="NAME",
            help="With --seed or a secret: only tasks of this family. With --ranked name them in M3BENCH_FAMILY.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    event: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --ranked and --http: hold this event, as `m3bench lab ranked event` makes it.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    docker_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="With --sandbox docker: an engine for containers, as tcp://HOST:PORT, ssh://HOST or the name of a "
            "Docker context; repeat it for several. M3BENCH_DOCKER_HOSTS can list them.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    runtime: Annotated[
        str | None,
        typer.Option(help="Another OCI runtime for containers, such as runsc for gVisor.", rich_help_panel=ADVANCED),
    ] = None
    require_isolation: Annotated[
        bool,
        typer.Option(
            "--require-isolation",
            help="Do not start where sandboxes lack a guard; `m3bench doctor` says which.",
            rich_help_panel=ADVANCED,
        ),
    ] = False
    content_only: Annotated[
        bool,
        typer.Option("--content-only", help="Leave structured content out of results.", rich_help_panel=ADVANCED),
    ] = False
    encoder: Annotated[
        str,
        typer.Option(
            envvar="M3BENCH_ENCODER",
            help="What compares arguments: minilm, or sentence-transformers[:MODEL].",
            rich_help_panel=ADVANCED,
        ),
    ] = "minilm"
    sync: Annotated[
        str,
        typer.Option(
            metavar="normal|full",
            help="full: recorded calls survive a crash of the machine.",
            rich_help_panel=ADVANCED,
        ),
    ] = "normal"
    weather: Weather = "fair"
    spares: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Sandboxes to keep warm, so that the first call is quick.",
            rich_help_panel=ADVANCED,
        ),
    ] = 0
    seat: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_SEAT",
            metavar="HANDLE",
            help="Over stdio: continue the run of this seat (22 to 64 random letters and digits), for frameworks "
            "that start a server for every call.",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    advertise: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_ADVERTISE",
            metavar="URL",
            help="With --http and --store: where the other servers on the same database reach this one, such as "
            "http://10.0.0.7:8000; by default the address it listens on.",
            rich_help_panel=ADVANCED,
        ),
    ] = None

    @property
    def settings(self) -> Settings:
        """The server's settings.

        Raises:
            UserError: A value cannot be.
        """
        return Settings.of(
            **asdict(self)
            | {
                "replay": tuple(self.replay or ()),
                "family": tuple(self.family or ()),
                "docker_host": tuple(self.docker_host) if self.docker_host else None,
                "advertise": self.advertise.rstrip("/") if self.advertise else None,
            }
        )

    @property
    def start(self) -> InstantStart | None:
        """What its first answers depend on, when they can be prepared: for what travels with the package."""
        others = (self.servers, self.record, self.replay, self.tasks, self.seed, self.secret_file)
        prepared = all(option is None for option in others) and self.weather == "fair"
        return InstantStart(self.profile, self.content_only) if prepared else None


def serve(
    context: typer.Context,
    options: ServeOptions,
    http: HttpOptions,
    training: TrainingOptions,
    sign_in: SignInOptions,
    operator_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with a token for the pages at / alone, instead of M3BENCH_OPERATOR_TOKEN; with --ranked, scores "
            "are shown only with it.",
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    log: Annotated[
        str,
        typer.Option(
            envvar="M3BENCH_LOG",
            metavar="plain|json",
            help="json: one object per line on standard error, with a line for every call.",
            rich_help_panel=ADVANCED,
        ),
    ] = "plain",
) -> None:
    """Serve the benchmark to an MCP client, over stdio or HTTP.

    Put `m3bench serve` into your client's list of MCP servers (`m3bench install CLIENT` does), then ask the client to
    start a task.

    \b
    m3bench serve                            # for a client that starts it
    m3bench serve --http 127.0.0.1:8000      # clients connect to its /mcp
    m3bench serve --profile compact          # fewer tools
    m3bench serve --openenv 127.0.0.1:8000   # trainers play episodes

    Runs, calls and score cards are recorded below --data: `m3bench runs list` shows them. Over HTTP, the page at /
    shows them as they happen. Notices go to standard error.
    """
    write_logs(log)
    settings = options.settings
    operator_token = read_token(operator_file, "M3BENCH_OPERATOR_TOKEN")
    source = context.get_parameter_source("family")
    if settings.ranked and options.family and source is not None and source.name == "COMMANDLINE":
        raise UserError("Arguments can be read by others on this machine: name families in M3BENCH_FAMILY instead.")
    if options.docker_host and options.sandbox != "docker":
        raise UserError("--docker-host is for containers: use it with --sandbox docker.")
    if settings.event is not None and (not settings.ranked or http.http is None or http.token is not None):
        raise UserError(
            "An event is ranked, over HTTP, and gives each participant a token: use --ranked and --http without one."
        )
    if sign_in.auth is not None and (http.http is None or http.token is not None or operator_token is not None):
        raise UserError("--auth goes with --http and replaces tokens: give none for clients or for the operator.")
    if training.openenv is not None:
        if http.http is not None:
            raise UserError("--openenv serves trainers and --http serves clients: start a server for each.")
        if settings.weather != "fair":
            raise UserError("Episodes of training have fair weather: leave --weather out.")
        training_environment.serve_openenv(settings, training.openenv, training.split, training.reward or ())
    elif http.http is None:
        serving.serve_stdio(settings, context.obj, options.start)
    else:
        serving.serve_http(settings, http, sign_in, operator_token)

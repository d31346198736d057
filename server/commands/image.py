"""`m3bench image`: makes the images that Docker sandboxes and the containerised service run from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from m3bench.sandboxes.images.builder import Built

commands = typer.Typer(name="image", help="Make the Docker images.", no_args_is_help=True)


@commands.callback()
def image() -> None:
    """Make the Docker images."""


@commands.command("build")
def build(
    base: Annotated[
        str | None, typer.Option(metavar="IMAGE", help="Start from this image: Linux with python3 and glibc.")
    ] = None,
    wheels: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Take wheels from this folder, not from the index."),
    ] = None,
    sound: Annotated[
        bool, typer.Option("--sound", help="Put in what tools need for sound and film: the set `recordings`.")
    ] = False,
    sandbox_only: Annotated[bool, typer.Option("--sandbox-only", help="Leave out the service's image.")] = False,
    worker: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PACKAGE",
            help="Also make the image of workers, with Inspect and this package of a model's provider, such as openai.",
        ),
    ] = None,
    parts: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Where lists of what the images are made of go (CycloneDX)."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was made as JSON.")] = False,
) -> None:
    """Build the sandbox image and the service image of this version, and that of workers when asked for.

    The engine is the one that DOCKER_HOST names, or the local one. The build itself uses no network.
    """
    from functools import partial

    from m3bench.sandboxes.backends.docker.engine import Engine
    from m3bench.sandboxes.images import builder
    from m3bench.server.commands.screen import print_json
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import UserError

    if worker and sandbox_only:
        raise UserError("The image of workers stands on the service's: leave out --sandbox-only, or --worker.")

    def report(line: str) -> None:
        typer.echo(f"m3bench: {line}", err=True)

    folder = parts or Settings().data / "images"
    engine = Engine()
    try:
        built = engine.answer(
            lambda client: builder.build(
                client,
                base or builder.BASE,
                wheels,
                report,
                service=not sandbox_only,
                models=worker or (),
                sound=sound,
            )
        )
        folder.mkdir(parents=True, exist_ok=True)
        for one in built:
            path = folder / f"{one.name.replace('/', '-').replace(':', '-')}.cdx.json"
            path.write_bytes(engine.answer(partial(builder.read_parts, name=one.name)))
            report(f"what {one.name} is made of: {path}")
    finally:
        engine.close()
    if json:
        print_json([{**one._asdict(), "layers": [layer._asdict() for layer in one.layers]} for one in built])
    else:
        for one in built:
            _show(one)


def _show(built: "Built") -> None:
    typer.echo(f"{built.name}  {built.bytes / 1e6:.0f} MB")
    for layer in built.layers:
        typer.echo(f"  {layer.bytes / 1e6:6.1f} MB  {_plain(layer.made_by)}")


def _plain(made_by: str) -> str:
    """What made a layer, as the recipe says it."""
    return made_by.removeprefix("/bin/sh -c #(nop) ")[:80] or "the base image"

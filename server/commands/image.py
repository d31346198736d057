"""`m3bench image`: makes the images that Docker sandboxes and the containerised service run from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from m3bench.sandboxes.backends.docker.engine import Client, DockerEngine
from m3bench.sandboxes.images import builder
from m3bench.sandboxes.images.builder import Built
from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import print_json
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError


@dataclass(frozen=True, kw_only=True)
class ImageOptions:
    """What the images are made of."""

    base: Annotated[
        str | None, typer.Option(metavar="IMAGE", help="Start from this image: Linux with python3 and glibc.")
    ] = None
    wheels: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, metavar="FOLDER", help="Take wheels from here, not from the index."),
    ] = None
    sound: Annotated[
        bool, typer.Option("--sound", help="Include what tools need for sound and film, for the set `recordings`.")
    ] = False
    sandbox_only: Annotated[bool, typer.Option("--sandbox-only", help="Leave out the service's image.")] = False
    worker: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PACKAGE",
            help="Also make the image of workers, with Inspect and this package of a model's provider, such as openai.",
        ),
    ] = None

    def build(self, client: Client) -> Sequence[Built]:
        """Build the images on an engine."""
        return builder.build(
            client,
            self.base or builder.BASE,
            self.wheels,
            _tell,
            service=not self.sandbox_only,
            models=self.worker or (),
            sound=self.sound,
        )


def build(
    options: ImageOptions,
    parts: Annotated[
        Path | None,
        typer.Option(file_okay=False, metavar="FOLDER", help="Where the SBOMs of the images go (CycloneDX)."),
    ] = None,
    json: Json = False,
) -> None:
    """Build the images of this version.

    \b
    m3bench image build
    m3bench image build --worker openai

    It builds the sandbox image and the service image, and the image of workers when asked for. The engine is the one
    that DOCKER_HOST names, or the local one; the build itself uses no network. Prints the name, size and layers of
    each image, and where its SBOM is.
    """
    if options.worker and options.sandbox_only:
        raise UserError("The image of workers is built on the service's: leave out --sandbox-only, or --worker.")
    folder = parts or Settings().data / "images"
    engine = DockerEngine()
    try:
        built = engine.answer(options.build)
        folder.mkdir(parents=True, exist_ok=True)
        for image in built:
            path = folder / f"{image.name.replace('/', '-').replace(':', '-')}.cdx.json"
            path.write_bytes(engine.answer(partial(builder.read_sbom, name=image.name)))
            _tell(f"what {image.name} is made of: {path}")
    finally:
        engine.close()
    if json:
        print_json([{**image._asdict(), "layers": [layer._asdict() for layer in image.layers]} for image in built])
    else:
        for image in built:
            _show(image)


def _tell(line: str) -> None:
    typer.echo(f"m3bench: {line}", err=True)


def _show(built: Built) -> None:
    typer.echo(f"{built.name}  {built.bytes / 1e6:.0f} MB")
    for layer in built.layers:
        typer.echo(f"  {layer.bytes / 1e6:6.1f} MB  {_plain(layer.made_by)}")


def _plain(made_by: str) -> str:
    """What made a layer, as the recipe says it."""
    return made_by.removeprefix("/bin/sh -c #(nop) ")[:80] or "the base image"

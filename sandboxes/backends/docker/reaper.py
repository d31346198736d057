"""Finds our containers and volumes on an engine and removes those that are no longer needed.

A container ends and is removed by itself when its owner goes, however that happens. This is for the cases
in which that fails: the owner died between two questions, the engine was restarted, a machine vanished.
"""

import time
from contextlib import suppress
from datetime import datetime
from typing import Any

from m3bench.sandboxes.backends.docker.engine import Client, is_gone
from m3bench.sandboxes.backends.docker.leases import PRODUCT, LeasedResource


def holdings(client: Client) -> list[LeasedResource]:
    """Every container and volume of ours, of whichever owner; containers before the volumes they hold."""
    ours = {"label": PRODUCT}
    return [
        *(_container(found) for found in client.containers(all=True, filters=ours)),
        *(_volume(found) for found in client.volumes(filters=ours)["Volumes"] or ()),
    ]


def leftovers(client: Client) -> list[tuple[LeasedResource, str]]:
    """What nobody needs any more, each with the reason."""
    now = time.time()
    return [(holding, reason) for holding in holdings(client) if (reason := holding.leftover(now)) is not None]


def reap(client: Client) -> list[tuple[LeasedResource, str]]:
    """Remove what nobody needs; returns it, each with the reason."""
    found = leftovers(client)
    for holding, _ in found:
        remove(client, holding)
    return found


def remove(client: Client, holding: LeasedResource) -> None:
    """Remove a container or volume, unless somebody else is doing so."""
    try:
        if holding.kind == "container":
            client.remove_container(holding.name, force=True, v=True)
        else:
            client.remove_volume(holding.name, force=True)
    except OSError as error:
        if not is_gone(error):
            raise


def _container(found: dict[str, Any]) -> LeasedResource:
    name = (found.get("Names") or [found["Id"]])[0].lstrip("/")
    made = float(found.get("Created") or 0)
    return LeasedResource.of("container", name, found.get("Labels") or {}, state=found.get("State", ""), made=made)


def _volume(found: dict[str, Any]) -> LeasedResource:
    made = 0.0
    with suppress(KeyError, ValueError):
        made = datetime.fromisoformat(found["CreatedAt"]).timestamp()
    return LeasedResource.of("volume", found["Name"], found.get("Labels") or {}, made=made)

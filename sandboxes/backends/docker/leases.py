"""Who owns a container or volume, and whether it is still needed; written on it as labels.

An owner is a process: its number, when it started, and the place where such numbers mean something (a boot of
a machine, and there a namespace). Whoever is in the same place can see that an owner is dead. From any other
place only the lease tells, which is far longer than a run; but a host ends by itself when its owner goes.

A container ends and is removed by itself when its owner goes, however that happens. What nobody needs is removed here
in the cases in which that fails: the owner died between two questions, the engine was restarted, a machine vanished.
"""

import os
import platform
import secrets
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from m3bench.sandboxes.backends.docker.engine import Client, is_gone

PRODUCT = "io.m3bench.sandbox"
OWNER = "io.m3bench.owner"
STARTED = "io.m3bench.owner-started"
PLACE = "io.m3bench.owner-place"
RUN = "io.m3bench.run"
FOLDER = "io.m3bench.workspace"
LEASE = "io.m3bench.lease"

LEASE_SECONDS = 24 * 3600.0

STILLBORN_SECONDS = 600.0
"""A container that does not run this long after it was made never will."""

Kind = Literal["container", "volume"]

HELD: set[str] = set()
"""Names of what this process uses: put in before it is made, taken out when it is gone."""


@dataclass(frozen=True)
class LeaseOwner:
    """A process."""

    place: str
    pid: int
    started: str
    """Empty where it cannot be known."""

    def is_dead(self) -> bool:
        """Whether it is known to be gone."""
        if self.place != _place() or sys.platform == "win32":
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass
        started = _started(self.pid)
        return bool(started and self.started) and started != self.started


def myself() -> LeaseOwner:
    """This process."""
    pid = os.getpid()
    return LeaseOwner(_place(), pid, _started(pid))


def new_name() -> str:
    """A name for something to be made on an engine; held from now on, so that the reaper leaves it alone."""
    name = f"m3bench-{secrets.token_hex(8)}"
    HELD.add(name)
    return name


def marks(run: str, seconds: float = LEASE_SECONDS, *, folder: Path | None = None) -> dict[str, str]:
    """The labels of something that belongs to this process now.

    Args:
        run: What it is for.
        seconds: How long the lease lasts.
        folder: The workspace it is for.
    """
    me = myself()
    return {
        PRODUCT: "1",
        OWNER: str(me.pid),
        STARTED: me.started,
        PLACE: me.place,
        RUN: run,
        FOLDER: str(folder or ""),
        LEASE: str(int(time.time() + seconds)),
    }


@dataclass(frozen=True, kw_only=True)
class LeasedResource:
    """A container or volume of ours."""

    kind: Kind
    name: str
    state: str
    """As the engine calls it; empty for volumes."""
    made: float
    """Seconds since the epoch; 0 when unknown."""
    owner: LeaseOwner
    run: str
    folder: str
    """The workspace it is for, as its owner knows it."""
    lease: float

    @classmethod
    def of(
        cls, kind: Kind, name: str, labels: Mapping[str, str], *, state: str = "", made: float = 0
    ) -> "LeasedResource":
        """Read one from its labels; nonsense in them reads as an owner nobody knows and a lease that is over."""
        return cls(
            kind=kind,
            name=name,
            state=state,
            made=made,
            owner=LeaseOwner(labels.get(PLACE, ""), _number(labels.get(OWNER)), labels.get(STARTED, "")),
            run=labels.get(RUN, ""),
            folder=labels.get(FOLDER, ""),
            lease=_number(labels.get(LEASE)),
        )

    def leftover(self, now: float) -> str | None:
        """Why it is no longer needed, in a few words; None while it may be."""
        if now > self.lease:
            return "its lease is over"
        if self.owner == myself() and self.name not in HELD:
            return None if self._is_awaited() else "its owner forgot it"
        if self.owner.is_dead():
            return None if self._is_awaited() else "its owner is dead"
        if self.kind == "container" and self.state != "running" and self.made and now - self.made > STILLBORN_SECONDS:
            return "it does not run"
        return None

    def _is_awaited(self) -> bool:
        """Whether it holds the files of a workspace that is still there: a run that may be resumed."""
        return self.kind == "volume" and bool(self.folder) and Path(self.folder).is_dir()

    def to_json(self, now: float) -> dict[str, object]:
        """For a machine to read."""
        return {
            "kind": self.kind, "name": self.name, "state": self.state, "run": self.run, "owner": self.owner.pid,
            "owner_alive": None if self.owner.place != _place() else not self.owner.is_dead(),
            "lease_seconds": int(self.lease - now), "leftover": self.leftover(now),
        }  # fmt: skip


@cache
def _place() -> str:
    """Where process numbers mean what they mean here."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        signs = f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        signs = f"{platform.node()} {uuid.getnode()}"
    return sha256(signs.encode()).hexdigest()[:16]


def _started(pid: int) -> str:
    """When a process started, in whatever unit the system has; empty when it does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        pass
    if os.name == "nt" or Path("/proc/self").exists():
        return ""
    asked = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdigit() else 0


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

"""What there is to know of an engine before containers can be made: the right image, and what it can limit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from m3bench.sandboxes.backends.base import LACKING, Guard
from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.engine import BUILD, Client
from m3bench.tasks.errors import SandboxError

_MAPPING = ("name=rootless", "name=userns")
"""What an engine says that has users in containers be others outside."""


@dataclass(frozen=True, kw_only=True)
class EngineFacts:
    """An engine, as far as sandboxes are concerned."""

    image: str
    """The id of the image: what was checked is what runs, even if its name moves on."""
    environment: tuple[str, ...]
    """Names of the variables that the image sets."""
    lacking: tuple[Guard, ...]
    """What containers do not keep tools from."""
    cpu_quota: bool
    """Whether CPU time can be limited."""
    maps_users: bool
    """Whether users in a container are others outside, so that files cannot be shared."""

    @property
    def guards(self) -> frozenset[Guard]:
        """What holds in every container."""
        return frozenset(LACKING) - set(self.lacking)


def survey(client: Client) -> EngineFacts:
    """Look at an engine.

    Raises:
        SandboxError: It cannot run sandboxes of this m3bench; the message has the remedy.
    """
    info: dict[str, Any] = client.info()
    if info.get("OSType", "linux") != "linux":
        raise SandboxError(f"The Docker engine runs {info['OSType']} containers: switch it to Linux containers.")
    found: dict[str, Any] = client.inspect_image(image.reference())
    config = found.get("Config") or {}
    _compare(config.get("Labels") or {})
    options = info.get("SecurityOptions") or ()
    return EngineFacts(
        image=found["Id"],
        environment=tuple(entry.partition("=")[0] for entry in config.get("Env") or ()),
        lacking=(
            *(("memory",) if not info.get("MemoryLimit", True) else ()),
            *(("forks",) if not info.get("PidsLimit", True) else ()),
            *(("sockets", "kernel") if options and not _filters(options) else ()),
        ),
        cpu_quota=bool(info.get("CpuCfsQuota", True)),
        maps_users=any(option.startswith(_MAPPING) for option in options),
    )


def _filters(options: Iterable[str]) -> bool:
    """Whether the engine's kernel filters system calls."""
    return any(option.startswith("name=seccomp") for option in options)


def _compare(labels: dict[str, str]) -> None:
    """Refuse an image of another m3bench: it would answer differently from every other backend."""
    theirs = labels.get(image.VERSION_LABEL)
    if theirs != image.installed_version():
        raise SandboxError(
            f"The image {image.reference()} was built for m3bench {theirs or 'of an unknown version'}, "
            f"this is {image.installed_version()}: {BUILD}."
        )
    if labels.get(image.MANIFEST_LABEL) != image.manifest():
        raise SandboxError(f"The image {image.reference()} holds other servers or data than this m3bench: {BUILD}.")

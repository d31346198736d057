"""What every container of ours is denied, whatever runs in it.

No network, no capability, no way to gain any, no writing but into the workspace and a small file system in
memory, bounded memory, processes and CPU. Written as the engine's API takes it. Sandboxes use it, and so may
anything else that runs code we did not write.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TEMPORARY = "/tmp"

NO_NETWORK = "none"


@dataclass(frozen=True, kw_only=True)
class ContainerLimits:
    """What one container may use."""

    memory: int = 768 * 1024**2
    """Bytes; there is no swap on top."""
    processes: int = 256
    """Threads count as well."""
    cpus: float = 1.0
    temporary: int = 256 * 1024**2
    """Bytes of the file system in memory."""


def host_config(
    limits: ContainerLimits,
    *,
    mounts: Sequence[Mapping[str, object]] = (),
    network: str = NO_NETWORK,
    runtime: str | None = None,
    cpu_quota: bool = True,
) -> dict[str, object]:
    """The `HostConfig` of a container.

    Args:
        limits: What it may use.
        mounts: What it sees of the world outside, as the API's `Mounts`.
        network: The engine's name of the network it is on.
        runtime: Another OCI runtime than the engine's default, such as `runsc`.
        cpu_quota: Whether the engine's kernel can limit CPU time.
    """
    config: dict[str, object] = {
        "AutoRemove": True,
        "CapDrop": ["ALL"],
        "Init": True,
        # Without it there is no /dev/shm to write to.
        "IpcMode": "none",
        # The attached client is the only one who may read what a host writes; nothing of it goes to a log on disk.
        "LogConfig": {"Type": "none"},
        "Memory": limits.memory,
        "MemorySwap": limits.memory,
        "Mounts": [dict(mount) for mount in mounts],
        "NetworkMode": network,
        "PidsLimit": limits.processes,
        "Privileged": False,
        "ReadonlyRootfs": True,
        "SecurityOpt": ["no-new-privileges:true"],
        "Tmpfs": {TEMPORARY: f"rw,noexec,nosuid,nodev,size={limits.temporary},mode=1777"},
        # Neither core files nor message queues, which would be one more place to write to.
        "Ulimits": [{"Name": name, "Soft": 0, "Hard": 0} for name in ("core", "msgqueue")],
    }
    if cpu_quota:
        config["NanoCpus"] = int(limits.cpus * 1e9)
    if runtime is not None:
        config["Runtime"] = runtime
    return config

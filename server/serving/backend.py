"""Where tools run, by the name a person gives it; what a backend needs is imported when it is chosen."""

from typing import TYPE_CHECKING

from m3bench.sandboxes.backends.base import Backend, Prospect
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from m3bench.sandboxes.backends import inprocess, process
    from m3bench.sandboxes.backends.docker import backend as docker_backend
    from m3bench.sandboxes.backends.docker import hosts, leases
else:
    inprocess = LazyModule("m3bench.sandboxes.backends.inprocess")
    process = LazyModule("m3bench.sandboxes.backends.process")
    docker_backend = LazyModule("m3bench.sandboxes.backends.docker.backend")
    hosts = LazyModule("m3bench.sandboxes.backends.docker.hosts")
    leases = LazyModule("m3bench.sandboxes.backends.docker.leases")


def backend_of(settings: Settings) -> Backend:
    """The backend that was chosen, not yet entered."""
    if settings.sandbox == "inprocess":
        return inprocess.InProcessBackend()
    if settings.sandbox == "docker":
        # A sandbox must not pass for a leftover while its run can still be under way.
        lease = leases.LEASE_SECONDS + settings.max_minutes * 60
        if settings.docker_host:
            return hosts.DockerHosts(settings.docker_host, runtime=settings.runtime, lease=lease)
        return docker_backend.DockerBackend(runtime=settings.runtime, lease=lease)
    if settings.runtime is not None:
        raise UserError("--runtime is for containers: use it with --sandbox docker.")
    return process.ProcessBackend()


def check_backend(settings: Settings) -> None:
    """Raise now what every sandbox would run into.

    Raises:
        SandboxError: No engine answers, or it cannot run sandboxes of this m3bench.
        UserError: Sandboxes lack a guard that --require-isolation asks for.
    """
    if settings.sandbox != "docker" and not settings.require_isolation:
        return
    found = prospect(settings)
    if settings.require_isolation and found.notices:
        raise UserError(
            f"{found.notices[0]} See m3bench doctor for what to do, use another --sandbox, or leave "
            "--require-isolation out."
        )


def prospect(settings: Settings) -> Prospect:
    """What will hold in the sandboxes of the backend that was chosen; blocks for a moment.

    Raises:
        SandboxError: None can be opened.
    """
    backend = backend_of(settings)
    try:
        return backend.prospect()
    finally:
        close = getattr(backend, "close", None)
        if close is not None:
            close()

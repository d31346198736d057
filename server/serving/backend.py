"""Where tools run, by the name a person gives it; what a backend needs is imported when it is chosen."""

from m3bench.sandboxes.backends.base import Backend, Prospect
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError


def backend_of(settings: Settings) -> Backend:
    """The backend that was chosen, not yet entered."""
    if settings.sandbox == "inprocess":
        from m3bench.sandboxes.backends.inprocess import InProcessBackend

        return InProcessBackend()
    if settings.sandbox == "docker":
        from m3bench.sandboxes.backends.docker.backend import DockerBackend
        from m3bench.sandboxes.backends.docker.leases import LEASE_SECONDS

        # Nobody may take a sandbox for a leftover while its run can still be under way.
        lease = LEASE_SECONDS + settings.max_minutes * 60
        if settings.docker_host:
            from m3bench.sandboxes.backends.docker.hosts import DockerHosts

            return DockerHosts(settings.docker_host, runtime=settings.runtime, lease=lease)
        return DockerBackend(runtime=settings.runtime, lease=lease)
    if settings.runtime is not None:
        raise UserError("--runtime is about containers: use it with --sandbox docker.")
    from m3bench.sandboxes.backends.process import ProcessBackend

    return ProcessBackend()


def check_backend(settings: Settings) -> None:
    """Raise now what every sandbox would run into.

    Raises:
        SandboxError: No engine answers, or it cannot run sandboxes of this m3bench.
        UserError: Sandboxes lack something, and that was not to be.
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

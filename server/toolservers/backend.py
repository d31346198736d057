"""Where tools run, by the name a person gives it; what a backend needs is imported when it is chosen."""

from m3bench.sandboxes.backends.base import Backend
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
        return DockerBackend(runtime=settings.runtime, lease=LEASE_SECONDS + settings.max_minutes * 60)
    if settings.runtime is not None:
        raise UserError("--runtime is about containers: use it with --sandbox docker.")
    from m3bench.sandboxes.backends.process import ProcessBackend

    return ProcessBackend()


def check_backend(settings: Settings) -> None:
    """Raise now what every sandbox would run into.

    Raises:
        SandboxError: No engine answers, or it cannot run sandboxes of this m3bench.
    """
    if settings.sandbox != "docker":
        return
    from m3bench.sandboxes.backends.docker.engine import Engine
    from m3bench.sandboxes.backends.docker.engine_facts import survey

    engine = Engine()
    try:
        engine.answer(survey)
    finally:
        engine.close()

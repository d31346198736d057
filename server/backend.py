"""Where tools run, by the name a person gives it; what a backend needs is imported when it is chosen."""

from m3bench.sandboxes.backends.base import Backend
from m3bench.server.settings import Settings


def backend_of(settings: Settings) -> Backend:
    """The backend that was chosen, not yet entered."""
    if settings.sandbox == "inprocess":
        from m3bench.sandboxes.backends.inprocess import InProcessBackend

        return InProcessBackend()
    from m3bench.sandboxes.backends.process import ProcessBackend

    return ProcessBackend()

"""Whether there is a Docker engine for the tests that need one."""

from functools import cache

from m3bench.server.serving.backend import check_backend
from m3bench.server.settings import Settings
from m3bench.tasks.errors import SandboxError


@cache
def engine_problem() -> str | None:
    """Why sandboxes cannot be containers here, in one line; None when they can."""
    try:
        check_backend(Settings(sandbox="docker"))
    except SandboxError as error:
        return f"no Docker here: {error}"
    return None

"""Whether there is a Docker engine for the tests that need one."""

from functools import cache

from m3bench.sandboxes.backends.docker.engine import Engine
from m3bench.sandboxes.backends.docker.ground import survey
from m3bench.tasks.errors import SandboxError


@cache
def engine_problem() -> str | None:
    """Why sandboxes cannot be containers here, in one line; None when they can."""
    engine = Engine()
    try:
        engine.answer(survey)
    except SandboxError as error:
        return f"no Docker here: {error}"
    finally:
        engine.close()
    return None

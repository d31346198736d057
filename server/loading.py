"""What a process loads once and keeps: the tasks and the encoder."""

from functools import cache
from typing import Any

from m3bench.server.scoring.encoder import MINILM
from m3bench.server.settings import Settings
from m3bench.server.versions import versions
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import BUNDLED, Library


@cache
def encoder_of(name: str) -> Any:
    """One for the process: its weights take time and memory."""
    from m3bench.server.scoring import open_encoder

    return open_encoder(name)


def library_of(settings: Settings) -> Library:
    """The tasks that the settings name."""
    if settings.seed is None and not settings.ranked and settings.secret_file is None:
        return _bundled() if settings.tasks is None else Library(settings.tasks)
    from m3bench.server.authoring.sets import chosen_library

    return chosen_library(settings)


def load_ahead() -> None:
    """Read what every server of the bundled set reads before it has scored: whoever forks servers does it once."""
    library, catalog = _bundled(), load_catalog().ready
    versions(library, catalog)
    library.plans(next(iter(library.tasks.values())))
    encoder_of(MINILM)


@cache
def _bundled() -> Library:
    """One for the process: reading and checking it takes time, and nobody changes it."""
    return Library(BUNDLED)

"""What a process loads once and keeps: the tasks and the encoder."""

from functools import cache

from m3bench.server.runs.versions import versions
from m3bench.server.scoring.encoder import MINILM, Encoder, open_encoder
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import BUNDLED, Library


@cache
def encoder_of(name: str) -> Encoder:
    """One for the process: its weights take time and memory."""
    return open_encoder(name)


def library_of(settings: Settings) -> Library:
    """The tasks of the folder that the settings name, or those that travel with the package.

    Raises:
        ValueError: The settings ask for tasks that have to be made, which is not done here: hand them in.
    """
    if settings.seed is not None or settings.secret_file is not None:
        raise ValueError("tasks from a seed or a secret are made before the app is")
    return _bundled() if settings.tasks is None else Library(settings.tasks)


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

"""What a process loads once and keeps: the tasks and the encoder."""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

from m3bench.server.runs.versions import versions
from m3bench.server.scoring.encoder import MINILM, Encoder, check_encoder, open_encoder
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import BUNDLED, Library

if TYPE_CHECKING:
    from m3bench.server.scoring.encoder import Floats


class OpenedEncoder:
    """An encoder that is opened when there is something to encode: what it needs is slow to load, and few runs need it.

    Args:
        name: As `open_encoder` takes it.
    """

    def __init__(self, name: str) -> None:
        check_encoder(name)
        self._name = name

    @cached_property
    def opened(self) -> Encoder:
        """The encoder itself."""
        return open_encoder(self._name)

    @property
    def id(self) -> str:
        """Names weights and settings."""
        return self.opened.id

    def key(self, text: str) -> str:
        """What the encoder sees of a text."""
        return self.opened.key(text)

    def encode(self, texts: Sequence[str]) -> "Floats":
        """One row of unit length per text."""
        return self.opened.encode(texts)


@cache
def encoder_of(name: str) -> OpenedEncoder:
    """One for the process: its weights take time and memory."""
    return OpenedEncoder(name)


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
    _ = encoder_of(MINILM).opened


@cache
def _bundled() -> Library:
    """One for the process: reading and checking it takes time, and nobody changes it."""
    return Library(BUNDLED)

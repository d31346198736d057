"""What is installed here: the tasks that a person chose, and the server that would play them."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from m3bench.proxy.seat import Seat
from m3bench.server.app import App
from m3bench.server.clients.table import KnownClients
from m3bench.server.runs.loading import library_of
from m3bench.server.settings import Settings
from m3bench.server.store.capability import ClientTable
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.library import BUNDLED, Library

# What makes tasks from a seed or a secret takes long to import, and few servers need it.
if TYPE_CHECKING:
    from m3bench.server.lab.authoring import sets
else:
    sets = LazyModule("m3bench.server.lab.authoring.sets")


def library_for(settings: Settings) -> Library:
    """The tasks that a person chose."""
    if settings.seed is None and settings.secret_file is None and not settings.ranked:
        return library_of(settings)
    return sets.chosen_library(settings)


class LocalInstallation:
    """This installation, for whoever holds a result against it.

    Args:
        library: The tasks; those that travel with the package when left out.
    """

    def __init__(self, library: Library | None = None) -> None:
        self.library = library or Library(BUNDLED)

    @classmethod
    def of(cls, settings: Settings) -> "LocalInstallation":
        """With the tasks that were chosen."""
        return cls(library_for(settings))

    @cached_property
    def public(self) -> bool:
        """Whether everybody has the tasks with their references."""
        return self.library.hash == Library(BUNDLED).hash

    def served(self, manifest: Mapping[str, Any]) -> tuple[Seat, dict[str, Any]]:
        """The seat that a server here would give a run with such a manifest, and the manifest that run would have."""
        served = {name: manifest.get(name) for name in ("sandbox", "content_only", "weather")}
        app = App(Settings.of(**served))
        app.library = self.library
        profile = manifest.get("profile")
        seat = app.open_seat("verify", profile if isinstance(profile, str) else "(none)")
        return seat, app.manifest(seat)

    @property
    def clients(self) -> ClientTable:
        """What is known of clients beforehand."""
        return KnownClients()

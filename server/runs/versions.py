"""What this installation measures with: the part of a run's manifest that does not depend on how it is served.

Everything is computed from the files that are there, so that a changed picture or table shows.
"""

from importlib.metadata import version
from typing import Any

from m3bench.proxy.steps.segmentation import VERSION as STEPS_VERSION
from m3bench.sandboxes.world.tables import world_hash
from m3bench.server.scorecard.building import VERSION as SCORES_VERSION
from m3bench.server.scoring.encoder import MINILM
from m3bench.server.scoring.weights import MODEL_SHA256
from m3bench.tasks.catalog import Catalog
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import with_further


def versions(library: Library, catalog: Catalog, encoder: str = MINILM) -> dict[str, Any]:
    """Versions and hashes of the program, the tasks, the tools, the world and the scoring.

    Args:
        library: The set of tasks.
        catalog: The tools that a profile shows some or all of. Of further servers those count that tasks of the set
            need, so that a run which is offered none has the hash that it always had.
        encoder: What texts are compared with.
    """
    return {
        "m3bench": version("m3bench"),
        "tasks": {"name": library.set.name, "version": library.set.version, "hash": library.hash},
        "catalog": with_further(catalog, library).hash,
        "world": world_hash(),
        "encoder": MODEL_SHA256 if encoder == MINILM else encoder,
        "steps": STEPS_VERSION,
        "scores": SCORES_VERSION,
    }

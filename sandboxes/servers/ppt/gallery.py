"""The 23 slide templates by id."""

from m3bench.sandboxes.servers.ppt.blueprints import Blueprint
from m3bench.sandboxes.servers.ppt.gallery_basics import BASICS
from m3bench.sandboxes.servers.ppt.gallery_scenes import SCENES
from m3bench.sandboxes.servers.ppt.registry import failure

TEMPLATES = {blueprint.id: blueprint for blueprint in (*BASICS, *SCENES)}
"""In the order they are listed."""


def template(id: str) -> Blueprint:
    """The template of an id."""
    if id not in TEMPLATES:
        raise failure(f"Template '{id[:60]}' not found", available_templates=list(TEMPLATES))
    return TEMPLATES[id]

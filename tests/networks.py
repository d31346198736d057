"""The trained detector's weights, fetched once; tests that need them are skipped where they cannot be had."""

import os
from pathlib import Path

import pytest

from m3bench.sandboxes.vision import weights
from m3bench.sandboxes.vision.fetching import fetch_networks
from m3bench.tasks.errors import UserError
from m3bench.tasks.render.packages import default_folder


def networks(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where they are, in place of where a user has them."""
    place = default_folder().with_name("networks-of-tests")
    monkeypatch.setattr(weights, "folder", lambda: place)
    monkeypatch.setattr("m3bench.sandboxes.vision.fetching.folder", lambda: place)
    if problem := _problem():
        assert not os.environ.get("CI"), problem
        pytest.skip(f"the trained detector cannot be had: {problem}")
    return place


def _problem() -> str:
    try:
        if not weights.are_there():
            fetch_networks()
    except UserError as error:
        return str(error)
    return ""

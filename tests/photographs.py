"""The photographs of the set `photos`, fetched once; tests that need them are skipped where they cannot be had."""

import os
from functools import cache

import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import PHOTOS, Library


@cache
def _problem() -> str:
    try:
        return "" if Library(PHOTOS).tasks else "there are no tasks"
    except UserError:
        result = CliRunner().invoke(app, ["tasks", "fetch"])
        return "" if result.exit_code == 0 else str(result.exception or result.output)


def photographs() -> Library:
    """The set, with its photographs."""
    if problem := _problem():
        assert not os.environ.get("CI"), problem
        pytest.skip(f"the photographs of the set cannot be had: {problem}")
    return Library(PHOTOS)

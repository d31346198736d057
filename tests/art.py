"""The art packages, fetched once; tests that draw are skipped where they cannot be had."""

import os
from functools import cache

import pytest

from m3bench.tasks.errors import UserError
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.packages import default_folder, fetch


@cache
def _problem() -> str:
    try:
        fetch(default_folder())
    except UserError as error:
        return str(error)
    return ""


@cache
def _art() -> Art:
    return Art(default_folder())


def art() -> Art:
    """What pictures are made of."""
    if problem := _problem():
        assert not os.environ.get("CI"), problem
        pytest.skip("no pictures can be drawn without npm, which brings the packages that they are made of")
    return _art()

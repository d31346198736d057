"""The programs of real clients, for tests that start them."""

import os

import pytest

from tests.clients.real.programs import OUTAGE, install, search_path


@pytest.fixture(scope="session")
def programs() -> str:
    """Where the clients' programs are found; skips when npm cannot be reached."""
    problem = install()
    if problem is not None:
        if os.environ.get("CI") and not OUTAGE.search(problem):
            pytest.fail(problem, pytrace=False)
        pytest.skip(problem)
    return search_path()

"""What holds for every test of sign-in: no secret is ever logged. What holds for every attack: a line tells of it."""

from collections.abc import Iterator

import pytest

from tests.server.serving.auth.bench import SEEN, refusals


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Looks for all secrets that were sent or given during a test, whatever was logged, by whomever."""
    SEEN.clear()
    yield
    text = "\n".join(f"{record.getMessage()} {record.exc_text or ''}" for record in caplog.get_records("call"))
    assert not [secret for secret in SEEN if secret in text]


@pytest.fixture
def refused(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Has a test fail whose attack left no line in the log."""
    yield
    assert refusals(caplog)

"""Where tools run, and what is said when sandboxes lack something."""

import pytest

from m3bench.sandboxes.backends.base import LACKING, Prospect
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.server.app import App
from m3bench.server.runs.run import say_once
from m3bench.server.serving.backend import check_backend
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError


def test_what_sandboxes_lack_is_in_the_manifest_of_a_run_and_said_aloud(capsys: pytest.CaptureFixture[str]) -> None:
    say_once.cache_clear()
    app = App(Settings(sandbox="inprocess"))
    assert app.lacking == sorted(LACKING)
    assert "nothing is isolated" in capsys.readouterr().err


def test_who_requires_isolation_is_told_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(require_isolation=True)
    monkeypatch.setattr(Isolation, "prospect", lambda self: Prospect(frozenset(LACKING), ()))
    check_backend(settings)
    poorer = Isolation(bubblewrap=False, seccomp=False)
    told = Prospect(frozenset(), poorer.notices(frozenset()))
    monkeypatch.setattr(Isolation, "prospect", lambda self: told)
    check_backend(Settings())
    with pytest.raises(UserError, match=r"keep tools from local sockets.*leave --require-isolation"):
        check_backend(settings)

"""Inviting people on the command line, what `doctor` says of it, and serving them."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from m3bench.server.commands.checks.address import check_exposure
from m3bench.server.commands.program import app
from m3bench.server.runs.event import RankedEvent
from m3bench.server.settings import Settings

URL = "https://bench.example"


def m3bench(*arguments: str | Path, ok: bool = True) -> str:
    done: Any = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert (done.exit_code == 0) is ok, done.output
    return done.output if ok else f"{done.output}{done.exception}"


def test_people_are_invited_listed_and_ended(tmp_path: Path) -> None:
    assert check_exposure(Settings.of(data=tmp_path)) == []
    link = m3bench("people", "invite", "ann", "--url", URL, "--data", tmp_path)
    assert link.startswith(f"{URL}/auth/invitation?code=")
    code = m3bench("people", "invite", "bob", "--scopes", "play operate", "--data", tmp_path).strip()
    assert len(code) == 23
    told = m3bench("people", "list", "--data", tmp_path)
    assert told.startswith("ann: play watch\n  invitation, not used yet")
    assert code not in told
    (found,) = check_exposure(Settings.of(data=tmp_path))
    assert "play 2, watch 1, operate 1" in found.says
    assert "2 invitations that are not used, 0 devices, 0 clients" in found.says
    m3bench("people", "end", "ann", "--invitations", "--data", tmp_path)
    m3bench("people", "end", "bob", "--forget", "--data", tmp_path)
    assert m3bench("people", "list", "--data", tmp_path) == "ann: play watch\n"
    assert "Nobody is called 'bob'" in m3bench("people", "end", "bob", "--data", tmp_path, ok=False)
    assert "name some of" in m3bench("people", "invite", "eve", "--scopes", "fly", "--data", tmp_path, ok=False)
    id, secret = m3bench("people", "client", "Studio", "--redirect-uri", f"{URL}/back", "--data", tmp_path).split()
    assert id.startswith("fix-")
    assert len(secret) == 43


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--auth", "own"], "--auth goes with --http"),
        (["--auth", "own", "--http", "0.0.0.0:8000"], "--auth needs --public-url"),
        (["--auth", "own", "--http", "0.0.0.0:8000", "--public-url", "http://bench.example"], "sign-in needs https"),
        (["--auth", "fly", "--http", "127.0.0.1:8000"], "choose own, or oidc="),
        (["--http", "127.0.0.1:8000", "--trust-proxy", "*"], "--trust-proxy cannot be '*'"),
        (["--http", "127.0.0.1:8000", "--trust-proxy", "caddy.example"], "its network as"),
        (["--http", "127.0.0.1:8000", "--trust-proxy", "0.0.0.0/0"], "its network as"),
        (["--http", "127.0.0.1:8000", "--trust-proxy", "::/0"], "its network as"),
        (["--http", "127.0.0.1:8000", "--tls-cert", "no.pem"], "needs its private key"),
        (["--http", "127.0.0.1:8000", "--tls-cert", "no.pem", "--tls-key", "no.pem"], "cannot be used"),
    ],
)
def test_a_server_whose_sign_in_would_not_hold_is_not_started(options: list[str], told: str, tmp_path: Path) -> None:
    assert told in m3bench("serve", *options, "--data", tmp_path / "data", ok=False)


def test_participants_of_an_event_sign_in_under_their_names(tmp_path: Path) -> None:
    file, times = tmp_path / "event.toml", ["--opens", "now", "--closes", "2099-01-01T00:00Z"]
    assert m3bench("lab", "ranked", "event", file, "ann", "bob", "--sign-in", *times) == ""
    event = RankedEvent.read(file)
    assert event.guests == {}
    seats = event.identities
    assert sorted(seats) == ["ann", "bob"]
    assert len(set(seats.values())) == 2
    assert event.participant(seats["ann"]) == "ann"
    assert "secret" not in file.read_text()

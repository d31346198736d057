"""`m3bench doctor --url`: what strangers find at an address."""

import http.server
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from tests.clients.people import free_port, signing_in
from tests.server.conftest import serving
from tests.server.serving.auth.test_clients import certificate
from tests.sets import write_set


def doctor(url: str, data: Path) -> dict[str, dict[str, Any]]:
    done = CliRunner().invoke(app, ["doctor", "--url", url, "--data", str(data), "--json"])
    found = {finding["subject"]: finding for finding in json.loads(done.stdout)}
    assert done.exit_code == any(finding["state"] == "wrong" for finding in found.values())
    return found


@pytest.mark.parametrize("url", ["bench.example", "https://", "ftp://bench.example", "https://bench.example/other"])
def test_what_is_no_address_is_told(url: str, tmp_path: Path) -> None:
    assert "write it as https://" in doctor(url, tmp_path)["address"]["says"]


def test_nobody_and_somebody_else_are_told_apart_from_a_server(tmp_path: Path) -> None:
    assert "cannot be reached" in doctor(f"http://127.0.0.1:{free_port()}", tmp_path)["address"]["says"]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever).start()
        try:
            url = f"http://127.0.0.1:{other.server_port}"
            assert "Another program answers" in doctor(url, tmp_path)["address"]["says"]
            assert "cannot be reached (" in doctor(url.replace("http", "https"), tmp_path)["address"]["says"]
        finally:
            other.shutdown()


@pytest.mark.slow
def test_what_a_server_lets_strangers_do_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, data = write_set(tmp_path / "set"), tmp_path / "data"
    with serving(["--tasks", str(tasks), "--data", str(data)]) as url:
        found = doctor(url, tmp_path)
        assert {finding["state"] for finding in found.values()} == {"ok", "note"}
        assert found["access"]["says"] == "Whoever reaches /mcp plays without a token."
        assert "sees / and /metrics" in found["pages"]["says"]
    with serving(["--tasks", str(tasks), "--data", str(data)], env={"M3BENCH_TOKEN": "x" * 32}) as url:
        found = doctor(url, tmp_path)
        assert "asks for the token" in found["access"]["says"]
        assert found["pages"]["state"] == "ok"
    with signing_in(tasks, data) as server:
        server.invite("ann")
        found = doctor(f"{server.url}/mcp", data)
        assert {finding["state"] for finding in found.values()} == {"ok"}
        assert found["access"]["says"] == "/mcp has people sign in at the server itself."
        assert found["authorization"]["says"] == f"{server.url} takes new clients by registration and documents."
        assert "1 invitation that is not used" in found["sign-in"]["says"]
        # Under another name than that for which it was started.
        other = doctor(server.url.replace("127.0.0.1", "localhost"), data)
        assert "start it with --public-url http://localhost:" in other["access"]["says"]
    cert, key = certificate(tmp_path)
    port = free_port()
    options = ["--tls-cert", str(cert), "--tls-key", str(key), "--public-url", f"https://localhost:{port}"]
    address = ["--http", f"127.0.0.1:{port}", "--auth", "own", "--tasks", str(tasks), "--data", str(data)]
    with serving([*address, *options], scheme="https"):
        untrusted = doctor(f"https://localhost:{port}", data)["address"]
        assert untrusted["state"] == "wrong"
        assert "self-signed certificate): give its certificate in SSL_CERT_FILE" in untrusted["says"]
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        found = doctor(f"https://localhost:{port}", data)
        assert (found["encryption"]["state"], found["access"]["state"]) == ("note", "ok")
        assert found["encryption"]["says"].startswith("TLSv1.3, with a certificate that is trusted here until ")

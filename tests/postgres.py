"""PostgreSQL as tests start it: its own data folder, a socket in a short path, no network, and no service."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"

START_SECONDS = 60.0


def programs() -> Path | None:
    """The folder with PostgreSQL's programs; None where they are not installed."""
    found = [Path(program).resolve().parent for program in (shutil.which("postgres"),) if program]
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]), reverse=True)
    needed = ("initdb", "postgres", "pg_isready", "psql")
    return next((path for path in (*found, *debian) if all((path / name).exists() for name in needed)), None)


class Server:
    """A PostgreSQL server.

    Args:
        folder: Where everything of it lies; short, because a socket's path may have 107 characters.
        durable: Whether commits wait for the disk, as they do in real use.
    """

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        found = programs()
        assert found is not None
        self._programs = found
        self.folder = folder
        self._data = folder / "data"
        # PostgreSQL does not run as root.
        self._user = "nobody" if os.name != "nt" and os.geteuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        if self._user is not None:
            shutil.chown(folder, self._user)
        make = ["initdb", "-D", str(self._data), "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        self._run(make)
        settings = ["listen_addresses = ''", f"unix_socket_directories = '{folder}'", "max_connections = 60"]
        settings += [] if durable else ["fsync = off"]
        with (self._data / "postgresql.conf").open("a") as file:
            file.write("\n".join(settings) + "\n")

    def url(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql:///{database}?host={self.folder}&user={USER}"

    def start(self, port: int = 5432) -> None:
        """Start, and wait until it answers."""
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, user=self._user, cwd=self.folder, start_new_session=True
            )
        ready = [str(self._programs / "pg_isready"), "-q", "-h", str(self.folder), "-p", str(port)]
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run(ready, check=False).returncode != 0:
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill it and all its processes, as a power cut does."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._await_end()

    def stop(self) -> None:
        """End it; connections are cut."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(START_SECONDS)

    def new_database(self) -> str:
        """An empty database; gives its address."""
        self._databases += 1
        name = f"record_{self._databases}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def listen(self, role: str) -> int:
        """Take connections over TCP, too, and there from a role with its password alone, who owns a database of that
        name; gives the port."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        with (self._data / "postgresql.conf").open("a") as file:
            file.write(f"listen_addresses = '127.0.0.1'\nport = {port}\n")
        (self._data / "pg_hba.conf").write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        self.execute(f"CREATE ROLE {role} LOGIN")
        self.execute(f"CREATE DATABASE {role} OWNER {role}")
        self.stop()
        self.start(port)
        return port

    def execute(self, sql: str, url: str | None = None) -> str:
        """Execute a statement as the operator of the database; gives what it prints."""
        target = url or self.url("postgres")
        return self._run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", target, "-c", sql])

    def _await_end(self) -> None:
        """Wait until no process of a killed server has its data open: the next start would refuse."""
        deadline = time.monotonic() + START_SECONDS
        while _processes_in(self._data):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def _run(self, command: Sequence[str]) -> str:
        program, *rest = command
        done = subprocess.run(
            [str(self._programs / program), *rest],
            user=self._user, cwd=self.folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def _processes_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder):
                found.append(process.name)
        except OSError:
            continue
    return found


@contextmanager
def serving(*, durable: bool = False) -> Iterator[Server]:
    """A server that runs, ended and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="m3pg-", dir="/tmp" if os.name != "nt" else None))
    folder.chmod(0o755)
    try:
        server = Server(folder, durable=durable)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

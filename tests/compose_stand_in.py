"""`docker compose` for a machine without an engine: the services of our compose file as processes of this machine.

Compose itself reads the file and the variables. In place of images are PostgreSQL, Caddy and m3bench as they are
installed here, in place of the volume `/data` is a folder. A test names that and the database in a file of facts; the
processes of services are noted there, and outlive the command.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

FACTS = "M3BENCH_STAND_IN"
"""The variable that names the file of facts."""
SECONDS = 120.0
CLIENT_PROGRAMS = {"pg_dump", "pg_restore", "psql"}
"""What the image of the database brings that the page has people run."""


class Engine:
    """What is up, from one command to the next."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.facts: Any = json.loads(path.read_text("utf-8"))

    def compose(self, options: list[str], verb: str, rest: list[str]) -> int:
        """Follow one command of compose."""
        services = self._services(options)
        if verb == "up":
            return self._up(services)
        if verb == "stop":
            for name in rest:
                self.stop(name)
            return 0
        if verb == "logs":
            print(self._log(rest[-1]).read_text("utf-8"), end="")
            return 0
        words = [word for word in rest if word not in ("-T", "--rm")]
        if verb == "run":
            assert words[0] == "--entrypoint", words
            words = [words[2], words[1], *words[3:]]
        return self._inside(services, words[0], words[1:])

    def stop(self, name: str) -> None:
        """Ask a service to end, and wait for it."""
        found = self.facts["up"].pop(name, None)
        if found is not None:
            os.kill(found["pid"], signal.SIGTERM)
            deadline = time.monotonic() + SECONDS
            while _lives(found["pid"]):
                assert time.monotonic() < deadline, name
                time.sleep(0.02)
        self._note()

    def _services(self, options: list[str]) -> Any:
        done = subprocess.run(["docker-compose", *options, "config"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return YAML(typ="safe").load(done.stdout)["services"]

    def _up(self, services: Any) -> int:
        password = services["database"]["environment"]["POSTGRES_PASSWORD"]
        assert password, "the database's image refuses to start"
        if "database" not in self.facts:
            # The image takes the password when its volume is made, and never again.
            self.facts["database"] = password
            self._client(["psql", "-q", "-U", "m3bench", "-c", f"ALTER USER m3bench PASSWORD '{password}'"])
        for name in ("m3bench", "proxy"):
            given = {key: str(value) for key, value in services[name]["environment"].items() if value is not None}
            before = self.facts["up"].get(name)
            if before is not None and before["given"] == given:
                continue
            self.stop(name)
            command, environment, port = self._m3bench(services, given) if name == "m3bench" else self._proxy(given)
            with self._log(name).open("ab") as log:
                process = subprocess.Popen(
                    command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
            self.facts["up"][name] = {"pid": process.pid, "given": given}
            self._note()
            _await(port, process, self._log(name))
        return 0

    def _m3bench(self, services: Any, given: dict[str, str]) -> tuple[list[str], dict[str, str], int]:
        port = self.facts["ports"]["m3bench"]
        command = [word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in services["m3bench"]["command"]]
        return [sys.executable, "-m", "m3bench.server.cli", *command], self._environment(given), port

    def _proxy(self, given: dict[str, str]) -> tuple[list[str], dict[str, str], int]:
        folder, ports = Path(self.facts["folder"]), self.facts["ports"]
        # It makes its certificate itself, and takes only ports that anybody may.
        lines = [f"http_port {ports['http']}", f"https_port {ports['https']}", "admin off", "local_certs",
                 "skip_install_trust", f"storage file_system {folder}/certificates"]  # fmt: skip
        own = "".join(f"\t{line}\n" for line in lines)
        file = folder / "Caddyfile"
        file.write_text(f"{{\n{own}}}\n" + Path("docker/Caddyfile").read_text("utf-8"), "utf-8")
        upstream = given["M3BENCH_UPSTREAM"].replace("m3bench:8000", f"127.0.0.1:{ports['m3bench']}")
        caddy = str(Path(sysconfig.get_path("scripts")) / "caddy")
        command = [caddy, "run", "--config", str(file), "--adapter", "caddyfile"]
        return command, {**os.environ, **given, "M3BENCH_UPSTREAM": upstream}, ports["https"]

    def _inside(self, services: Any, service: str, words: list[str]) -> int:
        """Run something where a service is, with what this command was given on its input."""
        if service == "database":
            return self._client(words)
        assert words[0] == "python3", words
        given = {key: str(value) for key, value in services[service]["environment"].items() if value is not None}
        here = [word.replace("/data'", f"{self.facts['data']}'") for word in words[1:]]
        return subprocess.run([sys.executable, *here], env=self._environment(given), check=False).returncode

    def _client(self, words: list[str]) -> int:
        assert words[0] in CLIENT_PROGRAMS, words
        where = {"PGHOST": self.facts["socket"], "PGPORT": str(self.facts["ports"]["database"])}
        return subprocess.run(words, env={**os.environ, **where}, check=False).returncode

    def _environment(self, given: dict[str, str]) -> dict[str, str]:
        """Of a process of the server, which reaches the database by the name of its service."""
        store = given["M3BENCH_STORE"].replace("@database/", f"@127.0.0.1:{self.facts['ports']['database']}/")
        return {**os.environ, **given, "M3BENCH_STORE": store, "M3BENCH_DATA": self.facts["data"]}

    def _log(self, name: str) -> Path:
        return Path(self.facts["folder"]) / f"{name}.log"

    def _note(self) -> None:
        self._path.write_text(json.dumps(self.facts), "utf-8")


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        gone = process.poll() is not None or time.monotonic() > deadline
        assert not gone, log.read_text("utf-8")
        time.sleep(0.02)


def main() -> int:
    """Follow `docker compose OPTIONS VERB …`."""
    words = sys.argv[1:]
    assert words[:1] == ["compose"], words
    valued = {"-f", "--env-file", "--profile"}
    end = 1
    while words[end] in valued:
        end += 2
    return Engine(Path(os.environ[FACTS])).compose(words[1:end], words[end], words[end + 1 :])


if __name__ == "__main__":
    sys.exit(main())

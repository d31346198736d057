"""Engines that are in trouble: one behind a line that can be cut, and one that only complains."""

import json
import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer, ThreadingUnixStreamServer
from typing import Any, Self

ENGINE = (os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock").removeprefix("unix://")


class Relay:
    """A socket behind which is the real engine, until the line is cut; as when the engine is restarted."""

    def __init__(self, path: Path) -> None:
        self.address = f"unix://{path}"
        self._path = path
        self._lines: list[socket.socket] = []

    def __enter__(self) -> Self:
        self.restore()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def restore(self) -> None:
        """Let questions through."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen(50)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def cut(self) -> None:
        """End every conversation and take no more."""
        self._path.unlink(missing_ok=True)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        lines, self._lines = self._lines, []
        for line in lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        with near, socket.socket(socket.AF_UNIX) as far:
            far.connect(ENGINE)
            self._lines += [near, far]
            back = threading.Thread(target=_carry, args=(far, near), daemon=True)
            back.start()
            _carry(near, far)
            back.join()


def _carry(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)


class Complaining:
    """An engine that has everything one needs and answers to the making of a container with an error.

    Args:
        path: Where its socket is; a port of this machine when None.
        labels: What its image is marked with.
        complaint: The error.
        status: Its number.
        memory: Bytes that its machine has.
        running: How many sandboxes it says it has.
        made: A list that several write to.
    """

    def __init__(
        self, path: Path | None, labels: Mapping[str, str], complaint: str, status: int = 500,
        *, memory: int = 8 * 1024**3, running: int = 0, made: list[str] | None = None,
    ) -> None:  # fmt: skip
        self.made = list[str]() if made is None else made
        """Has its address for every container that it was asked to make."""
        answers: dict[str, Any] = {
            "/version": {"ApiVersion": "1.41", "MinAPIVersion": "1.12", "Version": "20.10"},
            "/info": {"OSType": "linux", "NCPU": 2, "MemTotal": memory},
            "/containers/json": [{"Id": str(number), "Labels": {}} for number in range(running)],
            "/volumes": {"Volumes": []},
            "/json": {"Id": "sha256:0", "Config": {"Labels": dict(labels), "Env": []}},
        }

        def told() -> None:
            self.made.append(self.address)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(200, next((a for end, a in answers.items() if self.path.split("?")[0].endswith(end))))

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.path.partition("?")[0].endswith("/containers/create"):
                    told()
                self._answer(status, {"message": complaint})

            def do_DELETE(self) -> None:
                self._answer(404, {"message": "No such container"})

            def _answer(self, status: int, value: object) -> None:
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def address_string(self) -> str:
                return "test"

            def log_message(self, *_: object) -> None:
                return

        self._server: TCPServer
        if path is None:
            self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            self.address = f"tcp://127.0.0.1:{self._server.server_address[1]}"
        else:
            self._server = ThreadingUnixStreamServer(str(path), Handler)
            self.address = f"unix://{path}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

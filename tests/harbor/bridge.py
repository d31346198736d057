"""Lets containers reach a server that listens on this machine alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import AF_INET, SHUT_WR, SOCK_DGRAM, create_connection, socket
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit


@contextmanager
def bridged(url: str) -> Iterator[str]:
    """The address under which containers reach a server of 127.0.0.1."""
    port = urlsplit(url).port

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            with create_connection(("127.0.0.1", port)) as inner:
                back = threading.Thread(target=_pass_on, args=(inner, self.request))
                back.start()
                _pass_on(self.request, inner)
                back.join()

    class Server(ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    with Server(("0.0.0.0", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{_own_address()}:{server.server_address[1]}"
        server.shutdown()


def _pass_on(source: socket, target: socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(SHUT_WR)


def _own_address() -> str:
    """An address of this machine that is not its loopback; nothing is sent."""
    with socket(AF_INET, SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])

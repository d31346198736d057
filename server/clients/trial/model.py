"""The scripted model as a server on this machine, for the four APIs that clients speak. It keeps every request.

It listens on a free port of 127.0.0.1 from the moment it is made; nothing leaves the machine.
"""

import gzip
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from urllib.parse import urlsplit

from m3bench.server.clients.trial import dialects
from m3bench.server.clients.trial.conversation import STREAM, ModelReply, Request, Saying, whole
from m3bench.tasks.errors import UserError

THINK_SECONDS = 0.4
"""How long the model takes to answer: a real one is not faster, and what comes sooner the client did by itself."""

THINKS = 4
"""How much longer a model that takes time to write a call takes for what comes before its first."""

MOST_REQUESTS = 80
"""A client that drops its history, and so begins again and again, is stopped."""

_MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "m3bench"}]}


@dataclass(frozen=True)
class Dialect:
    """One of the APIs."""

    read: Callable[[dict[str, object]], Request]
    write: Callable[[dict[str, object], Saying, str], ModelReply]


DIALECTS = {
    "/messages": Dialect(dialects.read_anthropic, dialects.write_anthropic),
    "/chat/completions": Dialect(dialects.read_chat, dialects.write_chat),
    "/responses": Dialect(dialects.read_responses, dialects.write_responses),
    ":generateContent": Dialect(dialects.read_gemini, dialects.write_gemini),
    ":streamGenerateContent": Dialect(dialects.read_gemini, dialects.write_gemini_streamed),
}
"""By how the address ends."""


class Model:
    """A model that answers as told.

    Args:
        answer: What to say to a request.
        think: Seconds that each answer takes.
        write: Seconds that each call but the first then takes, where the answer is streamed.
    """

    def __init__(self, answer: Callable[[Request], Saying], think: float = THINK_SECONDS, write: float = 0.0) -> None:
        self.requests: list[Request] = []
        """What was asked, in order."""
        self._answer = answer
        self._think = think
        self._write = write
        self._lock = threading.Lock()
        model = self

        class Handler(_Handler):
            pause = write

            def say(self, path: str, body: dict[str, object]) -> ModelReply | None:
                return model.reply(path, body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Model":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, path: str, body: dict[str, object]) -> ModelReply | None:
        """The answer to a request; None where there is nothing of that name."""
        if path.endswith(("count_tokens", ":countTokens")):
            return whole({"input_tokens": 1000, "totalTokens": 1000})
        dialect = next((dialect for end, dialect in DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            return None
        request = dialect.read(body)
        with self._lock:
            self.requests.append(request)
            turn = f"{len(self.requests):04d}"
        time.sleep(max(self._think, THINKS * self._write))
        told = (
            self._answer(request) if len(self.requests) <= MOST_REQUESTS else Saying(text="This goes on for too long.")
        )
        reply = dialect.write(body, told, turn)
        is_slow = self._write and reply.media_type == STREAM and len(told.calls) > 1
        return replace(reply, pieces=_pieces(reply.body, turn, len(told.calls))) if is_slow else reply


def _pieces(stream: bytes, turn: str, calls: int) -> tuple[bytes, ...]:
    """A stream, cut before the first event of each call but the first; calls are numbered in their ids."""
    places = [stream.find(f'{turn}_{number}"'.encode()) for number in range(1, calls)]
    cuts = [0, *(stream.rfind(b"\n\n", 0, place) + 2 for place in places), len(stream)]
    return tuple(stream[begin:end] for begin, end in pairwise(cuts))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pause = 0.0
    """Seconds between the pieces of an answer."""

    def say(self, path: str, body: dict[str, object]) -> ModelReply | None:
        raise NotImplementedError

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: the requests are kept."""

    def do_GET(self) -> None:
        models = urlsplit(self.path).path.rstrip("/").endswith("/models")
        self._send(whole(_MODELS) if models else None)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        try:
            body = json.loads(self._body() or b"{}")
            self._send(self.say(urlsplit(self.path).path, body if isinstance(body, dict) else {}))
        except (ValueError, KeyError, TypeError, AttributeError, OSError, UserError) as error:
            self._send(
                whole({"error": {"message": f"not understood: {error!r}", "type": "invalid_request_error"}}), 400
            )

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = b"".join(iter(self._chunk, b""))
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(data) if self.headers.get("content-encoding") == "gzip" else data

    def _chunk(self) -> bytes:
        data = self.rfile.read(int(self.rfile.readline().partition(b";")[0], 16))
        self.rfile.readline()
        return data

    def _send(self, reply: ModelReply | None, status: int = 200) -> None:
        if reply is None:
            status, reply = 404, whole({"error": {"message": "not here", "type": "not_found_error"}})
        try:
            self.send_response(status)
            self.send_header("content-type", reply.media_type)
            if reply.pieces:
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                self._send_slowly(reply.pieces)
                return
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)
        except OSError:
            self.close_connection = True  # whoever asked has gone

    def _send_slowly(self, pieces: tuple[bytes, ...]) -> None:
        for number, piece in enumerate([*pieces, b""]):
            if 0 < number < len(pieces):
                time.sleep(self.pause)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.flush()

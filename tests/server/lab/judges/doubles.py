"""Stand-ins for models: one that follows its instructions to the letter, and an endpoint that speaks as models do."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from m3bench.server.lab.judges.questions import CRITERIA

Answer = Callable[[dict[str, Any]], "tuple[int, str | dict[str, Any]]"]


def sections(system: str, user: str) -> dict[str, str]:
    """The sections of a prompt, found by its mark alone, as a careful reader would."""
    found = re.search(r"The mark (\w+) was made for this message", system)
    assert found is not None
    mark = found[1]
    pattern = re.compile(
        rf"^\[{mark} begin: (?P<title>[^\]]*)\]\n(?P<text>.*?)\n\[{mark} end: (?P=title)\]$", re.MULTILINE | re.DOTALL
    )
    return {match["title"]: match["text"] for match in pattern.finditer(user)}


def question(system: str, user: str) -> str:
    """What a prompt asks, after its last section."""
    found = re.search(r"The mark (\w+) was made", system)
    assert found is not None
    return user.rpartition(f"[{found[1]} end: answer]")[2]


def obedient(system: str, user: str) -> str:
    """Rates by the record alone: full marks when the answer's last number came from a call, else the lowest."""
    parts = sections(system, user)
    asked = question(system, user)
    numbers = re.findall(r"\d+", parts["answer"].partition("\n")[0])
    backed = bool(numbers) and any(
        numbers[-1] == text for title, text in parts.items() if title.startswith("result of")
    )
    low, high = (float(number) for number in re.findall(r"Scores go from (\S+) to (\d+);", asked)[0])
    part = {"reason": "by the record", "score": high if backed else low}
    names = [name for name in CRITERIA if f'"{name}": ' in asked]
    return json.dumps(dict.fromkeys(names, part) if names else part)


def texts(body: dict[str, Any]) -> tuple[str, str]:
    """System and first user text of a request."""
    system, user = body["messages"][:2]
    content = user["content"]
    if not isinstance(content, str):
        content = "".join(part["text"] for part in content if part["type"] == "text")
    return system["content"], content


@dataclass
class Endpoint:
    """An OpenAI-compatible endpoint on this machine."""

    url: str
    answer: Answer
    requests: list[dict[str, Any]] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)
    """What its list of models has."""

    @property
    def env(self) -> dict[str, str]:
        """What makes Inspect's `openai-api/local/…` lead here."""
        return {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": self.url}


@contextmanager
def endpoint(answer: Answer) -> Iterator[Endpoint]:
    """Serves until the end; `answer` gets each request and gives a status and the reply, its text or the message."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            place.requests.append(body)
            status, text = place.answer(body)
            message = {"role": "assistant", **({"content": text} if isinstance(text, str) else text)}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            reply = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "usage": usage}
            failed = {"error": {"message": text, "type": "invalid_request_error"}}
            self.reply(status, {**reply, "choices": [choice]} if status == 200 else failed)

        def do_GET(self) -> None:
            self.reply(200 if place.listed else 404, {"object": "list", "data": place.listed})

        def reply(self, status: int, what: dict[str, Any]) -> None:
            data = json.dumps(what).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):  # who asked may have left
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    place = Endpoint(f"http://127.0.0.1:{server.server_port}/v1", answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield place
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""The program that plays episodes for a trainer: requests and answers, a line of JSON each, on its standard streams.

What a learner calls runs in the sandboxes of this program, and what it wrote is read here when it is scored; the
trainer's own process sees lines alone. It ends when its input does, and leaves nothing behind.

Workspaces are in a folder of this process. A process that is killed cannot tidy up, so its folder has a lock that
nobody holds any more, by which the next process knows that it can go.
"""

import json
import logging
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Any

import anyio

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.backends.result_cache import SEEN, ResultCache
from m3bench.sandboxes.backends.shared import SharedBackend, shared_isolation
from m3bench.sandboxes.host import private_streams, receive
from m3bench.server.lab.training.episodes import EpisodeRules, Episodes, LearnerCall, LocalEpisode, LocalTurn
from m3bench.server.lab.training.rewards import RewardWeights
from m3bench.tasks.errors import M3Error, RunError, UserError
from m3bench.tasks.library import Library
from m3bench.tasks.lines import Lines

if sys.platform != "win32":
    import fcntl

PREFIX = "m3bench-episodes-"
LOCK = "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder of this process's own; those of dead processes are removed first."""
    sweep()
    folder = Path(mkdtemp(prefix=PREFIX))
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        _take(lock)
        # A host that runs as another user has to pass through.
        folder.chmod(0o711)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep() -> int:
    """Remove the folders of processes that are gone; how many there were."""
    removed = 0
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                if _take(lock):
                    shutil.rmtree(folder, ignore_errors=True)
                    removed += 1
            finally:
                os.close(lock)
    return removed


def _take(lock: int) -> bool:
    """Lock a file, unless another process has."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


MAX_LINE_BYTES = 64 * 1024 * 1024


class EpisodeWorker:
    """Answers the requests of one trainer.

    Args:
        episodes: Where episodes come from.
        write: Takes whole lines.
    """

    def __init__(self, episodes: Episodes, write: Callable[[bytes], None]) -> None:
        self._episodes = episodes
        self._write = write
        self._open: dict[int, LocalEpisode] = {}
        self._ops: dict[str, Callable[[dict[str, Any]], Awaitable[bytes]]] = {
            "reset": self._reset, "step": self._step, "submit": self._submit, "close": self._close,
            "tools": self._tools, "kill": self._kill,
        }  # fmt: skip

    async def answer(self, line: bytes) -> None:
        """Answer one request."""
        message = json.loads(line)
        try:
            body = await self._ops[message["op"]](message)
        except M3Error as error:
            kind = "user" if isinstance(error, UserError) else "run" if isinstance(error, RunError) else "sandbox"
            body = b'"error":' + _dump({"kind": kind, "says": str(error)})
        except Exception as error:
            logging.getLogger(__name__).exception("A request failed")
            body = b'"error":' + _dump({"kind": "sandbox", "says": f"{type(error).__name__}: {error}"})
        self._write(b'{"id":%d,' % message["id"] + body + b"}\n")

    async def _reset(self, asked: dict[str, Any]) -> bytes:
        episode, told = await self._episodes.reset(
            asked["task"], asked["tools"], attempt=asked["attempt"], pictures=asked["pictures"]
        )
        self._open[asked["id"]] = episode
        return b'"opening":' + _dump(told.opening)

    async def _tools(self, asked: dict[str, Any]) -> bytes:
        return b'"tools":' + _dump(self._episodes.listing(asked["tools"]))

    async def _step(self, asked: dict[str, Any]) -> bytes:
        calls = [LearnerCall(name=call["name"], arguments=call["arguments"]) for call in asked["calls"]]
        return self._told(asked, await self._episode(asked).step(calls))

    async def _submit(self, asked: dict[str, Any]) -> bytes:
        return self._told(
            asked, await self._episode(asked).submit(asked["answer"], asked["fields"], advice=asked["card"])
        )

    async def _close(self, asked: dict[str, Any]) -> bytes:
        episode = self._open.pop(asked["episode"], None)
        if episode is not None:
            await episode.close()
        return b'"closed":true'

    async def _kill(self, asked: dict[str, Any]) -> bytes:
        return b'"killed":%d' % self._episodes.kill()

    def _episode(self, asked: dict[str, Any]) -> LocalEpisode:
        episode = self._open.get(asked["episode"])
        if episode is None:
            raise RunError("This episode is over: begin another with reset.")
        return episode

    def _told(self, asked: dict[str, Any], turn: LocalTurn) -> bytes:
        if turn.done:
            self._open.pop(asked["episode"], None)
        card = _dump(turn.card.to_json()) if turn.card is not None and asked.get("card") else b"null"
        head = {"reward": turn.reward.to_json(), "done": turn.done}
        return _dump(head)[1:-1] + b',"card":' + card + b',"results":[' + b",".join(turn.results) + b"]"


async def serve(settings: dict[str, Any], reading: int, write: Callable[[bytes], None]) -> None:
    """Play episodes until the input ends.

    Args:
        settings: What the trainer chose: set, weights, split, limits, hosts.
        reading: The descriptor of the input.
        write: Takes whole lines.
    """
    rules = EpisodeRules(
        weights=RewardWeights.of(settings["weights"]), split=settings["split"], max_turns=settings["max_turns"],
        max_calls=settings["max_calls"], max_minutes=settings["max_minutes"],
    )  # fmt: skip
    with scratch_folder() as folder:
        root = folder / "rooms"
        root.mkdir()
        kept = Path(settings["answers"]) if settings["answers"] else None
        known = Path(settings["tasks"]) / SEEN
        cache = ResultCache(settings["cache_bytes"], kept, known=known) if settings["cache_bytes"] else None
        backend = (
            SharedBackend(ProcessBackend(shared_isolation()), root, hosts=settings["hosts"], cache=cache)
            if settings["sandbox"] == "process"
            else InProcessBackend()
        )
        lines = Lines(MAX_LINE_BYTES)
        async with Episodes(Library(Path(settings["tasks"])), backend, root, rules) as episodes:
            if isinstance(backend, SharedBackend):
                await backend.warm()
            worker = EpisodeWorker(episodes, write)
            async with anyio.create_task_group() as tasks:
                write(b'{"id":0,"ready":true}\n')
                async for chunk in receive(reading):
                    for line in lines.feed(chunk):
                        tasks.start_soon(worker.answer, line)
                tasks.cancel_scope.cancel()


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def main() -> None:
    """Serve until standard input closes; the first line says what."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.ERROR, format="%(name)s: %(message)s")
    reading, write = private_streams()
    first = b""
    while not first.endswith(b"\n"):
        more = os.read(reading, 1)
        if not more:
            return
        first += more
    try:
        anyio.run(serve, json.loads(first), reading, write)
    except M3Error as error:
        write(b'{"id":0,"error":' + _dump({"kind": "user", "says": str(error)}) + b"}\n")


if __name__ == "__main__":
    main()

"""Looks at a workspace in a volume of the engine, by a container beside the sandbox that runs `measure` and no tool.

Functions here block and are called in threads.
"""

import json
import logging
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.baseline import ContainerLimits, host_config
from m3bench.sandboxes.backends.docker.engine import Client
from m3bench.sandboxes.backends.docker.frames import OUTPUT, Frames
from m3bench.sandboxes.backends.docker.leases import HELD, new_name
from m3bench.sandboxes.backends.docker.stream import attach
from m3bench.sandboxes.backends.watch import Watch

ANSWER_SECONDS = {"problem": 15.0, "trim": 60.0}
"""How long an answer may take, by question."""

BLIND = "The sandbox was stopped: what its workspace holds could not be seen any more."

_LIMITS = ContainerLimits(memory=128 * 1024**2, processes=16, temporary=1024**2)
_PROGRAM = ["python3", "-P", "-s", "-X", "utf8", "-m", "m3bench.sandboxes.measure"]

logger = logging.getLogger(__name__)


class Lookout:
    """The container that looks at a volume.

    Args:
        client: Asks the engine.
        image_name: What it is made of.
        user: Whom it runs as: the owner of the files.
        mount: The volume, as the API mounts it.
        labels: Whose it is.
    """

    def __init__(
        self, client: Client, image_name: str, user: str, mount: dict[str, Any], labels: dict[str, str]
    ) -> None:
        self.is_broken = False
        self._name = new_name()
        self._turn = threading.Lock()
        self._frames = Frames()
        config = {
            "Image": image_name, "Entrypoint": _PROGRAM, "Cmd": [image.MOUNT], "User": user, "Labels": labels,
            "OpenStdin": True, "StdinOnce": True, "AttachStdin": True, "AttachStdout": True, "AttachStderr": True,
            "HostConfig": host_config(_LIMITS, mounts=[mount]),
        }  # fmt: skip
        try:
            client.create_container_from_config(config, self._name)
            self._stream = attach(client, self._name)
            client.start(self._name)
        except BaseException:
            HELD.discard(self._name)
            raise

    def ask(self, question: str) -> str | None:
        """What it answers; that it cannot be asked, when it cannot."""
        with self._turn:
            if self.is_broken:
                return BLIND
            try:
                self._stream.settimeout(ANSWER_SECONDS[question])
                self._stream.sendall(f"{question}\n".encode())
                answer: str | None = json.loads(self._line())
            except (OSError, ValueError) as error:
                logger.warning("A workspace cannot be looked at: %s", error)
                self.is_broken = True
                return BLIND
            return answer

    def close(self, client: Client) -> None:
        """End it."""
        self.is_broken = True
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self._stream.close()
        with suppress(Exception):
            client.remove_container(self._name, force=True)
        HELD.discard(self._name)

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            data = self._stream.recv(4096)
            if not data:
                raise ConnectionError("the container ended")
            line += b"".join(written for stream, written in self._frames.feed(data) if stream == OUTPUT)
        return line


@dataclass(frozen=True, kw_only=True)
class VolumeWatch(Watch):
    """What is looked at through a lookout."""

    lookout: Lookout

    def problem(self) -> str | None:
        """What there is too much of."""
        return self.lookout.ask("problem")

    def trim(self) -> None:
        """Remove what was written last until the workspace is within its limits."""
        self.lookout.ask("trim")
